"""No cache of a function keeps the text of a forgotten memory."""

import ast
from collections.abc import Sequence

from memoryd.agents.retained.recall import StableMemories
from memoryd.agents.turns.turns import TurnUses
from memoryd.domain.memories.book import Book, Memory
from memoryd.domain.memories.bundle import BundlePart
from memoryd.domain.memories.capture.lines import memory_values, memory_words
from memoryd.domain.memories.kinds import Visibility
from memoryd.domain.memories.line import parse_line, parsed_line
from memoryd.domain.memories.recall_order import RankedCandidate
from memoryd.domain.memories.unasked.concepts import family_of, root_of
from memoryd.domain.ranking.calibration import Verdict
from memoryd.domain.ranking.snippets import fold
from memoryd.domain.sessions.making_turns import answer_words
from memoryd.memory.capture.capturing import ANSWER_CHARS, SESSIONS_MAX, LastTexts
from memoryd.memory.forgetting.planning import drop_remembered_texts
from memoryd.memory.recall.eligible import MemoryFacts
from memoryd.memory.recall.query import CheckedSource, Recalled, RecalledMemory
from memoryd.search.hits import ChunkEvidence
from memoryd.search.ranking import commonness
from tests.package_trees import TREES, nodes
from tests.unit.domain.memories.books import book_from

CACHE_TEXT = {
    "domain/memories/capture/lines.py": {"memory_values", "memory_words"},
    "domain/memories/capture/values.py": {"stem"},
    "domain/memories/line.py": {"parsed_line"},
    "domain/memories/unasked/concepts.py": {"family_of", "root_of"},
    "domain/ranking/snippets.py": {"fold"},
    "domain/sessions/making_turns.py": {"answer_words"},
    "search/ranking.py": {"commonness"},
}
CACHE_NO_TEXT = {
    "api/application.py": {"description"},
    "config/loading/keys.py": {"secret_paths"},
    "config/section.py": {"_docstrings_in"},
    "domain/memories/unasked/concepts.py": {"_frequent_roots", "_german", "_table", "_unspaced_words"},
    "domain/memories/unasked/form.py": {"weights_in"},
    "domain/ranking/filters.py": {"date_in_name"},
    "domain/text/languages.py": {"_counts"},
    "domain/text/markdown.py": {"_plain_loader"},
    "domain/text/words.py": {"_stemmer"},
    "embed/remote/http.py": {"tls"},
    "files/reading.py": {"_syscall", "has_openat2"},
    "files/writing.py": {"_call"},
    "models/source.py": {"_is_fit"},
    "search/ranking.py": {"_background"},
    "sessions/transcripts/reading.py": {"_keyed_hash"},
    "sessions/transcripts/folders.py": {"_read_generated"},
    "sidecar/process.py": {"_short_leash"},
    "store/connection.py": {"checksum_vfs"},
    "store/ledger/database.py": {"_empty_database"},
    "store/index/schema.py": {"_expected_tables"},
    "store/migrations.py": {"_tables_of"},
    "store/index/words.py": {"_as_set", "_as_json"},
    "web/rendering.py": {"_markdown", "static_file", "templates"},
}
"""They cache paths, patterns, commands, numbers, days, tables and classes."""
CACHE_DECORATORS = {"cache", "lru_cache", "functools.cache", "functools.lru_cache"}


def test_every_cached_function_is_listed() -> None:
    """Add a new one to what forgetting drops, or here to those that cache no text."""
    found = {
        (module, node.name)
        for module, tree in TREES.items()
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if CACHE_DECORATORS
        & {ast.unparse(used.func if isinstance(used, ast.Call) else used) for used in node.decorator_list}
    }
    known = {
        (module, name) for table in (CACHE_TEXT, CACHE_NO_TEXT) for module, names in table.items() for name in names
    }
    assert found == known


def test_forgetting_empties_the_caches_of_functions() -> None:
    answer_words("The quetzalcanary eats 3 figs on Monday")
    commonness("quetzalcanary")
    fold("The quetzalcanary eats 3 figs on Monday")
    parse_line("- W @Peter: The quetzalcanary eats 3 figs on Monday")
    root_of("quetzalcanary")
    family_of("quetzalcanary")
    memory_words("The quetzalcanary eats 3 figs on Monday", ())
    memory_values("The quetzalcanary eats 3 figs on Monday")
    caches = (answer_words, commonness, family_of, fold, memory_values, memory_words, parsed_line, root_of)
    assert len({cache.__name__ for cache in caches} & set().union(*CACHE_TEXT.values())) == len(caches)
    assert all(cache.cache_info().currsize for cache in caches)

    drop_remembered_texts()

    assert [cache.cache_info().currsize for cache in caches] == [0] * len(caches)


def test_forgetting_drops_the_last_answers_of_all_sessions() -> None:
    first, second = LastTexts(), LastTexts()
    for answers in (first, second):
        answers.note("one", "The quetzalcanary eats figs")
        answers.note("two", "It does")
    assert first.of("one") == second.of("one") == "The quetzalcanary eats figs"

    drop_remembered_texts()

    assert [answers.of(key) for answers in (first, second) for key in ("one", "two")] == [""] * 4
    first.note("one", "Figs are out of season")
    assert first.of("one") == "Figs are out of season"


def test_last_answers_are_limited_in_number_and_length() -> None:
    answers = LastTexts()
    answers.note("", "without a session")
    for number in range(SESSIONS_MAX + 1):
        answers.note(str(number), f"answer {number}")
    answers.note("1", "x" + "y" * ANSWER_CHARS)

    assert answers.of("") == answers.of("0") == ""
    assert answers.of("1") == "y" * ANSWER_CHARS


async def test_forgetting_drops_cached_parts_of_a_stable_block() -> None:
    book = book_from({"memory/2026-03-01.md": ["lesson: The quetzalcanary eats figs"]})
    facts = MemoryFacts().of(book)
    kept, visibility = StableMemories(), Visibility("main", None, True)
    first = await kept.of(facts, visibility)
    assert await kept.of(facts, visibility) is first

    drop_remembered_texts()

    assert await kept.of(facts, visibility) is not first
    assert await kept.of(facts, visibility) == first
    assert (await kept.of(MemoryFacts(), visibility)).stated == []


async def test_stable_block_is_cached_until_something_is_forgotten() -> None:
    facts = MemoryFacts().of(book_from({"memory/2026-03-01.md": ["lesson: The quetzalcanary eats figs"]}))
    kept, visibility = StableMemories(), Visibility("main", None, True)
    parts = await kept.of(facts, visibility)
    first = await kept.block(parts, [], visibility, budget=1_200)
    assert "quetzalcanary" in first.text
    assert await kept.block(parts, [], visibility, budget=1_200) is first
    assert await kept.block(parts, [], visibility, budget=1_300) is not first
    assert "Ada" in (await kept.block(parts, [BundlePart("SOUL.md", "Ada")], visibility, budget=1_300)).text
    last = await kept.block(parts, [], visibility, budget=1_200)

    drop_remembered_texts()

    assert await kept.block(parts, [], visibility, budget=1_200) is not last


async def test_forgetting_drops_the_questions_of_turns() -> None:
    book = book_from({"memory/2026-03-01.md": ["W: The quetzalcanary eats figs from the blue bowl"]})
    (memory,) = book.memories.values()
    counted = list[tuple[str, ...]]()
    recall = StandInRecall(book, counted)
    uses = TurnUses(recall)  # type: ignore[arg-type]  # it has the methods that are called

    for is_forgotten in (False, True):
        uses.note_shown("one", "what does it eat?", outcome_of(memory), at=9.0)
        if is_forgotten:
            drop_remembered_texts()
        await uses.note_answer("one", "Figs, from the blue bowl.", at=9.0)
        await uses.note_answer("two", "Figs, from the blue bowl.", at=9.0)

    assert counted == [("shown",), ("used", memory.id), ("shown",)]


class StandInRecall:
    """The recall of an agent, which records touches."""

    def __init__(self, book: Book, counted: list[tuple[str, ...]]) -> None:
        self.book = self
        self._book = book
        self._counted = counted

    async def current(self) -> Book:
        return self._book

    def touch(self, _outcome: Recalled, *, at: float, session: str, message: str) -> None:
        assert (at, session, message) == (9.0, "one", "what does it eat?")
        self._counted.append(("shown",))

    def touch_used(self, memories: Sequence[str], *, at: float, session: str) -> None:
        assert (at, session) == (9.0, "one")
        self._counted.append(("used", *memories))


def outcome_of(memory: Memory) -> Recalled:
    placed = RankedCandidate(1.0, {}, Verdict.WEAK, False, None)
    sources = tuple(map(CheckedSource, memory.sources))
    item = RecalledMemory(memory=memory, sources=sources, placed=placed, evidence=ChunkEvidence())
    assert not item.is_answer
    return Recalled(items=(item,))
