"""What qmd is asked, and what it prints.

A question becomes typed sub-queries instead of prose, since qmd wants every word of a line found. Its output is read
even where banners hide the results, and its error texts become complaints that callers can act on.
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
"""Older versions change paths and lack locks."""
_VERSION = expression(r"(?<![\d.])(\d{1,4})\.(\d{1,4})\.(\d{1,4})\b")
_ESCAPES = expression(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_NOTHING = expression(r"no results found", re.IGNORECASE)
_EMBEDDING = expression(r"^.*(?:embedding error|vector dimension).*$", re.IGNORECASE | re.MULTILINE)
_VECTORS = expression(r"^\s*Vectors:\s+(\d+)", re.MULTILINE)
_INTERNAL = expression(r"^(?:\s+at .*|\s*\^.*|\s*[{}]\s*|Node\.js v.*|.*/node_modules/.*|file://.*)$")
QmdMode = Literal["search", "vsearch", "query"]
MAX_SEARCHES = 10
"""qmd takes no more in one question."""
MAX_LISTED = 20
"""Documents that qmd takes of each sub-query, however many are asked for."""
_MAX_TOGETHER = 16
_MAX_VECTOR_CHARS = 2000


class Complaint(StrEnum):
    """What a failed command means for the caller."""

    BUSY = "busy"
    """Somebody else writes to its index; try again."""
    DAMAGED = "damaged"
    """Its index cannot be read; it is made anew."""
    COLLECTION = "collection"
    """A collection is not known to it."""
    REJECTED = "rejected"
    """It does not know an option that was given."""
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
    """A result as qmd tells it: `line` counts from 1, `docid` is the start of the text's SHA-256."""

    collection: str
    path: str
    score: float
    line: int
    docid: str


def version_of(text: str) -> Version | None:
    """Return the version in what `--version` prints."""
    found = _VERSION.search(plain(text))
    return (int(found[1]), int(found[2]), int(found[3])) if found else None


def plain(text: str) -> str:
    """Return the text without byte order mark and terminal escapes."""
    return _ESCAPES.sub("", text.removeprefix("\ufeff"))


def hits_in(text: str) -> list[QmdHit]:
    """Read the results of a query from all that was printed; raises ValueError where there are none to read.

    Taken are an array, an object with `results`, either after a banner, and the sentence that says nothing was found.
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
    """Read results as they are decoded; entries that name no file are left out."""
    return [hit for one in results if isinstance(one, Mapping) and (hit := _hit(one)) is not None]


def complaint_of(text: str) -> Complaint:
    """Tell what an error text means."""
    folded = text.lower()
    return next((kind for kind, pattern in _COMPLAINTS if pattern.search(folded)), Complaint.OTHER)


def embedding_trouble(stderr: str) -> str | None:
    """Return the line that says that a question could not be embedded, which qmd treats as no results."""
    found = _EMBEDDING.search(plain(stderr))
    return found[0].strip()[:300] if found else None


def vectors_in(status: str) -> int | None:
    """Return how many vectors the text of `status` speaks of."""
    found = _VECTORS.search(plain(status))
    return int(found[1]) if found else None


def first_error(stderr: str) -> str:
    """Return the line of an error output that a person can use: no stack, no source excerpt."""
    lines = [line.strip() for line in plain(stderr).splitlines() if line.strip() and not _INTERNAL.match(line)]
    telling = [line for line in lines if re.search(r"error|not |cannot|failed", line, re.IGNORECASE)]
    return next(iter(telling or lines[-1:]), "")[:300]


def _values_in(body: str) -> Iterator[object]:
    """Yield what can be decoded: the whole text first, then from each line that starts like JSON, the last first."""
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
    return value if not value or any(isinstance(one, Mapping) for one in value) else None


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
    """One line of a question: `lex` wants all its words, `vec` is compared by meaning."""

    type: Literal["lex", "vec"]
    query: str


class QmdQuestion(Struct, frozen=True):
    """Sub-queries that are asked together, for `limit` results at most, of the named collections; of all without."""

    searches: tuple[SubQuery, ...]
    limit: int
    is_reranked: bool = False
    collections: tuple[str, ...] = ()

    @property
    def has_meaning(self) -> bool:
        """Whether a part of it is compared by meaning."""
        return any(one.type == "vec" for one in self.searches)

    @property
    def needs_models(self) -> bool:
        """Whether qmd has to load a model for it."""
        return self.is_reranked or self.has_meaning

    def tool_arguments(self) -> dict[str, object]:
        """Return it as the tool `query` takes it."""
        return {
            "searches": [{"type": one.type, "query": one.query} for one in self.searches],
            # none means all of them in one ranking; named ones are ranked each alone
            "collections": list(self.collections),
            "limit": self.limit,
            # without reranking it only bounds what is told, at 40
            **({} if self.is_reranked else {"candidateLimit": self.limit}),
            "minScore": 0,
            "rerank": self.is_reranked,
        }

    def command_lines(self, collections: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return it as commands: what is wanted, then with the fewest options, which any build knows."""
        names = [part for name in collections for part in ("-c", name)]
        fewest = ("query", "--json", "-n", str(self.limit), *names, "--", document(self.searches))
        if self.is_reranked:
            return (fewest,)
        return (*fewest[:2], "--no-rerank", "-C", str(self.limit), *fewest[2:]), fewest


def sub_queries(mode: QmdMode, question: Question, terms: Sequence[str]) -> tuple[SubQuery, ...]:
    """Return what to ask for a question and its terms; nothing if there is no word to look for.

    Words: all together first, which weighs twice, then each alone, longest first, so that a question in prose finds
    what holds some of it. Each line holds the phrases too, and leaves out the excluded words, for qmd tells only the
    best of a line; a last one leaves out nothing, since what stands elsewhere in a document excludes only its part.
    Meaning: the question as it is.
    """
    words = _words(question, terms, MAX_SEARCHES - (mode == "query")) if mode in ("search", "query") else []
    meaning = re.sub(r"[\s\0]+", " ", question.text).strip()[:_MAX_VECTOR_CHARS]
    vector = [SubQuery("vec", meaning)] if meaning and mode in ("vsearch", "query") else []
    return (*(SubQuery("lex", line) for line in words), *vector)


def document(searches: Sequence[SubQuery]) -> str:
    """Return the sub-queries as the text that the command line takes."""
    return "\n".join(f"{one.type}: {one.query}" for one in searches)


def _words(question: Question, terms: Sequence[str], room: int) -> list[str]:
    required = [f'"{bare}"' for phrase in question.phrases if (bare := _bare(phrase))]
    excluded = [f'-"{bare}"' for word in question.excluded if (bare := _bare(word))]
    together = " ".join([*terms[:_MAX_TOGETHER], *required])
    if not together:
        return []
    alone = sorted(terms, key=len, reverse=True)[: room - 1 - bool(excluded)] if len(terms) > 1 else []
    lines = [" ".join([line, *excluded]) for line in (together, *(" ".join([term, *required]) for term in alone))]
    return [*lines, together] if excluded else lines


def _bare(text: str) -> str:
    """Return a phrase without the signs at which the index of qmd ends a word, and which it would drop from one."""
    return re.sub(r"[\W_]+", " ", text).strip()
