"""Shapes of what status tells of models: who embeds, what is sent where, how the model does, and the reranker."""

from datetime import datetime

from memoryd.agents.status.figures import UnsentWork
from memoryd.api.models import Reply


class OutstandingReply(Reply):
    """What is still to be sent; `tokens` are estimated, `media` counts the passages that are pictures and sounds."""

    files: int
    """How many files have passages that are to be sent."""
    passages: int
    """How many distinct passages are to be sent, pictures and sounds among them."""
    tokens: int
    """How many tokens they have, estimated."""
    media: int
    """How many of the passages are pictures and sounds."""
    media_bytes: int
    """How many bytes the pictures and sounds have together."""


def outstanding_reply(unsent: UnsentWork) -> OutstandingReply:
    """Encode what is still to be sent."""
    return OutstandingReply(
        files=unsent.files,
        passages=unsent.passages,
        tokens=unsent.tokens,
        media=unsent.media,
        media_bytes=unsent.media_bytes,
    )


class RemoteReply(Reply):
    """A provider that text is sent to. `outstanding` is null while it only stands by."""

    provider: str
    """The provider: `openai`, `gemini`, `voyage`, `mistral` or `ollama`."""
    model: str
    """The model that is asked for."""
    destination: str
    """The host that text is sent to, with the port if it is not the usual one."""
    outstanding: OutstandingReply | None
    """What is still to be sent; null while the provider only stands by."""
    sent_today: int
    """How many tokens were sent there today (UTC), about."""
    tokens_per_day: int | None
    """How many tokens a day may be sent before notes wait; null: no budget."""


class EmbeddingReply(Reply):
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


class ProgressReply(Reply):
    """How far a download is."""

    done_bytes: int
    """How many bytes of the step are done."""
    total_bytes: int | None
    """How many bytes the step has; null if nobody knows."""
    step: str
    """What is being done: `waiting`, `connecting`, `downloading`, `checking`, `converting` or `ready`."""


class WorkerReply(Reply):
    """The child process that runs a model."""

    phase: str
    """What it is doing: `stopped`, `starting`, `ready` or `waiting` for another try."""
    pid: int | None
    """Its process id; null while it does not run."""
    rss_bytes: int
    """The memory it takes, in bytes; 0 while it does not run."""
    restarts: int
    """How often it was started again since the start of the daemon."""
    last_error: str | None
    """Why it failed last; null if it never did."""


class EmbedderReply(Reply):
    """The embedding model's state."""

    state: str
    """What stands between notes and vectors: `off`, `downloading`, `warming`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    progress: ProgressReply | None
    """How far a download is; null if there is none."""
    worker: WorkerReply | None
    """The child process that computes vectors; null if there is none."""


class TextModelReply(Reply):
    """Who labels memories and writes prose about them."""

    provider: str
    """Who answers: `local` or `openai`."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    state: str
    """Whether it can be asked: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    destination: str | None
    """The host that memory text is sent to, with the port if it is not the usual one; null: none leaves the machine."""
    calls_today: int | None
    """How many questions were sent there today (UTC); null where none leaves the machine."""
    calls_per_day: int | None
    """How many may be sent in a day; null: no bound, or none leaves the machine."""
    worker: WorkerReply | None
    """The child process that runs a local model; null if there is none."""


class RerankerReply(Reply):
    """The model that puts the best candidates in order."""

    state: str
    """What stands between a question and its reranking: `warming`, `downloading`, `ready` or `failed`."""
    reason: str | None
    """Why it is so; null if there is nothing to say."""
    since: datetime
    """When this state began, ISO 8601."""
    model: str
    """The model's name, or how the configuration names it before its file was read."""
    family: str | None
    """What kind it is: `bge-reranker`, `jina-reranker`, `qwen3-reranker` or `plain`; null before its file was read."""
    worker: WorkerReply | None
    """The child process that reads candidates; null if there is none."""
