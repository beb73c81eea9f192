"""The page on memories tells how well capture does, and it does no worse than it must."""

from bench.capture_turns.scoring import SETS, page, score
from tests.package_trees import ROOT

PAGE = ROOT.parent / "docs" / "explanation" / "memory.md"


def test_page_tells_the_figures_of_today() -> None:
    assert page() in PAGE.read_text("utf-8")


def test_nine_of_ten_captured_memories_are_right() -> None:
    scores = {name: score(path) for name, path in SETS.items()}

    assert {name: one.precision >= 0.9 for name, one in scores.items()} == dict.fromkeys(SETS, True)
    assert all(one.found >= 0.8 * one.labels for one in scores.values())
