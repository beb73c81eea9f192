"""Edits from three threads, each followed at once by a question: nothing is told that its file did not hold."""

from pathlib import Path

import pytest

from tests.editing_users import EDITS, missed, run_edits, stale
from tests.sweeps import swept, whole_or

TRIED = whole_or(100, EDITS)


@swept("watch", [True, False], 1)
@swept("seed", range(1, 11), whole_or(1, 10))
def test_after_each_edit_nothing_stale_is_told(tmp_path: Path, watch: bool, seed: int) -> None:
    """What is missed is owned up to: without it an answer is not complete."""
    history, asked = run_edits(tmp_path, seed, TRIED, sync={"watch": watch})
    assert len(asked) > TRIED
    assert not list(stale(history, asked))
    assert not list(missed(asked))
    assert sum(bool(one.reply["results"]) for one in asked) > TRIED / 2
    # an answer that never claims to be complete would break no promise
    assert sum(one.reply["health"]["complete"] for one in asked) > TRIED / 5


@pytest.mark.sweep
def test_without_waiting_for_the_index_nothing_stale_is_told_either(tmp_path: Path) -> None:
    history, asked = run_edits(tmp_path, 1, TRIED, sync={"watch": False, "reconcileSeconds": 1}, query={"freshMs": 0})
    assert len(asked) > TRIED
    assert not list(stale(history, asked))
