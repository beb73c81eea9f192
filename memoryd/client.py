"""A small blocking client of the daemon's socket, for scripts and for memoryctl.

    from memoryd.client import Client

    with Client() as memory:
        for hit in memory.search("which port does the gateway use")["results"]:
            print(hit["path"], hit["startLine"], hit["snippet"])

Replies are the decoded JSON, see memoryd.replies. All calls may raise DaemonNotRunning, NotPermitted,
DeadlineExceeded (no reply within the time-out), NotNow, RequestError with its subclasses, and MemorydError
for a fault of the daemon's own. One Client serves one thread. Only the standard library is imported.
"""

import errno
import http.client
import json
import os
import socket as sockets
import sys
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlencode

from memoryd.config.paths import socket_path
from memoryd.errors import (
    DaemonNotRunning,
    DeadlineExceeded,
    InvalidRequest,
    MemorydError,
    NotNow,
    NotPermitted,
    error_of,
)
from memoryd.replies.daemon import HealthReply, ReindexReply, ServerEvent, SyncReply
from memoryd.replies.files import FileReply
from memoryd.replies.qa import (
    QaAddReply,
    QaContextReply,
    QaSessionsReply,
    QaSessionTurnsReply,
    QaStatsReply,
    QaTopicsReply,
    QaTurnReply,
)
from memoryd.replies.search import SearchReply
from memoryd.replies.sessions import (
    SessionForgetReply,
    SessionLinesReply,
    SessionRememberReply,
    SessionsReply,
    SessionStartReply,
    SessionSyncReply,
)
from memoryd.replies.status import StatusReply
from memoryd.wire import API, ErrorCode, SyncGoal

FORGET_MS = 120_000
"""How long a forgetting may take: the words of a large index are written anew."""
GRACE_SECONDS = 5.0
"""How much longer than a deadline the client waits for the reply that reports it."""


class _UnixConnection(http.client.HTTPConnection):
    """HTTP/1.1 over AF_UNIX."""

    def __init__(self, path: Path, timeout: float | None) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        sock = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            sock.settimeout(self.timeout)
            sock.connect(str(self._path))
        except BaseException:
            sock.close()
            raise
        self.sock = sock


class Client:
    """Asks the daemon behind `socket` (default: where a daemon of this user listens).

    `timeout` is in seconds and counts silence, not the whole call. Nothing is opened before the first call;
    the connection is kept, and reopened when the daemon has closed it.
    """

    def __init__(self, socket: Path | None = None, timeout: float = 30) -> None:
        self.socket = socket or socket_path()
        self.timeout = timeout
        self._connection = _UnixConnection(self.socket, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens it again."""
        self._connection.close()

    def health(self) -> HealthReply:
        """Say whether the daemon is up (`ok`) and its index has been read once (`ready`)."""
        reply: HealthReply = self._call("GET", "/health")
        return reply

    def status(self) -> StatusReply:
        """Report the daemon's state, per agent."""
        reply: StatusReply = self._call("GET", "/status")
        return reply

    def search(
        self,
        query: str,
        *,
        agent: str | None = None,
        max_results: int | None = None,
        min_score: float | None = None,
        session_key: str | None = None,
        sources: list[str] | None = None,
        since: str | None = None,
        until: str | None = None,
        paths: list[str] | None = None,
        deadline_ms: int | None = None,
        explain: bool = False,
    ) -> SearchReply:
        """Find the chunks that answer `query`, best first.

        None leaves the choice to the configuration (6 results, 5 s). `sources` names "memory" or "sessions", `since`
        and `until` are dates, `paths` globs below the workspace. No hits is a reply with a `reason`, not an error.
        """
        body = {
            "query": query,
            "agent": agent,
            "maxResults": max_results,
            "minScore": min_score,
            "sessionKey": session_key,
            "sources": sources,
            "since": since,
            "until": until,
            "paths": paths,
            "deadlineMs": deadline_ms,
            "explain": explain or None,
        }
        reply: SearchReply = self._call("POST", "/search", body, wait_ms=deadline_ms or 0)
        return reply

    def get(
        self,
        path: str,
        *,
        agent: str | None = None,
        start: int | None = None,
        lines: int | None = None,
        column: int | None = None,
        session_key: str | None = None,
    ) -> FileReply:
        """Read `lines` lines of a document from line `start` (1-based) on, of that one from character `column` on.

        A reply cut short by the size limit has `truncated`, and `nextFrom` or, inside a line that is too long,
        `nextColumn`. Raises NotFound.
        """
        query = {"agent": agent, "from": start, "lines": lines, "column": column, "sessionKey": session_key}
        reply: FileReply = self._call("GET", _target(f"/files/{quote(os.fsencode(path))}", query))
        return reply

    def start_session(
        self, session_key: str, *, remember: bool | None = None, agent: str | None = None
    ) -> SessionStartReply:
        """Say that a session begins, and be told what was said last with this key.

        The index looks at the disk (`sync.onSessionStart`). `context` is text for a prompt.
        """
        body = {"sessionKey": session_key, "remember": remember, "agent": agent}
        reply: SessionStartReply = self._call("POST", "/sessions/start", body)
        return reply

    def sessions(
        self, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
    ) -> SessionsReply:
        """List conversations and transcripts, that in which something was said last first."""
        query = {"limit": limit, "sessionKey": session_key, "agent": agent}
        reply: SessionsReply = self._call("GET", _target("/sessions", query))
        return reply

    def session_lines(
        self, citation: str, *, context: int | None = None, session_key: str | None = None, agent: str | None = None
    ) -> SessionLinesReply:
        """Read the lines of a citation, with so many around them. Raises NotFound if they no longer say that."""
        query = {"citation": citation, "context": context, "sessionKey": session_key, "agent": agent}
        reply: SessionLinesReply = self._call("GET", _target("/sessions/lines", query))
        return reply

    def sync_sessions(
        self, *, wait: bool = True, timeout_ms: int | None = None, agent: str | None = None
    ) -> SessionSyncReply:
        """Read transcripts now, and wait until all that was there is indexed; `timeout_ms` as in `sync`."""
        limit_ms = int(self.timeout * 1000) if timeout_ms is None else timeout_ms
        body = {"agent": agent, "wait": wait, "timeoutMs": limit_ms}
        reply: SessionSyncReply = self._call("POST", "/sessions/sync", body, wait_ms=limit_ms)
        return reply

    def forget_session(
        self, session: str, *, dry_run: bool = False, session_key: str | None = None, agent: str | None = None
    ) -> SessionForgetReply:
        """Take a conversation out of everything, or say what would go. Raises NotFound, Denied but for the owner."""
        body = {"session": session, "dryRun": dry_run, "sessionKey": session_key, "agent": agent}
        reply: SessionForgetReply = self._call("POST", "/sessions/forget", body, wait_ms=FORGET_MS)
        return reply

    def remember_session(
        self,
        session: str | None = None,
        *,
        remember: bool = False,
        session_key: str | None = None,
        agent: str | None = None,
    ) -> SessionRememberReply:
        """Mark a conversation, else what is said under `session_key`, "do not remember", or take that back."""
        body = {"session": session, "remember": remember, "sessionKey": session_key, "agent": agent}
        reply: SessionRememberReply = self._call("POST", "/sessions/remember", body)
        return reply

    def add_turn(
        self,
        question: str,
        answer: str | None = None,
        *,
        session: str | None = None,
        session_key: str | None = None,
        timestamp: str | None = None,
        significance: float | None = None,
        topics: list[str] | None = None,
        agent: str | None = None,
    ) -> QaAddReply:
        """Store a turn of the session of this name, else of the one of a session key that goes on.

        Not sent twice: where the connection breaks before the reply, NotNow is raised, and the turn may be there.
        """
        # on a connection of its own, since a kept one that was closed meanwhile would be tried again
        self.close()
        body = {
            "q": question,
            "a": answer,
            "sessionId": session,
            "sessionKey": session_key,
            "timestamp": timestamp,
            "significance": significance,
            "topicTags": topics,
            "agent": agent,
        }
        reply: QaAddReply = self._call("POST", "/qa/turns", body)
        return reply

    def qa_sessions(
        self, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
    ) -> QaSessionsReply:
        """List the sessions that are not in the archive, the newest first."""
        query = {"limit": limit, "sessionKey": session_key, "agent": agent}
        reply: QaSessionsReply = self._call("GET", _target("/qa/sessions", query))
        return reply

    def qa_session(
        self,
        session: str,
        *,
        seq: str | None = None,
        grep: str | None = None,
        session_key: str | None = None,
        agent: str | None = None,
    ) -> QaSessionTurnsReply:
        """Read turns of a session: those of a range (`10-20`), and those in which a word stands. Raises NotFound."""
        query = {"seq": seq, "grep": grep, "sessionKey": session_key, "agent": agent}
        reply: QaSessionTurnsReply = self._call("GET", _target(f"/qa/sessions/{quote(session, safe='')}", query))
        return reply

    def qa_context(
        self,
        message: str | None = None,
        *,
        session: str | None = None,
        n: int | None = None,
        budget: int | None = None,
        session_key: str | None = None,
        agent: str | None = None,
    ) -> QaContextReply:
        """Return the turns to put before an agent for a message, or without one the last turns of the session."""
        body = {
            "message": message,
            "sessionId": session,
            "n": n,
            "budget": budget,
            "sessionKey": session_key,
            "agent": agent,
        }
        reply: QaContextReply = self._call("POST", "/qa/context", body)
        return reply

    def qa_mark(
        self,
        citation: str,
        *,
        keep: bool = True,
        answer: str | None = None,
        session_key: str | None = None,
        agent: str | None = None,
    ) -> QaTurnReply:
        """Keep the answer of the turn at `session:<id>#Q17`, this one if it is given, or drop it. Raises NotFound."""
        body = {"citation": citation, "keep": keep, "answer": answer, "sessionKey": session_key, "agent": agent}
        reply: QaTurnReply = self._call("POST", "/qa/mark", body)
        return reply

    def qa_topics(
        self, *, limit: int | None = None, session_key: str | None = None, agent: str | None = None
    ) -> QaTopicsReply:
        """List what was talked about, the most frequent first."""
        query = {"limit": limit, "sessionKey": session_key, "agent": agent}
        reply: QaTopicsReply = self._call("GET", _target("/qa/topics", query))
        return reply

    def qa_stats(self, *, session_key: str | None = None, agent: str | None = None) -> QaStatsReply:
        """Count sessions, turns and kept answers, and measure their files."""
        query = {"sessionKey": session_key, "agent": agent}
        reply: QaStatsReply = self._call("GET", _target("/qa/stats", query))
        return reply

    def sync(self, wait: SyncGoal = "indexed", timeout_ms: int | None = None, agent: str | None = None) -> SyncReply:
        """Wait until what is on disk now is found by words ("indexed") or by vector too ("embedded").

        `timeout_ms` defaults to the client's time-out. When it passes, the reply says `complete: false` and
        what is pending; the work goes on.
        """
        limit_ms = int(self.timeout * 1000) if timeout_ms is None else timeout_ms
        body = {"agent": agent, "wait": wait, "timeoutMs": limit_ms}
        reply: SyncReply = self._call("POST", "/sync", body, wait_ms=limit_ms)
        return reply

    def reindex(self, force: bool = False, embeddings: bool = False, agent: str | None = None) -> ReindexReply:
        """Start to read every file again (`force`) and to compute every vector again (`embeddings`)."""
        body = {"agent": agent, "force": force, "embeddings": embeddings}
        reply: ReindexReply = self._call("POST", "/reindex", body)
        return reply

    def events(
        self, *, agent: str | None = None, session_key: str | None = None, silence: float | None = None
    ) -> Generator[ServerEvent, None, None]:
        """Yield events of indexing, embedding and degradation as they happen, on a connection of its own.

        Ends when the daemon stops; raises DeadlineExceeded after `silence` seconds without a byte.
        """
        query = {"agent": agent, "sessionKey": session_key}
        connection = _UnixConnection(self.socket, self.timeout)
        try:
            _open(connection, self.socket)
            stream = connection.sock
            response = _exchange(connection, "GET", _target("/events", query), None)
            stream.settimeout(silence)
            if response.status != http.HTTPStatus.OK:
                raise _refusal(response.status, response.read())
            yield from _server_events(response)
        except (OSError, http.client.HTTPException) as exc:
            raise _lost(exc) from exc
        finally:
            connection.close()

    def _call(self, method: str, target: str, body: Mapping[str, object] | None = None, wait_ms: int = 0) -> Any:
        """Send one request and decode its reply, for which the daemon may take `wait_ms`."""
        payload = None if body is None else json.dumps(_without_none(body)).encode()
        timeout = max(self.timeout, wait_ms / 1000 + GRACE_SECONDS) if wait_ms else self.timeout
        try:
            status, content = self._round_trip(method, target, payload, timeout)
        except (OSError, http.client.HTTPException) as exc:
            self.close()
            raise _lost(exc) from exc
        except BaseException:
            self.close()  # a half-read reply must not be taken for the next one
            raise
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise _refusal(status, content)
        return _decoded(content)

    def _round_trip(self, method: str, target: str, payload: bytes | None, timeout: float) -> tuple[int, bytes]:
        is_reused = self._connection.sock is not None
        if not is_reused:
            _open(self._connection, self.socket)
        self._connection.sock.settimeout(timeout)
        try:
            response = _exchange(self._connection, method, target, payload)
        except (BrokenPipeError, ConnectionResetError):
            # An idle connection that the daemon closed shows only now. Every call that is made on a kept connection
            # may be repeated unharmed.
            self.close()
            if not is_reused:
                raise
            return self._round_trip(method, target, payload, timeout)
        return response.status, response.read()


def _open(connection: _UnixConnection, path: Path) -> None:
    try:
        connection.connect()
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as exc:
        raise DaemonNotRunning(f"memoryd is not running: nobody answers on {path}", hint=_how_to_start()) from exc
    except PermissionError as exc:
        raise NotPermitted(f"the socket {path} belongs to somebody else", hint="run as its owner") from exc
    except OSError as exc:
        if exc.errno in (errno.EAGAIN, errno.ETIMEDOUT) or isinstance(exc, TimeoutError):
            raise NotNow("memoryd takes no new connection now", hint="try again in a moment") from exc
        raise InvalidRequest(f"cannot open the socket {path}: {exc}", hint="give a shorter or other path") from exc


def _exchange(connection: _UnixConnection, method: str, target: str, payload: bytes | None) -> http.client.HTTPResponse:
    headers = {} if payload is None else {"Content-Type": "application/json"}
    connection.request(method, API + target, body=payload, headers=headers)
    return connection.getresponse()


def _target(path: str, query: Mapping[str, object]) -> str:
    given = _without_none(query)
    return f"{path}?{urlencode(given)}" if given else path


def _without_none(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def _decoded(content: bytes | str) -> Any:
    try:
        return json.loads(content)
    except ValueError as exc:
        raise MemorydError("what answers on the socket is not memoryd: its reply is not JSON") from exc


def _refusal(status: int, content: bytes) -> MemorydError:
    """Return the exception that an error reply stands for."""
    try:
        error = json.loads(content)["error"]
        return error_of(ErrorCode(error["code"]), str(error["message"]), hint=str(error.get("hint") or ""))
    except (ValueError, KeyError, TypeError):
        return MemorydError(f"memoryd answered with status {status}", hint="compare versions: memoryctl version")


def _lost(exc: OSError | http.client.HTTPException) -> MemorydError:
    """Name what went wrong on an open connection."""
    if isinstance(exc, TimeoutError):
        return DeadlineExceeded("memoryd did not answer in time", hint="see what it does: memoryctl status")
    if not isinstance(exc, OSError | http.client.IncompleteRead):
        return MemorydError(f"what answers on the socket is not memoryd: {type(exc).__name__}")
    return NotNow("memoryd closed the connection before it had answered", hint="it may be restarting: try again")


def _server_events(response: http.client.HTTPResponse) -> Iterator[ServerEvent]:
    """Decode text/event-stream (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    name, data = "message", list[str]()
    for raw in response:
        field, _, value = raw.decode().rstrip("\r\n").partition(":")
        match field:
            case "event":
                name = value.removeprefix(" ")
            case "data":
                data.append(value.removeprefix(" "))
            case "" if not value and data:
                yield {"event": name, "data": _decoded("\n".join(data))}
                name, data = "message", []


def _how_to_start() -> str:
    if sys.platform == "darwin":
        labels = [file.stem for file in Path("~/Library/LaunchAgents").expanduser().glob("*memoryd*.plist")]
        command = f"launchctl kickstart gui/{os.getuid()}/{labels[0]}" if labels else "memoryd"
    else:
        units = (folder / "systemd/user/memoryd.service" for folder in _unit_folders())
        command = "systemctl --user start memoryd" if any(map(Path.exists, units)) else "memoryd"
    return f"start it: {command}"


def _unit_folders() -> list[Path]:
    own = [
        os.environ.get("XDG_CONFIG_HOME") or "~/.config",
        os.environ.get("XDG_DATA_HOME") or "~/.local/share",
    ]
    return [Path(folder).expanduser() for folder in [*own, "/etc", "/usr/local/lib", "/usr/lib"]]
