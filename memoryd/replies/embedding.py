"""Who embeds and reranks, what leaves the machine, and what is still to be sent."""

from typing import TypedDict


class ProgressReply(TypedDict):
    """How far a download is."""

    doneBytes: int
    totalBytes: int | None
    step: str


class WorkerReply(TypedDict):
    """The child process that runs a model."""

    phase: str
    pid: int | None
    rssBytes: int
    restarts: int
    lastError: str | None


class OutstandingReply(TypedDict):
    """`media` of the passages are pictures and sounds, of `mediaBytes` together; `tokens` are estimated."""

    files: int
    passages: int
    tokens: int
    media: int
    mediaBytes: int


class RemoteReply(TypedDict):
    """A provider that text is sent to; `outstanding` is null while it only stands by."""

    provider: str
    model: str
    destination: str
    outstanding: OutstandingReply | None
    sentToday: int
    tokensPerDay: int | None


class EmbeddingReply(TypedDict):
    """Who embeds and why; `remote` is null if nothing leaves the machine."""

    provider: str
    rule: str
    fallback: str | None
    paused: bool
    remote: RemoteReply | None


class EmbedderReply(TypedDict):
    """`state` is ready, warming, downloading, off or failed."""

    state: str
    reason: str | None
    since: str
    progress: ProgressReply | None
    worker: WorkerReply | None


class TextModelReply(TypedDict):
    """`state` is ready, warming, downloading or failed; `destination` is null if no memory text leaves the machine."""

    provider: str
    model: str
    state: str
    reason: str | None
    since: str
    destination: str | None
    callsToday: int | None
    callsPerDay: int | None
    worker: WorkerReply | None


class RerankerReply(TypedDict):
    """`state` is ready, warming, downloading or failed."""

    state: str
    reason: str | None
    since: str
    model: str
    family: str | None
    worker: WorkerReply | None
