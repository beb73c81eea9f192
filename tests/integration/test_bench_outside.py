"""What measurements from outside rely on: checkouts, reproducible notes, and the clock of a process."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench.checkout import ROOT, BadCheckout, Checkout
from bench.recombined import TAIL, Recombiner, made_word, write
from bench.stage import cpu_seconds
from bench.yardstick import Yardstick


def test_checkout_runs_its_declared_programs() -> None:
    assert "from memoryd.daemon.main import main" in Checkout(ROOT).program("memoryd")[-1]
    assert "from memoryd.cli.__main__ import main" in Checkout(ROOT).program("memoryctl")[-1]
    with pytest.raises(BadCheckout, match="is no checkout"):
        Checkout(ROOT).program("other")


def test_checkout_of_a_folder_without_memoryd_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCheckout, match="is no checkout"):
        Checkout(tmp_path).program("memoryd")
    with pytest.raises(BadCheckout, match="is not what"):
        Checkout(tmp_path).compile()


def test_checkout_prefers_its_own_interpreter(tmp_path: Path) -> None:
    assert Checkout(tmp_path).python == sys.executable
    own = tmp_path / ".venv" / "bin" / "python"
    own.parent.mkdir(parents=True)
    own.touch()
    assert Checkout(tmp_path).python == str(own)


def test_deleted_notes_are_written_again_unchanged(tmp_path: Path) -> None:
    assert list(write(tmp_path, 3)) == [0, 1, 2]
    texts = {path: path.read_text() for path in tmp_path.rglob("*.md")}
    assert len(set(texts.values())) == 3
    next(iter(texts)).unlink()
    assert list(write(tmp_path, 3)) == [0, 1, 2]
    assert {path: path.read_text() for path in tmp_path.rglob("*") if path.is_file()} == texts


def test_made_words_differ() -> None:
    assert len({made_word(rank) for rank in range(20_000)}) == 20_000
    assert made_word(TAIL).isalpha()
    assert Recombiner(1).question() == Recombiner(1).question()


def test_cpu_time_equals_that_of_the_process_itself() -> None:
    before = time.process_time()
    seen = cpu_seconds(os.getpid())
    assert before <= seen + 0.02
    assert seen <= time.process_time() + 0.02


def test_yardstick_keeps_the_fastest_round() -> None:
    yardstick = Yardstick()
    yardstick.lay(2)
    first = yardstick.ms
    assert 0 < first < 60_000
    yardstick.lay()
    assert yardstick.ms <= first
