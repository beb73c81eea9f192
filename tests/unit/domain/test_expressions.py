import gc
import importlib
import re

import pytest

from memoryd.domain import expressions
from memoryd.domain.expressions import expression
from tests.package_trees import TREES


def test_expression_is_compiled_once_on_first_use(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, compile_pattern = [], re.compile

    def record(pattern: str, flags: int) -> re.Pattern[str]:
        compiled.append((pattern, flags))
        return compile_pattern(pattern, flags)

    monkeypatch.setattr(re, "compile", record)
    words = expression(r"(\w+) ok", re.IGNORECASE)
    assert (words.pattern, compiled) == (r"(\w+) ok", [])
    assert [words.sub("x", "all OK") for _ in range(3)] == ["x"] * 3
    assert (words.groups, bool(words.flags & re.IGNORECASE)) == (1, True)
    assert compiled == [(r"(\w+) ok", re.IGNORECASE)]


def test_every_expression_of_the_package_compiles() -> None:
    programs = {"cli/__main__.py", "hooks/__main__.py", "sidecar/leash.py"}
    for module in TREES.keys() - programs:
        importlib.import_module(f"memoryd.{module.removesuffix('.py').replace('/', '.')}".removesuffix(".__init__"))
    # the conftest froze the objects that existed after collection, and get_objects omits frozen ones
    gc.unfreeze()
    found = [item for item in gc.get_objects() if isinstance(item, expressions._Deferred)]
    gc.freeze()
    assert len(found) > 400
    for item in found:
        re.compile(item.pattern, item._flags)
