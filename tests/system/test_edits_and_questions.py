"""Edits from three threads, each followed by a question: no answer shows what its file did not hold."""

from pathlib import Path

import pytest

from tests.editing_users import EDITS, missed, run_edits, stale
from tests.sweeps import swept, whole_or

TRIED = whole_or(100, EDITS)


@swept("watch", [True, False], 1)
@swept("seed", range(1, 11), whole_or(1, 10))
def test_answers_after_edits_are_never_stale(tmp_path: Path, watch: bool, seed: int) -> None:
    """An answer that misses something must not claim to be complete."""
    history, answers = run_edits(tmp_path, seed, TRIED, sync={"watch": watch})
    assert len(answers) > TRIED
    assert not list(stale(history, answers))
    assert not list(missed(answers))
    assert sum(bool(answer.reply["results"]) for answer in answers) > TRIED / 2
    # always claiming to be incomplete would be no use
    assert sum(answer.reply["health"]["complete"] for answer in answers) > TRIED / 5


@pytest.mark.sweep
def test_answers_without_waiting_for_the_index_are_never_stale(tmp_path: Path) -> None:
    history, answers = run_edits(tmp_path, 1, TRIED, sync={"watch": False, "reconcileSeconds": 1}, query={"freshMs": 0})
    assert len(answers) > TRIED
    assert not list(stale(history, answers))
