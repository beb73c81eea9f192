import gc
import importlib
import re

import pytest

from memoryd.domain import expressions
from memoryd.domain.expressions import expression
from tests.package_trees import TREES


def test_expression_is_compiled_once_when_it_is_first_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, really = [], re.compile

    def noted(pattern: str, flags: int) -> re.Pattern[str]:
        compiled.append((pattern, flags))
        return really(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    words = expression(r"(\w+) ok", re.IGNORECASE)
    assert (words.pattern, compiled) == (r"(\w+) ok", [])
    assert [words.sub("x", "all OK") for _ in range(3)] == ["x"] * 3
    assert (words.groups, bool(words.flags & re.IGNORECASE)) == (1, True)
    assert compiled == [(r"(\w+) ok", re.IGNORECASE)]


def test_every_expression_of_the_package_can_be_compiled() -> None:
    programs = {"cli/__main__.py", "hooks/__main__.py", "sidecar/leash.py"}
    for module in TREES.keys() - programs:
        importlib.import_module(f"memoryd.{module.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"))
    # what was there at the end of the collection of tests is not listed otherwise
    gc.unfreeze()
    found = [one for one in gc.get_objects() if isinstance(one, expressions._Deferred)]
    gc.freeze()
    assert len(found) > 400
    for one in found:
        re.compile(one.pattern, one._flags)
