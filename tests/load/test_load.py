"""Row 114 of the fault catalogue: all kinds of clients at once, for as long as a test suite may take. `make load` is
the whole of it."""

import pytest

from tests.fault.model import Oracle
from tests.load.held import slope_a_minute
from tests.load.judging import Judge
from tests.load.mixed import Plan, RoundResult, run
from tests.load.soak import DiskSnapshot, grows, rows
from tests.load.tally import Tally


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> RoundResult:
    """A crowd that came and left."""
    quick = {"settleMs": 50, "deleteGraceMs": 300}
    return run(
        Plan(20261, seconds=2.5, chunks=200, files=20, pace=0.5, rest=1.5, sync=quick), tmp_path_factory.mktemp("load")
    )


def test_f114_crowd_of_all_kinds_is_told_nothing_wrong_and_leaves_nothing_behind(outcome: RoundResult) -> None:
    """64 clients and 50 edits a second: no wrong answer; then descriptors, threads and memory are back."""
    assert outcome.missed == []
    assert outcome.tally.answers > 50
    assert min(map(len, (outcome.tally.took_ms[kind] for kind in ("search", "read", "status", "health")))) > 0
    assert outcome.edits > 10
    assert {end.split()[0] for end in outcome.tally.ends} >= {"garbage", "left,", "slow"}


def test_f139_daemon_that_nobody_asks_takes_next_to_nothing(outcome: RoundResult) -> None:
    """With all gone it takes a small part of a core, and no descriptor or thread more. `make soak` is the long time."""
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
def test_f139_soak_tells_what_grows(slope: float, wal: float, idle: float, grown: list[str]) -> None:
    """Memory that grows, a log beyond its bound and a processor without rest are told, and nothing else is."""
    looks = [
        DiskSnapshot(minute, 100 + slope * minute, 27, 12, wal, 5.0, 9.0, 0.1, idle, 10, 500)
        for minute in map(float, range(1, 30))
    ]
    assert [told.split(":")[0].split()[0] for told in grows(list(rows(looks)))] == grown


@pytest.fixture
def judge() -> Judge:
    """Somebody who knows of a note with two versions, and of one that never changes."""
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
def test_judge_tells_what_was_never_there_or_is_over(judge: Judge, path: str, text: str, is_true: bool) -> None:
    """What a version said that was over when it was asked for, and what nobody ever wrote, are wrong."""
    judge.told(path, text, asked_at=float("inf"))
    assert (not judge.tally.wrong) is is_true


@pytest.mark.parametrize(
    ("complete", "paths", "wrong"), [(True, [], 1), (False, [], 0), (True, ["memory/still.md"], 0)]
)
def test_judge_misses_what_is_there(judge: Judge, complete: bool, paths: list[str], wrong: int) -> None:
    """An answer that says to be complete must have the note that holds the word."""
    hits = [{"path": path, "snippet": "two"} for path in paths]
    judge.found({"results": hits, "health": {"complete": complete}, "reason": None}, 0.0, "memory/still.md")
    assert judge.tally.wrong_count == wrong


def test_slope_is_what_a_minute_adds() -> None:
    """A line has its own slope, and of two looks nothing can be said."""
    assert slope_a_minute([100.0, 110.0, 120.0], [5.0, 6.0, 7.0]) == pytest.approx(6.0)
    assert slope_a_minute([0.0, 1.0], [0.0, 9.0]) == 0.0
