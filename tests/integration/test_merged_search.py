"""Notes and conversations in one answer: two real indexes, each asked if the question wants it."""

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
class TwoIndexes:
    """An index of notes and one of conversations, with a search over both."""

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
async def indexes(tmp_path: Path) -> AsyncIterator[TwoIndexes]:
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
        yield TwoIndexes(notes, talks, Counted(backends[0]), Counted(backends[1]))
        for database in databases:
            await database.close()


def cited(answer: SearchAnswer) -> list[str]:
    return [str(hit.citation) for hit in answer.result.hits]


async def test_better_answer_of_both_indexes_comes_first(indexes: TwoIndexes) -> None:
    answer = await indexes.answer("who repaired the boiler", BOTH)
    assert cited(answer)[:2] == ["session:main-20261018#Q2", "bank/boiler.md#L1-L3"]
    assert [hit.chunk.source for hit in answer.result.hits[:2]] == [Source.SESSIONS, Source.MEMORY]
    assert answer.result.arms[CONVERSATIONS] == Arm(ArmState.OK)
    assert answer.verdict is Verdict.ANSWERABLE
    assert answer.is_complete


@pytest.mark.parametrize(("sources", "asked"), [(NOTES, (1, 0)), (TALKS, (0, 1)), (BOTH, (1, 1)), (("",), (0, 0))])
async def test_only_requested_sources_are_searched(
    indexes: TwoIndexes, sources: Sequence[str], asked: tuple[int, int]
) -> None:
    answer = await indexes.answer("the heron at the weir", sources, limit=20)
    assert (len(indexes.of_notes.asked), len(indexes.of_talks.asked)) == asked
    assert indexes.caught_up == asked[0]
    assert {hit.chunk.source for hit in answer.result.hits} == {Source(one) for one in sources if one}
    assert (CONVERSATIONS in answer.result.arms) == bool(asked[1])
    # each index has one source, so a list of its files would be useless
    assert all(query.filters.is_empty for query in (*indexes.of_notes.asked, *indexes.of_talks.asked))


async def test_source_filter_in_the_question_applies(indexes: TwoIndexes) -> None:
    answer = await indexes.answer("source:sessions the heron at the weir", ())
    assert [hit.chunk.path for hit in answer.result.hits] == [LOG]
    empty = await indexes.answer("source:sessions heron", NOTES)
    assert (empty.result.hits, empty.reason) == ((), NO_SOURCE)


async def test_empty_lines_are_omitted_and_line_numbers_stay(indexes: TwoIndexes) -> None:
    (hit,) = (await indexes.answer("where does the heron stand, at the weir", TALKS)).result.hits
    snippet = hit.snippet
    assert snippet.text == f"User: a heron again\nAssistant: it stands at the weir\n\nSource: {hit.citation}"
    assert (snippet.start_line, snippet.end_line, snippet.lines) == (120, 125, (120, 125))
    assert str(hit.citation) == f"{LOG}#L120-L125"


async def test_conversations_have_their_own_noise_floors(indexes: TwoIndexes) -> None:
    answer = await indexes.answer("boiler", TALKS)
    assert answer.result.floors is None
    assert answer.result.conversations is not None
    assert (held := answer.result.conversations.floors) is not None
    assert answer.mode == "lexical"
    both_asked = (await indexes.answer("boiler", BOTH)).result
    assert both_asked.conversations is not None
    assert both_asked.floors is not None
    assert both_asked.floors != both_asked.conversations.floors == held


async def test_hits_beyond_the_limit_are_misses(indexes: TwoIndexes) -> None:
    answer = await indexes.answer("the heron at the weir", BOTH, limit=2)
    assert len(answer.result.hits) == len(answer.result.misses) == 2
    assert {hit.because for hit in answer.result.misses} == {"it is beyond maxResults"}
    everything = await indexes.answer("the heron at the weir", BOTH, limit=20)
    assert cited(everything)[:2] == cited(answer)


async def test_filters_apply_to_conversations(indexes: TwoIndexes) -> None:
    assert not (await indexes.answer("boiler", TALKS, since=SAID + timedelta(seconds=1))).result.hits
    assert (await indexes.answer("boiler", TALKS, since=SAID)).result.hits
    assert cited(await indexes.answer("the heron", BOTH, paths=("sessions/main",))) == [f"{LOG}#L120-L125"]
    assert cited(await indexes.answer("boiler", BOTH, paths=("session:main-20261018",))) == ["session:main-20261018#Q2"]


async def test_failing_conversations_leave_hits_of_notes(indexes: TwoIndexes) -> None:
    indexes.of_talks.fails = StoreUnavailable("the disk is full")
    answer = await indexes.answer("who repaired the boiler", BOTH)
    assert cited(answer)[0] == "bank/boiler.md#L1-L3"
    assert answer.result.arms[CONVERSATIONS] == Arm(ArmState.FAILED, "the disk is full")
    assert not answer.is_complete
    alone = await indexes.answer("boiler", TALKS)
    assert (alone.result.hits, alone.mode) == ((), "none")
    assert alone.reason == "conversations could not be searched: the disk is full"


async def test_late_conversations_leave_hits_of_notes(indexes: TwoIndexes) -> None:
    indexes.of_talks.hangs = True
    found = await indexes.found("boiler", BOTH, deadline=0.05)
    assert found.arms[CONVERSATIONS].state is ArmState.TIMEOUT
    indexes.of_talks.hangs = False
    assert [hit.chunk.path for hit in found.hits][:1] == ["bank/boiler.md"]


async def test_failing_notes_leave_hits_of_conversations(indexes: TwoIndexes) -> None:
    await indexes.notes.close()
    answer = await indexes.answer("who repaired the boiler", BOTH)
    assert cited(answer) == ["session:main-20261018#Q2"]
    assert answer.mode == "lexical"
    assert answer.result.arms["lexical"].state is ArmState.FAILED


async def test_reason_of_an_empty_answer_covers_both_sources(indexes: TwoIndexes) -> None:
    reason = (await indexes.answer("quetzal", BOTH)).reason
    assert reason == "nothing in the notes matches; nothing in the conversations matches"
    assert (await indexes.answer("quetzal", NOTES)).reason == "nothing in the notes matches"
    narrowed = (await indexes.answer("quetzal", BOTH, paths=("bank",))).reason
    assert narrowed == "nothing matches within the given sources, paths, dates, phrases and excluded words"


async def test_reason_names_setting_or_pending_work(indexes: TwoIndexes) -> None:
    indexes.standing = Arm(ArmState.PARTIAL, "3 transcripts are still being read")
    reading = "nothing in the conversations matches (3 transcripts are still being read)"
    assert (await indexes.answer("quetzal", TALKS)).reason == reading
    answer = await indexes.answer("boiler", TALKS)
    assert cited(answer)
    assert answer.result.arms[CONVERSATIONS] == indexes.standing
    indexes.standing = Arm(ArmState.OK, "transcripts are not read: …")
    nothing = "nothing in the conversations matches (transcripts are not read: …)"
    assert (await indexes.answer("quetzal", TALKS)).reason == nothing
    indexes.standing = NOT_INDEXED
    off = await indexes.answer("boiler", TALKS)
    assert (off.result.hits, off.is_complete) == ((), True)
    assert "set memory.qa.enabled" in (off.reason or "")
    assert "sessionMemory" in (off.reason or "")


async def test_agent_without_conversations_searches_notes(indexes: TwoIndexes) -> None:
    found = await indexes.asking(ConversationArm()).search(Query("boiler", filters=Filters(BOTH)))
    assert [hit.chunk.path for hit in found.hits][:1] == ["bank/boiler.md"]
    assert found.arms[CONVERSATIONS] == NOT_INDEXED
