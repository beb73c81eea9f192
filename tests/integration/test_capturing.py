"""Capture with real files and a real ledger: what is written, what never is, and what was told before."""

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
from memoryd.memory.llm import DistilledAnswer, Distiller
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
    """A text model that answers what a test wrote down."""

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
class Captured:
    """A workspace in which something is captured."""

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
            distiller=None if self.model is None else Distiller(self.model),
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
async def room(
    tmp_path: Path, executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Captured]:
    # what is accepted is to be noted, however slow the disk is
    monkeypatch.setattr("memoryd.memory.capture.queue.NOTE_SECONDS", SECONDS)
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    ledger = Ledger(tmp_path / "state" / "ledger.sqlite", executor)
    yield Captured(tmp_path / "ws", ledger, executor)
    await ledger.close()


async def test_statement_is_written_with_who_said_it_on_the_day_it_was_said(room: Captured) -> None:
    outcome = await room.capturing().messages.capture(ADDRESS)

    assert outcome.retention is not None
    assert outcome.retention.change.id
    ((path, line),) = room.lines()
    assert (path, line.text, line.attributes.provenance) == ("memory/2026-11-18.md", "I live in Graz.", "user")


async def test_what_an_agents_socket_says_pins_nothing_and_is_from_the_agent(room: Captured) -> None:
    own = replace(ADDRESS, text="Please call me Hal.")
    assert [one.is_pinned for one in (await room.capturing().messages.dry_run(own)).items] == [True]

    await room.capturing().messages.capture(replace(own, is_owners=False))

    ((_, line),) = room.lines()
    assert (line.attributes.is_pinned, line.attributes.importance, line.attributes.provenance) == (False, None, "agent")


async def test_same_again_is_written_on_another_day_alone(room: Captured) -> None:
    capturing = room.capturing()
    for task in (ADDRESS, ADDRESS, replace(ADDRESS, text="I live in Graz!"), replace(ADDRESS, at=NOON.replace(day=20))):
        await capturing.messages.capture(task)

    assert [path for path, _ in room.lines()] == ["memory/2026-11-18.md", "memory/2026-11-20.md"]
    assert len({line.id for _, line in room.lines()}) == 1


async def test_dry_run_writes_nothing(room: Captured) -> None:
    verdict = await room.capturing().messages.dry_run(ADDRESS)

    assert [item.form for item in verdict.items] == ["I live in"]
    assert room.said() == []


async def test_secrets_never_reach_a_note(room: Captured) -> None:
    token = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2"
    await room.capturing().messages.capture(replace(ADDRESS, text=f"Remember that the key is {token}. I live in Graz."))

    assert room.said() == ["I live in Graz."]


async def test_what_was_told_is_no_news_but_its_correction_is(room: Captured) -> None:
    room.delivered.note("main", KEY, ["My locker number is 4417 in hall B."])
    capturing = room.capturing()
    echo = replace(ADDRESS, text="My locker number is 4417 in hall B.")
    await capturing.messages.capture(echo)
    assert room.said() == []

    await capturing.messages.capture(replace(ADDRESS, text="My locker number is 8832 in hall B."))
    await capturing.messages.capture(replace(echo, session_key="agent:main:telegram:direct:other"))
    assert room.said() == ["My locker number is 8832 in hall B.", "My locker number is 4417 in hall B."]


async def test_what_a_message_recalls_itself_makes_it_no_echo(room: Captured) -> None:
    capturing = room.capturing()
    await capturing.messages.capture(ADDRESS)
    later = replace(ADDRESS, at=NOON.replace(day=19))
    assert capturing.submit(later)
    room.delivered.note("main", KEY, ["I live in Graz."])
    assert capturing.submit(replace(later, at=NOON.replace(day=20)))

    async with asyncio.timeout(60):
        running = asyncio.ensure_future(capturing.run())
        await eventually_async(lambda: capturing.is_idle)
        running.cancel()
    # the first is said again, so that it has a source more; the second repeats what was told before it
    assert [path for path, _ in room.lines()] == ["memory/2026-11-18.md", "memory/2026-11-19.md"]


async def test_later_statement_of_the_same_form_supersedes(room: Captured) -> None:
    capturing = room.capturing()
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

    book = await room.book()
    told = {
        book.memories[newer].line.text: [book.memories[one].line.text for one in older]
        for newer, older in book.superseded.items()
    }
    assert told == {"I work at Bosch.": ["I work at Tesla."], "我住在广州。": ["我住在上海。"]}


async def test_echoes_are_known_after_a_restart(room: Captured) -> None:
    room.delivered.note("main", KEY, ["I live in Graz."])
    assert await room.delivered.echoes("main", KEY, ["I live in Graz"])

    room.delivered = ShownSpans(ShownSpanRows(room.ledger, str(room.folder)))
    assert (await room.capturing().messages.dry_run(ADDRESS)).items == ()


async def test_echo_is_known_again_once_the_ledger_can_be_read(room: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    room.delivered.note("main", KEY, ["I live in Graz."])
    await room.delivered.echoes("main", KEY, ["Hello."])

    def refuse(*_: object) -> None:
        raise StoreError("the database is locked")

    for method in ("key", "of"):
        room.delivered = ShownSpans(ShownSpanRows(room.ledger, str(room.folder)))
        room.delivered.note("main", KEY, ["I like pears."])
        with monkeypatch.context() as broken:
            broken.setattr(ShownSpanRows, method, refuse)
            with pytest.raises(StoreError):
                await room.delivered.echoes("main", KEY, ["I live in Graz."])
        said = ["I live in Graz.", "I like pears."]
        assert await room.delivered.echoes("main", KEY, said) == set(said)


async def test_ten_rounds_of_recall_and_answer_give_no_echo(room: Captured) -> None:
    capturing = room.capturing()
    await capturing.messages.capture(ADDRESS)
    for number in range(10):
        told = room.said()
        room.delivered.note("main", KEY, told)
        for text in told:
            again = replace(ADDRESS, text=text, at=NOON.replace(day=19 + number))
            await capturing.messages.capture(again)

    assert room.said() == ["I live in Graz."]


async def test_forgotten_withheld_and_untrusted_words_are_not_kept(room: Captured) -> None:
    line = (await room.capturing().messages.dry_run(ADDRESS)).items[0].line()
    room.withheld = frozenset({"agent:main:telegram:direct:secret"})
    tasks = [
        replace(ADDRESS, session_key="agent:main:telegram:direct:secret"),
        replace(ADDRESS, role="tool"),
        replace(ADDRESS, role="system"),
        replace(ADDRESS, channel="cron"),
        replace(ADDRESS, session_key="agent:main:subagent:worker"),
        replace(ADDRESS, is_direct=False),
    ]
    verdicts = [await room.capturing().messages.dry_run(task) for task in tasks]
    assert [verdict.items for verdict in verdicts] == [()] * len(tasks)
    assert all(verdict.dropped[0].reason for verdict in verdicts)

    await room.stones.finish(await room.stones.begin([(line.id, line.text)]))
    await room.capturing().messages.capture(ADDRESS)
    assert room.said() == []


async def test_what_is_forgotten_while_a_message_is_captured_is_not_kept(room: Captured) -> None:
    line = (await room.capturing().messages.dry_run(ADDRESS)).items[0].line()
    book = room.book

    async def book_of_later(_seconds: float = 0) -> Book:
        await room.stones.finish(await room.stones.begin([(line.id, line.text)]))
        return await book()

    room.book = book_of_later  # type: ignore[method-assign]  # it is forgotten while the book is waited for
    done = await room.capturing().messages.capture(ADDRESS)
    assert (room.said(), done.retention) == ([], None)
    assert [one.reason for one in done.verdict.dropped] == [SkipReason.FORGOTTEN]


async def test_nothing_is_captured_where_nothing_may_be_written(room: Captured) -> None:
    room.is_read_only = True

    with pytest.raises(Denied):
        await room.capturing().messages.capture(ADDRESS)
    assert room.said() == []


async def test_failure_is_a_memory_of_the_tool(room: Captured) -> None:
    await room.capturing().messages.capture(replace(ADDRESS, text="", event=TIMED_OUT))

    ((_, line),) = room.lines()
    assert (line.kind, line.text, line.attributes.provenance) == ("failure", "browser: timed out", "tool")


async def test_what_is_said_beside_a_failure_is_kept_too(room: Captured) -> None:
    capturing = room.capturing()
    assert capturing.submit(replace(ADDRESS, event=TIMED_OUT))

    running = asyncio.ensure_future(capturing.run())
    await eventually_async(lambda: capturing.is_idle)
    running.cancel()
    assert sorted(room.said()) == ["I live in Graz.", "browser: timed out"]


async def test_what_waits_when_the_daemon_stops_is_kept(room: Captured) -> None:
    capturing = room.capturing()
    running = asyncio.ensure_future(capturing.run())
    taken = [capturing.submit(replace(ADDRESS, text=f"I like town{n}.")) for n in range(5)]
    # in the middle of the first one
    await asyncio.sleep(0)
    running.cancel()
    await asyncio.wait([running])

    assert all(taken)
    assert sorted(room.said()) == [f"I like town{n}." for n in range(5)]


@asynccontextmanager
async def at_work(capturing: Capturing) -> AsyncIterator[None]:
    loops = [asyncio.ensure_future(one()) for one in (capturing.run, *[capturing.run_distilling] * IN_FLIGHT)]
    try:
        yield
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.wait(loops)


async def test_message_whose_words_stand_is_owed_after_a_kill_and_until_it_is_captured(room: Captured) -> None:
    places = [MessagePlace("main", "s", seq) for seq in range(1, 4)]
    killed = room.capturing()
    tasks = [replace(ADDRESS, text=text, place=place) for text, place in zip(STATED, places, strict=True)]
    assert [await killed.accept(task) for task in tasks] == [True] * 3
    assert [await killed.accept(task) for task in tasks] == [True] * 3, "sent once more, it is in line still"
    assert killed.pending == 3

    capturing = room.capturing()
    assert [one.place for one in await capturing.queue.pending()] == places[:2], "the third states nothing"
    async with at_work(capturing):
        assert await capturing.accept(tasks[0])
        await eventually_async(lambda: capturing.is_idle)
        assert not await capturing.accept(tasks[0]), "it is worked off"
        assert [one.place for one in await capturing.queue.pending()] == [places[1]]
    await room.ledger.forget_session("main", "s")
    assert await room.capturing().queue.pending() == []
    assert room.said() == [STATED[0]]


async def test_messages_of_a_session_that_begins_anew_are_not_taken_for_those_of_the_old_one(room: Captured) -> None:
    first = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    capturing = room.capturing()
    async with at_work(capturing):
        assert await capturing.accept(first)
        await eventually_async(lambda: capturing.is_idle)
        assert not await capturing.accept(first)
        assert await capturing.accept(replace(first, text="I like pears.")), "other words at the same place"
        await eventually_async(lambda: capturing.is_idle)

        drop_remembered_texts()

        assert await capturing.accept(replace(first, text="I like pears.")), "what was said in a session that is gone"
        await eventually_async(lambda: capturing.is_idle)
    assert sorted(room.said()) == ["I like pears.", "I live in Graz."]


async def test_message_of_a_forgotten_session_does_not_end_the_wait_for_another(room: Captured) -> None:
    old = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    new = replace(old, text="I like pears.")
    capturing = room.capturing()
    assert await capturing.accept(old)
    await room.ledger.forget_session("main", "s")
    assert await capturing.accept(new)
    capturing.queue.end(old, is_done=True)
    await capturing.queue.delete_processed()

    assert capturing.queue.is_in_line(new.place)
    assert [one.place for one in await room.capturing().queue.pending()] == [new.place]


async def test_message_that_could_not_be_captured_is_owed_still(room: Captured) -> None:
    log = room.folder / "memory" / "2026-11-18.md"
    log.mkdir()
    task = replace(ADDRESS, place=MessagePlace("main", "s", 1))
    capturing = room.capturing()
    async with at_work(capturing):
        assert await capturing.accept(task)
        await eventually_async(lambda: capturing.is_idle)
        assert [one.place for one in await capturing.queue.pending()] == [task.place]
        log.rmdir()
        assert await capturing.accept(task)
        await eventually_async(lambda: capturing.is_idle)
    assert await capturing.queue.pending() == []
    assert room.said() == ["I live in Graz."]


async def test_note_whose_dropping_a_stop_breaks_off_is_dropped_by_what_runs_last(room: Captured) -> None:
    task, queue = replace(ADDRESS, place=MessagePlace("main", "s", 1)), room.capturing().queue
    assert await queue.note(task)
    queue.begin(task)
    queue.end(task, is_done=True)
    dropping = asyncio.ensure_future(queue.delete_processed())
    await asyncio.sleep(0)
    dropping.cancel()
    await asyncio.wait([dropping])
    await queue.delete_processed()
    assert await room.capturing().queue.pending() == []


async def test_message_that_ends_every_daemon_is_given_up(room: Captured) -> None:
    place = MessagePlace("main", "s", 1)
    await room.capturing().accept(replace(ADDRESS, place=place))
    for _ in range(TRIES_MAX):
        started = room.capturing().queue
        assert [one.place for one in await started.pending()] == [place]
        await started.take_up(place)
        await started.take_up(place)

    assert await room.capturing().queue.pending() == []


async def test_what_its_owner_took_back_is_not_captured_again(room: Captured) -> None:
    log = room.folder / "memory" / "2026-11-18.md"
    outcome = await room.capturing().messages.capture(ADDRESS)
    assert outcome.retention is not None
    before, later = log.read_text(), NOON.replace(day=20)
    log.write_text(before.replace("I live in Graz.", "I lived in Graz."))
    again = replace(ADDRESS, text="i live in graz! I like pears.", at=later)
    assert {one.text: one.reason for one in (await room.capturing().messages.dry_run(again)).dropped} == {
        "i live in graz!": SkipReason.TAKEN_BACK
    }
    await room.capturing().messages.capture(again)
    assert sorted(room.said()) == ["I like pears.", "I lived in Graz."]

    log.write_text(before)
    await room.capturing().messages.capture(again)
    assert [path[7:17] for path, line in room.lines() if "live" in line.text] == ["2026-11-18", "2026-11-20"]


async def test_flood_is_bounded_and_its_beginning_is_kept(room: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memoryd.memory.capture.capturing.TASKS_MAX", 30)
    capturing = room.capturing()
    taken = [capturing.submit(replace(ADDRESS, text=f"I like town{n}.")) for n in range(100)]
    assert sum(taken) == 30
    assert capturing.refused == 70

    async with asyncio.timeout(120):
        running = asyncio.ensure_future(capturing.run())
        await eventually_async(lambda: capturing.is_idle)
        running.cancel()
    assert set(room.said()) == {f"I like town{n}." for n in range(30)}


GOOD = '{"items": [{"kind": "preference", "text": "The user likes hiking near Graz.", "confidence": 0.9}]}'
BAD = [
    '{"items": [{"kind": "preference", "text": "The user likes hiking near Graz.", "confidence": 0.4}]}',
    '{"items": [{"kind": "preference", "text": "用户喜欢在格拉茨徒步。", "confidence": 0.9}]}',
    '{"items": [{"kind": "fact", "text": "The user owns a boat.", "confidence": 0.9}]}',
    '{"items": [{"kind": "fact", "text": "I like hiking near Graz.", "confidence": 0.9}]}',
]


OURS = "My friends and I like hiking near Graz."
"""Of no form that is kept without a model."""
ALSO_OURS = "We like hiking near Graz."
"""The same, and harmless beside a statement."""


async def test_model_reads_what_the_forms_leave(room: Captured) -> None:
    room.model = ScriptedText(GOOD)
    await room.capturing().messages.capture(
        replace(ADDRESS, text=f"I live in Linz. {ALSO_OURS} My key is sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2.")
    )

    assert room.said() == ["I live in Linz.", "The user likes hiking near Graz."]
    assert ALSO_OURS in room.model.seen[0]
    assert "a1B2c3" not in room.model.seen[0]
    assert "Linz" not in room.model.seen[0]


async def test_what_the_forms_keep_needs_no_model(room: Captured) -> None:
    room.model = ScriptedText('{"items": []}')
    await room.capturing().messages.capture(ADDRESS)

    assert room.said() == ["I live in Graz."]
    assert room.model.seen == []


@pytest.mark.parametrize("answer", BAD)
async def test_item_that_does_not_follow_is_dropped(room: Captured, answer: str) -> None:
    room.model = ScriptedText(answer)
    verdict = await room.capturing().messages.dry_run(replace(ADDRESS, text=OURS))

    assert verdict.items == ()
    assert [item.form for item in verdict.dropped] == ["text model"]


async def test_echo_is_not_shown_to_the_model(room: Captured) -> None:
    room.model = ScriptedText(GOOD)
    room.delivered.note("main", KEY, [ALSO_OURS])
    said = f"I live in Linz. {ALSO_OURS} We like the opera in Vienna."
    await room.capturing().messages.capture(replace(ADDRESS, text=said))

    assert room.model.seen
    assert "hiking" not in "".join(room.model.seen)
    assert room.said() == ["I live in Linz."], "the other follows from nothing that the model saw"


async def test_model_has_so_many_messages_at_once_and_of_the_others_the_rules_decide(room: Captured) -> None:
    model = room.model = ScriptedText(GOOD)
    model.is_free.clear()
    capturing = room.capturing()
    for number in range(IN_FLIGHT + 3):
        assert capturing.submit(replace(ADDRESS, text=f"I like town{number}. {ALSO_OURS}"))
    async with at_work(capturing):
        await eventually_async(lambda: capturing.pending == len(model.seen) == IN_FLIGHT)
        assert len(room.said()) == 3
        model.is_free.set()
        await eventually_async(lambda: capturing.is_idle)

    assert len(model.seen) == IN_FLIGHT
    assert sorted(room.said()) == [
        *(f"I like town{number}." for number in range(IN_FLIGHT + 3)),
        "The user likes hiking near Graz.",
    ]


async def test_rules_decide_where_the_answer_is_broken(room: Captured) -> None:
    room.model = ScriptedText('{"items": [')
    await room.capturing().messages.capture(replace(ADDRESS, text=f"I live in Graz. {ALSO_OURS}"))

    assert room.said() == ["I live in Graz."]


async def test_seventh_item_is_dropped(room: Captured) -> None:
    words = ["hiking", "rowing", "skiing", "chess", "tea", "jazz", "opera"]
    items = ", ".join(f'{{"kind": "preference", "text": "The user likes {w}.", "confidence": 0.9}}' for w in words)
    room.model = ScriptedText(f'{{"items": [{items}]}}')
    verdict = await room.capturing().messages.dry_run(
        replace(ADDRESS, text=f"My friends and I like {', '.join(words)}.")
    )

    assert len(verdict.items) == 6


async def test_what_was_stated_into_another_ledger_of_the_workspace_is_known_and_dropped(
    room: Captured, tmp_path: Path, executor: ThreadPoolExecutor
) -> None:
    await room.stated.note(["I live in Graz."])
    own, name = Ledger(tmp_path / "state" / "ledger-b.sqlite", executor), str(room.folder)
    former = StatementHashes(RetainedHashes(room.ledger, name), ShownSpanRows(room.ledger, name).key_so_far)
    stated = StatementHashes(RetainedHashes(own, name), ShownSpanRows(own, name).key, [former])
    await stated.note(["I live in Linz."])
    assert await stated.among(["I live in Graz.", "I live in Linz.", "I live in Wels."]) == {
        "I live in Graz.",
        "I live in Linz.",
    }
    await stated.drop(["I live in Graz."])
    assert not await room.stated.among(["I live in Graz."])
    await own.close()


async def test_asking_a_ledger_that_is_not_there_for_what_was_stated_makes_none(room: Captured) -> None:
    name = str(room.folder)
    asked = StatementHashes(RetainedHashes(room.ledger, name), ShownSpanRows(room.ledger, name).key_so_far)
    assert not await asked.among(["I live in Graz."])
    assert not room.ledger.path.exists()
