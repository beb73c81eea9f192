"""The lines of a conversation that a citation means, without secrets, and only while they still say what was found."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from memoryd.agents.qa_sessions import QaSessions
from memoryd.domain.citations import Citation, holds_turns, is_conversation, session_of
from memoryd.domain.documents import RelativePath
from memoryd.domain.sessions.names import cited_lines
from memoryd.errors import InvalidRequest, NotFound
from memoryd.sessions.conversation_source import spoken_lines
from memoryd.sessions.session_turns import check_told

SHOWN_CHARS: Final = 200_000
"""Of all lines in one reply."""
SHOWN_LINES: Final = 1_000

_BAD_RANGE: Final = re.compile(r"#[LQ][0-9]{1,9}(?:-[LQ]?[0-9]{1,9})?\Z")


class IndexedTranscripts(Protocol):
    """The transcripts of one agent: what the index has of their lines, and what they say now."""

    async def indexed_lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what is indexed of these lines, by number; raises NotFound, StoreError."""
        ...

    async def lines_now(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what these lines say in the file; raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line of a conversation; `is_cited` is False for a neighbour."""

    number: int
    text: str
    is_cited: bool


@dataclass(frozen=True, slots=True)
class ShownLines:
    """The lines that a citation means, with neighbours; `next_line` is where to go on if not all had room."""

    citation: Citation
    lines: tuple[ShownLine, ...]
    next_line: int | None = None


class Showing:
    """Shows lines of one agent's conversations."""

    def __init__(self, qa: QaSessions, transcripts: IndexedTranscripts) -> None:
        self._qa = qa
        self._transcripts = transcripts

    async def show(self, text: str, *, around: int) -> ShownLines:
        """Return lines by their citation, or a whole conversation; raises InvalidRequest, NotFound, StoreError."""
        citation = cited_lines(text)
        if _BAD_RANGE.search(text.strip()) and citation.start_line is None and is_conversation(citation.path):
            raise InvalidRequest(
                f"{text!r}: no range of lines", hint="lines count from 1, the last is not before the first"
            )
        if not is_conversation(citation.path):
            raise InvalidRequest(
                f"{text!r} is no citation of a conversation, and none has this name",
                hint="such as sessions/main/a.jsonl#L120 or session:main-20261018#Q3; notes: memoryctl get",
            )
        path = RelativePath(citation.path)
        first, last = citation.start_line or 1, citation.end_line or citation.start_line or 1 << 31
        wanted = range(max(1, first - around), min(last + around, first + SHOWN_LINES) + 1)
        read = self._turns if holds_turns(path) else self._transcript
        texts = await read(path, wanted, cited=range(first, last + 1))
        return _shown(citation, texts, range(first, last + 1))

    async def _turns(self, path: RelativePath, wanted: range, *, cited: range) -> Mapping[int, str]:
        session = await self._qa.find(session_of(path))
        if session is not None:
            check_told(session)
        texts = {} if session is None else {one.number: one.text for one in spoken_lines(session)}
        if not any(number in cited for number in texts):
            raise NotFound(f"there is no such turn of {path}", hint="memoryctl sessions list")
        return {number: text for number, text in texts.items() if number in wanted}

    async def _transcript(self, path: RelativePath, wanted: range, *, cited: range) -> Mapping[int, str]:
        indexed = await self._transcripts.indexed_lines(path, wanted[0], wanted[-1])
        if not any(number in cited for number in indexed):
            raise NotFound(f"nothing is said there in {path}", hint="memoryctl sessions list")
        now = await self._transcripts.lines_now(path, wanted[0], wanted[-1])
        if any(now.get(number) != text for number, text in indexed.items() if number in cited):
            raise NotFound(f"{path} no longer says that there", hint="it was written anew: search again")
        return {number: text for number, text in indexed.items() if now.get(number) == text}


def _shown(citation: Citation, texts: Mapping[int, str], cited: range) -> ShownLines:
    lines, left = list[ShownLine](), SHOWN_CHARS
    for number, text in sorted(texts.items()):
        left -= len(text)
        if left < 0 and lines:
            return ShownLines(citation, tuple(lines), number)
        lines.append(ShownLine(number, text, number in cited))
    is_cut = bool(lines) and lines[-1].number >= cited[0] + SHOWN_LINES and cited[-1] > lines[-1].number
    return ShownLines(citation, tuple(lines), lines[-1].number + 1 if is_cut else None)
