"""Calls on conversations, and on a memory that others write too: that of a team, and a folder on several machines."""

# mypy: disable-error-code="empty-body"
# a declaration is all that there is of most calls: `request` makes them

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Unpack

from memoryd.client.connection import Asker, DaemonConnection, ListBounds, request, without_empty
from memoryd.wire import EncodingName

if TYPE_CHECKING:
    # only types: a command would wait for them
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
"""How long an exchange with a team may take where a network is slow."""
FORGET_MS = 120_000
"""How long a forgetting may take: the words of a large index are written anew."""


class TurnOptions(Asker, total=False):
    """What may be said of a message, and what is wanted for it; for the bundle see RecallBounds."""

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
    """Those of Client."""

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
        """Store a turn of the session of this name, else of the one of a session key that goes on."""

    @request("GET", "/qa/sessions")
    def qa_sessions(self, **bounds: Unpack[ListBounds]) -> QaSessionsReply:
        """List the sessions that are not in the archive, the newest first."""

    @request("GET", "/qa/sessions/{session}")
    def qa_session(
        self, session: str, *, seq: str | None = None, grep: str | None = None, **who: Unpack[Asker]
    ) -> QaSessionTurnsReply:
        """Read turns of a session: those of a range (`10-20`), and those in which a word stands. Raises NotFound."""

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
        """Return the turns to put before an agent for a message, or without one the last turns of the session."""

    @request("POST", "/qa/mark")
    def qa_mark(
        self, citation: str, *, keep: bool = True, answer: str | None = None, **who: Unpack[Asker]
    ) -> QaTurnReply:
        """Keep the answer of the turn at `session:<id>#Q17`, this one if it is given, or drop it. Raises NotFound."""

    @request("GET", "/qa/topics")
    def qa_topics(self, **bounds: Unpack[ListBounds]) -> QaTopicsReply:
        """List what was talked about, the most frequent first."""

    @request("GET", "/qa/stats")
    def qa_stats(self, **who: Unpack[Asker]) -> QaStatsReply:
        """Count sessions, turns and kept answers, and measure their files."""

    @request("POST", "/sessions/start")
    def start_session(
        self, session_key: str, *, remember: bool | None = None, encode: EncodingName = "text", agent: str | None = None
    ) -> SessionStartReply:
        """Say that a session begins, and be told what was said last with this key.

        The index looks at the disk (`sync.onSessionStart`). `context` is text for a prompt.
        """

    @request("GET", "/sessions")
    def sessions(self, **bounds: Unpack[ListBounds]) -> SessionsReply:
        """List conversations and transcripts, that in which something was said last first."""

    @request("GET", "/sessions/lines")
    def session_lines(self, citation: str, *, context: int | None = None, **who: Unpack[Asker]) -> SessionLinesReply:
        """Read the lines of a citation, with so many around them. Raises NotFound if they no longer say that."""

    @request("POST", "/sessions/sync")
    def sync_sessions(
        self, *, wait: bool = True, timeout_ms: int | None = None, agent: str | None = None
    ) -> SessionSyncReply:
        """Read transcripts now, and wait until all that was there is indexed; `timeout_ms` as in `sync`."""

    @request("POST", "/sessions/forget", wait_ms=FORGET_MS)
    def forget_session(self, session: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> SessionForgetReply:
        """Take a conversation out of everything, or say what would go. Raises NotFound, Denied but for the owner."""

    def remember_session(
        self, session: str | None = None, *, remember: bool = False, agents_marks: bool = False, **who: Unpack[Asker]
    ) -> SessionRememberReply:
        """Mark a conversation, else what is said under `session_key`, "do not remember", or take that back.

        With `agents_marks` all marks of session keys are taken back that the agent made itself.
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
        """Tell of a message, and return what is recalled for it and what was said before.

        The same message sent again is kept once. `event` says what happened, `event_text`, `tool` and `tool_input`
        with what. Raises Denied for a command that would write where nothing may be written.
        """
        said = {"type": event, "text": event_text, "tool": tool, "input": tool_input}
        happened = without_empty(said) if event else None
        body = self.with_asker({"role": "user", "text": text, "event": happened, **options})
        reply: TurnReply = self.call("POST", "/turns", body, options.get("deadline_ms") or 0)
        return reply

    @request("POST", "/capture")
    def capture(
        self, text: str, *, answer: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> CaptureReply:
        """Keep what a message states, or with `dry_run` say what would be kept, and why not the rest."""

    @request("GET", "/told")
    def told(
        self, *, session: str = "", before: int = 0, limit: int | None = None, agent: str | None = None
    ) -> ToldReply:
        """List what an agent was told for each question, the latest first; raises Denied but for the owner."""

    @request("POST", "/told")
    def judge_told(
        self, number: int, name: str, judgement: Literal["noise", "wrong"] | None, *, agent: str | None = None
    ) -> ToldJudgedReply:
        """Keep what the owner thinks of a part of what was told; None takes it back. Raises NotFound, Denied."""

    @request("POST", "/team/promote", wait_ms=EXCHANGE_MS)
    def promote_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamPromoteReply:
        """Share a memory with the team, or say what would be shared; shared twice it is there once.

        Raises NotFound, Denied for what must not be shared, and but for the owner.
        """

    @request("POST", "/team/revoke", wait_ms=EXCHANGE_MS)
    def revoke_memory(self, target: str, *, dry_run: bool = False, agent: str | None = None) -> TeamRevokeReply:
        """Take a memory of one's own back from the team; raises NotFound, Denied."""

    @request("POST", "/team/sync", wait_ms=EXCHANGE_MS)
    def sync_team(self, *, agent: str | None = None) -> TeamReply:
        """Bring in what others shared, and send what waits; the reply says what failed."""

    @request("GET", "/conflicts")
    def conflicts(self, *, agent: str | None = None) -> ConflictsReply:
        """List the notes of which there are two versions at once; raises Denied but for the owner."""

    @request("POST", "/conflicts/settle")
    def settle_conflict(self, path: str, keep: str, *, agent: str | None = None) -> ConflictSettledReply:
        """Keep the `original`, the `copy` or the lines of `both`; raises NotFound, InvalidRequest, Denied."""
