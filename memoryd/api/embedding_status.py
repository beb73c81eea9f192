"""The part of the status that says who embeds, why, and what is sent away."""

from memoryd.api.models import Reply


class OutstandingReply(Reply):
    """What is still to be sent; `tokens` are estimated, `media` counts the passages that are pictures and sounds."""

    files: int
    passages: int
    tokens: int
    media: int
    media_bytes: int


class RemoteReply(Reply):
    """A provider that text is sent to. `outstanding` is null while it only stands by."""

    provider: str
    model: str
    destination: str
    outstanding: OutstandingReply | None
    sent_today: int
    tokens_per_day: int | None


class EmbeddingReply(Reply):
    """The chosen provider, why, and who may stand in; `remote` is null if no text leaves the machine."""

    provider: str
    rule: str
    fallback: str | None
    paused: bool
    remote: RemoteReply | None
