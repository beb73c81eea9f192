"""How a remote provider is to be used: where it is, with which model and prompts, and how patiently it is asked."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from memoryd.config.providers import BatchSection
from memoryd.config.section import Secret
from memoryd.embed.remote.api_keys import AddressOwner
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.prompts import PromptOverride

HOLD: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class CallTimeouts:
    """How long to wait for the endpoint.

    `query` bounds a question with its retries; `bulk` one request of documents; `hold` how long documents wait at
    the gate (back-off, Retry-After) before the caller hears that the endpoint is unavailable.
    """

    query: timedelta = timedelta(seconds=3)
    bulk: timedelta = timedelta(seconds=120)
    connect: timedelta = timedelta(seconds=5)
    hold: timedelta = HOLD
    attempts: int = 3


@dataclass(frozen=True, slots=True)
class EndpointAccess:
    """Where a provider is reached, and with what; secrets are references still. An empty address is its own."""

    base_url: str = ""
    owner: AddressOwner = AddressOwner.USUAL
    key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteSettings:
    """A remote provider as the configuration wants it. An empty `model` is the provider's own, `concurrency` None, too.

    `dimensions` are asked of the endpoint; None leaves them to the model.
    """

    provider: str
    model: str = ""
    access: EndpointAccess = EndpointAccess()
    dimensions: int | None = None
    query: PromptOverride = field(default_factory=PromptOverride)
    document: PromptOverride = field(default_factory=PromptOverride)
    concurrency: int | None = None
    timeouts: CallTimeouts = field(default_factory=CallTimeouts)
    tokens_per_day: int | None = None
    batch: BatchSection | None = None
    """How the provider's batch interface is used; None: not at all."""

    @property
    def base_url(self) -> str:
        """The address that everything goes below."""
        return (self.access.base_url or PROVIDERS[self.provider].base_url).rstrip("/")

    @property
    def is_own_address(self) -> bool:
        """Whether it is the provider's own address, whose facts are known."""
        return self.access.base_url in {"", PROVIDERS[self.provider].base_url}

    @property
    def destination(self) -> str:
        """The host that texts go to, with the port if it is not the usual one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def model_name(self) -> str:
        """The model that is asked for."""
        return self.model or PROVIDERS[self.provider].model
