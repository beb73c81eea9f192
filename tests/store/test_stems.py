"""Stems in the word index: other forms of a word are found in their language, and short words match only themselves."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import numpy as np
import pytest

from bench.retrieval.sets import QuestionSet
from memoryd.domain.ranking.filters import Filters
from memoryd.domain.ranking.questions import Question, parse_question
from memoryd.domain.text.words import MARK, STEMMERS, mark_unstemmed, query_stems, stems_of
from memoryd.store.index.schema import ENGLISH_VERSION, INDEX_VERSION, prepare_index
from memoryd.store.index.stems import Holders, each_with_stems, with_stems
from memoryd.store.index.vectors import put_vectors
from memoryd.store.index.words import CandidateFilter, best_matches, term_statistics
from tests.store.consistency import check_consistency
from tests.store.rows import put

ROOT = Path(__file__).parents[2]
INFLECTED = QuestionSet("inflected", ROOT / "tests" / "data" / "retrieval" / "inflected")
APART = (
    "ac: ac; ace aces",
    "ag: ag; age aged ages aging",
    "ap: ap; ape apes",
    "ar: ar; are ars ares",
    "at: at; ate",
    "bu: bu; bus",
    "do: do doing; dos",
    "ev: ev; eve",
    "ga: ga; gas",
    "gp: gp; gps",
    "gui: gui; guy guys",
    "hi: hi; his",
    "ic: ic; ice iced",
    "ir: ir; irs",
    "len: len; lens",
    "li: li; lied lies",
    "mr: mr; mrs",
    "new: new; news",
    "ow: ow; owe owed owes owing",
    "sm: sm; sms",
    "su: su; sued",
    "ti: ti; tis tied ties",
    "tri: tri; tried tries",
    "up: up; ups",
    "us: us; use used uses using useful",
    "wed: wed; wedding weddings",
    "ye: ye; yes",
)
"""Different words with the same Porter stem: the stem, and the groups that the index keeps apart."""


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    with closing(apsw.Connection("")) as connection:
        prepare_index(connection)
        yield connection


def asked(text: str) -> Question:
    return parse_question(text, Filters(), datetime(2026, 11, 28, tzinfo=UTC))


def notes_for(db: apsw.Connection, text: str) -> list[str]:
    """Return the notes that match the words of a question, best first."""
    paths = dict(db.execute("SELECT c.id, f.path FROM chunks c JOIN files f ON f.id = c.file_id"))
    found = best_matches(db, asked(text), 100, CandidateFilter()).order()
    return list(dict.fromkeys(paths[chunk] for chunk in found))


@pytest.mark.parametrize(("language", "first", "first_in_english"), [("de", 18, 16), ("es", 17, 13), ("fr", 20, 18)])
def test_questions_with_other_word_forms_find_their_notes(
    db: apsw.Connection, language: str, first: int, first_in_english: int
) -> None:
    questions = [question for question in INFLECTED.questions if question.language == language]
    (workspace,) = {question.workspace for question in questions}
    for note in sorted((INFLECTED.folder / "ws" / workspace / "memory").iterdir()):
        put(db, f"memory/{note.name}", note.read_text())

    def count_first() -> int:
        return sum(notes_for(db, question.text)[:1] == [question.evidence[0].places[0].path] for question in questions)

    assert count_first() >= first
    db.execute("DELETE FROM languages")
    assert count_first() <= first_in_english, "the set does not measure stems"
    check_consistency(db)


@pytest.mark.parametrize(
    ("note", "question"),
    [
        ("Die Häuser am Hafen gehören der Stadt.", "Haus"),
        ("Das Haus am Hafen ist für die Stadt.", "Wem gehören die Häuser?"),
        ("Les chevaux sont dans la prairie avec nous.", "Où est le cheval ?"),
        ("Las canciones que cantaba mi abuela.", "¿Quién cantó la canción?"),
        ("As reuniões são na quinta-feira com você.", "Quando é a reunião?"),
        ("I bambini non mangiano le verdure.", "Che cosa mangia il bambino?"),
        ("De kinderen hebben geen appels gegeten.", "Wie heeft een appel?"),
        ("Flickorna har köpt böckerna och cyklarna.", "Vilken cykel köpte flickan?"),
        ("Ключи от гаража лежат на полке, где книги.", "Где мой ключ и полка?"),
    ],
)
def test_other_word_form_is_found_in_each_language(db: apsw.Connection, note: str, question: str) -> None:
    put(db, "memory/a.md", f"{note}\n")
    put(db, "memory/b.md", "Nothing of this is in the note that is written here.\n")
    assert notes_for(db, question)[:1] == ["memory/a.md"]
    statistics = term_statistics(db, asked(question), [1])
    assert statistics.terms, "what is found counts as evidence"


def test_japanese_and_korean_are_found_as_written(db: apsw.Connection) -> None:
    put(db, "memory/ja.md", "昨日は歯医者の予約を変更しました。\n")
    put(db, "memory/ko.md", "어제 치과 예약을 변경했습니다.\n")
    put(db, "memory/de.md", "Der Termin beim Zahnarzt ist nicht verschoben.\n")
    assert notes_for(db, "歯医者の予約")[:1] == ["memory/ja.md"]
    assert notes_for(db, "치과 예약")[:1] == ["memory/ko.md"]


def test_english_notes_and_questions_have_no_stems(db: apsw.Connection) -> None:
    put(db, "memory/a.md", "The houses at the harbour are owned by the city.\n")
    put(db, "memory/zh.md", "钥匙在厨房的抽屉里。\n")
    assert not list(db.execute("SELECT code FROM languages"))
    assert not db.execute("SELECT count(*) FROM chunk_words WHERE chunk_words MATCH '{stems} : owned'").get
    expression = '"houses" OR "may 7"* OR {heading path} : "05 04"'
    assert with_stems(expression) == expression


def test_question_of_unknown_language_uses_stems_of_all(db: apsw.Connection) -> None:
    put(db, "memory/de.md", "Die Häuser am Hafen gehören nicht der Stadt.\n")
    put(db, "memory/es.md", "Las casas que están en el puerto no son de la ciudad.\n")
    holders = Holders()
    assert holders.languages(db, "") == ["de", "es"]
    assert holders.languages(db, "de") == ["de"]
    assert holders.languages(db, "fr") == []
    assert holders.languages(db, "en") == holders.languages(db, "zh") == ()


def test_very_common_stem_is_not_searched() -> None:
    assert stems_of("notes", "es") == ["not"]
    assert query_stems("notes", ["es"]) == []


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("wann muss Lea zum Zahnarzt?", "Am Donnerstag hat Lea einen Zahnarzttermin."),
        ("wann ist der Zahnarzttermin von Lea?", "Der Zahnarzt von Lea hat montags zu."),
        ("bei wem haben wir die Haftpflicht?", "Die Haftpflichtversicherung läuft bei der HUK."),
        ("wo sind die Winterreifen?", "Im Winter stehen die Räder im Schuppen."),
    ],
)
def test_german_compounds_are_found_by_prefix_and_parts(db: apsw.Connection, question: str, note: str) -> None:
    put(db, "memory/other.md", "Der Elternabend ist im Dezember, die Kinder sind bei Oma und das Auto ist ein Skoda.")
    put(db, "memory/compound.md", note)

    assert notes_for(db, question)[:1] == ["memory/compound.md"]
    db.execute("DELETE FROM languages")
    word = question.rstrip("?").split()[-1]
    assert each_with_stems(f'"{word}"', Holders().languages(db, "")) == [f'"{word}"'], (
        "a workspace without German has no compounds"
    )


def test_phrases_and_prefixes_are_not_stemmed() -> None:
    assert each_with_stems('"alte hauser"', ["de"]) == ['"alte hauser"']
    assert each_with_stems('"facades"*', ["de"]) == ['"facades"*']
    with_beginning = '("hauser" OR "haus" OR "hauser"*)'
    assert with_stems('"hauser" AND "hi there"', ["de"]) == f'{with_beginning} AND "hi{MARK} there"'


@pytest.mark.parametrize("language", STEMMERS)
def test_words_of_three_letters_or_less_have_no_stem(language: str) -> None:
    assert stems_of("des las dos sie hus ons sui они два ons", language) == []


@pytest.mark.parametrize(
    ("short", "other"), [("hi", "his"), ("ok", "oak"), ("thx", "the"), ("us", "use"), ("id", "ide"), ("new", "news")]
)
def test_short_word_matches_only_itself(db: apsw.Connection, short: str, other: str) -> None:
    put(db, "memory/a.md", f"Nothing here but {other} and {other.title()}, or {other}_{other}.\n")
    put(db, "memory/b.md", f"Nothing here but {short.title()}.\n")
    assert notes_for(db, short) == ["memory/b.md"]
    assert notes_for(db, other)[:1] == ["memory/a.md"]


@pytest.mark.parametrize("words", APART)
def test_short_words_with_same_stem_are_kept_apart(words: str) -> None:
    stem, _, rest = words.partition(": ")
    groups = [group.split() for group in rest.split("; ")]
    tokens = {_token(word) for group in groups for word in group}
    marked_tokens = [{_token(mark_unstemmed(word)) for word in group} for group in groups]
    assert tokens == {stem}
    assert [len(group) for group in marked_tokens] == [1] * len(groups)
    assert len(set().union(*marked_tokens)) == len(groups) > 1


def _token(word: str) -> str:
    with closing(apsw.Connection("")) as db:
        db.execute("""CREATE VIRTUAL TABLE t USING fts5(x, tokenize="porter unicode61 categories 'L* N* Co M*'")""")
        db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, row)")
        db.execute("INSERT INTO t VALUES (?)", (word,))
        token: str = db.execute("SELECT term FROM v").get
        return token


def test_index_of_previous_version_gets_stems_and_languages(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    with closing(apsw.Connection(path)) as db:
        prepare_index(db)
        put(db, "memory/a.md", "Die Häuser am Hafen gehören nicht der Stadt.\n")
        db.execute("INSERT INTO spaces VALUES (1, 'f', 'fake', 'fake', 2, 0)")
        hashes = [row[0] for row in db.execute("SELECT hash FROM passages")]
        put_vectors(db, 1, [(key, np.array([0, 1], np.float32), "") for key in (*hashes, b"gone")], 0.0)
        db.execute("DROP TABLE languages; DROP TABLE chunk_words")
        db.execute("ALTER TABLE vectors DROP COLUMN language")
        db.execute(
            "CREATE VIRTUAL TABLE chunk_words USING fts5 (body, heading, path, parts, content='', contentless_delete=1)"
        )
        db.pragma("user_version", ENGLISH_VERSION)
    with closing(apsw.Connection(path)) as db:
        prepare_index(db)
        assert db.pragma("user_version") == INDEX_VERSION
        assert notes_for(db, "Haus") == ["memory/a.md"]
        assert dict(db.execute("SELECT hash, language FROM vectors")) == {**dict.fromkeys(hashes, "de"), b"gone": ""}
        check_consistency(db)
