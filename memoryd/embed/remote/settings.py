"""The settings of a remote provider: key, address, model, prompts and time-outs.

The key comes from the configuration, OpenClaw's own file of keys, or the environment. It is read when it is needed, so
that a rotated key is picked up, and appears in no repr, log line or reply.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace
from pydantic import SecretStr

from memoryd.config.providers import (
    ADDRESS_EXPECTED,
    NOT_AN_ADDRESS,
    NOT_AN_ENTRY,
    BatchSection,
    ModelsSection,
    ProviderSection,
)
from memoryd.config.section import Secret, parse_secret
from memoryd.domain.embedding import PROVIDERS
from memoryd.embed.remote.providers import PromptOverride
from memoryd.errors import ConfigError, ModelError
from memoryd.files.reading import read_json_object

OWN_KEY = "memorySearch.remote.apiKey"
SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
"""Headers with a key."""


class AddressOwner(Enum):
    """The origin of an address. A key is sent only to addresses that it is intended for."""

    PROVIDER = "the provider's own"
    ENTRY = "models.providers.*.baseUrl"
    REMOTE = "memorySearch.remote.baseUrl"


@dataclass(frozen=True, slots=True)
class Key:
    """A key and a description of its origin; only `reveal` shows the key."""

    origin: str
    _secret: SecretStr = field(repr=False)

    def reveal(self) -> str:
        """Return the key itself."""
        return self._secret.get_secret_value()


@dataclass(frozen=True, slots=True)
class KeySources:
    """The sources of keys: `models.providers`, the environment, and OpenClaw's files with an agent's keys."""

    models: ModelsSection
    environment: Mapping[str, str] = field(repr=False)
    profiles: Sequence[Path] = ()

    def find(
        self,
        provider: str,
        own: Secret | None = None,
        owner: AddressOwner = AddressOwner.PROVIDER,
        own_key: str = OWN_KEY,
    ) -> Key | None:
        """Return the key of a provider for an address of this owner; None if there is none.

        `own` is the secret at the configuration key `own_key`, and wins. Raises ConfigError for an unresolvable
        reference in the configuration, rather than using the next source against the owner's intention.
        """
        first = (own_key, own) if own is not None else next(self._configured(provider, owner), None)
        if first is not None:
            return Key(first[0], SecretStr(reveal_at(*first)))
        if owner is not AddressOwner.PROVIDER:
            return None
        return self._in_profiles(provider) or self._in_environment(provider)

    def _configured(self, provider: str, owner: AddressOwner) -> Iterator[tuple[str, Secret]]:
        for name in PROVIDERS[provider].config_names if owner is not AddressOwner.REMOTE else ():
            entry = self.models.providers.get(name)
            if entry is None or entry.api_key is None:
                continue
            if owner is AddressOwner.ENTRY or owner_of(provider, entry.base_url, AddressOwner.ENTRY) is owner:
                yield f"models.providers.{name}.apiKey", entry.api_key

    def _in_profiles(self, provider: str) -> Key | None:
        for path in self.profiles:
            for name, profile in _profiles(path, provider):
                if secret := _profile_secret(profile, self.environment):
                    return Key(f"the profile {name} of OpenClaw", SecretStr(secret))
        return None

    def _in_environment(self, provider: str) -> Key | None:
        for name in PROVIDERS[provider].key_variables:
            if text := self.environment.get(name, "").strip():
                return Key(f"${name}", SecretStr(text))
        return None


def profile_files(environment: Mapping[str, str], home: Path, agent: str) -> list[Path]:
    """Return OpenClaw's existing files of keys: for the agent, for the main agent, and for all agents."""
    state = environment.get("OPENCLAW_STATE_DIR", "").strip()
    folder = Path(state).expanduser() if state else home / ".openclaw"
    folders = [*(folder / "agents" / name / "agent" for name in dict.fromkeys((agent, "main"))), folder / "agent"]
    return [file for path in folders if (file := path / "auth-profiles.json").is_file()]


def entry_of(models: ModelsSection, provider: str) -> ProviderSection:
    """Return the entry of a provider in `models.providers`, under any of its names; an empty section if missing."""
    entries = (models.providers[name] for name in PROVIDERS[provider].config_names if name in models.providers)
    return next(entries, ProviderSection())


def owner_of(provider: str, base_url: str | None, otherwise: AddressOwner) -> AddressOwner:
    """Return PROVIDER for an address with the provider's own scheme, host and port, else `otherwise`."""
    is_own = base_url is None or _server_of(base_url) == _server_of(PROVIDERS[provider].base_url)
    return AddressOwner.PROVIDER if is_own else otherwise


def _server_of(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    default_port = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
    return parts.scheme, parts.netloc.rpartition("@")[2].lower().removesuffix(default_port)


def address_of(provider: str, own: str | None, entry: ProviderSection) -> tuple[str, AddressOwner]:
    """Return the configured address (the section's own, else that of `entry`, else empty) and its owner."""
    if own is not None:
        return own, owner_of(provider, own, AddressOwner.REMOTE)
    return entry.base_url or "", owner_of(provider, entry.base_url, AddressOwner.ENTRY)


def reveal_at(origin: str, secret: Secret) -> str:
    """Read a secret; raises ConfigError that names its origin if it cannot be read."""
    try:
        return secret.reveal()
    except ConfigError as exc:
        raise ConfigError([f"{origin}: {problem}" for problem in exc.problems]) from exc


def _profiles(path: Path, provider: str) -> list[tuple[str, dict[str, object]]]:
    """Return the API-key profiles of a provider in the file's own order of preference.

    OAuth profiles are skipped: they cover chat only, not embeddings.
    """
    # the file belongs to another program: if it cannot be read, that is not reported
    store = read_json_object(path)
    entries = store.get("profiles")
    profiles = {
        name: profile
        for name, profile in (entries.items() if isinstance(entries, dict) else ())
        if isinstance(profile, dict)
        and profile.get("type") == "api_key"
        and profile.get("provider") in PROVIDERS[provider].config_names
    }
    preferred = [name for name in _order(store, provider) if name in profiles]
    return [(name, profiles[name]) for name in dict.fromkeys([*preferred, *sorted(profiles)])]


def _order(store: Mapping[str, object], provider: str) -> list[str]:
    order, last = store.get("order"), store.get("lastGood")
    names: list[object] = []
    for name in PROVIDERS[provider].config_names:
        listed = order.get(name) if isinstance(order, dict) else None
        names += listed if isinstance(listed, list) else []
        names += [last.get(name)] if isinstance(last, dict) else []
        names.append(f"{name}:default")
    return [name for name in names if isinstance(name, str)]


def _profile_secret(profile: Mapping[str, object], environment: Mapping[str, str]) -> str:
    for value in (profile.get("keyRef"), profile.get("key")):
        try:
            secret = parse_secret(value)
        except ValueError:
            continue
        with suppress(ConfigError):
            if text := secret.reveal(environment).strip():
                return text
    return ""


HOLD = timedelta(seconds=30)
"""How long documents wait for a blocked endpoint."""


class CallTimeouts(Struct, frozen=True):
    """Time-outs and attempts for calls of an endpoint."""

    query: timedelta = timedelta(seconds=3)
    """Time for a question, including retries."""
    bulk: timedelta = timedelta(seconds=120)
    """Time for one request with documents."""
    connect: timedelta = timedelta(seconds=5)
    """Time for a connection."""
    hold: timedelta = HOLD
    """How long documents wait for the breaker (back-off, Retry-After) before the endpoint counts as unavailable."""
    attempts: int = 3
    """How often a request is sent at most."""


class EndpointAccess(Struct, frozen=True):
    """Address, key and headers of a provider, with unresolved secrets. An empty address is the provider's own."""

    base_url: str = ""
    owner: AddressOwner = AddressOwner.PROVIDER
    key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()

    @property
    def destination(self) -> str:
        """The host that texts are sent to, with the port if the address has one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class RemoteSettings(Struct, frozen=True):
    """The configured settings of a remote provider. An empty `model`, or `concurrency` None, is the provider's own.

    `dimensions` are requested from the endpoint; None means the model's own.
    """

    provider: str
    model: str = ""
    access: EndpointAccess = EndpointAccess()
    dimensions: int | None = None
    query: PromptOverride = PromptOverride()
    document: PromptOverride = PromptOverride()
    concurrency: int | None = None
    timeouts: CallTimeouts = CallTimeouts()
    tokens_per_day: int | None = None
    batch: BatchSection | None = None
    """Settings of the provider's batch interface; None: it is not used."""

    @property
    def base_url(self) -> str:
        """The base address of all calls."""
        return (self.access.base_url or PROVIDERS[self.provider].base_url).rstrip("/")

    @property
    def is_own_address(self) -> bool:
        """True for the provider's own address, for which the facts in PROVIDERS hold."""
        return self.base_url == PROVIDERS[self.provider].base_url.rstrip("/")

    @property
    def destination(self) -> str:
        """The host that texts are sent to, with the port if the address has one."""
        return replace(self.access, base_url=self.base_url).destination

    @property
    def model_name(self) -> str:
        """The configured model, else the provider's default."""
        return self.model or PROVIDERS[self.provider].model


@dataclass(frozen=True, slots=True)
class Credentials:
    """The key and headers for calls of a provider; no repr shows them."""

    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def account(self) -> Hashable:
        """The values that identify the customer to the provider: the key and the headers with a key."""
        return (self.api_key, *(pair for pair in self.headers if pair[0].lower() in SECRET_HEADERS))


def credentials_of(settings: RemoteSettings, keys: KeySources) -> Credentials:
    """Return the key and headers for the settings; blocks, and raises as `open_credentials` does."""
    return open_credentials(settings.provider, settings.access, keys)


def open_credentials(provider: str, access: EndpointAccess, keys: KeySources, own_key: str = OWN_KEY) -> Credentials:
    """Read the key and the headers of a provider; blocks on files. `own_key` is the config key of `access.key`.

    Raises ConfigError for an unresolvable reference, and ModelError if the provider needs a key and there is none.
    """
    row = PROVIDERS[provider]
    if access.base_url == NOT_AN_ENTRY:
        raise ConfigError([f"models.providers: the entry of {provider} must be an object {{ … }} in this file"])
    if access.base_url == NOT_AN_ADDRESS:
        raise ConfigError([f"models.providers: the baseUrl of {provider} {ADDRESS_EXPECTED}"])
    key = keys.find(provider, access.key, access.owner, own_key)
    if key is None and row.needs_key and access.owner is AddressOwner.PROVIDER:
        places = f"models.providers.{row.config_names[0]}.apiKey or ${row.key_variables[0]}"
        raise ModelError(f"there is no key for {provider}", hint=f"set {own_key}, {places}")
    return Credentials(
        api_key="" if key is None else key.reveal(),
        headers=tuple((name, reveal_at(f"the header {name}", secret)) for name, secret in access.headers),
    )
