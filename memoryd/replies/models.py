"""What status says of models: who embeds, writes and reads, and how that goes."""

from typing import TypedDict


class ProgressReply(TypedDict):
    """How far a download is."""

    doneBytes: int
    """How many bytes of the step are done."""
    totalBytes: int | None
    """How many bytes the step has; null if nobody knows."""
    step: str
    """What is being done: `waiting`, `connecting`, `downloading`, `checking`, `converting` or `ready`."""


class WorkerReply(TypedDict):
    """The child process that runs a model."""

    phase: str
    """What it is doing: `stopped`, `starting`, `ready` or `waiting` for another try."""
    pid: int | None
    """Its process id; null while it does not run."""
    rssBytes: int
    """The memory it takes, in bytes; 0 while it does not run."""
    restarts: int
    """How often it was started again since the start of the daemon."""
    lastError: str | None
    """Why it failed last; null if it never did."""
    gpuLayers: int | None
    """How many layers of the model a graphics card was asked to compute; null: as many as fit."""
    offloads: bool | None
    """Whether llama-cpp-python is built to use a graphics card; null before a model was loaded."""


class OutstandingReply(TypedDict):
    """What is still to be sent; `tokens` are estimated, `media` counts the passages that are pictures and sounds."""

    files: int
    """How many files have passages that are to be sent."""
    passages: int
    """How many distinct passages are to be sent, pictures and sounds among them."""
    tokens: int
    """How many tokens they have, estimated."""
    media: int
    """How many of the passages are pictures and sounds."""
    mediaBytes: int
    """How many bytes the pictures and sounds have together."""


class RemoteReply(TypedDict):
    """A provider that text is sent to. `outstanding` is null while it only stands by."""

    provider: str
    """The provider: `openai`, `gemini`, `voyage`, `mistral` or `ollama`."""
    model: str
    """The model that is asked for."""
    destination: str
    """The host that text is sent to, with the port if it is not the usual one."""
    outstanding: OutstandingReply | None
    """What is still to be sent; null while the provider only stands by."""
    sentToday: int
    """How many tokens were sent there today (UTC), about."""
    tokensPerDay: int | None
    """How many tokens a day may be sent before notes wait; null: no budget."""


class EmbeddingReply(TypedDict):
    """The chosen provider, why, and who may stand in; `remote` is null if no text leaves the machine."""

    provider: str
    """The provider that was chosen; `none`: words only."""
    rule: str
    """Why it was chosen, in words."""
    fallback: str | None
    """The provider that stands in when it fails; null: nobody."""
    paused: bool
    """Whether notes get vectors only when somebody asks (`sync.paused`)."""
    remote: RemoteReply | None
    """The provider that text is sent to; null if no text leaves the machine."""


class EmbedderReply(TypedDict):
    """The embedding model's state."""

    state: str
    """What stands between notes and vectors: `off`, `downloading`, `warming`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: str
    """When this state began, ISO 8601."""
    progress: ProgressReply | None
    """How far a download is; null if there is none."""
    worker: WorkerReply | None
    """The child process that computes vectors; null if there is none."""


class TextModelReply(TypedDict):
    """Who labels memories and writes prose about them."""

    provider: str
    """Who answers: `local` or `openai`."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    state: str
    """Whether it can be asked: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: str
    """When this state began, ISO 8601."""
    destination: str | None
    """The host that memory text is sent to, with the port if it is not the usual one; null: none leaves the machine."""
    callsToday: int | None
    """How many questions were sent there today (UTC); null where none leaves the machine."""
    callsPerDay: int | None
    """How many may be sent in a day; null: no bound, or none leaves the machine."""
    worker: WorkerReply | None
    """The child process that runs a local model; null if there is none."""


class RerankerReply(TypedDict):
    """The model that puts the best candidates in order."""

    state: str
    """What stands between a question and its reranking: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: str
    """When this state began, ISO 8601."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    family: str | None
    """What kind it is: `bge-reranker`, `jina-reranker`, `qwen3-reranker` or `plain`; null before its file was read."""
    worker: WorkerReply | None
    """The child process that reads candidates; null if there is none."""
