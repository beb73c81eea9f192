"""What a stop left to be captured: read again from real sessions and a real ledger, each session by itself."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from memoryd.agents.turns.capture import ROUND_MAX, LeftBehind
from memoryd.agents.workspace.qa import WorkspaceQa
from memoryd.config.loading.load import load
from memoryd.domain.documents import SessionId
from memoryd.domain.memories.line import Provenance
from memoryd.domain.sessions.making_turns import RawTurn
from memoryd.memory.capture.capturing import Capturing
from memoryd.memory.capture.queue import CaptureTask, ShownSpans
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.turns import MessagePlace, ShownSpanRows
from tests.daemon import write_config
from tests.integration.test_capturing import Captured
from tests.waiting import eventually_async

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@dataclass
class Left:
    """A workspace in which messages were said that a kill kept from being captured."""

    room: Captured
    qa: WorkspaceQa
    killed: Capturing

    async def say(self, session: str, text: str, answer: str | None = None, *, is_owners: bool = True) -> int:
        """Say something, which waits to be captured; return its number. The answer is kept."""
        raw = RawTurn(text, answer, NOON, significance=1.0)
        added = await self.qa.write(lambda store: store.turns.append(session, raw, agent="main", key=f"key-{session}"))
        assert added is not None
        seq = added.turn.seq
        place = MessagePlace("main", session, seq)
        task = CaptureTask(agent="main", text=text, answer_before="It leaves at ten.", place=place, is_owners=is_owners)
        # a disk that is slow at the moment is not waited for long
        await eventually_async(lambda: self.killed.queue.note(task))
        return seq

    def started(self) -> tuple[Capturing, LeftBehind]:
        """Start anew after the kill."""
        capturing = self.room.capturing()
        return capturing, LeftBehind(capturing, self.qa, self.room.ledger)

    async def captured(self) -> list[str]:
        """Put all in line that was left, and return what stands in the logs then."""
        capturing, left = self.started()
        async with at_work(capturing):
            while await left.queue_round():
                await eventually_async(lambda: capturing.is_idle)
            await eventually_async(lambda: capturing.is_idle)
        return sorted(self.room.said())

    def file(self, session: str) -> Path:
        (found,) = self.room.folder.rglob(f"{session}.json")
        return found


@asynccontextmanager
async def at_work(capturing: Capturing) -> AsyncIterator[None]:
    loop = asyncio.ensure_future(capturing.run())
    try:
        yield
    finally:
        loop.cancel()
        await asyncio.wait([loop])


@pytest.fixture
async def left(tmp_path: Path) -> AsyncIterator[Left]:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (agent,) = load(write_config(tmp_path, folder, None)).config.resolved_agents()
    qa = WorkspaceQa([agent])
    (_, watch), *_ = qa.loops()
    watching = asyncio.ensure_future(watch())
    with ThreadPoolExecutor(4) as executor:
        ledger = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
        room = Captured(folder, ledger, executor)
        await qa.until_open()
        yield Left(room, qa, room.capturing())
        watching.cancel()
        await asyncio.wait([watching])
        await ledger.close()


async def test_session_that_cannot_be_read_keeps_no_other_waiting(left: Left) -> None:
    # more than one round takes, and they are the oldest
    for number in range(ROUND_MAX + 1):
        await left.say("broken", f"I like cheese{number}.")
    await left.say("whole", "I live in Graz.")
    file = left.file("broken")
    before = file.read_text()
    file.write_text(before[: len(before) // 2])

    with capture_logs() as logs:
        assert await left.captured() == ["I live in Graz."]
    assert [one["agent"] for one in logs if one["log_level"] == "warning"] == ["main"]
    assert "cheese" not in str([one for one in logs if one["log_level"] != "debug"])

    file.write_text(before)
    assert len(await left.captured()) == ROUND_MAX + 2


async def test_message_is_no_echo_of_what_was_shown_after_it(left: Left) -> None:
    """A later turn shows a message that is not captured yet; after a kill it is captured all the same, an echo not."""
    room = left.room
    room.delivered.note("main", "key-whole", ["I like pears."])
    await room.delivered.echoes("main", "key-whole", ["Hello."])
    await left.say("whole", "I like pears.")
    await left.say("whole", "I live in Graz.")
    room.delivered.note("main", "key-whole", ["I live in Graz.", "I like pears."])
    await room.delivered.echoes("main", "key-whole", ["Hello."])

    room.delivered = ShownSpans(ShownSpanRows(room.ledger, str(room.folder)))
    assert await left.captured() == ["I live in Graz."]


async def test_unreadable_session_is_told_once_until_it_can_be_read_again(left: Left) -> None:
    await left.say("broken", "I like cheese.")
    file = left.file("broken")
    before = file.read_text()
    capturing, behind = left.started()

    file.write_text("{")
    with capture_logs() as logs:
        assert [await behind.queue_round() for _ in range(3)] == [False] * 3
    assert ([one["log_level"] for one in logs].count("warning"), capturing.pending) == (1, 0)
    file.write_text(before)
    assert not await behind.queue_round()
    assert capturing.pending == 1


async def test_nothing_is_captured_of_a_session_that_is_not_to_be_remembered(left: Left) -> None:
    await left.say("marked", "I like cheese.")
    await left.say("whole", "I live in Graz.")
    await left.qa.write(lambda store: store.turns.set_remembered(SessionId("marked"), False, agent="main"))

    assert await left.captured() == ["I live in Graz."]
    assert await left.started()[0].queue.pending() == []


@pytest.mark.parametrize("is_kept", [True, False])
async def test_correction_that_was_left_has_its_answer_still(left: Left, *, is_kept: bool) -> None:
    seq = await left.say("trains", "When do I like to leave?", "It leaves at ten." if is_kept else None)
    if not is_kept:
        assert await left.room.ledger.store_answer("main", "trains", seq, "It leaves at ten.")
    await left.say("trains", "That's wrong. The train is at nine.")

    assert await left.captured() == ["The train is at nine."]


async def test_correction_of_ones_own_that_was_left_has_what_was_said_still(left: Left) -> None:
    await left.say("class", "Remember that the swim class is on Monday at 16:00.", "Noted.")
    await left.say("class", "no, Tuesday, not Monday")

    said = "Remember that the swim class is on {} at 16:00."
    assert await left.captured() == [said.format("Monday"), said.format("Tuesday")]


@pytest.mark.parametrize("is_owners", [True, False])
async def test_what_came_by_an_agents_socket_pins_nothing_after_a_kill_either(left: Left, *, is_owners: bool) -> None:
    await left.say("named", "Please call me Bob.", is_owners=is_owners)

    assert await left.captured() == ["Please call me Bob."]
    ((_, line),) = left.room.lines()
    assert line.attributes.is_pinned is is_owners
    assert line.attributes.provenance is (Provenance.USER if is_owners else Provenance.AGENT)
