"""The providers' batch interfaces, and the stored state of their jobs.

A file of requests is uploaded, a job runs for hours at most, and a file of answers is downloaded. OpenAI and Voyage
share one format (Voyage names model and input type once per job), Gemini has its own. Each job has a small file, so
that it is not paid for twice after a kill; the file contains hashes of the texts, but no text and no key.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import httpx
import structlog
from msgspec import Struct
from msgspec.json import decode as json_decode
from msgspec.json import encode as json_encode

from memoryd.embed.protocol import Purpose
from memoryd.embed.remote.providers import GeminiWire, Input, OpenAiWire, RawVector, VoyageWire, indexed_rows, list_rows
from memoryd.files.writing import write_private

log = structlog.get_logger(__name__)

LISTED = 100
"""How many of the latest jobs are searched for a job whose id was lost."""
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
GEMINI_OVER = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")
BOUNDARY = "memoryd-batch-7d1f0c"
SUFFIX = ".batch.json"


class BatchRequest(Struct, frozen=True):
    """A request to the batch interface, in the form of the HTTP module."""

    method: str
    url: httpx.URL
    json_body: object = None
    content: Mapping[str, Any] = {}


class JobState(Struct, frozen=True):
    """A job as the provider reports it. `files` contain its answers, and its errors if they are separate."""

    id: str
    is_over: bool
    status: str
    files: tuple[str, ...] = ()
    name: str = ""
    """The name that memoryd gave the job when it submitted it."""


def batch_api(wire: OpenAiWire, base: httpx.URL) -> "FileBatches":
    """Return the batch interface that belongs to a wire format."""
    return GeminiBatches(wire, base) if isinstance(wire, GeminiWire) else FileBatches(wire, base)


class FileBatches:
    """Files and batches of OpenAI and Voyage. Methods that read an answer raise ValueError for another shape."""

    job_path = "/batches/{}"
    cancelling = "/cancel"
    list_limit = "limit"
    list_key = "data"
    no_jobs: Sequence[object] | None = None
    """The value of a missing list in an answer; None: a missing list is an error."""

    def __init__(self, wire: OpenAiWire, base: httpx.URL) -> None:
        self._wire = wire
        self._base = base

    def upload(self, requests: Mapping[str, Input], name: str) -> BatchRequest:
        """Return the upload of a file with one line per text."""
        lines = [self._line(key, item) for key, item in requests.items()]
        file = ("batch.jsonl", _jsonl(lines), "application/jsonl")
        return BatchRequest(
            "POST", self._url("/files"), content={"data": {"purpose": "batch"}, "files": {"file": file}}
        )

    def uploaded_id(self, answer: object) -> str:
        """Return the id of the uploaded file."""
        return _text(answer, "id")

    def create(self, file: str, name: str) -> BatchRequest:
        """Return the request that starts the job; it contains the name, so that the job can be found again."""
        is_voyage = isinstance(self._wire, VoyageWire)
        body: dict[str, object] = {
            "input_file_id": file,
            "endpoint": "/v1/embeddings",
            "completion_window": "12h" if is_voyage else "24h",
            "metadata": {"memoryd": name},
        }
        if is_voyage:
            body["request_params"] = {key: value for key, value in self._body(Input("")).items() if key != "input"}
        return BatchRequest("POST", self._url("/batches"), json_body=body)

    def status(self, job: str) -> BatchRequest:
        """Return the request for the state of one job."""
        return BatchRequest("GET", self._url(self.job_path.format(job)))

    def cancel(self, job: str) -> BatchRequest:
        """Return the request that cancels a job; its results so far remain."""
        return BatchRequest("POST", self._url(self.job_path.format(job) + self.cancelling), json_body={})

    def latest(self) -> BatchRequest:
        """Return the request for the list of the latest jobs."""
        return BatchRequest("GET", self._url("/batches").copy_merge_params({self.list_limit: LISTED}))

    def content(self, file: str) -> BatchRequest:
        """Return the request for the content of a file."""
        return BatchRequest("GET", self._url(f"/files/{file}/content"))

    def state(self, answer: object) -> JobState:
        """Parse the state of a job."""
        job = _object(answer)
        files = tuple(str(job[key]) for key in ("output_file_id", "error_file_id") if job.get(key))
        status, name = str(job.get("status", "")), str(_or_empty(job.get("metadata")).get("memoryd", ""))
        return JobState(_text(job, "id"), status in OVER, status, files, name)

    def states(self, answer: object) -> list[JobState]:
        """Parse a list of jobs."""
        jobs = _object(answer).get(self.list_key, self.no_jobs)
        if not isinstance(jobs, list | tuple):
            raise ValueError("no list in the answer")
        return [self.state(job) for job in jobs]

    def line(self, line: object) -> tuple[str, RawVector | None]:
        """Return the key of a request and its vector; None for a request that failed."""
        entry = _object(line)
        key, response = _text(entry, "custom_id"), entry.get("response")
        if entry.get("error") or not isinstance(response, dict) or response.get("status_code", 200) != 200:
            return key, None
        return key, indexed_rows(response.get("body"), 1)[0]

    def _line(self, key: str, item: Input) -> dict[str, object]:
        body = self._body(item)
        if isinstance(self._wire, VoyageWire):
            return {"custom_id": key, "body": {"input": body["input"]}}
        return {"custom_id": key, "method": "POST", "url": "/v1/embeddings", "body": body}

    def _body(self, item: Input) -> dict[str, object]:
        return dict(self._wire.call([item], Purpose.DOCUMENT)[1])

    def _url(self, path: str) -> httpx.URL:
        return self._base.copy_with(path=self._base.path.rstrip("/") + path)


class GeminiBatches(FileBatches):
    """Gemini's files and asyncBatchEmbedContent."""

    job_path = "/{}"
    cancelling = ":cancel"
    list_limit = "pageSize"
    list_key = "operations"
    no_jobs = ()

    def __init__(self, wire: GeminiWire, base: httpx.URL) -> None:
        super().__init__(wire, base)
        self._gemini = wire

    def upload(self, requests: Mapping[str, Input], name: str) -> BatchRequest:
        """Return the upload of a file with one line per text."""
        requested = requests.items()
        lines = [{"key": key, "request": self._gemini.request(item, Purpose.DOCUMENT)} for key, item in requested]
        metadata = json.dumps({"file": {"displayName": name, "mimeType": "application/jsonl"}}).encode()
        parts = (("application/json; charset=UTF-8", metadata), ("application/jsonl", _jsonl(lines)))
        body = b"".join(
            f"--{BOUNDARY}\r\nContent-Type: {kind}\r\n\r\n".encode() + content + b"\r\n" for kind, content in parts
        )
        url = self._service_url("upload", "/files").copy_merge_params({"uploadType": "multipart"})
        headers = {"Content-Type": f"multipart/related; boundary={BOUNDARY}"}
        content = {"content": body + f"--{BOUNDARY}--\r\n".encode(), "headers": headers}
        return BatchRequest("POST", url, content=content)

    def uploaded_id(self, answer: object) -> str:
        """Return the name of the uploaded file."""
        return _text(_object(answer).get("file"), "name")

    def create(self, file: str, name: str) -> BatchRequest:
        """Return the request that starts the job."""
        batch = {"displayName": name, "inputConfig": {"fileName": file}}
        return BatchRequest("POST", self._url(f"{self._wire.path}:asyncBatchEmbedContent"), json_body={"batch": batch})

    def content(self, file: str) -> BatchRequest:
        """Return the request for the content of a file."""
        url = self._service_url("download", f"/{file}:download")
        return BatchRequest("GET", url.copy_merge_params({"alt": "media"}))

    def state(self, answer: object) -> JobState:
        """Parse the state of a job: a long-running operation, with state and file in one of several places."""
        operation = _object(answer)
        metadata, response = (_or_empty(operation.get(key)) for key in ("metadata", "response"))
        status = str(metadata.get("state") or operation.get("state") or "")
        outputs = (_or_empty(place.get("output")) for place in (operation, metadata, response))
        file = next((str(place["responsesFile"]) for place in (response, *outputs) if place.get("responsesFile")), "")
        is_over = bool(operation.get("done")) or status.endswith(GEMINI_OVER)
        name = str(metadata.get("displayName") or "")
        return JobState(_text(operation, "name"), is_over, status, (file,) if file else (), name)

    def line(self, line: object) -> tuple[str, RawVector | None]:
        """Return the key of a request and its vector; None for a request that failed."""
        entry = _object(line)
        key, response = _text(entry, "key"), _or_empty(entry.get("response"))
        embedding = _or_empty(entry.get("embedding") or response.get("embedding"))
        if entry.get("error") or response.get("error") or "values" not in embedding:
            return key, None
        return key, list_rows([embedding["values"]], 1)[0]

    def _service_url(self, service: str, path: str) -> httpx.URL:
        return self._base.copy_with(path=f"/{service}{self._base.path.rstrip('/')}{path}")


def _jsonl(lines: Sequence[Mapping[str, object]]) -> bytes:
    # ASCII: no Unicode line separator can split a line, and lone surrogates are escaped
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("no object in the answer")
    return value


def _or_empty(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object, key: str) -> str:
    text = _object(value).get(key)
    if not isinstance(text, str) or not text:
        raise ValueError(f"no {key} in the answer")
    return text


class Stage(StrEnum):
    """The stage of a job."""

    SUBMITTING = "submitting"
    """Stored before the job is submitted: after a kill the provider may or may not know the job."""
    RUNNING = "running"
    CANCELLING = "cancelling"
    OVER = "over"


class BatchJob(Struct, frozen=True):
    """A stored job; times are seconds since the epoch. `keys` are hashes of its texts, `files` the provider's files."""

    name: str
    fingerprint: str
    keys: tuple[str, ...]
    created: float
    stage: Stage = Stage.SUBMITTING
    id: str = ""
    files: tuple[str, ...] = ()
    ended: float = 0.0


class JobFolder(Struct, frozen=True):
    """The folder with the stored jobs. Its methods block and raise OSError."""

    folder: Path

    def load(self) -> list[BatchJob]:
        """Return all jobs, oldest first; a file that cannot be read is skipped and stays."""
        if not self.folder.is_dir():
            return []
        jobs = []
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            try:
                jobs.append(json_decode(path.read_bytes(), type=BatchJob))
            except (OSError, ValueError, RecursionError) as exc:
                log.warning("cannot read the note of a batch job", path=str(path), reason=str(exc))
        return sorted(jobs, key=lambda job: job.created)

    def save(self, job: BatchJob) -> None:
        """Write a job atomically and durably."""
        # durable: a job that was paid for must survive a power failure
        write_private(self._path(job), json_encode(job), is_durable=True)

    def remove(self, job: BatchJob) -> None:
        """Delete the file of a job."""
        self._path(job).unlink(missing_ok=True)

    def _path(self, job: BatchJob) -> Path:
        return self.folder / f"{job.name}{SUFFIX}"
