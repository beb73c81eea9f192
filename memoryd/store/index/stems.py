"""The words of chunks as they are written, with their stems in other languages, and questions that find them."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from memoryd.domain.documents import RelativePath, conversation_path, home_path
from memoryd.domain.expressions import expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import STEMMERS, identifier_parts, indexed_words, marked, stems_asked, stems_of

_INSERT = "INSERT INTO chunk_words (rowid, body, heading, path, parts, stems) VALUES (?, ?, ?, ?, ?, ?)"
_NOTE_LANGUAGE = "INSERT OR IGNORE INTO languages VALUES (?)"
_LANGUAGES = "SELECT code FROM languages ORDER BY code"
_CHUNKS = "SELECT c.id, c.heading, c.text, f.path FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY c.id"
_PHRASE = expression(r'"([^"]*)"(\*?)')


class ChunkText(NamedTuple):
    """What of a chunk makes its words."""

    id: int
    heading: str
    text: str
    path: RelativePath


def insert_words(db: apsw.Connection, chunks: Iterable[ChunkText]) -> None:
    """Write what the word index has of chunks: their words, those above and in their paths, parts of these, and stems.

    The stems are of a text and its heading, by the language of both.
    """
    for number, heading, text, path in chunks:
        parts = identifier_parts(f"{heading} {text}")
        # the number of a part is no word of anybody, nor is who shares it: its words weigh as at home
        told = home_path(conversation_path(path))
        body, above, name = map(indexed_words, (text, heading, told))
        language, stems = language_of(f"{text}\n{heading}"), ""
        if language in STEMMERS:
            db.execute(_NOTE_LANGUAGE, (language,))
            stems = indexed_words(" ".join(stems_of(f"{body}\n{above}", language)))
        db.execute(_INSERT, (number, body, above, name, parts and indexed_words(parts), stems))


def rewrite_words(db: apsw.Connection) -> None:
    """Write the words of all chunks anew from their texts."""
    insert_words(db, map(ChunkText._make, db.execute(_CHUNKS)))


def languages_to_ask(db: apsw.Connection, language: str) -> Sequence[str]:
    """Return the languages whose stems a question in `language` looks for: its own, or all of the notes' if unknown."""
    if language and language not in STEMMERS:
        return ()
    return [code for (code,) in db.execute(_LANGUAGES) if language in (code, "")]


def with_stems(phrases: str, languages: Sequence[str] = ()) -> str:
    """Return the expression of FTS5 that finds the words of another one, which are written as people do.

    Single words are found by their stems in the languages, too.
    """

    if not languages:
        return marked(phrases)

    def alternatives(match: re.Match[str]) -> str:
        found = each_with_stems(match[0], languages)
        return f"({' OR '.join(found)})" if len(found) > 1 else found[0]

    return _PHRASE.sub(alternatives, phrases)


def each_with_stems(phrase: str, languages: Sequence[str] = ()) -> list[str]:
    """Return what finds one phrase: itself, and if it is a single word its stems in the languages."""
    before, words, after = phrase.split('"')
    stems = stems_asked(words, languages) if not (" " in words or after) else []
    return [f'{before}"{marked(each)}"{after}' for each in (words, *stems)]
