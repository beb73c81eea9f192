"""How a remote provider is to be used: with which key, at which address, with which model, prompts and time.

The key comes from the configuration, OpenClaw's own file of keys, or the environment. It is read when it is needed, so
that a rotated one is picked up, and shows in no repr, log line or reply.
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
"""Headers that carry a key."""


class AddressOwner(Enum):
    """Who chose the address that the key is sent to. A key goes only where it was meant for."""

    USUAL = "the provider's own"
    ENTRY = "models.providers.*.baseUrl"
    REMOTE = "memorySearch.remote.baseUrl"


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it stands, in words; only `reveal` shows it."""

    origin: str
    _secret: SecretStr = field(repr=False)

    def reveal(self) -> str:
        """Return the key itself."""
        return self._secret.get_secret_value()


@dataclass(frozen=True, slots=True)
class KeySources:
    """Where to look: `models.providers`, the environment, and the files in which OpenClaw keeps an agent's keys."""

    models: ModelsSection
    environment: Mapping[str, str] = field(repr=False)
    profiles: Sequence[Path] = ()

    def find(
        self,
        provider: str,
        own: Secret | None = None,
        owner: AddressOwner = AddressOwner.USUAL,
        own_place: str = OWN_KEY,
    ) -> Key | None:
        """Return the key of a provider, None if nobody has one for this address.

        `own` stands at the key `own_place`, and wins. Raises ConfigError for a reference in the configuration that
        leads nowhere: its owner means that one, not the next that is found.
        """
        first = (own_place, own) if own is not None else next(self._configured(provider, owner), None)
        if first is not None:
            return Key(first[0], SecretStr(reveal_at(*first)))
        if owner is not AddressOwner.USUAL:
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
    """Return the files of keys that OpenClaw has: for the agent, for the main agent, and for all agents."""
    state = environment.get("OPENCLAW_STATE_DIR", "").strip()
    folder = Path(state).expanduser() if state else home / ".openclaw"
    places = [folder / "agents" / name / "agent" for name in dict.fromkeys((agent, "main"))]
    return [file for place in (*places, folder / "agent") if (file := place / "auth-profiles.json").is_file()]


def entry_of(models: ModelsSection, provider: str) -> ProviderSection:
    """Return what `models.providers` says of a provider, under any of its names."""
    found = (models.providers[name] for name in PROVIDERS[provider].config_names if name in models.providers)
    return next(found, ProviderSection())


def owner_of(provider: str, base_url: str | None, otherwise: AddressOwner) -> AddressOwner:
    """Tell whose an address is: the provider's own by its scheme, host and port, or of who wrote it elsewhere."""
    is_usual = base_url is None or _server_of(base_url) == _server_of(PROVIDERS[provider].base_url)
    return AddressOwner.USUAL if is_usual else otherwise


def _server_of(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    usual = {"https": ":443", "http": ":80"}.get(parts.scheme, "")
    return parts.scheme, parts.netloc.rpartition("@")[2].lower().removesuffix(usual)


def address_of(provider: str, own: str | None, entry: ProviderSection) -> tuple[str, AddressOwner]:
    """Return the address that holds and whose it is: the section's own, that of `models.providers`, or the usual."""
    if own is not None:
        return own, owner_of(provider, own, AddressOwner.REMOTE)
    return entry.base_url or "", owner_of(provider, entry.base_url, AddressOwner.ENTRY)


def reveal_at(origin: str, secret: Secret) -> str:
    """Read a secret; raises ConfigError that says where the one stands that cannot be read."""
    try:
        return secret.reveal()
    except ConfigError as exc:
        raise ConfigError([f"{origin}: {problem}" for problem in exc.problems]) from exc


def _profiles(path: Path, provider: str) -> list[tuple[str, dict[str, object]]]:
    """Return the API-key profiles of a provider in the file's own order of preference.

    A sign-in (OAuth) covers chat only, not embeddings.
    """
    # another program's file: what cannot be read there is not ours to complain of
    store = read_json_object(path)
    entries = store.get("profiles")
    found = {
        name: profile
        for name, profile in (entries.items() if isinstance(entries, dict) else ())
        if isinstance(profile, dict)
        and profile.get("type") == "api_key"
        and profile.get("provider") in PROVIDERS[provider].config_names
    }
    preferred = [name for name in _order(store, provider) if name in found]
    return [(name, found[name]) for name in dict.fromkeys([*preferred, *sorted(found)])]


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
    """How long to wait for the endpoint.

    While the breaker is open (back-off, Retry-After), documents wait for `hold` before the endpoint counts as
    unavailable.
    """

    query: timedelta = timedelta(seconds=3)
    """For a question with its retries."""
    bulk: timedelta = timedelta(seconds=120)
    """For one request of documents."""
    connect: timedelta = timedelta(seconds=5)
    """For a connection."""
    hold: timedelta = HOLD
    attempts: int = 3
    """How often a request is sent at most."""


class EndpointAccess(Struct, frozen=True):
    """Where a provider is reached, and with what; secrets are references still. An empty address is its own."""

    base_url: str = ""
    owner: AddressOwner = AddressOwner.USUAL
    key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()

    @property
    def destination(self) -> str:
        """The host that texts go to, with the port if it is not the usual one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]


class RemoteSettings(Struct, frozen=True):
    """A remote provider as the configuration wants it. An empty `model`, or `concurrency` None: the provider's own.

    `dimensions` are asked of the endpoint; None leaves them to the model.
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
    """How the provider's batch interface is used; None: not at all."""

    @property
    def base_url(self) -> str:
        """The address that everything goes below."""
        return (self.access.base_url or PROVIDERS[self.provider].base_url).rstrip("/")

    @property
    def is_own_address(self) -> bool:
        """Whether it is the provider's own address, whose facts are known."""
        return self.base_url == PROVIDERS[self.provider].base_url.rstrip("/")

    @property
    def destination(self) -> str:
        """The host that texts go to, with the port if it is not the usual one."""
        return replace(self.access, base_url=self.base_url).destination

    @property
    def model_name(self) -> str:
        """The model that is asked for."""
        return self.model or PROVIDERS[self.provider].model


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a provider is asked with; no repr shows it."""

    api_key: str = field(default="", repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def account(self) -> Hashable:
        """What the provider knows its customer by, as far as that can be told from here."""
        return (self.api_key, *(pair for pair in self.headers if pair[0].lower() in SECRET_HEADERS))


def credentials_of(settings: RemoteSettings, keys: KeySources) -> Credentials:
    """Return what the settings refer to; raises as `open_credentials` does."""
    return open_credentials(settings.provider, settings.access, keys)


def open_credentials(provider: str, access: EndpointAccess, keys: KeySources, own_place: str = OWN_KEY) -> Credentials:
    """Read the key and the headers of a provider; blocks on files. `own_place` is where its own key would stand.

    Raises ConfigError for a reference that leads nowhere, ModelError when the provider needs a key and there is none.
    """
    row = PROVIDERS[provider]
    if access.base_url == NOT_AN_ENTRY:
        raise ConfigError([f"models.providers: the entry of {provider} must be an object {{ … }} in this file"])
    if access.base_url == NOT_AN_ADDRESS:
        raise ConfigError([f"models.providers: the baseUrl of {provider} {ADDRESS_EXPECTED}"])
    key = keys.find(provider, access.key, access.owner, own_place)
    if key is None and row.needs_key and access.owner is AddressOwner.USUAL:
        places = f"models.providers.{row.config_names[0]}.apiKey or ${row.key_variables[0]}"
        raise ModelError(f"there is no key for {provider}", hint=f"set {own_place}, {places}")
    return Credentials(
        api_key="" if key is None else key.reveal(),
        headers=tuple((name, reveal_at(f"the header {name}", secret)) for name, secret in access.headers),
    )
