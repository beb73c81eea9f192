"""Calls on conversations: each message, questions and answers in their order, and conversations as a whole."""

from collections.abc import Sequence
from typing import Literal, Unpack

from memoryd.client.connection import Asker, DaemonConnection, ListBounds, quoted, without_empty
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
from memoryd.replies.recall import Encode, ToldJudgedReply, ToldReply

FORGET_MS = 120_000
"""How long a forgetting may take: the words of a large index are written anew."""


class TurnOptions(Asker, total=False):
    """What may be said of a message, and what is wanted for it; for the bundle see RecallBounds."""

    role: Literal["user", "assistant", "tool", "system"]
    channel: str | None
    at: str | None
    budget: int | None
    encode: Encode
    if_none_match: str | None
    k: int | None
    deadline_ms: int | None
    unread: bool


class ConversationCalls(DaemonConnection):
    """Those of Client."""

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
        body = {"q": question, "a": answer, "sessionId": session, "timestamp": timestamp}
        return self._send_once(
            QaAddReply, "/qa/turns", {**body, "significance": significance, "topicTags": topics}, who
        )

    def qa_sessions(self, **bounds: Unpack[ListBounds]) -> QaSessionsReply:
        """List the sessions that are not in the archive, the newest first."""
        return self._fetch(QaSessionsReply, "/qa/sessions", {}, bounds)

    def qa_session(
        self, session: str, *, seq: str | None = None, grep: str | None = None, **who: Unpack[Asker]
    ) -> QaSessionTurnsReply:
        """Read turns of a session: those of a range (`10-20`), and those in which a word stands. Raises NotFound."""
        return self._fetch(QaSessionTurnsReply, f"/qa/sessions/{quoted(session)}", {"seq": seq, "grep": grep}, who)

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
        body = {"message": message, "sessionId": session, "n": n, "budget": budget}
        return self._send(QaContextReply, "/qa/context", body, who)

    def qa_mark(
        self, citation: str, *, keep: bool = True, answer: str | None = None, **who: Unpack[Asker]
    ) -> QaTurnReply:
        """Keep the answer of the turn at `session:<id>#Q17`, this one if it is given, or drop it. Raises NotFound."""
        return self._send(QaTurnReply, "/qa/mark", {"citation": citation, "keep": keep, "answer": answer}, who)

    def qa_topics(self, **bounds: Unpack[ListBounds]) -> QaTopicsReply:
        """List what was talked about, the most frequent first."""
        return self._fetch(QaTopicsReply, "/qa/topics", {}, bounds)

    def qa_stats(self, **who: Unpack[Asker]) -> QaStatsReply:
        """Count sessions, turns and kept answers, and measure their files."""
        return self._fetch(QaStatsReply, "/qa/stats", {}, who)

    def start_session(
        self, session_key: str, *, remember: bool | None = None, encode: Encode = "text", agent: str | None = None
    ) -> SessionStartReply:
        """Say that a session begins, and be told what was said last with this key.

        The index looks at the disk (`sync.onSessionStart`). `context` is text for a prompt.
        """
        body = {"sessionKey": session_key, "remember": remember, "encode": encode, "agent": agent}
        return self._send(SessionStartReply, "/sessions/start", body)

    def sessions(self, **bounds: Unpack[ListBounds]) -> SessionsReply:
        """List conversations and transcripts, that in which something was said last first."""
        return self._fetch(SessionsReply, "/sessions", {}, bounds)

    def session_lines(self, citation: str, *, context: int | None = None, **who: Unpack[Asker]) -> SessionLinesReply:
        """Read the lines of a citation, with so many around them. Raises NotFound if they no longer say that."""
        return self._fetch(SessionLinesReply, "/sessions/lines", {"citation": citation, "context": context}, who)

    def sync_sessions(
        self, *, wait: bool = True, timeout_ms: int | None = None, agent: str | None = None
    ) -> SessionSyncReply:
        """Read transcripts now, and wait until all that was there is indexed; `timeout_ms` as in `sync`."""
        limit_ms = self._limit_ms(timeout_ms)
        body = {"wait": wait, "timeoutMs": limit_ms, "agent": agent}
        return self._send(SessionSyncReply, "/sessions/sync", body, wait_ms=limit_ms)

    def forget_session(self, session: str, *, dry_run: bool = False, **who: Unpack[Asker]) -> SessionForgetReply:
        """Take a conversation out of everything, or say what would go. Raises NotFound, Denied but for the owner."""
        body = {"session": session, "dryRun": dry_run}
        return self._send(SessionForgetReply, "/sessions/forget", body, who, wait_ms=FORGET_MS)

    def remember_session(
        self, session: str | None = None, *, remember: bool = False, agents_marks: bool = False, **who: Unpack[Asker]
    ) -> SessionRememberReply:
        """Mark a conversation, else what is said under `session_key`, "do not remember", or take that back.

        With `agents_marks` all marks of session keys are taken back that the agent made itself.
        """
        body = {"session": session, "remember": remember, "agentsMarks": agents_marks or None}
        return self._send(SessionRememberReply, "/sessions/remember", body, who)

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
        happened = (
            without_empty({"type": event, "text": event_text, "tool": tool, "input": tool_input}) if event else None
        )
        body = {"role": "user", "text": text, "event": happened}
        return self._send(TurnReply, "/turns", body, options, wait_ms=options.get("deadline_ms") or 0)

    def capture(
        self, text: str, *, answer: str | None = None, dry_run: bool = False, agent: str | None = None
    ) -> CaptureReply:
        """Keep what a message states, or with `dry_run` say what would be kept, and why not the rest."""
        return self._send(CaptureReply, "/capture", {"text": text, "answer": answer, "dryRun": dry_run, "agent": agent})

    def told(
        self, *, session: str = "", before: int = 0, limit: int | None = None, agent: str | None = None
    ) -> ToldReply:
        """List what an agent was told for each question, the latest first; raises Denied but for the owner."""
        asked = {"session": session or None, "before": before or None, "limit": limit, "agent": agent}
        return self._fetch(ToldReply, "/told", asked)

    def judge_told(
        self, number: int, name: str, judgement: Literal["noise", "wrong"] | None, *, agent: str | None = None
    ) -> ToldJudgedReply:
        """Keep what the owner thinks of a part of what was told; None takes it back. Raises NotFound, Denied."""
        body = {"number": number, "name": name, "judgement": judgement, "agent": agent}
        return self._send(ToldJudgedReply, "/told", body)
