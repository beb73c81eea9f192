"""Row 121: a short run of the torture harness; `make torture` runs it for longer."""

import os
from pathlib import Path

import pytest

from tests.fault.faults import has_strace
from tests.fault.torture import Plan, torture
from tests.sweeps import swept, whole_or

SEED = int(os.environ.get("MEMORYD_TORTURE_SEED", "20261"))


@swept(("watch", "rounds"), [(True, whole_or(4, 15)), (False, 10)], 1)
def test_f121_index_equals_the_disk_whatever_happens(tmp_path: Path, watch: bool, rounds: int) -> None:
    """Under random kills and faults, which take effect, index and disk are equal at each check."""
    run = torture(Plan(SEED, rounds, watch=watch), tmp_path)
    assert run.verified >= rounds // 5
    assert sum(run.fired.values()) >= rounds // 2
    if has_strace():
        assert run.fired["strace_kill_running"] + run.fired["strace_kill_start"]


@pytest.mark.torture
@pytest.mark.sweep
def test_f121_vectors_equal_a_rebuild_whatever_happens(tmp_path: Path, starter_model: Path) -> None:
    """With the real model, the vectors equal a rebuild, too."""
    run = torture(Plan(SEED, whole_or(2, 5), model=starter_model, files=8, rate=8), tmp_path)
    assert run.verified
