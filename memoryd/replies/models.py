"""Replies about models: embedder, text model and reranker, their workers and downloads."""

from typing import TypedDict


class ProgressReply(TypedDict):
    """The progress of a download."""

    doneBytes: int
    """How many bytes of the step are done."""
    totalBytes: int | None
    """How many bytes the step has; null if unknown."""
    step: str
    """The step: `waiting`, `connecting`, `downloading`, `checking`, `converting` or `ready`."""


class WorkerReply(TypedDict):
    """The child process that runs a model."""

    phase: str
    """The phase: `stopped`, `starting`, `ready`, or `waiting` before another try."""
    pid: int | None
    """Its process id; null while it does not run."""
    rssBytes: int
    """Its resident memory, in bytes; 0 while it does not run."""
    restarts: int
    """How often it was restarted since the start of the daemon."""
    lastError: str | None
    """Why it failed last; null if it never did."""
    gpuLayers: int | None
    """How many layers of the model were requested to run on a graphics card; null: as many as fit."""
    offloads: bool | None
    """Whether llama-cpp-python is built to use a graphics card; null before a model was loaded."""


class OutstandingReply(TypedDict):
    """What is still to be sent to a provider."""

    files: int
    """How many files have passages to send."""
    passages: int
    """How many distinct passages are to be sent, pictures and sounds included."""
    tokens: int
    """How many tokens they have, estimated."""
    media: int
    """How many of the passages are pictures and sounds."""
    mediaBytes: int
    """How many bytes the pictures and sounds have together."""


class RemoteReply(TypedDict):
    """A provider to which text is sent. `outstanding` is null while it is only the fallback."""

    provider: str
    """The provider: `openai`, `gemini`, `voyage`, `mistral` or `ollama`."""
    model: str
    """The requested model."""
    destination: str
    """The host to which text is sent, with the port if it is not the default one."""
    outstanding: OutstandingReply | None
    """What is still to be sent; null while the provider is only the fallback."""
    sentToday: int
    """How many tokens were sent there today (UTC), approximately."""
    tokensPerDay: int | None
    """How many tokens may be sent in a day before notes have to wait; null: no limit."""


class EmbeddingReply(TypedDict):
    """The chosen provider of embeddings, the reason, and the fallback."""

    provider: str
    """The provider that was chosen; `none`: words only."""
    rule: str
    """The reason of the choice, in words."""
    fallback: str | None
    """The fallback if the provider fails; null: none."""
    paused: bool
    """Whether notes get vectors only on request (`sync.paused`)."""
    remote: RemoteReply | None
    """The provider to which text is sent; null if no text leaves the machine."""


class EmbedderReply(TypedDict):
    """The state of the embedding model."""

    state: str
    """Its state: `off`, `downloading`, `warming`, `ready` or `failed`."""
    reason: str | None
    """The reason of the state; null if there is none."""
    since: str
    """When this state began, ISO 8601."""
    progress: ProgressReply | None
    """The progress of a download; null if there is none."""
    worker: WorkerReply | None
    """The child process that computes vectors; null if there is none."""


class TextModelReply(TypedDict):
    """The model that labels memories and writes prose about them."""

    provider: str
    """The provider: `local` or `openai`."""
    model: str
    """The name of the model; before its file is read, the name in the configuration."""
    state: str
    """Its state: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """The reason of the state; null if there is none."""
    since: str
    """When this state began, ISO 8601."""
    destination: str | None
    """The host to which memory text is sent, with a port that is not the default; null: none leaves the machine."""
    callsToday: int | None
    """How many calls were sent there today (UTC); null if no text leaves the machine."""
    callsPerDay: int | None
    """How many calls may be sent in a day; null: no limit, or no text leaves the machine."""
    worker: WorkerReply | None
    """The child process that runs a local model; null if there is none."""


class RerankerReply(TypedDict):
    """The model that orders the best candidates."""

    state: str
    """Its state: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """The reason of the state; null if there is none."""
    since: str
    """When this state began, ISO 8601."""
    model: str
    """The name of the model; before its file is read, the name in the configuration."""
    family: str | None
    """Its family: `bge-reranker`, `jina-reranker`, `qwen3-reranker` or `plain`; null before its file is read."""
    worker: WorkerReply | None
    """The child process that runs the model; null if there is none."""
