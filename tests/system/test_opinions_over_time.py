"""Opinions over several runs of reflect: edits, deletions and undo by a person, and a lost ledger."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memoryd.domain.memories.line import render
from tests.daemon import RunningDaemon, indexed_daemon
from tests.system.test_opinions_command import ledger_of, write_logs
from tests.unit.domain.memories.opinion_lines import line_of

SINCE = "2026-01-01"
TEA = "O(c=0.7) @Peter: prefers tea in the morning"
AGAIN = "O @Peter: Prefers tea in the morning."
TEA_ID = line_of(TEA).id
COFFEE = f"B(contradicts={TEA_ID[:8]}) @Peter: drank coffee at seven"
DENIED = "O @Peter: no longer prefers tea in the morning"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    write_logs(workspace, [("01-01", TEA), ("01-02", AGAIN)])
    (workspace / "MEMORY.md").write_text("# Memory\n")
    with indexed_daemon(tmp_path, workspace) as running:
        yield running


def reflected(daemon: RunningDaemon, *lines: tuple[str, str]) -> float:
    """Write logs, reflect, and return the confidence of the opinion on tea; a replay must give exactly the same."""
    write_logs(daemon.workspace, lines)
    client = daemon.client()
    client.sync()
    client.reflect(SINCE)
    assert client.replay_opinions()["equal"]
    return client.why_opinion(TEA_ID)["confidence"]


def test_evidence_moves_an_opinion_once(daemon: RunningDaemon) -> None:
    assert [reflected(daemon), reflected(daemon)] == [0.75, 0.75]
    assert [reflected(daemon, ("01-03", COFFEE)), reflected(daemon)] == [0.65, 0.65]
    assert "0.65" in (daemon.workspace / "bank" / "opinions.md").read_text()


def test_denial_is_proposed_and_counts_once_accepted(daemon: RunningDaemon) -> None:
    assert reflected(daemon, ("01-03", DENIED)) == 0.75
    client = daemon.client()
    # each opinion that it denies has a proposal
    proposed = [client.proposal(proposal["id"]) for proposal in client.proposals()["proposals"]]
    (accepted,) = [proposal for proposal in proposed if f"contradicts={TEA_ID[:8]}" in proposal["diff"]]
    client.accept_proposal(accepted["id"])
    assert f"contradicts={TEA_ID[:8]}" in (daemon.workspace / "memory" / "2026-01-03.md").read_text()
    assert reflected(daemon) == 0.65


def test_evidence_before_the_window_counts_once_and_denials_are_proposed(daemon: RunningDaemon) -> None:
    write_logs(daemon.workspace, [("01-03", COFFEE), ("01-05", DENIED)])
    client = daemon.client()
    client.sync()
    assert client.reflect("1d", dry_run=True)["steps"] == 2
    assert [client.reflect("1d")["steps"], client.reflect("1d")["steps"], client.reflect(SINCE)["steps"]] == [2, 0, 0]
    assert client.why_opinion(TEA_ID)["confidence"] == 0.65
    assert client.replay_opinions()["equal"]
    diffs = [client.proposal(proposal["id"])["diff"] for proposal in client.proposals()["proposals"]]
    assert sum(f"contradicts={TEA_ID[:8]}" in diff for diff in diffs) == 1


def test_one_late_run_equals_daily_runs(daemon: RunningDaemon, tmp_path: Path) -> None:
    same = TEA.replace("(c=0.7)", "")
    lines = [("01-03", COFFEE), ("01-06", same), ("01-09", COFFEE.replace("seven", "noon")), ("01-12", same)]
    daily = [reflected(daemon, line) for line in lines]
    other = tmp_path / "late"
    other.mkdir()
    write_logs(other / "workspace", [("01-01", TEA), ("01-02", AGAIN), *lines])
    with indexed_daemon(other, other / "workspace") as late:
        late.client().reflect("1d")
        opinion = late.client().why_opinion(TEA_ID)
    assert daily == [0.65, 0.7, 0.6, 0.65]
    assert opinion["confidence"] == daily[-1]
    assert len(opinion["steps"]) == len(daemon.client().why_opinion(TEA_ID)["steps"]) == 5


def test_edited_confidence_wins_and_used_evidence_does_not_count_again(daemon: RunningDaemon) -> None:
    assert reflected(daemon, ("01-03", COFFEE)) == 0.65
    edited = render(line_of(TEA.replace("0.7", "0.9"))).removeprefix("- ")
    assert [reflected(daemon, ("01-01", edited)), reflected(daemon)] == [0.9, 0.9]
    why = daemon.client().why_opinion(TEA_ID)
    assert (why["steps"], len(why["setAside"])) == ([], 2)
    assert reflected(daemon, ("01-04", COFFEE.replace("seven", "eight"))) == 0.8


def test_lost_ledger_costs_no_opinion(daemon: RunningDaemon) -> None:
    assert reflected(daemon, ("01-03", COFFEE)) == 0.65
    path = ledger_of(daemon)
    daemon.stop()
    for part in path.parent.glob("ledger.sqlite*"):
        part.unlink()
    daemon.start()
    daemon.client().sync()
    assert daemon.client().why_opinion(TEA_ID)["confidence"] == 0.7
    assert reflected(daemon) == 0.65


def test_forgotten_evidence_no_longer_counts(daemon: RunningDaemon) -> None:
    assert reflected(daemon, ("01-03", COFFEE)) == 0.65
    client = daemon.client()
    client.forget(line_of(COFFEE).id)
    client.sync()
    assert client.replay_opinions() == {"equal": True, "opinions": 2, "steps": 1, "differing": []}
    assert client.why_opinion(TEA_ID)["confidence"] == 0.75
