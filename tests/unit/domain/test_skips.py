"""The reasons for leaving out: each is a row, and stands nowhere else."""

import ast
import json
import re
from collections.abc import Iterator

from memoryd.domain.memories.capture.capture import capture_message
from memoryd.domain.skips import SkipReason
from tests.docs.reference import render
from tests.package_trees import ROOT, TREES, nodes

TURNS = ROOT.parent / "tests" / "data" / "turns"
TAKES = {"SkippedFile": 1, "DroppedItem": 1, "cut_because": 1, "PartReport": 3, "_owed": 0, "skip": 1, "leave_out": 2}
"""What takes a reason, and at which place."""
KEYWORDS = {"because", "problem"}
"""The same, of arguments by name."""
SAY_WHY = ("domain/memories/capture/", "domain/text/privacy.py")
"""Where functions whose names begin with `why` return reasons."""
BESIDE = ("qmd ranks its ", "told by its ", "its last ", "{transcript.name}: ")
"""How texts begin that stand in these places and leave nothing out."""


def test_codes_and_texts_are_told_apart() -> None:
    rows = tuple(SkipReason)
    assert len(SkipReason.__members__) == len(rows) > 80, "a text that stands twice is one row with two names"
    assert {one.stage for one in SkipReason} == {"search", "recall", "capture", "index"}
    assert all(re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)*", one.code) for one in SkipReason)


def test_reason_is_its_text_on_the_wire() -> None:
    row = SkipReason.BEYOND_K
    assert (json.dumps(row), f"{row}", str(row), row.code, row.stage) == (
        '"it is beyond k"',
        "it is beyond k",
        "it is beyond k",
        "beyond_k",
        "recall",
    )
    assert type(SkipReason.UNREADABLE.format("it")) is str


def test_each_reason_is_given_somewhere_and_written_once() -> None:
    used = {
        node.attr
        for tree in TREES.values()
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "SkipReason"
    }
    assert used == set(SkipReason.__members__)
    texts = {str(one) for one in SkipReason if " " in one}
    again = {
        f"{name}: {node.value}"
        for name, tree in TREES.items()
        for node in nodes(tree)
        if name != "domain/skips.py" and isinstance(node, ast.Constant) and node.value in texts
    }
    assert not again


def test_who_takes_a_reason_is_given_a_row() -> None:
    for name, tree in TREES.items():
        assert not list(_written(tree, says_why=name.startswith(SAY_WHY))), name


def test_what_capture_drops_is_dropped_for_a_row() -> None:
    messages = [json.loads(line)["user"] for path in TURNS.glob("*.jsonl") for line in path.read_text().splitlines()]
    reasons = {one.reason for text in messages for one in capture_message(text).dropped}
    assert len(reasons) > 5
    assert not {one for one in reasons if not any(_is_row(one, row) for row in SkipReason)}


def test_page_has_exactly_the_rows() -> None:
    told = render("codes.md").partition("## Reasons for leaving out")[2]
    assert re.findall(r"^\| `(\w+)` \| (\w+) \|", told, re.MULTILINE) == [(one.code, one.stage) for one in SkipReason]


def _written(tree: ast.Module, *, says_why: bool) -> Iterator[str]:
    """Yield the texts that stand where a reason is taken, or that a function returns which says why not."""
    for node in nodes(tree):
        given: list[ast.expr] = []
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given = node.args[TAKES[name] : TAKES[name] + 1] if name in TAKES else []
            given += [one.value for one in node.keywords if one.arg in KEYWORDS]
        elif says_why and isinstance(node, ast.FunctionDef) and node.name.lstrip("_").startswith("why"):
            given = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
        for one in given:
            parts = (one.body, one.orelse) if isinstance(one, ast.IfExp) else (one,)
            texts = [ast.unparse(part) for part in parts if isinstance(part, ast.Constant | ast.JoinedStr)]
            yield from (text for text in texts if text != "''" and not text.strip("f'\"").startswith(BESIDE))


def _is_row(reason: str, row: SkipReason) -> bool:
    return bool(re.fullmatch(re.sub(r"\\\{[^}]*\}", ".*", re.escape(row)), reason))
