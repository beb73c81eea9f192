"""Where an endpoint for text is, and with which key it is asked: a key goes only where it was meant for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from memoryd.config.providers import ADDRESS_EXPECTED, NOT_AN_ADDRESS, NOT_AN_ENTRY, LlmSection, ModelsSection
from memoryd.config.section import Secret
from memoryd.embed.remote.settings import AddressOwner, Credentials, KeySources, entry_of, revealed
from memoryd.errors import ConfigError

PROVIDER: Final = "openai"
OWN_ADDRESS: Final = "https://api.openai.com/v1"
NO_KEY: Final = "there is no key: set memory.llm.apiKey, models.providers.openai.apiKey or $OPENAI_API_KEY"


class TextAccess(Struct, frozen=True):
    """An address, whose it is, and the key for it; the key is a reference until it is asked for."""

    base_url: str
    owner: AddressOwner
    key: Secret | None = None
    headers: tuple[tuple[str, Secret], ...] = ()

    @property
    def destination(self) -> str:
        """The host that texts go to, with the port if it is not the usual one."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2]

    @property
    def needs_key(self) -> bool:
        """Whether nobody is answered there without a key."""
        return self.owner is AddressOwner.USUAL


@dataclass(frozen=True, slots=True)
class TextKeys:
    """Where keys are found, besides the configuration of the text model."""

    models: ModelsSection
    environment: Mapping[str, str] = field(repr=False)

    def open(self, access: TextAccess) -> Credentials:
        """Open what the settings refer to; blocks on files. Raises ConfigError where no key is found or read."""
        if access.base_url in (NOT_AN_ENTRY, NOT_AN_ADDRESS):
            raise ConfigError([f"models.providers: the baseUrl of {PROVIDER} {ADDRESS_EXPECTED}"])
        key = self._key(access)
        if not key and access.needs_key:
            raise ConfigError([NO_KEY])
        headers = tuple((name, revealed(f"the header {name}", secret)) for name, secret in access.headers)
        return Credentials(key, headers)

    def _key(self, access: TextAccess) -> str:
        if access.key is not None:
            return revealed("memory.llm.apiKey", access.key)
        found = KeySources(self.models, self.environment).find(PROVIDER, None, access.owner)
        return "" if found is None else found.reveal()


def access_of(llm: LlmSection, models: ModelsSection) -> TextAccess:
    """Return where the endpoint is: as `memory.llm` says, else as `models.providers.openai`, else OpenAI itself."""
    entry = entry_of(models, PROVIDER)
    if llm.base_url is not None:
        return TextAccess(llm.base_url.rstrip("/"), AddressOwner.REMOTE, llm.api_key)
    headers = tuple(entry.headers.items())
    if entry.base_url is not None:
        return TextAccess(entry.base_url.rstrip("/"), AddressOwner.ENTRY, llm.api_key, headers)
    return TextAccess(OWN_ADDRESS, AddressOwner.USUAL, llm.api_key, headers)
