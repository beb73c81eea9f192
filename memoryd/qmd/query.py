"""Queries for qmd, and the parsing of its output.

A question becomes typed sub-queries, not prose, since qmd requires all words of a line. Results are found in the output
even among banners, and error texts are classified as complaints that callers can act on.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Literal

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.ranking.questions import Question

Version = tuple[int, int, int]

FLOOR: Version = (2, 8, 3)
"""The oldest supported version: older ones change paths and lack locks."""
_VERSION = expression(r"(?<![\d.])(\d{1,4})\.(\d{1,4})\.(\d{1,4})\b")
_ESCAPES = expression(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_NOTHING = expression(r"no results found", re.IGNORECASE)
_EMBEDDING = expression(r"^.*(?:embedding error|vector dimension).*$", re.IGNORECASE | re.MULTILINE)
_VECTORS = expression(r"^\s*Vectors:\s+(\d+)", re.MULTILINE)
_INTERNAL = expression(r"^(?:\s+at .*|\s*\^.*|\s*[{}]\s*|Node\.js v.*|.*/node_modules/.*|file://.*)$")
QmdMode = Literal["search", "vsearch", "query"]
MAX_SEARCHES = 10
"""Most sub-queries that qmd accepts in one query."""
MAX_LISTED = 20
"""Most documents that qmd returns for a sub-query, whatever the limit."""
_MAX_TOGETHER = 16
_MAX_VECTOR_CHARS = 2000


class Complaint(StrEnum):
    """The meaning of a failed command for the caller."""

    BUSY = "busy"
    """Another process writes to its index; try again."""
    DAMAGED = "damaged"
    """Its index cannot be read; it must be built again."""
    COLLECTION = "collection"
    """A collection is unknown."""
    REJECTED = "rejected"
    """An option is unknown."""
    OTHER = "other"


_COMPLAINTS = (
    (Complaint.BUSY, expression(r"sqlite_busy|database is locked|already running|sqlite_constraint")),
    (
        Complaint.DAMAGED,
        expression(r"notadb|not a database|malformed|sqlite_corrupt|\^@|null bytes?\b"),
    ),
    (Complaint.COLLECTION, expression(r"collection[^\n]*(?:not found|does not exist|missing)|missing collection")),
    (
        Complaint.REJECTED,
        expression(r"unknown (?:flag|option|command)|unrecognized option|flag provided but not|unexpected argument"),
    ),
)


class QmdHit(Struct, frozen=True):
    """A result of qmd: `line` counts from 1, `docid` is the beginning of the text's SHA-256."""

    collection: str
    path: str
    score: float
    line: int
    docid: str


def version_of(text: str) -> Version | None:
    """Return the version in the output of `--version`."""
    match = _VERSION.search(plain(text))
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def plain(text: str) -> str:
    """Return the text without byte order mark and terminal escapes."""
    return _ESCAPES.sub("", text.removeprefix("\ufeff"))


def hits_in(text: str) -> list[QmdHit]:
    """Parse the results of a query from the output; raises ValueError if there are none.

    Accepts an array, or an object with `results`, also after a banner, and the sentence that nothing was found.
    """
    body = plain(text).strip()
    for value in _values_in(body):
        results = _result_list(value)
        if results is not None:
            return hits_of(results)
    if _NOTHING.search(body):
        return []
    raise ValueError("printed no results that can be read" if body else "printed nothing")


def hits_of(results: list[object]) -> list[QmdHit]:
    """Return the hits of decoded results; entries without a file are skipped."""
    return [hit for result in results if isinstance(result, Mapping) and (hit := _hit(result)) is not None]


def complaint_of(text: str) -> Complaint:
    """Classify an error text."""
    lowered = text.lower()
    return next((kind for kind, pattern in _COMPLAINTS if pattern.search(lowered)), Complaint.OTHER)


def embedding_trouble(stderr: str) -> str | None:
    """Return the error line for a question that could not be embedded, for which qmd returns no results."""
    match = _EMBEDDING.search(plain(stderr))
    return match[0].strip()[:300] if match else None


def vectors_in(status: str) -> int | None:
    """Return the number of vectors in the output of `status`."""
    match = _VECTORS.search(plain(status))
    return int(match[1]) if match else None


def first_error(stderr: str) -> str:
    """Return the most useful line of an error output: no stack trace, no source excerpt."""
    lines = [line.strip() for line in plain(stderr).splitlines() if line.strip() and not _INTERNAL.match(line)]
    errors = [line for line in lines if re.search(r"error|not |cannot|failed", line, re.IGNORECASE)]
    return next(iter(errors or lines[-1:]), "")[:300]


def _values_in(body: str) -> Iterator[object]:
    """Yield decoded values: of the whole text, else from each line that begins like JSON, the last line first."""
    try:
        yield json.loads(body)
        return
    except (ValueError, RecursionError):
        pass
    starts = [match.start() for match in re.finditer(r"^[\[{]", body, re.MULTILINE)]
    for start in reversed(starts[-50:]):
        try:
            yield json.JSONDecoder().raw_decode(body, start)[0]
        except (ValueError, RecursionError):
            continue


def _result_list(value: object) -> list[object] | None:
    if isinstance(value, Mapping):
        value = value.get("results")
    if not isinstance(value, list):
        return None
    return value if not value or any(isinstance(item, Mapping) for item in value) else None


def _hit(raw: Mapping[str, object]) -> QmdHit | None:
    file = raw.get("file")
    if not isinstance(file, str):
        return None
    collection, _, path = file.removeprefix("qmd://").partition("/")
    score, line, docid = raw.get("score"), raw.get("line"), raw.get("docid")
    if not collection or not path or "\0" in path:
        return None
    return QmdHit(
        collection=collection,
        path=path,
        score=float(score) if isinstance(score, int | float) and 0 <= score <= 1 else 0.0,
        line=line if isinstance(line, int) and line > 0 else 1,
        docid=docid.removeprefix("#") if isinstance(docid, str) else "",
    )


class SubQuery(Struct, frozen=True):
    """A line of a query: `lex` requires all its words, `vec` is compared by meaning."""

    type: Literal["lex", "vec"]
    query: str


class QmdQuestion(Struct, frozen=True):
    """Sub-queries of one query, for at most `limit` results, in the named collections; none: all."""

    searches: tuple[SubQuery, ...]
    limit: int
    is_reranked: bool = False
    collections: tuple[str, ...] = ()

    @property
    def has_meaning(self) -> bool:
        """Whether any sub-query is compared by meaning."""
        return any(search.type == "vec" for search in self.searches)

    @property
    def needs_models(self) -> bool:
        """Whether qmd must load a model for it."""
        return self.is_reranked or self.has_meaning

    def tool_arguments(self) -> dict[str, object]:
        """Return the arguments of the tool `query`."""
        return {
            "searches": [{"type": search.type, "query": search.query} for search in self.searches],
            # an empty list means all in one ranking; named collections are ranked separately
            "collections": list(self.collections),
            "limit": self.limit,
            # without reranking this only limits the results, by default to 40
            **({} if self.is_reranked else {"candidateLimit": self.limit}),
            "minScore": 0,
            "rerank": self.is_reranked,
        }

    def command_lines(self, collections: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the arguments of two commands: the preferred one, then one with the fewest options, for any build."""
        names = [part for name in collections for part in ("-c", name)]
        minimal = ("query", "--json", "-n", str(self.limit), *names, "--", document(self.searches))
        if self.is_reranked:
            return (minimal,)
        return (*minimal[:2], "--no-rerank", "-C", str(self.limit), *minimal[2:]), minimal


def sub_queries(mode: QmdMode, question: Question, terms: Sequence[str]) -> tuple[SubQuery, ...]:
    """Return the sub-queries for a question and its terms; empty if there are no words to search for.

    Words: first a line with all of them, which has double weight, then a line for each word, longest first, so that a
    question in prose finds documents with some of its words. Each line contains the phrases and the exclusions, since
    qmd returns only the best results of a line. A last line has no exclusions, since an excluded word elsewhere in a
    document excludes only its own part. Meaning: the text of the question.
    """
    words = _words(question, terms, MAX_SEARCHES - (mode == "query")) if mode in ("search", "query") else []
    meaning = re.sub(r"[\s\0]+", " ", question.text).strip()[:_MAX_VECTOR_CHARS]
    vector = [SubQuery("vec", meaning)] if meaning and mode in ("vsearch", "query") else []
    return (*(SubQuery("lex", line) for line in words), *vector)


def document(searches: Sequence[SubQuery]) -> str:
    """Return the sub-queries as text for the command line."""
    return "\n".join(f"{search.type}: {search.query}" for search in searches)


def _words(question: Question, terms: Sequence[str], room: int) -> list[str]:
    required = [f'"{words}"' for phrase in question.phrases if (words := _without_punctuation(phrase))]
    excluded = [f'-"{words}"' for word in question.excluded if (words := _without_punctuation(word))]
    together = " ".join([*terms[:_MAX_TOGETHER], *required])
    if not together:
        return []
    alone = sorted(terms, key=len, reverse=True)[: room - 1 - bool(excluded)] if len(terms) > 1 else []
    lines = [" ".join([line, *excluded]) for line in (together, *(" ".join([term, *required]) for term in alone))]
    return [*lines, together] if excluded else lines


def _without_punctuation(text: str) -> str:
    """Return a phrase without punctuation, at which the index of qmd splits words, or which it drops."""
    return re.sub(r"[\W_]+", " ", text).strip()
