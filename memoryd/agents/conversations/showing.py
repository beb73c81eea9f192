"""All operations on one agent's conversations: list, show, read now, forget, and exclude from being remembered.

Cited lines are shown without secrets, and only while they still have the text that was found.
"""

import asyncio
import contextlib
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from memoryd.agents.conversations.conversations import AgentConversations
from memoryd.agents.conversations.forgetting import Forgetting
from memoryd.agents.conversations.listing import ConversationList, QaSessions
from memoryd.domain.documents import Citation, RelativePath, is_conversation, is_turns_path, session_of, turns_path
from memoryd.domain.expressions import expression
from memoryd.domain.sessions.conversation_parts import through_next
from memoryd.domain.sessions.names import cited_lines, may_belong_to, possible_paths
from memoryd.domain.text.sanitizing import text_flags
from memoryd.errors import InvalidRequest, NotFound
from memoryd.files.excerpts import MAX_CHARS, LineRange, Window
from memoryd.qmd.engine import ExportedSearch
from memoryd.replies.conversations import (
    SessionEntryReply,
    SessionForgetReply,
    SessionLineReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionSyncReply,
)
from memoryd.replies.search import FileReply
from memoryd.sessions.conversation_source import spoken_lines
from memoryd.sessions.session_turns import check_remembered
from memoryd.sessions.transcripts.reading import read_lines

SHOWN_CHARS = 200_000
"""The limit for the text of all lines in one reply."""
SHOWN_LINES = 1_000
_LAST_LINE = 1 << 31
_BAD_RANGE = expression(r"#[LQ][0-9]{1,9}(?:-[LQ]?[0-9]{1,9})?\Z")
_MAX_FAILURES_SHOWN = 3


def _lines_reply(citation: Citation, texts: Mapping[int, str], wanted: range, cited: range) -> SessionLinesReply:
    lines, remaining = list[SessionLineReply](), SHOWN_CHARS
    reply = SessionLinesReply(id=citation.path, citation=str(citation), lines=lines, nextLine=None)
    for number, text in sorted(texts.items()):
        remaining -= len(text)
        if number not in wanted or (remaining < 0 and lines):
            return {**reply, "nextLine": number}
        lines.append(SessionLineReply(line=number, text=text, cited=number in cited))
    return reply


def combined_sync(replies: Sequence[SessionSyncReply]) -> SessionSyncReply:
    """Return one reply for several agents."""
    return SessionSyncReply(
        conversations=sum(reply["conversations"] for reply in replies),
        indexed=sum(reply["indexed"] for reply in replies),
        complete=all(reply["complete"] for reply in replies),
        reason="; ".join(dict.fromkeys(reply["reason"] for reply in replies if reply["reason"])) or None,
    )


class StoredConversations(Struct, frozen=True, kw_only=True):
    """The conversations of one agent. Transcripts that are not in the index may be exported for qmd."""

    agent: str
    index: AgentConversations
    qa: QaSessions
    listing: ConversationList
    exports: ExportedSearch | None
    forgetting: Forgetting

    async def all(self) -> list[SessionEntryReply]:
        """Return all conversations, the last active first."""
        return await self.listing.all()

    async def withheld_keys(self) -> int:
        """Return how many session keys are marked. Raises StoreUnavailable."""
        await self.index.withheld.load()
        return self.index.withheld.count_keys()

    async def show(self, citation: str, *, around: int) -> SessionLinesReply:
        """Return the lines of a citation, or all lines for a bare name. Raises InvalidRequest, NotFound, StoreError."""
        cited = cited_lines(citation)
        if not is_conversation(cited.path):
            with contextlib.suppress(NotFound):
                path = await self._find(citation)
                citation = str(replace(cited, path=path))
        if self._is_pending_forget(RelativePath(cited_lines(citation).path)):
            raise NotFound(f"there is no conversation {cited.path!r}", hint="memoryctl sessions list")
        return await self._show(citation, around=around)

    async def read(self, cited: Citation, requested: LineRange) -> FileReply:
        """Return lines of a conversation as those of a document; a line without text is empty. Raises as `show` does.

        Raises NotFound if no text follows the first line. Only a limited number of lines behind it is read, and
        `totalLines` counts no further.
        """
        first, count = (cited.start_line, cited.line_count) if cited.start_line else (requested.first, requested.count)
        path, wanted = RelativePath(cited.path), range(first, first + count + SHOWN_LINES)
        if self._is_pending_forget(path):
            raise NotFound(f"there is no conversation {path!r}", hint="memoryctl sessions list")
        find = self._turns if is_turns_path(path) else self._transcript
        texts = await find(path, wanted, cited=range(first, _LAST_LINE))
        window = Window(first=1, count=count, column=requested.column, max_chars=MAX_CHARS)
        for number in range(first, min(max(texts), wanted[-1]) + 1):
            window.feed(" ".join(texts.get(number, "").split("\n")) + "\n")
        page = window.lines()
        return FileReply(
            {
                "path": path,
                "text": page.text,
                "from": first,
                "lines": page.count,
                "column": requested.column,
                "totalLines": first - 1 + page.total,
                "sha256": sha256(page.text.encode("utf-8", "surrogatepass")).hexdigest(),
                "truncated": page.next_first is not None or page.next_column is not None,
                "nextFrom": None if page.next_first is None else first - 1 + page.next_first,
                "nextColumn": page.next_column,
                "flags": [flag.value for flag in text_flags(page.text)],
            }
        )

    async def _show(self, text: str, *, around: int) -> SessionLinesReply:
        """Return the lines of a citation, or a complete conversation. Raises as `show` does."""
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
        first, last = citation.start_line or 1, citation.end_line or citation.start_line or _LAST_LINE
        wanted = range(max(1, first - around), min(last + around, first + SHOWN_LINES) + 1)
        read = self._turns if is_turns_path(path) else self._transcript
        texts = await read(path, wanted, cited=range(first, last + 1))
        return _lines_reply(citation, texts, wanted, range(first, last + 1))

    async def _turns(self, path: RelativePath, wanted: range, *, cited: range) -> Mapping[int, str]:
        session = await self.qa.find(session_of(path))
        if session is not None:
            check_remembered(session)
        texts = {} if session is None else {line.number: line.text for line in spoken_lines(session)}
        if not any(number in cited for number in texts):
            raise NotFound(f"there is no such turn of {path}", hint="memoryctl sessions list")
        return through_next(sorted(texts.items()), wanted)

    async def _transcript(self, path: RelativePath, wanted: range, *, cited: range) -> Mapping[int, str]:
        indexed = await self._indexed_lines(path, wanted[0], wanted[-1])
        if not any(number in cited for number in indexed):
            raise NotFound(f"there is no text at these lines of {path}", hint="memoryctl sessions list")
        now = await self._lines_now(path, wanted[0], wanted[-1])
        if any(now.get(number) != text for number, text in indexed.items() if number in cited and number in wanted):
            raise NotFound(f"{path} no longer says that there", hint="it was written anew: search again")
        return {number: text for number, text in indexed.items() if number > wanted[-1] or now.get(number) == text}

    async def _indexed_lines(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return the indexed or exported text of these lines, by number, and the next line.

        Raises NotFound, StoreError.
        """
        try:
            return await self.index.lines(path, first, last)
        except NotFound:
            if self.exports is None or path in self.index.writer.forgotten:
                raise
            exported = await asyncio.to_thread(self.exports.lines, path, first, last)
            if exported is None:
                raise
            return exported

    async def _lines_now(self, path: RelativePath, first: int, last: int) -> Mapping[int, str]:
        """Return the text of these lines in the file. Raises NotFound."""
        transcript = (await self.listing.transcripts()).get(path)
        if transcript is None:
            return {}
        try:
            return await asyncio.to_thread(read_lines, transcript.path, first, last, format=transcript.format)
        except OSError as exc:
            raise NotFound(f"{path} cannot be read: {exc.strerror or exc}") from exc

    async def sync(self, *, wait: bool, limit: timedelta) -> SessionSyncReply:
        """Read what changed, and wait for it if `wait`."""
        tickets, reason, is_complete = self.index.demand(), "", not wait
        if wait:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit.total_seconds()):
                    reason = await self.index.wait_for_scan(tickets) or _render_failures(self.index.failures)
                    is_complete = not reason
        remembered = [entry for entry in await self.all() if entry["remembered"]]
        return SessionSyncReply(
            conversations=len(remembered),
            indexed=sum(entry["indexed"] for entry in remembered),
            complete=is_complete,
            reason=reason or None,
        )

    async def would_forget(self, name: str) -> SessionForgetReply:
        """Return what forgetting would remove. Raises NotFound, InvalidRequest, StoreError."""
        return await self.forgetting.would_forget(await self._find(name))

    async def forget(self, name: str) -> SessionForgetReply:
        """Forget a conversation completely. Raises NotFound, InvalidRequest, Denied, Disabled, StoreError."""
        return await self.forgetting.forget(await self._find(name))

    async def remember(self, name: str, *, is_remembered: bool) -> SessionRememberReply:
        """Mark a conversation as remembered or not; this also lets a forgotten transcript be read.

        Raises NotFound, Denied.
        """
        path = await self._find(name)
        if is_turns_path(path):
            return await self._set_remembered(path, is_remembered)
        if not is_remembered:
            return _remember_reply(path, False, await self.forgetting.mark(path))
        if (other := await self.listing.forgotten_original(path)) is not None:
            # it stays withheld as a copy, even if its own name is released
            raise InvalidRequest(
                f"{path} has all that was forgotten of {other}",
                hint=f"have that be remembered first: memoryctl sessions remember {shlex.quote(other)} --yes",
            )
        await self.forgetting.release(path)
        self.index.demand()
        return _remember_reply(path, True)

    async def marked_by_agent(self) -> list[datetime]:
        """Return when the agent itself marked session keys, the newest first. Raises StoreUnavailable."""
        await self.index.withheld.load()
        return [datetime.fromtimestamp(mark.since, UTC) for mark in self.index.withheld.marked_by_agent()]

    async def release_marks_of_agent(self) -> SessionRememberReply:
        """Take back all marks of session keys that the agent itself made, and return their number. Raises Denied."""
        return _remember_reply(None, True, marks=await self.index.withheld.release_marks_of_agent())

    async def remember_key(self, key: str, *, is_remembered: bool, is_owners: bool) -> SessionRememberReply:
        """Mark present and future messages under a session key as remembered or not. Raises Denied, InvalidRequest."""
        withheld = self.index.withheld
        # the key first: a turn that arrives in between is lost rather than stored
        await (withheld.release_key(key) if is_remembered else withheld.withhold_key(key, is_owners=is_owners))
        current = await self.qa.current(key)
        if current is None or not self.qa.is_writable:
            return _remember_reply(None, is_remembered)
        return await self._set_remembered(turns_path(current), is_remembered)

    async def _set_remembered(self, path: RelativePath, is_remembered: bool) -> SessionRememberReply:
        await self.qa.set_remembered(session_of(path), is_remembered)
        if is_remembered:
            # its turns may be those of a transcript, which can now be read again
            self.index.withheld.note_change()
            self.index.demand()
            return _remember_reply(path, True)
        # at once, regardless of other reads
        return _remember_reply(path, False, await self.forgetting.remove_derived(path))

    async def is_opened_with(self, name: str, key: str) -> bool:
        """Return whether a conversation is a session that was opened with this key. Raises NotFound, InvalidRequest."""
        path = await self._find(name)
        session = await self.qa.find(session_of(path)) if is_turns_path(path) else None
        return session is not None and bool(key) and session.key == key

    async def _find(self, name: str) -> RelativePath:
        """Return the one conversation that a name refers to. Raises NotFound, InvalidRequest."""
        paths = [path for path in possible_paths(name, self.agent) if await self._is_there(path)]
        if len(paths) > 1:
            raise InvalidRequest(f"{name!r} names two conversations", hint=f"say which: {' or '.join(paths)}")
        if not paths:
            raise NotFound(f"there is no conversation {name!r}", hint="memoryctl sessions list")
        return paths[0]

    async def _is_there(self, path: RelativePath) -> bool:
        """Return whether a conversation of this agent, or any remains of it, exist."""
        if not may_belong_to(path, self.agent):
            return False
        if is_turns_path(path):
            is_known = await self.qa.knows(session_of(path)) or self._is_pending_forget(path)
        else:
            await self.index.withheld.load()
            is_known = self.index.withheld.withheld_transcript(path) is not None
            is_known = is_known or await self.listing.file_of(path) is not None
        return is_known or await self.index.parts(path) > 0

    def _is_pending_forget(self, path: RelativePath) -> bool:
        return self.index.withheld.is_known and self.index.withheld.withholds_path(path)


def _remember_reply(path: str | None, is_remembered: bool, rows: int = 0, marks: int = 0) -> SessionRememberReply:
    return SessionRememberReply(id=path, remembered=is_remembered, rows=rows, marks=marks)


def _render_failures(failures: Mapping[RelativePath, str]) -> str:
    """Return the conversations whose current content is not indexed, with the reasons; empty if all are indexed."""
    reasons = [f"{path}: {why}" for path, why in sorted(failures.items())]
    more = len(reasons) - _MAX_FAILURES_SHOWN
    return "; ".join([*reasons[:_MAX_FAILURES_SHOWN], *([f"{more} more cannot be indexed"] if more > 0 else [])])
