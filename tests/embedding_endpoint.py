"""A real endpoint of our own that speaks like OpenAI's or, at its addresses, like Gemini's, as a child process that a
test can kill and start again.

Texts that share words get vectors that are near; of a picture or sound count the words that there are to see in it. One
with `refused` among them is refused, and so is a text with `unspeakable`; the model `zeros` makes no vector. Each text
and file is noted once its answer has left.
"""

import base64
import hashlib
import http.server
import json
import math
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.media_files import seen_in

DIMENSIONS = 64
TEXT_REFUSAL = "This text cannot be embedded."
REFUSAL = "Unable to process input image."
_PROMPT = re.compile(r"task: search result \| query: |title: .*? \| text: ")


def vector_of(text: str, dimensions: int) -> list[float]:
    """A bag of hashed words, of length 1."""
    row = [0.0] * dimensions
    for word in re.findall(r"\w+", text.lower()) or ["?"]:
        row[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % dimensions] += 1.0
    length = math.sqrt(sum(value * value for value in row))
    return [value / length for value in row]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers POST …/embeddings and POST …:batchEmbedContents."""

    protocol_version = "HTTP/1.1"
    log: Path
    delay: float
    timeout = 60

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(self.delay)
        if self.path.endswith(":batchEmbedContents"):
            self._as_gemini(body)
            return
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        if any("unspeakable" in text for text in texts):
            self._answer(400, {"error": {"message": TEXT_REFUSAL, "type": "invalid_request_error"}})
            return
        size = body.get("dimensions", DIMENSIONS)
        told = [[0.0] * size if body["model"] == "zeros" else vector_of(text, size) for text in texts]
        data = [{"index": at, "embedding": row} for at, row in enumerate(told)]
        self._answer(200, {"object": "list", "data": data, "model": body["model"]})
        self._note(texts, body["model"])

    def _as_gemini(self, body: dict[str, Any]) -> None:
        parts = [request["content"]["parts"] for request in body["requests"]]
        texts = [text for one in parts for text in (part.get("text", "") for part in one) if text]
        files = [base64.b64decode(part["inlineData"]["data"]) for one in parts for part in one if "inlineData" in part]
        if any("refused" in seen_in(file) for file in files):
            self._answer(400, {"error": {"code": 400, "message": REFUSAL, "status": "INVALID_ARGUMENT"}})
        else:
            self._answer(200, {"embeddings": [{"values": _vector_of_parts(one)} for one in parts]})
        kinds = [part["inlineData"]["mimeType"] for one in parts for part in one if "inlineData" in part]
        shown = [{"mime": mime, "seen": seen_in(file)} for mime, file in zip(kinds, files, strict=True)]
        self._note(texts, body["requests"][0]["model"], shown)

    def _answer(self, status: int, body: object) -> None:
        answer = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()

    def _note(self, texts: list[str], model: str, files: list[dict[str, str]] | None = None) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        noted = {"path": self.path, "model": model, "texts": texts, "files": files or [], "headers": headers}
        line = json.dumps(noted) + "\n"
        descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(descriptor, line.encode())
        os.close(descriptor)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def _vector_of_parts(parts: list[dict[str, Any]]) -> list[float]:
    """Of a picture or sound count its words, of a text its own, without the prompt around it."""
    seen = [seen_in(base64.b64decode(part["inlineData"]["data"])) for part in parts if "inlineData" in part]
    texts = seen or [_PROMPT.sub("", part["text"]) for part in parts]
    return vector_of(" ".join(texts), DIMENSIONS)


class Endpoint:
    """The server as a child process on a port that stays the same."""

    def __init__(self, folder: Path, *, delay: float = 0.0) -> None:
        self.log = folder / "endpoint.jsonl"
        self.delay = delay
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def start(self) -> None:
        """Start it and wait until it listens."""
        command = [sys.executable, __file__, str(self.port), str(self.log), str(self.delay)]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError("the endpoint does not listen")

    def kill(self) -> None:
        """End it as a crash would: connections break off in the middle."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def requests(self) -> list[dict[str, Any]]:
        """Every request that was answered."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]

    def texts(self) -> list[str]:
        """Every text that was answered for, in order."""
        return [text for request in self.requests() for text in request["texts"]]

    def files(self) -> list[dict[str, str]]:
        """Every picture and sound that was sent: its `mime`, and what is `seen` in it."""
        return [file for request in self.requests() for file in request["files"]]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main() -> None:
    port, log, delay = sys.argv[1:]
    Handler.log, Handler.delay = Path(log), float(delay)
    http.server.ThreadingHTTPServer.allow_reuse_address = True
    http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler).serve_forever()


if __name__ == "__main__":
    main()
