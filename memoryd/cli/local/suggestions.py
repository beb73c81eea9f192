"""Guesses at golden questions: what was really asked, what memories state, and what notes have headings for.

Each is a question with the place that may answer it, as the daemon shows that place to its owner; what is private is in
none of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Final

from memoryd.cli.golden import NOTES, DocumentTexts
from memoryd.cli.invocation import Invocation
from memoryd.client import Client
from memoryd.config.loading.load import load
from memoryd.domain.citations import parse
from memoryd.domain.expressions import expression
from memoryd.domain.ranking.evaluation import LineSpan
from memoryd.domain.ranking.golden import GoldenPlace, GoldenQuestion, folded, quote_of
from memoryd.domain.sessions.topics import keywords
from memoryd.domain.text.words import query_terms
from memoryd.errors import Disabled, NotFound, RequestError
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan
from memoryd.replies.memories import MemoryDocumentReply
from memoryd.replies.status import AgentStatus

SESSIONS: Final = 20
"""The newest, whose questions are looked through."""
MEMORIES: Final = 200
ASKED_CHARS: Final = 200
"""What is longer is a task rather than a question."""
TERMS: Final = 4
"""Words of a memory that its question is made of."""
_HEADING: Final = expression(r"#{1,6}\s+(?P<text>.+)")
_CITED: Final = expression(r"[^\s`'\"()\[\]]+\.md#L[0-9]+(?:-L?[0-9]+)?")


def suggestions(invocation: Invocation, agent: AgentStatus, known: Iterable[str], most: int) -> list[GoldenQuestion]:
    """Return at most so many guesses, none of a question that is known, from each source by turns."""
    client, seen = invocation.memory, {folded(text) for text in known}
    documents = DocumentTexts(client, agent["id"])
    sources = (
        _asked(client, agent["id"], documents),
        _of_memories(client, agent["id"]),
        _of_headings(client, agent, documents),
    )
    by_turns = (guess for guess in chain.from_iterable(zip_longest(*sources)) if guess is not None)
    return list(islice(_new(by_turns, documents, seen), most))


def _new(guesses: Iterable[GoldenQuestion], documents: DocumentTexts, seen: set[str]) -> Iterator[GoldenQuestion]:
    for guess in guesses:
        key = folded(guess.question)
        if key not in seen and all(documents.spans(place) for place in guess.places):
            seen.add(key)
            yield guess


def _guess(question: str, place: GoldenPlace) -> GoldenQuestion:
    return GoldenQuestion(" ".join(question.split()), (place,), "guess")


def _quoted(span: LineSpan, documents: DocumentTexts) -> GoldenPlace | None:
    """Return the place of these lines by their text, with the lines beside it; None where they say nothing."""
    lines = (documents.text(span.path) or "").split("\n")[span.start - 1 : span.end]
    quote = quote_of([line for line in lines if not line.startswith("#")] or lines)
    number = next((span.start + at for at, line in enumerate(lines) if quote and quote in line), span.start)
    return GoldenPlace(path=span.path, quote=quote, lines=f"L{number}") if quote else None


def _asked(client: Client, agent: str, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield questions of conversations with the note that the answer cites, else with the one that answers now."""
    for question, answer in _turns(client, agent):
        cited = [parse(found) for found in _CITED.findall(answer)]
        spans = [LineSpan(one.path, one.start_line or 1, one.end_line or 1) for one in cited]
        if not spans:
            reply = client.search(question, max_results=1, sources=NOTES, agent=agent)
            hits = reply["results"] if reply["verdict"] == "answerable" else []
            focus = [(hit["path"], hit["focus"] or hit) for hit in hits]
            spans = [LineSpan(path, lines["startLine"], lines["endLine"]) for path, lines in focus]
        places = (_quoted(span, documents) for span in spans)
        if place := next(filter(None, places), None):
            yield _guess(question, place)


def _turns(client: Client, agent: str) -> Iterator[tuple[str, str]]:
    with suppress(Disabled):
        for session in client.qa_sessions(limit=SESSIONS, agent=agent)["sessions"]:
            with suppress(NotFound):
                for turn in client.qa_session(session["session"], agent=agent)["sequence"]:
                    if len(turn["q"]) <= ASKED_CHARS and any(mark in turn["q"] for mark in "?？"):
                        yield turn["q"], turn["a"] or ""


def _of_memories(client: Client, agent: str) -> Iterator[GoldenQuestion]:
    with suppress(RequestError):
        for memory in client.memories(limit=MEMORIES, agent=agent)["memories"]:
            if question := _question_of(memory):
                yield _guess(question, GoldenPlace(memory=memory["id"]))


def _question_of(memory: MemoryDocumentReply) -> str:
    words = keywords(memory["text"])[:TERMS]
    about = [name for name in memory["entities"][:1] if folded(name) not in words]
    return " ".join([*about, *words]) if len(words) > 1 else ""


def _of_headings(client: Client, agent: AgentStatus, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield headings of several words, each with the first line below it that says something."""
    source = client.status()["config"]["source"]
    config = load(Path(source) if source else None).config
    chosen = next((one for one in config.resolved_agents() if one.id == agent["id"]), None)
    if chosen is None:
        return
    roots, rules = roots_and_rules(chosen, max_file_bytes=config.limits.max_file_bytes, media=None)
    for path in scan(roots, rules).files:
        heading, is_code = "", False
        for number, line in enumerate((documents.text(path) or "").split("\n"), 1):
            is_code ^= line.startswith("```")
            if not is_code and (found := _HEADING.match(line)):
                heading = found["text"].strip()
            elif heading and (quote := quote_of([line])):
                terms = query_terms(heading)
                # the heading of a day is no question
                if len(terms) > 1 and not any(map(str.isdecimal, terms)):
                    yield _guess(heading, GoldenPlace(path=path, quote=quote, lines=f"L{number}"))
                heading = ""
