"""One agent's conversations as a whole: list, show, read now, forget one, do not remember it.

The lines that a citation means are shown without secrets, and only while they still say what was found.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import Forgetting, ForgettingReach, MemoriesOfSessions
from memoryd.agents.conversations.forgotten_places import Receipt, Removed
from memoryd.agents.conversations.listing import ConversationList, ListedConversation
from memoryd.agents.conversations.qa_sessions import QaSessions
from memoryd.domain.citations import Citation, holds_turns, is_conversation, session_of, turns_path
from memoryd.domain.documents import RelativePath
from memoryd.domain.expressions import expression
from memoryd.domain.sessions.names import cited_lines, is_of, meant_paths
from memoryd.errors import InvalidRequest, NotFound
from memoryd.sessions.conversation_source import spoken_lines
from memoryd.sessions.session_turns import check_told

SHOWN_CHARS: Final = 200_000
"""Of all lines in one reply."""
SHOWN_LINES: Final = 1_000
_BAD_RANGE: Final = expression(r"#[LQ][0-9]{1,9}(?:-[LQ]?[0-9]{1,9})?\Z")
_FAILURES_TOLD: Final = 3


class IndexedTranscripts(Protocol):
    """The transcripts of one agent: what the index has of their lines, and what they say now."""

    async def indexed_lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what is indexed of these lines, by number; raises NotFound, StoreError."""
        ...

    async def lines_now(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return what these lines say in the file; raises NotFound."""
        ...


class ShownLine(Struct, frozen=True):
    """A line of a conversation; `is_cited` is False for a neighbour."""

    number: int
    text: str
    is_cited: bool


class ShownLines(Struct, frozen=True):
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


class ReadConversations(Struct, frozen=True):
    """How many conversations there are that may be read, how many can be searched as they are, and whether all do.

    `reason` says why they will not.
    """

    conversations: int
    indexed: int
    is_complete: bool
    reason: str = ""


def together(read: Sequence[ReadConversations]) -> ReadConversations:
    """Return what holds of several agents."""
    return ReadConversations(
        sum(one.conversations for one in read),
        sum(one.indexed for one in read),
        all(one.is_complete for one in read),
        "; ".join(dict.fromkeys(one.reason for one in read if one.reason)),
    )


class Remembered(Struct, frozen=True):
    """What holds of a conversation, or of a session key without one, from now on; `rows` left the index."""

    path: RelativePath | None
    is_remembered: bool
    rows: int = 0


class ConversationRooms(Struct, frozen=True, kw_only=True):
    """Who answers for what."""

    listing: ConversationList
    showing: Showing
    forgetting: Forgetting
    reach: ForgettingReach
    qa: QaSessions
    index: AgentConversations
    memories: MemoriesOfSessions


class KeptConversations:
    """The conversations of one agent."""

    def __init__(self, agent: str, rooms: ConversationRooms) -> None:
        self.forgetting = rooms.forgetting
        self._agent = agent
        self._rooms = rooms

    async def all(self) -> list[ListedConversation]:
        """Return all, that in which something was said last first."""
        return await self._rooms.listing.all()

    async def withheld_keys(self) -> int:
        """Count the session keys that are marked; raises StoreUnavailable."""
        await self._rooms.index.withheld.load()
        return self._rooms.index.withheld.keys()

    async def show(self, citation: str, *, around: int) -> ShownLines:
        """Return the lines of a citation, or of a bare name all; raises InvalidRequest, NotFound, StoreError."""
        cited = cited_lines(citation)
        if not is_conversation(cited.path):
            with contextlib.suppress(NotFound):
                path = await self._found(citation)
                citation = str(replace(cited, path=path))
        if self._is_owed(RelativePath(cited_lines(citation).path)):
            raise NotFound(f"there is no conversation {cited.path!r}", hint="memoryctl sessions list")
        return await self._rooms.showing.show(citation, around=around)

    async def sync(self, *, wait: bool, limit: timedelta) -> ReadConversations:
        """Read now what changed, and wait for it on demand."""
        index = self._rooms.index
        tickets, reason, is_complete = index.demand(), "", not wait
        if wait:
            try:
                async with asyncio.timeout(limit.total_seconds()):
                    reason = await index.settled(tickets) or _told_failures(index.failures)
                    is_complete = not reason
            except TimeoutError:
                is_complete = False
        listed = [one for one in await self.all() if one.is_remembered]
        return ReadConversations(len(listed), sum(not one.reason for one in listed), is_complete, reason)

    async def would_forget(self, name: str) -> Receipt:
        """Say what forgetting would remove; raises NotFound, InvalidRequest, StoreError."""
        path = await self._found(name)
        receipt = await self._rooms.reach.would_forget(path)
        made = await self._rooms.memories.would_forget(session_of(path)) if holds_turns(path) else ()
        return receipt.with_more(Removed(), made)

    async def forget(self, name: str) -> Receipt:
        """Take a conversation out of everything; raises NotFound, InvalidRequest, Denied, Disabled, StoreError."""
        path = await self._found(name)
        # before the conversation: after it nobody would know what a kill left
        made = await self._rooms.memories.forget(session_of(path)) if holds_turns(path) else ()
        return (await self._rooms.forgetting.forget(path)).with_more(Removed(), made)

    async def remember(self, name: str, *, is_remembered: bool) -> Remembered:
        """Mark a conversation, or take that back, and that a transcript was forgotten; raises NotFound, Denied."""
        path = await self._found(name)
        if holds_turns(path):
            return await self._set_remembered(path, is_remembered)
        if is_remembered:
            await self._check_no_copy(path)
            await self._rooms.forgetting.release(path)
            self._rooms.index.demand()
            return Remembered(path, True)
        return Remembered(path, False, await self._rooms.forgetting.mark(path))

    async def _check_no_copy(self, path: RelativePath) -> None:
        """Raise InvalidRequest for a transcript that stays withheld, whatever is done with its own name."""
        if (other := await self._rooms.listing.copied(path)) is not None:
            raise InvalidRequest(
                f"{path} has all that was forgotten of {other}",
                hint=f"have that be remembered first: memoryctl sessions remember {other} --yes",
            )

    async def marked_by_agent(self) -> list[datetime]:
        """Return when the agent itself marked session keys, the newest first; raises StoreUnavailable."""
        await self._rooms.index.withheld.load()
        return [datetime.fromtimestamp(one.since, UTC) for one in self._rooms.index.withheld.marked_by_agent()]

    async def release_marks_of_agent(self) -> int:
        """Take back all marks of session keys that the agent made itself, and say how many; raises Denied."""
        return await self._rooms.index.withheld.release_marks_of_agent()

    async def remember_key(self, key: str, *, is_remembered: bool, is_owners: bool = True) -> Remembered:
        """Mark what is said under a session key, now and later, or take that back; raises Denied, InvalidRequest."""
        withheld = self._rooms.index.withheld
        # the key first: in between a turn is rather lost than stored
        await (withheld.release_key(key) if is_remembered else withheld.withhold_key(key, is_owners=is_owners))
        current = await self._rooms.qa.current(key)
        if current is None or not self._rooms.qa.is_writable:
            return Remembered(None, is_remembered)
        return await self._set_remembered(turns_path(current), is_remembered)

    async def _set_remembered(self, path: RelativePath, is_remembered: bool) -> Remembered:
        await self._rooms.qa.set_remembered(session_of(path), is_remembered)
        if is_remembered:
            # its turns may be those of a transcript
            self._rooms.index.withheld.note_change()
            self._rooms.index.demand()
            return Remembered(path, True)
        # at once, whatever else is being read
        return Remembered(path, False, await self._rooms.forgetting.forget_made(path))

    async def is_opened_with(self, name: str, key: str) -> bool:
        """Tell whether a conversation is a session that was opened with this key; raises NotFound, InvalidRequest."""
        path = await self._found(name)
        session = await self._rooms.qa.find(session_of(path)) if holds_turns(path) else None
        return session is not None and bool(key) and session.key == key

    async def _found(self, name: str) -> RelativePath:
        """Return the one conversation that a name means."""
        found = [path for path in meant_paths(name, self._agent) if await self._is_there(path)]
        if len(found) > 1:
            raise InvalidRequest(f"{name!r} names two conversations", hint=f"say which: {' or '.join(found)}")
        if not found:
            raise NotFound(f"there is no conversation {name!r}", hint="memoryctl sessions list")
        return found[0]

    async def _is_there(self, path: RelativePath) -> bool:
        """Tell whether there is a conversation of this agent, or anything is left of it."""
        if not is_of(path, self._agent):
            return False
        if holds_turns(path):
            is_known = await self._rooms.qa.knows(session_of(path)) or self._is_owed(path)
        else:
            await self._rooms.index.withheld.load()
            is_known = self._rooms.index.withheld.transcript(path) is not None
            is_known = is_known or await self._rooms.listing.file_of(path) is not None
        return is_known or await self._rooms.reach.has_rows(path)

    def _is_owed(self, path: RelativePath) -> bool:
        return self._rooms.index.withheld.is_known and self._rooms.index.withheld.names(path)


def _told_failures(failures: Mapping[RelativePath, str]) -> str:
    """Return which conversations are not in the index as they are, and why; empty if all are."""
    told = [f"{path}: {why}" for path, why in sorted(failures.items())]
    more = [f"{len(told) - _FAILURES_TOLD} more cannot be indexed"] if len(told) > _FAILURES_TOLD else []
    return "; ".join([*told[:_FAILURES_TOLD], *more])
