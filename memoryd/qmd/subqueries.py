"""A question in the words of qmd: typed sub-queries instead of prose, since qmd wants every word of a line found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memoryd.domain.ranking.questions import Question

QmdMode = Literal["search", "vsearch", "query"]

MAX_SEARCHES: Final = 10
"""qmd takes no more in one question."""
MAX_LISTED: Final = 20
"""Documents that qmd takes of each sub-query, however many are asked for."""
_MAX_TOGETHER: Final = 16
_MAX_VECTOR_CHARS: Final = 2000


@dataclass(frozen=True, slots=True)
class SubQuery:
    """One line of a question: `lex` wants all its words, `vec` is compared by meaning."""

    type: Literal["lex", "vec"]
    query: str


@dataclass(frozen=True, slots=True)
class QmdQuestion:
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
