"""What an embedder behind an endpoint is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from memoryd.domain.breaker import BreakerRule


@dataclass(frozen=True, slots=True)
class CallTimeouts:
    """How long to wait for the endpoint.

    `query` bounds a question with its retries; `bulk` one request of documents; `hold` how long documents wait for
    their turn (back-off, Retry-After) before the caller hears that the endpoint is unavailable.
    """

    query: timedelta = timedelta(seconds=3)
    bulk: timedelta = timedelta(seconds=120)
    connect: timedelta = timedelta(seconds=5)
    hold: timedelta = timedelta(seconds=30)
    attempts: int = 3


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """Provider, model and access. Empty `model` and `base_url` mean the provider's own; `concurrency` None, too.

    `dimensions` are asked of the endpoint; None leaves them to the model. An instruction stands before the text, or
    around it if it contains `{text}`; None means the model's own. Input types are sent as they are; None means the
    provider's own.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int | None = None
    query_instruction: str | None = None
    document_instruction: str | None = None
    query_input_type: str | None = None
    document_input_type: str | None = None
    concurrency: int | None = None
    timeouts: CallTimeouts = CallTimeouts()
    rule: BreakerRule = field(default_factory=BreakerRule)
