"""Messages that a stop left uncaptured: read again from real sessions and a real ledger."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
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
from tests.integration.test_capturing import CaptureWorkspace, at_work
from tests.waiting import eventually_async

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@dataclass
class AfterKill:
    """A workspace with messages that a kill kept from being captured."""

    room: CaptureWorkspace
    qa: WorkspaceQa
    killed: Capturing

    async def say(self, session: str, text: str, answer: str | None = None, *, is_owners: bool = True) -> int:
        """Add a turn whose message waits for capture; return its number. The answer is stored."""
        raw = RawTurn(text, answer, NOON, significance=1.0)
        added = await self.qa.write(lambda store: store.turns.append(session, raw, agent="main", key=f"key-{session}"))
        assert added is not None
        seq = added.turn.seq
        place = MessagePlace("main", session, seq)
        task = CaptureTask(agent="main", text=text, answer_before="It leaves at ten.", place=place, is_owners=is_owners)
        # the note gives up soon if the disk is slow
        await eventually_async(lambda: self.killed.queue.note(task))
        return seq

    def started(self) -> tuple[Capturing, LeftBehind]:
        """Restart after the kill."""
        capturing = self.room.capturing()
        return capturing, LeftBehind(capturing, self.qa, self.room.ledger)

    async def captured(self) -> list[str]:
        """Queue everything that was left, and return the contents of the logs."""
        capturing, after_kill = self.started()
        async with at_work(capturing):
            while await after_kill.queue_round():
                await eventually_async(lambda: capturing.is_idle)
            await eventually_async(lambda: capturing.is_idle)
        return sorted(self.room.said())

    def file(self, session: str) -> Path:
        (found,) = self.room.folder.rglob(f"{session}.json")
        return found


@pytest.fixture
async def after_kill(tmp_path: Path) -> AsyncIterator[AfterKill]:
    folder = tmp_path / "notes"
    (folder / "memory").mkdir(parents=True)
    (agent,) = load(write_config(tmp_path, folder, None)).config.resolved_agents()
    qa = WorkspaceQa([agent])
    (_, watch), *_ = qa.loops()
    watching = asyncio.ensure_future(watch())
    with ThreadPoolExecutor(4) as executor:
        ledger = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
        room = CaptureWorkspace(folder, ledger, executor)
        await qa.until_open()
        yield AfterKill(room, qa, room.capturing())
        watching.cancel()
        await asyncio.wait([watching])
        await ledger.close()


async def test_unreadable_session_delays_no_other(after_kill: AfterKill) -> None:
    # more than one round takes, and the oldest
    for number in range(ROUND_MAX + 1):
        await after_kill.say("broken", f"I like cheese{number}.")
    await after_kill.say("whole", "I live in Graz.")
    file = after_kill.file("broken")
    before = file.read_text()
    file.write_text(before[: len(before) // 2])

    with capture_logs() as logs:
        assert await after_kill.captured() == ["I live in Graz."]
    assert [one["agent"] for one in logs if one["log_level"] == "warning"] == ["main"]
    assert "cheese" not in str([one for one in logs if one["log_level"] != "debug"])

    file.write_text(before)
    assert len(await after_kill.captured()) == ROUND_MAX + 2


async def test_message_is_no_echo_of_what_was_shown_after_it(after_kill: AfterKill) -> None:
    """A later turn shows a message that is not captured yet; after a kill it is captured all the same, an echo not."""
    room = after_kill.room
    room.delivered.note("main", "key-whole", ["I like pears."])
    await room.delivered.echoes("main", "key-whole", ["Hello."])
    await after_kill.say("whole", "I like pears.")
    await after_kill.say("whole", "I live in Graz.")
    room.delivered.note("main", "key-whole", ["I live in Graz.", "I like pears."])
    await room.delivered.echoes("main", "key-whole", ["Hello."])

    room.delivered = ShownSpans(ShownSpanRows(room.ledger, str(room.folder)))
    assert await after_kill.captured() == ["I live in Graz."]


async def test_unreadable_session_is_logged_once(after_kill: AfterKill) -> None:
    await after_kill.say("broken", "I like cheese.")
    file = after_kill.file("broken")
    before = file.read_text()
    capturing, behind = after_kill.started()

    file.write_text("{")
    with capture_logs() as logs:
        assert [await behind.queue_round() for _ in range(3)] == [False] * 3
    assert ([one["log_level"] for one in logs].count("warning"), capturing.pending) == (1, 0)
    file.write_text(before)
    assert not await behind.queue_round()
    assert capturing.pending == 1


async def test_withheld_session_is_not_captured(after_kill: AfterKill) -> None:
    await after_kill.say("marked", "I like cheese.")
    await after_kill.say("whole", "I live in Graz.")
    await after_kill.qa.write(lambda store: store.turns.set_remembered(SessionId("marked"), False, agent="main"))

    assert await after_kill.captured() == ["I live in Graz."]
    assert await after_kill.started()[0].queue.pending() == []


@pytest.mark.parametrize("is_kept", [True, False])
async def test_left_correction_still_has_its_answer(after_kill: AfterKill, *, is_kept: bool) -> None:
    seq = await after_kill.say("trains", "When do I like to leave?", "It leaves at ten." if is_kept else None)
    if not is_kept:
        assert await after_kill.room.ledger.store_answer("main", "trains", seq, "It leaves at ten.")
    await after_kill.say("trains", "That's wrong. The train is at nine.")

    assert await after_kill.captured() == ["The train is at nine."]


async def test_left_self_correction_still_has_its_statement(after_kill: AfterKill) -> None:
    await after_kill.say("class", "Remember that the swim class is on Monday at 16:00.", "Noted.")
    await after_kill.say("class", "no, Tuesday, not Monday")

    said = "Remember that the swim class is on {} at 16:00."
    assert await after_kill.captured() == [said.format("Monday"), said.format("Tuesday")]


@pytest.mark.parametrize("is_owners", [True, False])
async def test_left_message_from_agent_socket_is_unpinned(after_kill: AfterKill, *, is_owners: bool) -> None:
    await after_kill.say("named", "Please call me Bob.", is_owners=is_owners)

    assert await after_kill.captured() == ["Please call me Bob."]
    ((_, line),) = after_kill.room.lines()
    assert line.attributes.is_pinned is is_owners
    assert line.attributes.provenance is (Provenance.USER if is_owners else Provenance.AGENT)
