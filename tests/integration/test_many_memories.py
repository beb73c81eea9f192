"""While many new memories are read, questions are answered from the earlier ones."""

import threading
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from memoryd.agents.retained.recall import RecallOptions
from memoryd.domain.access import Admitted
from memoryd.memory.recall.query import Recalled
from memoryd.memory.recall.recaller import BOOK
from memoryd.search.protocol import ArmState
from tests.integration.composed import Composed, composed
from tests.integration.qmd_standin import StandIn

OWN, MANY = "memory/2026-11-02.md", "memory/2026-11-05.md"
BEFORE = "## Retain\n\n- W @Castle: The castle key hangs behind the door.\n- W @Wine: The wine is under the stairs.\n"
AFTER = "## Retain\n\n- W @Castle: The castle key hangs behind the door.\n- W @Boat: The boat lies at pier four.\n"
STEPS = {"lines": "memoryd.memory.book.event_span", "facts": "memoryd.memory.recall.eligible.span_of"}


@pytest.fixture
async def running(tmp_path: Path, workspace: Path) -> AsyncIterator[Composed]:
    (workspace / OWN).write_text(BEFORE)
    program = StandIn(tmp_path / "standin")
    program.behave(mcp="exit 1", query="crash")
    async with composed(tmp_path, workspace, {"command": str(program.program)}) as found:
        await found.indexed()
        yield found


async def recall(running: Composed, text: str, seconds: float) -> Recalled:
    options = RecallOptions(k=10, deadline=timedelta(seconds=seconds))
    return await running.memory.retained.recall.recall(text, options, Admitted("main", is_direct=True))


def texts(found: Recalled) -> list[str]:
    return [one.memory.line.text for one in found.memories]


@pytest.mark.parametrize("step", STEPS)
async def test_known_memories_are_recalled_while_new_ones_are_read(
    running: Composed, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    found = await recall(running, "castle key, wine and boat", 30)
    assert {one[:9] for one in texts(found)} == {"The castl", "The wine "}
    assert found.result.arms[BOOK].state is ArmState.OK
    module, _, name = STEPS[step].rpartition(".")
    go_on, work = threading.Event(), getattr(__import__(module, fromlist=[name]), name)
    begun: list[object] = []

    def slow(*given: object) -> object:
        begun.append(given)
        assert go_on.wait(60)
        return work(*given)

    monkeypatch.setattr(STEPS[step], slow)
    try:
        (running.notes / MANY).write_text("## Retain\n\n- W @Tower: The castle tower has ninety steps.\n")
        # its chunk ids may be reused
        (running.notes / OWN).write_text(AFTER)
        await running.indexed()
        for _ in range(3):
            found = await recall(running, "castle key, wine and boat", 2)
            assert texts(found) == ["The castle key hangs behind the door."]
            assert found.result.arms[BOOK].state is ArmState.PARTIAL
        assert len(begun) == 1, "it is not restarted by each question"
    finally:
        go_on.set()

    found = await recall(running, "castle tower, key, wine and boat", 30)
    assert {one[:10] for one in texts(found)} == {"The castle", "The boat l"}
    assert found.result.arms[BOOK].state is ArmState.OK
