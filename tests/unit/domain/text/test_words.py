import unicodedata
from collections.abc import Sequence

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.dates import WrittenDate, dates_in
from memoryd.domain.text.words import (
    _ACCENT,
    _SILENT,
    NOT_STEMMED,
    Phrase,
    identifier_parts,
    index_text,
    indexed_words,
    joined_phrases,
    mark_unstemmed,
    normalised,
    query_terms,
)
from memoryd.store.index.words import weighed_phrases
from tests.waiting import soon

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"


def any_of(terms: Sequence[str], phrases: Sequence[Phrase] = (), dates: Sequence[WrittenDate] = ()) -> str:
    """Return a query that matches any of the terms, phrases and dates, or "" without any."""
    return " OR ".join(weighed_phrases(terms, phrases, dates))


def indexed(*texts: str) -> apsw.Connection:
    """Return a database in memory with texts, and with the tokenizer of the real index."""
    db = apsw.Connection("")
    db.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize="{TOKENIZER}")')
    with db:
        db.executemany("INSERT INTO words VALUES (?)", [(text,) for text in texts])
    return db


def finds(question: str, text: str) -> bool:
    db = indexed(f"{index_text(text)} {identifier_parts(text)}")
    terms = query_terms(question)
    if not terms:
        return False
    return bool(db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (any_of(terms),)).get)


def best(question: str, texts: list[str]) -> str:
    """Search like the lexical arm, and return the text that BM25 ranks first."""
    others = [f"something else entirely, number {number}" for number in range(8)]
    db = indexed(*map(index_text, [*texts, *others]))
    expression = any_of(query_terms(question), joined_phrases(question), dates_in(question))
    found: str = db.execute("SELECT body FROM words WHERE words MATCH ? ORDER BY rank LIMIT 1", (expression,)).get
    return found


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("GW-4172", "Error GW-4172 means a second process."),
        ("lobster", "the 🦞lobster🤔 waves"),
        ("500", "it cost ₽500🥳"),
        ("gw 4172", "Error GW-4172 means a second process."),
        ("résumé", "Her resume is in the drawer."),
        ("resume", "Her résumé is in the drawer."),
        ("maxResults", "Set query.maxResults to 6."),
        ("results", "Set query.maxResults to 6."),
        ("海边", "今天和文一起去海边的木屋"),
        ("木屋在哪里", "今天和文一起去海边的木屋"),
        ("屋", "一 屋 二"),
        ("屋", "今天和文一起去海边的木屋"),
        ("木", "今天和文一起去海边的木屋"),
        ("雨", "昨天下雨了"),
        ("ห้อง", "วันนี้ฉันไปห้องสมุดกับเพื่อน"),
        ("สมุด", "วันนี้ฉันไปห้องสมุดกับเพื่อน"),
        ("ຫ້ອງສະໝຸດ", "ມື້ນີ້ຂ້ອຍໄປຫ້ອງສະໝຸດ"),
        ("បណ្ណាល័យ", "ថ្ងៃនេះខ្ញុំទៅបណ្ណាល័យ"),
        ("បណ្ណាល័យ", "ថ្ងៃនេះ​ខ្ញុំ​ទៅ​បណ្ណា​ល័យ"),
        ("စာကြည့်တိုက်", "ဒီနေ့ ကျွန်တော် စာကြည့်တိုက်သွားတယ်"),
        ("हिन्दी", "मैं हिन्दी सीखता हूँ"),
        ("كتاب", "هذا كِتَابٌ جديد"),
        ("ספר", "זה סֵפֶר חדש"),
        ("ещё", "еще раз"),
        ("ελλαδα", "στην Ελλάδα"),
        ("ＧＷ－４１７２", "Error GW-4172 means a second process."),
        ("a828e60", "Fixed in a828e60b3f91c since then."),
        ("2026-10", "Deployed on 2026-10-18 at noon."),
        ("sqlite-vec unavailable", 'It said "sqlite-vec unavailable" and went on.'),
        ("memory/projects/gateway", "see memory/projects/gateway.md"),
        ("memorySearch.query.hybrid", "Set memorySearch.query.hybrid.enabled"),
        ("MEMORYD_OFFLINE", "with MEMORYD_OFFLINE=1"),
        ("ひらがな", "これはひらがなです"),
        ("회의", "오늘 회의가 있다"),
        ("who is the", "who is the"),
        ("10.0.0.7", "The printer is at 10.0.0.7 now."),
        ("naïve", "a naive plan"),
        ("Ελλάδα", "στην Ελλάδα"),
        ("снег", "выпал снег"),
    ],
)
def test_question_finds_text(question: str, text: str) -> None:
    assert finds(question, text)


@pytest.mark.parametrize("question", ["résumé", "Ångström", "회의"])
def test_composed_and_decomposed_spellings_find_each_other(question: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", question), unicodedata.normalize("NFD", question)
    assert finds(decomposed, f"about {composed} today")
    assert finds(composed, f"about {decomposed} today")


@given(st.text(max_size=200))
def test_any_question_gives_a_valid_query(question: str) -> None:
    assert finds(f"gateway {question}", "the gateway")


@given(st.text(max_size=400), st.integers(1, 10))
def test_terms_are_distinct_limited_and_without_syntax(question: str, limit: int) -> None:
    terms = query_terms(question, limit=limit)
    assert len(terms) <= limit
    assert len(set(terms)) == len(terms)
    assert not any(set('"*():^- \0') & set(term) for term in terms)


def test_no_symbol_hides_the_adjacent_word() -> None:
    """FTS5 knows Unicode 6.1; later symbols of modern scripts and emoji are removed before."""
    symbols = [chr(code) for code in [*range(0x80, 0x3000), *range(0x1F000, 0x1FBF0)]]
    symbols = [symbol for symbol in symbols if unicodedata.category(symbol) in {"So", "Sc", "Sm", "Pd", "Ps", "Pe"}]
    plain = [symbol for symbol in symbols if not any(map(str.isalnum, unicodedata.normalize("NFKD", symbol)))]
    db = indexed(*(index_text(f"a{symbol}lease{symbol}b") for symbol in plain))
    found = {row[0] - 1 for row in db.execute("SELECT rowid FROM words WHERE words MATCH ?", ('"lease"',))}
    assert [symbol for number, symbol in enumerate(plain) if number not in found and symbol not in "֍֎߾߿൏"] == []
    assert len(plain) > 4000


@given(st.text(st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x24F), min_size=1, max_size=20))
def test_word_finds_itself(word: str) -> None:
    assert finds(word, f"before {word} after")


def test_long_compound_is_split_into_terms() -> None:
    """A quoted token of n words would cost n milliseconds per note."""
    expression = any_of(query_terms("a1-" * 1000 + "z"))
    assert all(" " not in term for term in expression.replace('"', "").split(" OR "))


def test_joined_words_rank_before_scattered_ones() -> None:
    texts = ["10 of 2026 and 18 more; 2026 had 10 of 18", "Deployed on 2026-10-18 at noon, as planned for long"]
    assert best("2026-10-18", texts) == best("what happened on 2026-10-18", texts) == texts[1]
    assert joined_phrases("on 2026-10-18 in memory/a.md by a well-known man") == [
        ("2026", "10", "18"),
        ("memory", "a", "md"),
    ]


def test_distinct_letters_are_not_treated_as_accented() -> None:
    assert not finds("йод", "иод")


@pytest.mark.parametrize("question", ["a-" * 2000 + "1", "1" * 4000, "\u0301" * 2000 + "a", "漢" * 4000, "_/" * 2000])
def test_long_question_is_cut_quickly(question: str) -> None:
    with soon(0.5):
        assert len(query_terms(question)) <= 64
        assert all(len(words) <= 8 for words in joined_phrases(question))


def test_stop_words_are_dropped_unless_they_are_all() -> None:
    assert query_terms("where is the lease") == ["lease"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]


def test_german_stop_words_that_are_abbreviations_are_kept() -> None:
    assert query_terms("Wann ist der Termin") == ["der", "termin"]
    assert query_terms("convert PEM to DER") == ["convert", "pem", "der"]


def test_character_pair_does_not_cross_a_particle() -> None:
    assert query_terms("岳父的药在哪") == ["岳父", "药在", "在哪"]
    assert query_terms("手术的目的") == ["手术", "目的"]
    assert query_terms("旅行目的地") == ["旅行", "行目", "目的", "的地"]
    assert query_terms("的") == ["的"]


def test_nul_does_not_hide_following_text() -> None:
    assert finds("lease", "before\0lease")


ODD = st.text(st.sampled_from("usU9 _.-—’“、。日本й\u0306иéßßİΣ\u0301\u0338\ue000\u0939\u093f\ufe0f\u200b½✅\0\n"))
PIECES = st.lists(st.one_of(st.sampled_from(["us", "His", "news", "maxResults", "w3"]), ODD, st.text(max_size=3)))


@given(PIECES.map("".join))
def test_indexed_words_match_marked_index_text(text: str) -> None:
    assert _tokens(indexed_words(text)) == _tokens(mark_unstemmed(index_text(text).lower()))


@given(PIECES.map("".join))
def test_normalised_text_is_composed_without_accents(text: str) -> None:
    decomposed = _ACCENT.sub("", unicodedata.normalize("NFKD", text))
    assert normalised(text) == _SILENT.sub("", unicodedata.normalize("NFC", decomposed))


def test_only_whole_words_are_marked_unstemmed() -> None:
    assert mark_unstemmed("us use (us) US l’us us_us") == "{0} use ({0}) US l’{0} {0}_{0}".format(NOT_STEMMED["us"])


@pytest.mark.parametrize("word", ["maxResults", "ID42x", "w3", "A1", "3D", "2B", "parseHTML"])
def test_identifier_is_split_into_parts(word: str) -> None:
    assert identifier_parts(f"a plain text with {word}, once").replace(" ", "") == word
    assert identifier_parts("A Plain TEXT of 2026-05-04, (once) a_b") == ""


def _tokens(text: str) -> list[str]:
    db = indexed(text)
    db.execute("CREATE VIRTUAL TABLE found USING fts5vocab(words, instance)")
    return [term for (term,) in db.execute("SELECT term FROM found ORDER BY offset")]
