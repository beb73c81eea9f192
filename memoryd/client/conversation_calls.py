"""Calls on conversations, and on memories that others write as well: of a team, or of a folder on several machines."""

# mypy: disable-error-code="empty-body"
# most calls are only declared: `request` implements them

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from memoryd.client.connection import Asker, DaemonConnection, ListBounds, request, without_empty
from memoryd.wire import EncodingName

if TYPE_CHECKING:
    # only types: loading them would delay a command
    from memoryd.replies.changes import (
        ConflictSettledReply,
        ConflictsReply,
        TeamPromoteReply,
        TeamReply,
        TeamRevokeReply,
    )
    from memoryd.replies.conversations import (
        CaptureReply,
        QaAddReply,
        QaContextReply,
        QaSessionsReply,
        QaSessionTurnsReply,
        QaStatsReply,
        QaTopicsReply,
        QaTurnReply,
        SessionForgetReply,
        SessionLinesReply,
        SessionRememberReply,
        SessionsReply,
        SessionStartReply,
        SessionSyncReply,
        TurnReply,
    )
    from memoryd.replies.recall import ToldJudgedReply, ToldReply

EXCHANGE_MS = 240_000
"""The deadline of an exchange with a team over a slow network."""
FORGET_MS = 120_000
"""The deadline of a removal, which rewrites the words of a large index."""


class TurnOptions(Asker, total=False):
    """The options of a message; for those of the bundle see RecallBounds."""

    role: Literal["user", "assistant", "tool", "system"]
    channel: str | None
    at: str | None
    budget: int | None
    encode: EncodingName
    if_none_match: str | None
    k: int | None
    deadline_ms: int | None
    unread: bool


class ConversationCalls(DaemonConnection):
    """The part of Client with the calls on conversations."""

    @request(
        "POST", "/qa/turns", is_repeatable=False, question="q", answer="a", session="sessionId", topics="topicTags"
    )
    def add_turn(
        self,
        question: str,
        answer: str | None = None,
        *,
        session: str | None = None,
        timestamp: str | None = None,
        significance: float | None = None,
        topics: Sequence[str] | None = None,
        **who: Unpack[Asker],
    ) -> QaAddReply:
        """Store a turn in the session of this name, else in the open one of a session key."""

    @request("GET", "/qa/sessions")
    def qa_sessions(self, **bounds: Unpack[ListBounds]) -> QaSessionsReply:
        """List the sessions that are not in the archive, the newest first."""

    @request("GET", "/qa/sessions/{session}")
    def qa_session(
        self, session: str, *, seq: str | None = None, grep: str | None = None, **who: Unpack[Asker]
    ) -> QaSessionTurnsReply:
        """Read turns of a session, optionally those of a range (`10-20`) or that contain a word. Raises NotFound."""

    @request("POST", "/qa/context", session="sessionId")
    def qa_context(
        self,
        message: str | None = None,
        *,
        session: str | None = None,
        n: int | None = None,
        budget: int | None = None,
        **who: Unpack[Asker],
    ) -> QaContextReply:
        """Return the turns to show to an agent for a message; without a message the last turns of the session."""

    @request("POST", "/qa/mark")
    def qa_mark(
        self, citation: str, *, keep: bool = True, answer: str | None = None, **who: Unpack[Asker]
    ) -> QaTurnReply:
        """Store the answer of the turn at `session:<id>#Q17`, or `answer` instead, or drop it. Raises NotFound."""

    @request("GET", "/qa/topics")
    def qa_topics(self, **bounds: Unpack[ListBounds]) -> QaTopicsReply:
        """List the topics of conversations, the most frequent first."""

    @request("GET", "/qa/stats")
    def qa_stats(self, **who: Unpack[Asker]) -> QaStatsReply:
        """Count sessions, turns and stored answers, and measure their files."""

    @request("POST", "/sessions/start")
    def start_session(
        self, session_key: str, *, remember: bool | None = None, encode: EncodingName = "text", agent: str | None = None
    ) -> SessionStartReply:
        """Begin a session, and return the last turns with this key.

        The index scans the disk (`sync.onSessionStart`). `context` is text for a prompt.
        """

    @request("GET", "/sessions")
    def sessions(self, **bounds: Unpack[ListBounds]) -> SessionsReply:
        """List conversations and transcripts, the last active first."""

    @request("GET", "/sessions/lines")
    def session_lines(self, citation: str, *, context: int | None = None, **who: Unpack[Asker]) -> SessionLinesReply:
        """Read the lines of a citation, with `context` lines around them. Raises NotFound if their text has changed."""

    @request("POST", "/sessions/sync")
    def sync_sessions(
        self, *, wait: bool = True, timeout_ms: int | None = None, agent: str | None = None
    ) -> SessionSyncReply:
        """Read transcripts now, and wait until they are indexed; `timeout_ms` as in `sync`."""

    @request("POST", "/sessions/forget", wait_ms=FORGET_MS)
    def forget_session(self, session: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> SessionForgetReply:
        """Remove a conversation everywhere, or return what would go.

        Raises NotFound, and Denied unless by the owner.
        """

    def remember_session(
        self, session: str | None = None, *, remember: bool = False, agents_marks: bool = False, **who: Unpack[Asker]
    ) -> SessionRememberReply:
        """Mark a conversation, else the messages under `session_key`, as not to be remembered, or take that back.

        With `agents_marks`, all marks of session keys that the agent itself made are taken back.
        """
        body = {"session": session, "remember": remember, "agentsMarks": agents_marks or None, **who}
        reply: SessionRememberReply = self.call("POST", "/sessions/remember", self.with_asker(body))
        return reply

    def turn(
        self,
        text: str = "",
        *,
        event: Literal["failure", "tool_failed", "end", "compact"] | None = None,
        event_text: str | None = None,
        tool: str | None = None,
        tool_input: str | None = None,
        **options: Unpack[TurnOptions],
    ) -> TurnReply:
        """Send a message, and return what is recalled for it and the previous turns.

        The same message sent again is stored once. `event` is the kind of an event, described by `event_text`, `tool`
        and `tool_input`. Raises Denied for a command that would write if nothing may be written.
        """
        details = {"type": event, "text": event_text, "tool": tool, "input": tool_input}
        happened = without_empty(details) if event else None
        body = self.with_asker({"role": "user", "text": text, "event": happened, **options})
        reply: TurnReply = self.call("POST", "/turns", body, options.get("deadline_ms") or 0)
        return reply

    @request("POST", "/capture")
    def capture(
        self, text: str, *, answer: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> CaptureReply:
        """Store what a message states, or with `dry_run` return what would be stored, and why not the rest."""

    @request("GET", "/told")
    def told(
        self, *, session: str = "", before: int = 0, limit: int | None = None, agent: str | None = None
    ) -> ToldReply:
        """List what an agent was shown for each question, the latest first. Raises Denied unless by the owner."""

    @request("POST", "/told")
    def judge_told(
        self, number: int, name: str, judgement: Literal["noise", "wrong"] | None, *, agent: str | None = None
    ) -> ToldJudgedReply:
        """Store the owner's judgement of a shown item; None takes it back. Raises NotFound, Denied."""

    @request("POST", "/team/promote", wait_ms=EXCHANGE_MS)
    def promote_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamPromoteReply:
        """Share a memory with the team, or return what would be shared; sharing it twice has no further effect.

        Raises NotFound, and Denied if it must not be shared or the caller is not the owner.
        """

    @request("POST", "/team/revoke", wait_ms=EXCHANGE_MS)
    def revoke_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamRevokeReply:
        """Take one's own memory back from the team. Raises NotFound, Denied."""

    @request("POST", "/team/sync", wait_ms=EXCHANGE_MS)
    def sync_team(self, *, agent: str | None = None) -> TeamReply:
        """Receive what others shared, and send what waits; the reply says what failed."""

    @request("GET", "/conflicts")
    def conflicts(self, *, agent: str | None = None) -> ConflictsReply:
        """List the notes that exist in two versions. Raises Denied unless by the owner."""

    @request("POST", "/conflicts/settle")
    def settle_conflict(self, path: str, keep: str, *, agent: str | None = None) -> ConflictSettledReply:
        """Keep the `original`, the `copy` or the lines of `both`. Raises NotFound, InvalidRequest, Denied."""
