"""What functions remember between calls: no text of a memory outlives its forgetting in them."""

import ast

from memoryd.domain.memories.line import parse_line, parsed_line
from memoryd.domain.sessions.making_turns import answer_words
from memoryd.memory.capture.capturing import ANSWER_CHARS, SESSIONS_MAX, LastAnswers
from memoryd.memory.forgetting.planning import drop_remembered_texts
from memoryd.search.ranking import commonness
from tests.package_trees import TREES

HOLD_TEXT = {
    "domain/memories/line.py": {"parsed_line"},
    "domain/sessions/making_turns.py": {"answer_words"},
    "search/ranking.py": {"commonness"},
}
HOLD_NONE = {
    "domain/ranking/filters.py": {"date_in_name"},
    "embed/remote/http.py": {"tls"},
    "files/reading.py": {"_syscall", "has_openat2"},
    "files/writing.py": {"_call"},
    "models/source.py": {"_is_fit"},
    "qmd/collections.py": {"_compiled", "_alternatives"},
    "search/ranking.py": {"_background"},
    "sessions/transcripts/reading.py": {"_hashed"},
    "sessions/transcripts/folders.py": {"_listed_as_generated"},
    "store/connection.py": {"checksum_vfs"},
    "store/index/schema.py": {"_tables_we_make"},
    "store/migrations.py": {"_tables_of"},
    "store/index/words.py": {"_as_set", "_as_json"},
}
"""They hold paths, patterns, numbers, days and tables."""
REMEMBERING = {"cache", "lru_cache", "functools.cache", "functools.lru_cache"}


def test_every_function_that_remembers_is_known_to_hold_text_or_none() -> None:
    """Add a new one to what forgetting drops, or here to those that hold no text."""
    found = {
        (module, node.name)
        for module, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if REMEMBERING & {ast.unparse(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list}
    }
    known = {(module, name) for those in (HOLD_TEXT, HOLD_NONE) for module, names in those.items() for name in names}
    assert found == known


def test_none_holds_a_text_when_something_was_forgotten() -> None:
    answer_words("The quetzalcanary eats 3 figs on Monday")
    commonness("quetzalcanary")
    parse_line("- W @Peter: The quetzalcanary eats 3 figs on Monday")
    caches = (answer_words, commonness, parsed_line)
    assert len({cache.__name__ for cache in caches} & set().union(*HOLD_TEXT.values())) == len(caches)
    assert all(cache.cache_info().currsize for cache in caches)

    drop_remembered_texts()

    assert [cache.cache_info().currsize for cache in caches] == [0, 0, 0]


def test_no_last_answer_of_any_session_is_held_when_something_was_forgotten() -> None:
    first, second = LastAnswers(), LastAnswers()
    for answers in (first, second):
        answers.note("one", "The quetzalcanary eats figs")
        answers.note("two", "It does")
    assert first.of("one") == second.of("one") == "The quetzalcanary eats figs"

    drop_remembered_texts()

    assert [answers.of(key) for answers in (first, second) for key in ("one", "two")] == [""] * 4
    first.note("one", "Figs are out of season")
    assert first.of("one") == "Figs are out of season"


def test_of_last_answers_the_latest_are_known_and_of_each_its_end() -> None:
    answers = LastAnswers()
    answers.note("", "without a session")
    for number in range(SESSIONS_MAX + 1):
        answers.note(str(number), f"answer {number}")
    answers.note("1", "x" + "y" * ANSWER_CHARS)

    assert answers.of("") == answers.of("0") == ""
    assert answers.of("1") == "y" * ANSWER_CHARS
