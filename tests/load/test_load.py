"""Row 114 of the fault catalogue: all kinds of clients at once, for a short time. `make load` is the full run."""

import pytest

from tests.fault.model import Oracle
from tests.load.held import slope_a_minute
from tests.load.judging import Judge
from tests.load.mixed import Plan, RoundResult, run
from tests.load.soak import DiskSnapshot, grows, rows
from tests.load.tally import Tally


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> RoundResult:
    """The result of a short run with all clients."""
    quick = {"settleMs": 50, "deleteGraceMs": 300}
    return run(
        Plan(20261, seconds=2.5, chunks=200, files=20, pace=0.5, rest=1.5, sync=quick), tmp_path_factory.mktemp("load")
    )


def test_f114_crowd_gets_no_wrong_answer_and_leaks_nothing(outcome: RoundResult) -> None:
    """With 64 clients and 50 edits a second; afterwards descriptors, threads and memory are back."""
    assert outcome.missed == []
    assert outcome.tally.answers > 50
    assert min(map(len, (outcome.tally.took_ms[kind] for kind in ("search", "read", "status", "health")))) > 0
    assert outcome.edits > 10
    assert {end.split()[0] for end in outcome.tally.ends} >= {"garbage", "left,", "slow"}


def test_f139_idle_daemon_uses_little(outcome: RoundResult) -> None:
    """Without clients it uses little of a core, and no more descriptors or threads. `make soak` is the long run."""
    assert outcome.idle < 10
    assert outcome.rested.descriptors <= outcome.after.descriptors
    assert outcome.rested.threads <= outcome.after.threads


@pytest.mark.parametrize(
    ("slope", "wal", "idle", "grown"),
    [
        (0.0, 1.0, 0.2, []),
        (0.0, 100.0, 0.2, ["write-ahead"]),
        (1.0, 1.0, 0.2, ["resident"]),
        (0.0, 1.0, 5.0, ["processor"]),
    ],
)
def test_f139_soak_reports_what_grows(slope: float, wal: float, idle: float, grown: list[str]) -> None:
    """Growing memory, a write-ahead log beyond its bound and a busy processor are reported, and nothing else."""
    samples = [
        DiskSnapshot(minute, 100 + slope * minute, 27, 12, wal, 5.0, 9.0, 0.1, idle, 10, 500)
        for minute in map(float, range(1, 30))
    ]
    assert [line.split(":")[0].split()[0] for line in grows(list(rows(samples)))] == grown


@pytest.fixture
def judge() -> Judge:
    """A judge with a note of two versions, and one that never changes."""
    oracle = Oracle()
    oracle.wrote("memory/a.md", b"mk000000000001")
    oracle.wrote("memory/a.md", b"mk000000000002")
    return Judge(oracle, {"memory/still.md": "one\ntwo\nthree\n"}, Tally())


@pytest.mark.parametrize(
    ("path", "text", "is_true"),
    [
        ("memory/a.md", "mk000000000002", True),
        ("memory/a.md", "mk000000000001", False),
        ("memory/a.md", "mk00000000000f", False),
        ("memory/other.md", "mk000000000002", False),
        ("memory/still.md", "two\nthree\n\nSource: memory/still.md#L2-L3", True),
        ("memory/still.md", "two\nfour", False),
    ],
)
def test_judge_finds_invented_and_outdated_text(judge: Judge, path: str, text: str, is_true: bool) -> None:
    """Text of a version replaced before the question, and text that was never written, are wrong."""
    judge.quoted(path, text, asked_at=float("inf"))
    assert (not judge.tally.wrong) is is_true


@pytest.mark.parametrize(
    ("complete", "paths", "wrong"), [(True, [], 1), (False, [], 0), (True, ["memory/still.md"], 0)]
)
def test_judge_finds_a_missing_result(judge: Judge, complete: bool, paths: list[str], wrong: int) -> None:
    """An answer marked as complete must contain the note with the word."""
    hits = [{"path": path, "snippet": "two"} for path in paths]
    judge.found({"results": hits, "health": {"complete": complete}, "reason": None}, 0.0, "memory/still.md")
    assert judge.tally.wrong_count == wrong


def test_slope_is_the_growth_of_a_minute() -> None:
    """Two samples are too few for a slope."""
    assert slope_a_minute([100.0, 110.0, 120.0], [5.0, 6.0, 7.0]) == pytest.approx(6.0)
    assert slope_a_minute([0.0, 1.0], [0.0, 9.0]) == 0.0
