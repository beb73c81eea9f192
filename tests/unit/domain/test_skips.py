"""Reasons for leaving something out: each is a row of `SkipReason`, and is written nowhere else."""

import ast
import json
import re
from collections.abc import Iterator

from memoryd.domain.memories.capture.capture import capture_message
from memoryd.domain.skips import SkipReason
from tests.docs.reference import render
from tests.package_trees import ROOT, TREES, nodes

TURNS = ROOT.parent / "tests" / "data" / "turns"
REASON_INDEX = {
    "SkippedFile": 1,
    "DroppedItem": 1,
    "cut_because": 1,
    "PartReport": 3,
    "_owed": 0,
    "skip": 1,
    "leave_out": 2,
}
"""Callables that take a reason, and the index of that argument."""
REASON_KEYWORDS = {"because", "problem"}
"""Keyword arguments that are reasons."""
WHY_MODULES = ("domain/memories/capture/", "domain/text/privacy.py")
"""Modules whose functions named `why…` return reasons."""
NO_REASONS = ("qmd ranks its ", "told by its ", "its last ", "{transcript.name}: ")
"""Beginnings of texts in these places that are no reasons for leaving something out."""


def test_codes_and_texts_are_unique() -> None:
    rows = tuple(SkipReason)
    assert len(SkipReason.__members__) == len(rows) > 80, "two rows with the same text are one member with two names"
    assert {one.stage for one in SkipReason} == {"search", "recall", "capture", "index"}
    assert all(re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)*", one.code) for one in SkipReason)


def test_reason_is_encoded_as_its_text() -> None:
    row = SkipReason.BEYOND_K
    assert (json.dumps(row), f"{row}", str(row), row.code, row.stage) == (
        '"it is beyond k"',
        "it is beyond k",
        "it is beyond k",
        "beyond_k",
        "recall",
    )
    assert type(SkipReason.UNREADABLE.format("it")) is str


def test_each_reason_is_used_and_written_once() -> None:
    used = {
        node.attr
        for tree in TREES.values()
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "SkipReason"
    }
    assert used == set(SkipReason.__members__)
    texts = {str(one) for one in SkipReason if " " in one}
    duplicates = {
        f"{name}: {node.value}"
        for name, tree in TREES.items()
        for node in nodes(tree)
        if name != "domain/skips.py" and isinstance(node, ast.Constant) and node.value in texts
    }
    assert not duplicates


def test_reason_arguments_are_rows() -> None:
    for name, tree in TREES.items():
        assert not list(_literal_reasons(tree, is_why_module=name.startswith(WHY_MODULES))), name


def test_capture_drops_messages_for_known_reasons() -> None:
    messages = [json.loads(line)["user"] for path in TURNS.glob("*.jsonl") for line in path.read_text().splitlines()]
    reasons = {one.reason for text in messages for one in capture_message(text).dropped}
    assert len(reasons) > 5
    assert not {one for one in reasons if not any(_is_row(one, row) for row in SkipReason)}


def test_page_lists_all_reasons() -> None:
    page = render("codes.md").partition("## Reasons for leaving out")[2]
    assert re.findall(r"^\| `(\w+)` \| (\w+) \|", page, re.MULTILINE) == [(one.code, one.stage) for one in SkipReason]


def _literal_reasons(tree: ast.Module, *, is_why_module: bool) -> Iterator[str]:
    """Yield literal texts passed as a reason, or returned by a function that gives a reason."""
    for node in nodes(tree):
        candidates: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            candidates = node.args[REASON_INDEX[name] : REASON_INDEX[name] + 1] if name in REASON_INDEX else []
            candidates += [candidate.value for candidate in node.keywords if candidate.arg in REASON_KEYWORDS]
        elif is_why_module and isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("why"):
            candidates = [
                candidate.value
                for candidate in ast.walk(node)
                if isinstance(candidate, ast.Return) and candidate.value is not None
            ]
        for candidate in candidates:
            parts = (candidate.body, candidate.orelse) if isinstance(candidate, ast.IfExp) else (candidate,)
            texts = [ast.unparse(part) for part in parts if isinstance(part, ast.Constant | ast.JoinedStr)]
            yield from (text for text in texts if text != "''" and not text.strip("f'\"").startswith(NO_REASONS))


def _is_row(reason: str, row: SkipReason) -> bool:
    return bool(re.fullmatch(re.sub(r"\\\{[^}]*\}", ".*", re.escape(row)), reason))
