"""The word table: matches, statistics and filters."""

from datetime import UTC, datetime

from msgspec.structs import replace

from memoryd.domain.documents import RelativePath
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.text.dates import dates_in
from memoryd.store.index.database import Database
from memoryd.store.index.words import CandidateFilter, admitted_chunks, best_matches, holding, term_statistics
from tests.store.consistency import check_consistency
from tests.store.rows import note, notes_with, put_note, read

A, B = RelativePath("memory/a.md"), RelativePath("memory/b.md")
ALL = 1000
NOW = datetime(2026, 11, 23, tzinfo=UTC)


def asked(*terms: str) -> Question:
    return Question(" ".join(terms), terms=terms)


async def ids_of(database: Database, path: str) -> set[int]:
    return {row.id for row in (await database.documents.chunks(range(1, ALL))).values() if row.path == path}


class TestWords:
    """The operations."""

    async def test_chunk_with_all_terms_comes_first(self, database: Database) -> None:
        await put_note(database, A, "# One\n\nThe quetzal, the quetzal, the quetzal.\n")
        await put_note(database, B, "# Two\n\nThe ibex and the quetzal.\n")
        (one,), (two,) = await ids_of(database, A), await ids_of(database, B)
        found = await read(database, best_matches, asked("quetzal", "ibex"), ALL, CandidateFilter())
        assert list(found.bm25) == [two, one]
        assert found.levels.get(two, 0) > found.levels.get(one, 0) == 0
        assert all(score > 0 for score in found.bm25.values())

    async def test_rarest_words_of_a_long_message_are_chosen(self, database: Database) -> None:
        await put_note(database, A, "# One\n\nThe quetzal and the ibex, the heron, running.\n")
        await put_note(database, B, "# Two\n\nThe ibex, the heron.\n")
        long = parse_question("unknown heron ibex runs quetzal strange", Filters(), NOW, limit=2)
        assert (await database.words.weighed(long)).terms == ("runs", "quetzal")
        hidden = await ids_of(database, A)
        assert (await database.words.weighed(long, hidden)).terms == ("heron", "ibex"), "as if there were none"
        short = parse_question("unknown heron", Filters(), NOW)
        assert await database.words.weighed(short) is short

    async def test_limit_bounds_the_matches(self, database: Database) -> None:
        await put_note(database, A, note("rent", "boiler"))
        everything = list((await read(database, best_matches, asked("item"), ALL, CandidateFilter())).bm25)
        assert len(everything) > 1
        assert list((await read(database, best_matches, asked("item"), 1, CandidateFilter())).bm25) == everything[:1]

    async def test_filter_applies_before_the_limit(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, B, note("attic"))
        chunks = {path: await ids_of(database, path) for path in (A, B)}
        for admitted, path in (
            (CandidateFilter(without_document=A), B),
            (CandidateFilter(required=(("attic", "item"),)), B),
            (CandidateFilter(forbidden=(("attic", "item"),)), A),
            (CandidateFilter(files=(1,)), A),
        ):
            found = await read(database, best_matches, asked("item"), ALL, admitted)
            assert found.bm25.keys() == chunks[path], admitted
            assert await read(database, admitted_chunks, chunks[A] | chunks[B], admitted) == chunks[path], admitted

    async def test_holding_receives_text_heading_and_path(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, B, note("attic"))
        both = await ids_of(database, A) | await ids_of(database, B)
        assert await read(database, holding, both, lambda texts: texts[2] == B) == await ids_of(database, B)
        assert await read(database, holding, both, lambda texts: texts[1] == "rent") == await ids_of(database, A)
        assert await read(database, holding, both, lambda texts: "costs 30 crowns" in texts[0])

    async def test_statistics_have_terms_per_chunk_and_rarity(self, database: Database) -> None:
        for path, topic in ((A, "rent"), (B, "attic"), ("memory/c.md", "garden"), ("memory/d.md", "boiler")):
            await put_note(database, path, note(topic))
        chunks = {path: await ids_of(database, path) for path in (A, B)}
        statistics = await read(
            database, term_statistics, asked("attic", "item", "unknown"), sorted(chunks[A] | chunks[B])
        )
        assert statistics.terms == {
            **dict.fromkeys(chunks[A], frozenset({"item"})),
            **dict.fromkeys(chunks[B], frozenset({"attic", "item"})),
        }
        assert statistics.idf.chunks == (await database.documents.counts()).chunks
        assert statistics.idf.weights["unknown"] > statistics.idf.weights["attic"] > statistics.idf.weights["item"] > 0
        usual = await read(database, term_statistics, asked("attic"), [], commonness=lambda _term: 0.1)
        assert usual.idf.weights["attic"] < statistics.idf.weights["attic"]
        assert statistics.idf.known == {"attic", "item"}

    async def test_stop_word_with_stem_of_a_term_is_not_that_term(self, database: Database) -> None:
        await put_note(database, A, "# Day\n\nHe lost his hat.\n")
        await put_note(database, B, "# Day\n\nSay Hi to Ada.\n")
        chunks = {path: await ids_of(database, path) for path in (A, B)}
        statistics = await read(database, term_statistics, asked("hi"), sorted(chunks[A] | chunks[B]))
        assert statistics.terms == dict.fromkeys(chunks[B], frozenset({"hi"}))

    async def test_daily_note_matches_the_date_of_a_question(self, database: Database) -> None:
        days = ("memory/2023-05-07.md", "memory/2023-05-08.md", "memory/2023-07-05.md", "memory/c.md")
        for path in days:
            await put_note(database, path, note("rent"))
        chunks = {path: await ids_of(database, path) for path in days}
        question = replace(asked("rent", "7", "may", "2023"), dates=dates_in("7 May 2023"))
        found = await read(database, best_matches, question, ALL, CandidateFilter())
        assert found.order()[: len(chunks[days[0]])] == sorted(chunks[days[0]])
        assert set(found.levels) == chunks[days[0]]
        statistics = await read(database, term_statistics, question, list(found.bm25))
        assert {chunk for chunk in found.bm25 if "may" in statistics.terms[chunk]} == chunks[days[0]]
        assert statistics.idf.known == {"rent", "7", "may", "2023"}

    async def test_adjacent_words_of_question_raise_the_score(self, database: Database) -> None:
        texts = ["The group had support of all who came.", "The support group had all who came here."]
        texts += ["Support was asked for.", "The group was away.", "Boats and a shed.", "Rent of the attic."]
        for number, text in enumerate(texts):
            await put_note(database, RelativePath(f"memory/{number}.md"), f"# Day\n\n{text}\n")
        apart, beside = [*await ids_of(database, "memory/0.md"), *await ids_of(database, "memory/1.md")]
        plain = asked("support", "group", "came")
        without = await read(database, best_matches, plain, ALL, CandidateFilter())
        question = replace(plain, neighbours=(("support", "group"), ("boat", "nowhere")))
        found = await read(database, best_matches, question, ALL, CandidateFilter())
        assert found.bm25[beside] > without.bm25[beside]
        assert {**found.bm25, beside: 0.0} == {**without.bm25, beside: 0.0}
        assert list(found.bm25)[:2] == [beside, apart]
        together = replace(plain, neighbours=(("support", "came"), ("had", "support")))
        assert (await read(database, best_matches, together, ALL, CandidateFilter())).bm25[apart] > without.bm25[apart]

    async def test_words_usually_adjacent_raise_no_score(self, database: Database) -> None:
        for number in range(4):
            await put_note(database, RelativePath(f"memory/{number}.md"), f"# {number}\n\nThe boat shed was open.\n")
        plain = asked("boat", "shed")
        without = await read(database, best_matches, plain, ALL, CandidateFilter())
        found = await read(
            database, best_matches, replace(plain, neighbours=(("boat", "shed"),)), ALL, CandidateFilter()
        )
        assert found == without

    async def test_removed_note_is_not_found_and_index_stays_sound(self, database: Database) -> None:
        await put_note(database, A, note("rent"))
        await put_note(database, B, note("attic"))
        await database.documents.remove([B])
        assert await notes_with(database, "attic") == set()
        await database.words.check()
        await database.words.drop_deleted()
        await database.words.check()
        assert await notes_with(database, "rent") == {A}
        await database.write(check_consistency)
