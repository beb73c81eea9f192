"""Opinions over the real daemon: their confidence, its explanation and replay, and who sees them."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import pytest

from memoryd.client import Client
from memoryd.domain.memories.reflect.evidence import OpinionLabels
from memoryd.domain.memories.reflect.opinions import Step, plan_steps
from memoryd.errors import NotFound
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.reflect import OpinionSteps
from memoryd.wire import Exit
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents, socket_of, with_socket
from tests.unit.domain.memories.opinion_lines import book, line_of

TEA = "O(c=0.7) @Peter: prefers tea in the morning"
SECRET = "O(scope=agent:beta, c=0.9) @Peter: wants a zinnober lamp"
TEA_ID, SECRET_ID = line_of(TEA).id, line_of(SECRET).id
LINES = [
    ("01-01", TEA),
    ("01-01", SECRET),
    ("01-02", "O @Peter: prefers tea in the morning"),
    ("01-03", f"B(contradicts={TEA_ID[:8]}) @Peter: drank coffee at seven"),
    ("01-04", f"B(supports={TEA_ID[:8]}, scope=agent:beta) @Peter: ultramarin cup of tea"),
    ("01-04", f"B(supports={SECRET_ID[:8]}) @Peter: looked at lamps"),
]


def write_logs(workspace: Path, lines: Sequence[tuple[str, str]]) -> None:
    (workspace / "memory").mkdir(parents=True, exist_ok=True)
    for day in dict.fromkeys(day for day, _ in lines):
        bullets = "\n".join(f"- {text}" for on, text in lines if on == day)
        (workspace / "memory" / f"2026-{day}.md").write_text(f"# Day\n\n## Retain\n\n{bullets}\n")


def ledger_of(daemon: RunningDaemon) -> Path:
    (found,) = {*daemon.state.rglob("ledger.sqlite")}
    return found


def record(path: Path, workspace: Path, steps: Sequence[Step]) -> None:
    async def recorded() -> None:
        with ThreadPoolExecutor(1) as executor:
            ledger = Ledger(path, executor)
            await OpinionSteps(ledger, str(workspace.resolve())).add(steps, 1.0)
            await ledger.close()

    asyncio.run(recorded())


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """Run two agents with a socket each on one workspace."""
    workspace = tmp_path / "workspace"
    write_logs(workspace, LINES)
    (workspace / "MEMORY.md").write_text("# Memory\n")
    agents = (with_socket(tmp_path, name) for name in ("alpha", "beta"))
    with daemon_of_agents(tmp_path, agents, workspace) as running:
        running.client().sync()
        yield running


def opinions(daemon: RunningDaemon, *arguments: str, expected: Exit = Exit.DONE) -> Any:
    result = daemon.memoryctl("opinions", *arguments, "--json")
    assert result.returncode == expected, result.stderr + result.stdout
    return json.loads(result.stdout)


def planned() -> tuple[Step, ...]:
    memories = book(*LINES)
    return plan_steps(memories, OpinionLabels(memories).stated, (), run="r1")


def test_opinions_are_listed_explained_and_replayed(daemon: RunningDaemon) -> None:
    assert opinions(daemon, "list")["opinions"][0]["confidence"] == 0.7
    steps = planned()
    assert {step.evidence for step in steps if step.opinion == TEA_ID} == {
        TEA_ID,
        line_of(LINES[3][1]).id,
    }, "evidence of one agent's scope does not count for all"
    daemon.client().add_turn("Is there a ledger?", "Yes.", session="ledger", significance=0.0)
    record(ledger_of(daemon), daemon.workspace, steps)
    (listed,) = opinions(daemon, "list", "--entity", "PETER", "-k", "5")["opinions"]
    assert (listed["id"], listed["confidence"], listed["base"]) == (TEA_ID, 0.65, 0.7)
    assert (listed["supporting"], listed["opposing"], listed["lastUpdated"]) == (1, 1, "2026-01-03")
    why = opinions(daemon, "why", TEA_ID[:6])
    assert [(step["label"], step["before"], step["after"], step["citations"]) for step in why["steps"]] == [
        ("reinforce", 0.7, 0.75, ["memory/2026-01-02.md#L5"]),
        ("contradict", 0.75, 0.65, ["memory/2026-01-03.md#L5"]),
    ]
    assert why["steps"][1]["content"] == "drank coffee at seven"
    shown = daemon.memoryctl("opinions", "why", TEA_ID[:8]).stdout
    assert "0.75 -> 0.65  contradict (its line says so)  2026-01-03" in shown
    assert daemon.memoryctl("opinions", "list").stdout.startswith("0.65  @Peter: prefers tea in the morning  +1 -1")
    assert opinions(daemon, "replay") == {"equal": True, "opinions": 1, "steps": 2, "differing": []}


def test_replay_reports_a_differing_confidence(daemon: RunningDaemon) -> None:
    daemon.client().add_turn("Is there a ledger?", "Yes.", session="ledger", significance=0.0)
    record(ledger_of(daemon), daemon.workspace, planned())
    connection = apsw.Connection(str(ledger_of(daemon)))
    connection.execute("UPDATE opinion_steps SET after = 0.6500000000000001 WHERE label = 'contradict'")
    connection.close()
    reply = opinions(daemon, "replay", expected=Exit.ERROR)
    (row,) = reply["differing"]
    assert (row["id"], row["after"], row["computedAfter"]) == (TEA_ID, 0.6500000000000001, 0.65)
    assert "1 differ" in daemon.memoryctl("opinions", "replay").stdout


def test_agent_sees_no_opinion_or_evidence_of_another(daemon: RunningDaemon, tmp_path: Path) -> None:
    daemon.client().add_turn("Is there a ledger?", "Yes.", session="ledger", significance=0.0)
    record(ledger_of(daemon), daemon.workspace, planned())
    key = "agent:{}:telegram:direct:42"
    with Client(socket_of(tmp_path, "alpha")) as alpha, Client(socket_of(tmp_path, "beta")) as beta:
        mine = alpha.opinions(session_key=key.format("alpha"))
        assert [opinion["id"] for opinion in mine["opinions"]] == [TEA_ID]
        with pytest.raises(NotFound):
            alpha.why_opinion(SECRET_ID, session_key=key.format("alpha"))
        assert "ultramarin" not in str(alpha.why_opinion(TEA_ID, session_key=key.format("alpha")))
        theirs = beta.opinions(session_key=key.format("beta"))
        assert {opinion["id"] for opinion in theirs["opinions"]} == {TEA_ID, SECRET_ID}
        assert beta.why_opinion(SECRET_ID, session_key=key.format("beta"))["confidence"] == 0.95
        assert alpha.replay_opinions(session_key=key.format("alpha"))["opinions"] == 1


def test_unknown_or_ambiguous_opinion_is_reported(daemon: RunningDaemon) -> None:
    with daemon.client() as client:
        for name in ("ffffffff", TEA_ID[:3], "../../etc", "a/b", "%"):
            with pytest.raises(NotFound):
                client.why_opinion(name)
        assert daemon.memoryctl("opinions", "why", "nothing").returncode == Exit.NOTHING_FOUND
        assert daemon.memoryctl("opinions", "list", "--entity", "Nobody").returncode == Exit.NOTHING_FOUND
