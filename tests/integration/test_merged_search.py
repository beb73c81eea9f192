"""Notes and conversations as one answer: two real indexes, asked as the question wants it."""

import asyncio
from collections.abc import AsyncIterator, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from memoryd.domain.documents import RelativePath, Source, transcript_path
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.fusion import Weights
from memoryd.embed.current import CurrentEmbedder, ModelPhase
from memoryd.errors import StoreUnavailable
from memoryd.index.pending import Spaces
from memoryd.search.answer import SearchAnswer, SearchService
from memoryd.search.builtin import BuiltinSearch
from memoryd.search.combined import NOT_INDEXED, ConversationArm
from memoryd.search.protocol import (
    CONVERSATIONS,
    NO_SOURCE,
    Arm,
    ArmState,
    DiskFollower,
    Freshness,
    Query,
    SearchBackend,
    SearchResult,
)
from memoryd.search.ranking import SearchSettings
from memoryd.store.index.database import Database
from tests.store.conversations import SAID, put_part, put_turns
from tests.store.rows import put_note

BOTH, NOTES, TALKS = ("memory", "sessions"), ("memory",), ("sessions",)
LOG = transcript_path("main", "0d9f.jsonl")


@dataclass
class Counted:
    """A backend that counts its questions, and may fail or hang."""

    inner: SearchBackend
    asked: list[Query] = field(default_factory=list)
    fails: Exception | None = None
    hangs: bool = False

    async def search(self, query: Query) -> SearchResult:
        self.asked.append(query)
        if self.fails:
            raise self.fails
        if self.hangs:
            await asyncio.Event().wait()
        return await self.inner.search(query)


async def never(_paths: Set[RelativePath], _seconds: float) -> bool:
    return False


@dataclass
class Both:
    """An index of notes and one of conversations, and what asks them."""

    notes: Database
    talks: Database
    of_notes: Counted
    of_talks: Counted
    standing: Arm = field(default_factory=lambda: Arm(ArmState.OK))
    caught_up: int = 0

    @property
    def service(self) -> SearchService:
        return self.asking(ConversationArm(self.of_talks, self._standing))

    def asking(self, conversations: ConversationArm) -> SearchService:
        return SearchService(
            notes=self.of_notes,
            conversations=conversations,
            weights=Weights(),
            disk=DiskFollower(
                freshness=lambda: Freshness(files=1),
                on_search=lambda: None,
                catch_up=self._catch_up,
                rescan=never,
                missing=frozenset,
                seconds=0.1,
            ),
        )

    async def found(self, text: str, sources: Sequence[str], limit: int = 6, deadline: float = 5.0) -> SearchResult:
        return await self.service.search(Query(text, limit, deadline=deadline, filters=Filters(tuple(sources))))

    async def answer(self, text: str, sources: Sequence[str], limit: int = 6, **filters: object) -> SearchAnswer:
        asked = Filters(tuple(sources), **filters)  # type: ignore[arg-type]  # the fields of Filters
        return await self.service.answer(Query(text, limit, filters=asked, is_explained=True), has_citations=True)

    async def _standing(self, _seconds: float) -> Arm:
        return self.standing

    async def _catch_up(self, _seconds: float) -> int:
        self.caught_up += 1
        return 0


@pytest.fixture
async def both(tmp_path: Path) -> AsyncIterator[Both]:
    slot = CurrentEmbedder(lambda _state: None)
    await slot.set(ModelPhase.OFF)
    with ThreadPoolExecutor(6) as executor:
        databases = [Database(path=tmp_path / f"{name}.sqlite", executor=executor) for name in ("notes", "talks")]
        for database in databases:
            await database.open()
        backends = [
            BuiltinSearch(database=one, spaces=Spaces(one), slot=slot, settings=SearchSettings()) for one in databases
        ]
        notes, talks = databases
        for number in range(12):
            await put_note(notes, f"memory/walk-{number:02}.md", f"# Walk {number}\n\nSaw a heron at the weir.\n")
        await put_note(notes, "bank/boiler.md", "# Boiler\n\nThe boiler was serviced by Anna.\n")
        await put_turns(
            talks,
            "main-20261018",
            [("what about the roof", ""), ("who repaired the boiler", "Anna repaired the boiler in May."), ("why", "")],
        )
        await put_part(talks, LOG, "User: a heron again\n\n\n\n\nAssistant: it stands at the weir\n", first_line=120)
        yield Both(notes, talks, Counted(backends[0]), Counted(backends[1]))
        for database in databases:
            await database.close()


def cited(answer: SearchAnswer) -> list[str]:
    return [str(hit.citation) for hit in answer.result.hits]


async def test_both_are_asked_and_the_better_answer_comes_first(both: Both) -> None:
    answer = await both.answer("who repaired the boiler", BOTH)
    assert cited(answer)[:2] == ["session:main-20261018#Q2", "bank/boiler.md#L1-L3"]
    assert [hit.chunk.source for hit in answer.result.hits[:2]] == [Source.SESSIONS, Source.MEMORY]
    assert answer.result.arms[CONVERSATIONS] == Arm(ArmState.OK)
    assert answer.verdict is Verdict.ANSWERABLE
    assert answer.is_complete


@pytest.mark.parametrize(("sources", "asked"), [(NOTES, (1, 0)), (TALKS, (0, 1)), (BOTH, (1, 1)), (("",), (0, 0))])
async def test_only_what_the_question_asks_for_is_asked(
    both: Both, sources: Sequence[str], asked: tuple[int, int]
) -> None:
    answer = await both.answer("the heron at the weir", sources, limit=20)
    assert (len(both.of_notes.asked), len(both.of_talks.asked)) == asked
    assert both.caught_up == asked[0]
    assert {hit.chunk.source for hit in answer.result.hits} == {Source(one) for one in sources if one}
    assert (CONVERSATIONS in answer.result.arms) == bool(asked[1])
    # each index holds one source: a list of its files would cost for nothing
    assert all(query.filters.is_empty for query in (*both.of_notes.asked, *both.of_talks.asked))


async def test_sources_in_the_question_count(both: Both) -> None:
    answer = await both.answer("source:sessions the heron at the weir", ())
    assert [hit.chunk.path for hit in answer.result.hits] == [LOG]
    empty = await both.answer("source:sessions heron", NOTES)
    assert (empty.result.hits, empty.reason) == ((), NO_SOURCE)


async def test_lines_that_say_nothing_are_left_out_and_numbers_stay_true(both: Both) -> None:
    (hit,) = (await both.answer("where does the heron stand, at the weir", TALKS)).result.hits
    told = hit.snippet
    assert told.text == f"User: a heron again\nAssistant: it stands at the weir\n\nSource: {hit.citation}"
    assert (told.start_line, told.end_line, told.lines) == (120, 125, (120, 125))
    assert str(hit.citation) == f"{LOG}#L120-L125"


async def test_conversation_alone_tells_what_it_was_held_against(both: Both) -> None:
    answer = await both.answer("boiler", TALKS)
    assert answer.result.floors is None
    assert answer.result.conversations is not None
    assert (held := answer.result.conversations.floors) is not None
    assert answer.mode == "lexical"
    both_asked = (await both.answer("boiler", BOTH)).result
    assert both_asked.conversations is not None
    assert both_asked.floors is not None
    assert both_asked.floors != both_asked.conversations.floors == held


async def test_what_does_not_fit_is_a_miss(both: Both) -> None:
    answer = await both.answer("the heron at the weir", BOTH, limit=2)
    assert len(answer.result.hits) == len(answer.result.misses) == 2
    assert {hit.because for hit in answer.result.misses} == {"it is beyond maxResults"}
    everything = await both.answer("the heron at the weir", BOTH, limit=20)
    assert cited(everything)[:2] == cited(answer)


async def test_filters_hold_for_conversations(both: Both) -> None:
    assert not (await both.answer("boiler", TALKS, since=SAID + timedelta(seconds=1))).result.hits
    assert (await both.answer("boiler", TALKS, since=SAID)).result.hits
    assert cited(await both.answer("the heron", BOTH, paths=("sessions/main",))) == [f"{LOG}#L120-L125"]
    assert cited(await both.answer("boiler", BOTH, paths=("session:main-20261018",))) == ["session:main-20261018#Q2"]


async def test_conversations_that_fail_cost_their_part_alone(both: Both) -> None:
    both.of_talks.fails = StoreUnavailable("the disk is full")
    answer = await both.answer("who repaired the boiler", BOTH)
    assert cited(answer)[0] == "bank/boiler.md#L1-L3"
    assert answer.result.arms[CONVERSATIONS] == Arm(ArmState.FAILED, "the disk is full")
    assert not answer.is_complete
    alone = await both.answer("boiler", TALKS)
    assert (alone.result.hits, alone.mode) == ((), "none")
    assert alone.reason == "conversations could not be searched: the disk is full"


async def test_conversations_that_are_late_cost_their_part_alone(both: Both) -> None:
    both.of_talks.hangs = True
    found = await both.found("boiler", BOTH, deadline=0.05)
    assert found.arms[CONVERSATIONS].state is ArmState.TIMEOUT
    both.of_talks.hangs = False
    assert [hit.chunk.path for hit in found.hits][:1] == ["bank/boiler.md"]


async def test_notes_that_fail_cost_their_part_alone(both: Both) -> None:
    await both.notes.close()
    answer = await both.answer("who repaired the boiler", BOTH)
    assert cited(answer) == ["session:main-20261018#Q2"]
    assert answer.mode == "lexical"
    assert answer.result.arms["lexical"].state is ArmState.FAILED


async def test_reason_covers_both_where_neither_finds_anything(both: Both) -> None:
    reason = (await both.answer("quetzal", BOTH)).reason
    assert reason == "nothing in the notes matches; nothing in the conversations matches"
    assert (await both.answer("quetzal", NOTES)).reason == "nothing in the notes matches"
    narrowed = (await both.answer("quetzal", BOTH, paths=("bank",))).reason
    assert narrowed == "nothing matches within the given sources, paths, dates, phrases and excluded words"


async def test_reason_says_what_to_set_or_to_wait_for(both: Both) -> None:
    both.standing = Arm(ArmState.PARTIAL, "3 transcripts are still being read")
    reading = "nothing in the conversations matches (3 transcripts are still being read)"
    assert (await both.answer("quetzal", TALKS)).reason == reading
    answer = await both.answer("boiler", TALKS)
    assert cited(answer)
    assert answer.result.arms[CONVERSATIONS] == both.standing
    both.standing = Arm(ArmState.OK, "transcripts are not read: …")
    nothing = "nothing in the conversations matches (transcripts are not read: …)"
    assert (await both.answer("quetzal", TALKS)).reason == nothing
    both.standing = NOT_INDEXED
    off = await both.answer("boiler", TALKS)
    assert (off.result.hits, off.is_complete) == ((), True)
    assert "set memory.qa.enabled" in (off.reason or "")
    assert "sessionMemory" in (off.reason or "")


async def test_agent_without_conversations_answers_from_notes(both: Both) -> None:
    found = await both.asking(ConversationArm()).search(Query("boiler", filters=Filters(BOTH)))
    assert [hit.chunk.path for hit in found.hits][:1] == ["bank/boiler.md"]
    assert found.arms[CONVERSATIONS] == NOT_INDEXED
