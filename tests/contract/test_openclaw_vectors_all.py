"""Each observation of OpenClaw has a test, or a reason why it has none."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1]
ALL = json.loads((TESTS / "data/openclaw/vectors.json").read_text(encoding="utf-8"))
RANKING = json.loads((TESTS / "data/openclaw/ranking.json").read_text(encoding="utf-8"))
ENGINE = json.loads((TESTS / "data/openclaw/engine.json").read_text(encoding="utf-8"))
COUNT = 43
UNTESTED = {"annotations-02", "chunk-14", "qmd_args-01"}


def functions() -> dict[str, ast.FunctionDef]:
    """Return every test of the conformance files, by file and name."""
    found: dict[str, ast.FunctionDef] = {}
    for path in Path(__file__).parent.glob("test_openclaw_vectors_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found[f"{path.name}::{node.name}"] = node
    return found


def differences(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for number, below in enumerate(value):
            yield from differences(below, f"{prefix}[{number}]")
    elif isinstance(value, dict):
        for key, below in value.items():
            if "difference" in key:
                yield f"{prefix}.{key}", below
            else:
                yield from differences(below, f"{prefix}.{key}")


def test_every_observation_has_a_test_or_a_reason() -> None:
    tested, untested = ALL["tested"], ALL["untested"]
    assert len(tested) + len(untested) == COUNT
    assert not tested.keys() & untested.keys()
    assert set(tested.values()) <= functions().keys()
    assert untested.keys() == UNTESTED
    assert all(untested.values())


def test_every_fact_is_used_by_a_test() -> None:
    source = (Path(__file__).parent / "test_openclaw_vectors_ranking.py").read_text(encoding="utf-8")
    assert [name for name in RANKING["vectors"] if f'"{name}"' not in source] == []
    assert RANKING["vectors"].keys() <= ALL["tested"].keys()
    assert {fact["id"] for part in ("chunks", "printed") for fact in ENGINE[part]} <= ALL["tested"].keys()


def test_every_fixed_defect_is_named_by_its_test() -> None:
    known = functions()
    named = {
        fact["id"] for part in ("chunks", "printed") for fact in ENGINE[part] if "beaten" in fact.get("difference", "")
    }
    named |= {name for name, test in ALL["tested"].items() if "Beaten" in (ast.get_docstring(known[test]) or "")}
    assert named >= set(ALL["beaten"])
    assert set(RANKING["beat"]) <= set(ALL["beaten"])


def test_every_difference_has_its_reason() -> None:
    found = [
        (path.name, where, reason)
        for path in (TESTS / "data/openclaw").glob("*.json")
        for where, reason in differences(json.loads(path.read_text(encoding="utf-8")))
        if reason is not None
    ]
    assert len(found) > 20
    for name, where, reason in found:
        texts = list(reason.values()) if isinstance(reason, dict) else [reason]
        assert all(isinstance(text, str) and len(text) > 5 for text in texts), f"{name}{where}"
