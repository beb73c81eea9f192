"""Capture with real files and a real ledger: what is written, what is not, and echoes."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import cast

import pytest
from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.memories.book import Book, Memory, MemorySource
from memoryd.domain.memories.line import RetainedLine
from memoryd.domain.memories.sections import memory_sections
from memoryd.domain.sessions.turns import MessageEvent, MessageEventType
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.lines import encode_padded
from memoryd.errors import Denied, InvalidTextAnswer, StoreError
from memoryd.files.scanner import ScanRules
from memoryd.llm.protocol import Answer, Prompt
from memoryd.memory.capture.capturing import IN_FLIGHT, Capturing, MessageCapture
from memoryd.memory.capture.queue import CaptureQueue, CaptureTask, ShownSpans
from memoryd.memory.forgetting.planning import drop_remembered_texts
from memoryd.memory.forgetting.tombstones import TombstoneStore
from memoryd.memory.journal import Journal
from memoryd.memory.llm import DistilledAnswer, MemoryModel
from memoryd.memory.note_files import NoteFiles
from memoryd.memory.retaining import Retaining, StatementHashes
from memoryd.store.ledger.changes import ChangeLog
from memoryd.store.ledger.forgotten import TombstoneRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.turns import TRIES_MAX, MessagePlace, QueuedMessages, ShownSpanRows
from memoryd.store.ledger.usage import RetainedHashes
from tests.waiting import SECONDS, eventually_async

DAY = date(2026, 11, 18)
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
KEY = "agent:main:telegram:direct:lena"
STATED = ["I live in Graz.", "I like pears.", "How are you?"]
TIMED_OUT = MessageEvent(MessageEventType.FAILURE, "timed out", "browser")
ADDRESS = CaptureTask(agent="main", session_key=KEY, text="I live in Graz.", at=NOON)


class ScriptedText:
    """A text model with a fixed answer."""

    identity = "scripted"

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.seen: list[str] = []
        self.is_free = asyncio.Event()
        self.is_free.set()

    async def complete(self, prompt: Prompt, *, shape: type[Answer], max_tokens: int, deadline: float) -> Answer:
        self.seen.append(prompt.data)
        await self.is_free.wait()
        try:
            return cast("Answer", DistilledAnswer.model_validate_json(self.answer))
        except ValueError as exc:
            raise InvalidTextAnswer("no answer of that shape") from exc


@dataclass
class CaptureWorkspace:
    """A workspace in which messages are captured."""

    folder: Path
    ledger: Ledger
    executor: ThreadPoolExecutor
    withheld: frozenset[str] = frozenset()
    is_read_only: bool = False
    model: ScriptedText | None = None

    def __post_init__(self) -> None:
        self.delivered = ShownSpans(ShownSpanRows(self.ledger, str(self.folder)))
        workspace = str(self.folder)
        self.stated = StatementHashes(RetainedHashes(self.ledger, workspace), ShownSpanRows(self.ledger, workspace).key)
        self.stones = TombstoneStore(
            rows=TombstoneRows(self.ledger, str(self.folder)),
            workspace=self.folder,
            key_file=self.ledger.path.with_name("ledger.sqlite.forgotten-key"),
        )

    def capturing(self) -> Capturing:
        rules = ScanRules(workspace=self.folder, is_ignored=lambda _path: False)
        journal = Journal(
            files=NoteFiles(self.folder, lambda: rules),
            changes=ChangeLog(self.ledger, str(self.folder)),
            executor=self.executor,
            is_read_only=self.is_read_only,
        )
        messages = MessageCapture(
            journal=journal,
            retaining=Retaining(journal, lambda: date(2027, 1, 1), self.stated),
            tombstones=self.stones,
            delivered=self.delivered,
            book=self.book,
            is_excluded=self.is_excluded,
            day=lambda at: at.date(),
            stated=self.stated,
            queue=CaptureQueue(QueuedMessages(self.ledger, str(self.folder))),
            distiller=None if self.model is None else MemoryModel(self.model),
        )
        return Capturing(messages)

    async def is_excluded(self, _agent: str, session_key: str) -> bool:
        return session_key in self.withheld

    async def book(self, _seconds: float = 0) -> Book:
        sources: dict[str, list[MemorySource]] = {}
        for path, line in self.lines():
            source = MemorySource(path, 1, 1, line, date.fromisoformat(path[7:17]), None, 0)
            sources.setdefault(line.id, []).insert(0, source)
        return Book({each[0].line.id: Memory(each[0].line.id, tuple(each)) for each in sources.values()})

    def lines(self) -> list[tuple[str, RetainedLine]]:
        files = sorted((self.folder / "memory").glob("*.md"))
        paths = [RelativePath(f"memory/{file.name}") for file in files]
        texts = [file.read_text() for file in files]
        return [
            (path, one.line)
            for path, text in zip(paths, texts, strict=True)
            for one in memory_sections(encode_padded(text), path).lines
        ]

    def said(self) -> list[str]:
        return [line.text for _, line in self.lines()]


@pytest.fixture
async def workspace(
    tmp_path: Path, executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[CaptureWorkspace]:
    # accepted messages must be noted, however slow the disk is
    monkeypatch.setattr("memoryd.memory.capture.queue.NOTE_SECONDS", SECONDS)
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    ledger = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
    yield CaptureWorkspace(tmp_path / "ws", ledger, executor)
    await ledger.close()


@asynccontextmanager
async def at_work(capturing: Capturing) -> AsyncIterator[None]:
    loops = [asyncio.ensure_future(one()) for one in (capturing.run, *[capturing.run_distilling] * IN_FLIGHT)]
    try:
        yield
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.wait(loops)


async def test_statement_is_written_with_its_source_and_day(workspace: CaptureWorkspace) -> None:
    outcome = await workspace.capturing().messages.capture(ADDRESS)

    assert outcome.retention is not None
    assert outcome.retention.change.id
    ((path, line),) = workspace.lines()
    assert (path, line.text, line.attributes.provenance) == ("memory/2026-11-18.md", "I live in Graz.", "user")


async def test_message_from_agent_socket_is_unpinned_and_of_the_agent(workspace: CaptureWorkspace) -> None:
    own = replace(ADDRESS, text="Please call me Hal.")
    assert [one.is_pinned for one in (await workspace.capturing().messages.dry_run(own)).items] == [True]

    await workspace.capturing().messages.capture(replace(own, is_owners=False))

    ((_, line),) = workspace.lines()
    assert (line.attributes.is_pinned, line.attributes.importance, line.attributes.provenance) == (False, None, "agent")


async def test_repeated_statement_is_written_once_a_day(workspace: CaptureWorkspace) -> None:
    capturing = workspace.capturing()
    for task in (ADDRESS, ADDRESS, replace(ADDRESS, text="I live in Graz!"), replace(ADDRESS, at=NOON.replace(day=20))):
        await capturing.messages.capture(task)

    assert [path for path, _ in workspace.lines()] == ["memory/2026-11-18.md", "memory/2026-11-20.md"]
    assert len({line.id for _, line in workspace.lines()}) == 1


async def test_dry_run_writes_nothing(workspace: CaptureWorkspace) -> None:
    verdict = await workspace.capturing().messages.dry_run(ADDRESS)

    assert [item.form for item in verdict.items] == ["I live in"]
    assert workspace.said() == []


async def test_secrets_never_reach_a_note(workspace: CaptureWorkspace) -> None:
    token = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2"
    await workspace.capturing().messages.capture(
        replace(ADDRESS, text=f"Remember that the key is {token}. I live in Graz.")
    )

    assert workspace.said() == ["I live in Graz."]


async def test_echo_is_not_written_but_its_correction_is(workspace: CaptureWorkspace) -> None:
    workspace.delivered.note("main", KEY, ["My locker number is 4417 in hall B."])
    capturing = workspace.capturing()
    echo = replace(ADDRESS, text="My locker number is 4417 in hall B.")
    await capturing.messages.capture(echo)
    assert workspace.said() == []

    await capturing.messages.capture(replace(ADDRESS, text="My locker number is 8832 in hall B."))
    await capturing.messages.capture(replace(echo, session_key="agent:main:telegram:direct:other"))
    assert workspace.said() == ["My locker number is 8832 in hall B.", "My locker number is 4417 in hall B."]


async def test_recall_for_the_same_message_makes_it_no_echo(workspace: CaptureWorkspace) -> None:
    capturing = workspace.capturing()
    await capturing.messages.capture(ADDRESS)
    later = replace(ADDRESS, at=NOON.replace(day=19))
    assert capturing.submit(later)
    workspace.delivered.note("main", KEY, ["I live in Graz."])
    assert capturing.submit(replace(later, at=NOON.replace(day=20)))

    async with at_work(capturing):
        await eventually_async(lambda: capturing.is_idle)
    # the first repeats a statement and adds a source; the second repeats what was shown before it
    assert [path for path, _ in workspace.lines()] == ["memory/2026-11-18.md", "memory/2026-11-19.md"]


async def test_later_statement_of_the_same_form_supersedes(workspace: CaptureWorkspace) -> None:
    capturing = workspace.capturing()
    said = [
        "I work at Bosch.",
        "I work at Tesla.",
        "I like tea.",
        "I like rum.",
        "我住在上海。",
        "我住在广州。",
        "I work at Bosch.",
    ]
    for number, text in enumerate(said):
        await capturing.messages.capture(replace(ADDRESS, text=text, at=NOON.replace(day=1 + number)))
    await capturing.messages.capture(
        replace(ADDRESS, text="I work at Esso.", scope="agent:main", at=NOON.replace(day=9))
    )

    book = await workspace.book()
    superseded = {
        book.memories[newer].line.text: [book.memories[one].line.text for one in older]
        for newer, older in book.superseded.items()
    }
    assert superseded == {"I work at Bosch.": ["I work at Tesla."], "我住在广州。": ["我住在上海。"]}


async def test_echoes_are_recognised_after_restart(workspace: CaptureWorkspace) -> None:
    workspace.delivered.note("main", KEY, ["I live in Graz."])
    assert await workspace.delivered.echoes("main", KEY, ["I live in Graz"])

    workspace.delivered = ShownSpans(ShownSpanRows(workspace.ledger, str(workspace.folder)))
    assert (await workspace.capturing().messages.dry_run(ADDRESS)).items == ()


async def test_echoes_are_recognised_once_ledger_is_readable(
    workspace: CaptureWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace.delivered.note("main", KEY, ["I live in Graz."])
    await workspace.delivered.echoes("main", KEY, ["Hello."])

    def refuse(*_: object) -> None:
        raise StoreError("the database is locked")

    for method in ("key", "of"):
        workspace.delivered = ShownSpans(ShownSpanRows(workspace.ledger, str(workspace.folder)))
        workspace.delivered.note("main", KEY, ["I like pears."])
        with monkeypatch.context() as broken:
            broken.setattr(ShownSpanRows, method, refuse)
            with pytest.raises(StoreError):
                await workspace.delivered.echoes("main", KEY, ["I live in Graz."])
        said = ["I live in Graz.", "I like pears."]
        assert await workspace.delivered.echoes("main", KEY, said) == set(said)


async def test_forgotten_withheld_and_untrusted_messages_are_dropped(workspace: CaptureWorkspace) -> None:
    line = (await workspace.capturing().messages.dry_run(ADDRESS)).items[0].line()
    workspace.withheld = frozenset({"agent:main:telegram:direct:secret"})
    tasks = [
        replace(ADDRESS, session_key="agent:main:telegram:direct:secret"),
        replace(ADDRESS, role="tool"),
        replace(ADDRESS, role="system"),
        replace(ADDRESS, channel="cron"),
        replace(ADDRESS, session_key="agent:main:subagent:worker"),
        replace(ADDRESS, is_direct=False),
    ]
    verdicts = [await workspace.capturing().messages.dry_run(task) for task in tasks]
    assert [verdict.items for verdict in verdicts] == [()] * len(tasks)
    assert all(verdict.dropped[0].reason for verdict in verdicts)

    await workspace.stones.finish(await workspace.stones.begin([(line.id, line.text)]))
    await workspace.capturing().messages.capture(ADDRESS)
    assert workspace.said() == []


async def test_text_forgotten_during_capture_is_dropped(workspace: CaptureWorkspace) -> None:
    line = (await workspace.capturing().messages.dry_run(ADDRESS)).items[0].line()
    book = workspace.book

    async def book_of_later(_seconds: float = 0) -> Book:
        await workspace.stones.finish(await workspace.stones.begin([(line.id, line.text)]))
        return await book()

    workspace.book = book_of_later  # type: ignore[method-assign]  # forgotten while capture waits for the book
    done = await workspace.capturing().messages.capture(ADDRESS)
    assert (workspace.said(), done.retention) == ([], None)
    assert [one.reason for one in done.verdict.dropped] == [SkipReason.FORGOTTEN]


async def test_read_only_memory_captures_nothing(workspace: CaptureWorkspace) -> None:
    workspace.is_read_only = True

    with pytest.raises(Denied):
        await workspace.capturing().messages.capture(ADDRESS)
    assert workspace.said() == []


async def test_failure_is_stored_as_memory_of_the_tool(workspace: CaptureWorkspace) -> None:
    await workspace.capturing().messages.capture(replace(ADDRESS, text="", event=TIMED_OUT))

    ((_, line),) = workspace.lines()
    assert (line.kind, line.text, line.attributes.provenance) == ("failure", "browser: timed out", "tool")


async def test_text_beside_a_failure_is_stored_too(workspace: CaptureWorkspace) -> None:
    capturing = workspace.capturing()
    assert capturing.submit(replace(ADDRESS, event=TIMED_OUT))

    async with at_work(capturing):
        await eventually_async(lambda: capturing.is_idle)
    assert sorted(workspace.said()) == ["I live in Graz.", "browser: timed out"]


async def test_waiting_messages_are_stored_at_stop(workspace: CaptureWorkspace) -> None:
    capturing = workspace.capturing()
    running = asyncio.ensure_future(capturing.run())
    taken = [capturing.submit(replace(ADDRESS, text=f"I like town{n}.")) for n in range(5)]
    # during the first one
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])

    assert all(taken)
    assert sorted(workspace.said()) == [f"I like town{n}." for n in range(5)]


async def test_stored_message_is_pending_until_captured(workspace: CaptureWorkspace) -> None:
    places = [MessagePlace("main", "s", seq) for seq in range(1, 4)]
    killed = workspace.capturing()
    tasks = [replace(ADDRESS, text=text, place=place) for text, place in zip(STATED, places, strict=True)]
    assert [await killed.accept(task) for task in tasks] == [True] * 3
    assert [await killed.accept(task) for task in tasks] == [True] * 3, "sent again, it is still in line"
    assert killed.pending == 3

    capturing = workspace.capturing()
    assert [one.place for one in await capturing.queue.pending()] == places[:2], "the third states nothing"
    async with at_work(capturing):
        assert await capturing.accept(tasks[0])
        await eventually_async(lambda: capturing.is_idle)
        assert not await capturing.accept(tasks[0]), "it is processed"
        assert [one.place for one in await capturing.queue.pending()] == [places[1]]
    await workspace.ledger.forget_session("main", "s")
    assert await workspace.capturing().queue.pending() == []
    assert workspace.said() == [STATED[0]]


async def test_messages_of_recreated_session_are_captured(workspace: CaptureWorkspace) -> None:
    first = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    capturing = workspace.capturing()
    async with at_work(capturing):
        assert await capturing.accept(first)
        await eventually_async(lambda: capturing.is_idle)
        assert not await capturing.accept(first)
        assert await capturing.accept(replace(first, text="I like pears.")), "other words at the same place"
        await eventually_async(lambda: capturing.is_idle)

        drop_remembered_texts()

        assert await capturing.accept(replace(first, text="I like pears.")), "said before in a session that is gone"
        await eventually_async(lambda: capturing.is_idle)
    assert sorted(workspace.said()) == ["I like pears.", "I live in Graz."]


async def test_message_of_forgotten_session_keeps_new_one_pending(workspace: CaptureWorkspace) -> None:
    old = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    new = replace(old, text="I like pears.")
    capturing = workspace.capturing()
    assert await capturing.accept(old)
    await workspace.ledger.forget_session("main", "s")
    assert await capturing.accept(new)
    capturing.queue.end(old, is_done=True)
    await capturing.queue.delete_processed()

    assert capturing.queue.is_in_line(new.place)
    assert [one.place for one in await workspace.capturing().queue.pending()] == [new.place]


async def test_message_that_failed_to_capture_stays_pending(workspace: CaptureWorkspace) -> None:
    log = workspace.folder / "memory" / "2026-11-18.md"
    log.mkdir()
    task = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    capturing = workspace.capturing()
    async with at_work(capturing):
        assert await capturing.accept(task)
        await eventually_async(lambda: capturing.is_idle)
        assert [one.place for one in await capturing.queue.pending()] == [task.place]
        log.rmdir()
        assert await capturing.accept(task)
        await eventually_async(lambda: capturing.is_idle)
    assert await capturing.queue.pending() == []
    assert workspace.said() == ["I live in Graz."]


async def test_interrupted_delete_of_processed_is_repeated(workspace: CaptureWorkspace) -> None:
    task, queue = replace(ADDRESS, place=MessagePlace("main", "s", 1)), workspace.capturing().queue
    assert await queue.note(task)
    queue.begin(task)
    queue.end(task, is_done=True)
    dropping = asyncio.ensure_future(queue.delete_processed())
    await asyncio.sleep(0)
    dropping.cancel()
    await asyncio.wait([dropping])
    await queue.delete_processed()
    assert await workspace.capturing().queue.pending() == []


async def test_message_that_kills_every_daemon_is_given_up(workspace: CaptureWorkspace) -> None:
    place = MessagePlace("main", "s", 1)
    await workspace.capturing().accept(replace(ADDRESS, place=place))
    for _ in range(TRIES_MAX):
        started = workspace.capturing().queue
        assert [one.place for one in await started.pending()] == [place]
        await started.take_up(place)
        await started.take_up(place)

    assert await workspace.capturing().queue.pending() == []


async def test_statement_removed_by_its_owner_is_not_captured_again(workspace: CaptureWorkspace) -> None:
    log = workspace.folder / "memory" / "2026-11-18.md"
    outcome = await workspace.capturing().messages.capture(ADDRESS)
    assert outcome.retention is not None
    before, later = log.read_text(), NOON.replace(day=20)
    log.write_text(before.replace("I live in Graz.", "I lived in Graz."))
    again = replace(ADDRESS, text="i live in graz! I like pears.", at=later)
    assert {one.text: one.reason for one in (await workspace.capturing().messages.dry_run(again)).dropped} == {
        "i live in graz!": SkipReason.TAKEN_BACK
    }
    await workspace.capturing().messages.capture(again)
    assert sorted(workspace.said()) == ["I like pears.", "I lived in Graz."]

    log.write_text(before)
    await workspace.capturing().messages.capture(again)
    assert [path[7:17] for path, line in workspace.lines() if "live" in line.text] == ["2026-11-18", "2026-11-20"]


async def test_flood_is_bounded_and_first_messages_are_kept(
    workspace: CaptureWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoryd.memory.capture.capturing.TASKS_MAX", 30)
    capturing = workspace.capturing()
    taken = [capturing.submit(replace(ADDRESS, text=f"I like town{n}.")) for n in range(100)]
    assert sum(taken) == 30
    assert capturing.refused == 70

    async with at_work(capturing):
        await eventually_async(lambda: capturing.is_idle)
    assert set(workspace.said()) == {f"I like town{n}." for n in range(30)}


GOOD = '{"items": [{"kind": "preference", "text": "The user likes hiking near Graz.", "confidence": 0.9}]}'
BAD = [
    '{"items": [{"kind": "preference", "text": "The user likes hiking near Graz.", "confidence": 0.4}]}',
    '{"items": [{"kind": "preference", "text": "用户喜欢在格拉茨徒步。", "confidence": 0.9}]}',
    '{"items": [{"kind": "fact", "text": "The user owns a boat.", "confidence": 0.9}]}',
    '{"items": [{"kind": "fact", "text": "I like hiking near Graz.", "confidence": 0.9}]}',
]


OURS = "My friends and I like hiking near Graz."
"""Matches no form."""
ALSO_OURS = "We like hiking near Graz."
"""Matches no form, also beside a statement."""


async def test_model_reads_only_what_the_forms_leave(workspace: CaptureWorkspace) -> None:
    workspace.model = ScriptedText(GOOD)
    await workspace.capturing().messages.capture(
        replace(ADDRESS, text=f"I live in Linz. {ALSO_OURS} My key is sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2.")
    )

    assert workspace.said() == ["I live in Linz.", "The user likes hiking near Graz."]
    assert ALSO_OURS in workspace.model.seen[0]
    assert "a1B2c3" not in workspace.model.seen[0]
    assert "Linz" not in workspace.model.seen[0]


async def test_statement_that_matches_a_form_needs_no_model(workspace: CaptureWorkspace) -> None:
    workspace.model = ScriptedText('{"items": []}')
    await workspace.capturing().messages.capture(ADDRESS)

    assert workspace.said() == ["I live in Graz."]
    assert workspace.model.seen == []


@pytest.mark.parametrize("answer", BAD)
async def test_unsupported_model_item_is_dropped(workspace: CaptureWorkspace, answer: str) -> None:
    workspace.model = ScriptedText(answer)
    verdict = await workspace.capturing().messages.dry_run(replace(ADDRESS, text=OURS))

    assert verdict.items == ()
    assert [item.form for item in verdict.dropped] == ["text model"]


async def test_echo_is_not_shown_to_the_model(workspace: CaptureWorkspace) -> None:
    workspace.model = ScriptedText(GOOD)
    workspace.delivered.note("main", KEY, [ALSO_OURS])
    said = f"I live in Linz. {ALSO_OURS} We like the opera in Vienna."
    await workspace.capturing().messages.capture(replace(ADDRESS, text=said))

    assert workspace.model.seen
    assert "hiking" not in "".join(workspace.model.seen)
    assert workspace.said() == ["I live in Linz."], "the other item does not follow from what the model saw"


async def test_messages_beyond_model_limit_use_forms_only(workspace: CaptureWorkspace) -> None:
    model = workspace.model = ScriptedText(GOOD)
    model.is_free.clear()
    capturing = workspace.capturing()
    for number in range(IN_FLIGHT + 3):
        assert capturing.submit(replace(ADDRESS, text=f"I like town{number}. {ALSO_OURS}"))
    async with at_work(capturing):
        await eventually_async(lambda: capturing.pending == len(model.seen) == IN_FLIGHT)
        assert len(workspace.said()) == 3
        model.is_free.set()
        await eventually_async(lambda: capturing.is_idle)

    assert len(model.seen) == IN_FLIGHT
    assert sorted(workspace.said()) == [
        *(f"I like town{number}." for number in range(IN_FLIGHT + 3)),
        "The user likes hiking near Graz.",
    ]


async def test_forms_decide_when_model_answer_is_invalid(workspace: CaptureWorkspace) -> None:
    workspace.model = ScriptedText('{"items": [')
    await workspace.capturing().messages.capture(replace(ADDRESS, text=f"I live in Graz. {ALSO_OURS}"))

    assert workspace.said() == ["I live in Graz."]


async def test_seventh_item_is_dropped(workspace: CaptureWorkspace) -> None:
    words = ["hiking", "rowing", "skiing", "chess", "tea", "jazz", "opera"]
    items = ", ".join(f'{{"kind": "preference", "text": "The user likes {w}.", "confidence": 0.9}}' for w in words)
    workspace.model = ScriptedText(f'{{"items": [{items}]}}')
    verdict = await workspace.capturing().messages.dry_run(
        replace(ADDRESS, text=f"My friends and I like {', '.join(words)}.")
    )

    assert len(verdict.items) == 6


async def test_statements_of_previous_ledger_are_found_and_dropped(
    workspace: CaptureWorkspace, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    await workspace.stated.note(["I live in Graz."])
    own, name = Ledger(tmp_path / "state" / "ledger-b.sqlite", executor), str(workspace.folder)
    former = StatementHashes(RetainedHashes(workspace.ledger, name), ShownSpanRows(workspace.ledger, name).key_so_far)
    stated = StatementHashes(RetainedHashes(own, name), ShownSpanRows(own, name).key, [former])
    await stated.note(["I live in Linz."])
    assert await stated.among(["I live in Graz.", "I live in Linz.", "I live in Wels."]) == {
        "I live in Graz.",
        "I live in Linz.",
    }
    await stated.drop(["I live in Graz."])
    assert not await workspace.stated.among(["I live in Graz."])
    await own.close()


async def test_reading_statements_creates_no_ledger(workspace: CaptureWorkspace) -> None:
    name = str(workspace.folder)
    asked = StatementHashes(RetainedHashes(workspace.ledger, name), ShownSpanRows(workspace.ledger, name).key_so_far)
    assert not await asked.among(["I live in Graz."])
    assert not workspace.ledger.path.exists()
