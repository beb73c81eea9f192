"""The batch interfaces of OpenAI, Voyage and Gemini on top of the embedding server."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.contract.embedding_server import Asked, EmbeddingServer, Reply, numbers_for


@dataclass
class Job:
    """A batch job of the provider."""

    name: str
    keys: dict[str, str]
    polls: int = 0
    is_cancelled: bool = False


@dataclass
class BatchBackend:
    """The `behaviour` of a server with batches. A job ends after `polls` polls, or never if None."""

    server: EmbeddingServer
    polls: int | None = 1
    broken: set[str] = field(default_factory=set)
    """Texts for which a job fails."""
    outcome: str = "completed"
    jobs: dict[str, Job] = field(default_factory=dict)
    files: dict[str, dict[str, str]] = field(default_factory=dict)
    odd: Callable[[Asked], Reply | None] = lambda _asked: None
    """Asked first for a reply."""
    after_create: Reply | None = None
    """Sent instead of the answer to an accepted submission."""

    @property
    def is_gemini(self) -> bool:
        return self.server.dialect.provider == "gemini"

    @property
    def direct(self) -> list[str]:
        """Texts that came in direct calls."""
        request = [request for request in self.server.asked if request.path in self.server.dialect.paths]
        return [text for request in request for text in self.server.dialect.texts(request.body)]

    def __call__(self, request: Asked) -> Reply | None:
        odd = self.odd(request)
        if odd is not None or request.path in self.server.dialect.paths:
            return odd
        path = request.path.partition("?")[0]
        if path.endswith("/files") and request.method == "POST":
            return self._upload(request)
        if request.method == "POST" and (path == "/v1/batches" or path.endswith(":asyncBatchEmbedContent")):
            return self._create(request.body)
        if path == "/v1/batches":
            return Reply(200, {("operations" if self.is_gemini else "data"): [self._state(id) for id in self.jobs]})
        if path.endswith(("/content", ":download")):
            return self._content(path)
        return self._job(path)

    def _upload(self, request: Asked) -> Reply:
        lines = [json.loads(line) for line in request.raw.splitlines() if line.startswith((b'{"custom_id"', b'{"key"'))]
        if self.is_gemini:
            assert request.path == "/upload/v1/files?uploadType=multipart"
            keys = {line["key"]: line["request"]["content"]["parts"][0]["text"] for line in lines}
        elif self.server.dialect.provider == "voyage":
            assert all(line.keys() == {"custom_id", "body"} for line in lines)
            keys = {line["custom_id"]: line["body"]["input"][0] for line in lines}
        else:
            assert all(line["method"] == "POST" and line["url"] == "/v1/embeddings" for line in lines)
            keys = {line["custom_id"]: line["body"]["input"][0] for line in lines}
        id = f"files/in{len(self.files)}" if self.is_gemini else f"file-in{len(self.files)}"
        self.files[id] = keys
        return Reply(
            200, {"file": {"name": id}} if self.is_gemini else {"id": id, "object": "file", "purpose": "batch"}
        )

    def _create(self, body: Any) -> Reply:
        if self.is_gemini:
            name, file = body["batch"]["displayName"], body["batch"]["inputConfig"]["fileName"]
        else:
            name, file = body["metadata"]["memoryd"], body["input_file_id"]
            assert body["endpoint"] == "/v1/embeddings"
        if self.server.dialect.provider == "voyage":
            assert body["request_params"]["input_type"] == "document"
        id = f"batches/b{len(self.jobs)}" if self.is_gemini else f"batch_{len(self.jobs)}"
        self.jobs[id] = Job(name, self.files[file])
        return self.after_create or Reply(200, self._state(id))

    def _job(self, path: str) -> Reply:
        id = path.removeprefix("/v1/" if self.is_gemini else "/v1/batches/")
        for cancel in (":cancel", "/cancel"):
            if id.endswith(cancel):
                self.jobs[id.removesuffix(cancel)].is_cancelled = True
                return Reply(200, {})
        if id not in self.jobs:
            return self.server.refusal(404, "No batch found")
        self.jobs[id].polls += 1
        return Reply(200, self._state(id))

    def _state(self, id: str) -> object:
        job = self.jobs[id]
        is_over = job.is_cancelled or (self.polls is not None and job.polls >= self.polls)
        has_files = is_over and self.outcome == "completed"
        if self.is_gemini:
            state = ("SUCCEEDED" if has_files else "FAILED") if is_over else "RUNNING"
            metadata = {"displayName": job.name, "state": f"BATCH_STATE_{state}"}
            done = {"done": True, "response": {"responsesFile": f"files/out-{id[8:]}"}} if has_files else {}
            return {"name": id, "metadata": metadata} | done
        status = "cancelled" if job.is_cancelled else (self.outcome if is_over else "in_progress")
        files = {"output_file_id": f"out-{id}", "error_file_id": f"err-{id}"} if has_files else {}
        return {"id": id, "object": "batch", "status": status, "metadata": {"memoryd": job.name}} | files

    def _content(self, path: str) -> Reply:
        if self.is_gemini:
            assert path.startswith("/download/v1/files/out-")
            job = self.jobs["batches/" + path.removeprefix("/download/v1/files/out-").removesuffix(":download")]
            return Reply(200, b"\n".join(json.dumps(self._gemini_line(*item)).encode() for item in job.keys.items()))
        kind, _, id = path.removeprefix("/v1/files/").removesuffix("/content").partition("-")
        items = [item for item in self.jobs[id].keys.items() if (item[1] in self.broken) == (kind == "err")]
        return Reply(200, b"".join(json.dumps(self._line(*item)).encode() + b"\n" for item in reversed(items)))

    def _line(self, key: str, text: str) -> object:
        if text in self.broken:
            return {
                "custom_id": key,
                "response": {"status_code": 500, "body": {"error": {"message": "x"}}},
                "error": None,
            }
        body = {"data": [{"index": 0, "embedding": numbers_for(text)}]}
        return {"id": "r", "custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}

    def _gemini_line(self, key: str, text: str) -> object:
        if text in self.broken:
            return {"key": key, "error": {"code": 13, "message": "Internal"}}
        return {"key": key, "response": {"embedding": {"values": numbers_for(text)}}}
