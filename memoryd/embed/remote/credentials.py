"""The secrets of a remote provider, opened: read anew whenever it is asked for the first vector."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from memoryd.config.providers import ADDRESS_EXPECTED, NOT_AN_ADDRESS, NOT_AN_ENTRY
from memoryd.embed.remote.api_keys import SECRET_HEADERS, AddressOwner, KeySources, hint, revealed
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.errors import ConfigError, ModelError


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
    """Open what the settings refer to; blocks on files.

    Raises ConfigError for a reference that leads nowhere, ModelError when the provider needs a key and there is none.
    """
    provider, access = settings.provider, settings.access
    if access.base_url == NOT_AN_ENTRY:
        raise ConfigError([f"models.providers: the entry of {provider} must be an object {{ … }} in this file"])
    if access.base_url == NOT_AN_ADDRESS:
        raise ConfigError([f"models.providers: the baseUrl of {provider} {ADDRESS_EXPECTED}"])
    key = keys.find(provider, access.key, access.owner)
    if key is None and PROVIDERS[provider].needs_key and access.owner is AddressOwner.USUAL:
        raise ModelError(f"there is no key for {provider}", hint=hint(provider))
    return Credentials(
        api_key="" if key is None else key.reveal(),
        headers=tuple((name, revealed(f"the header {name}", secret)) for name, secret in access.headers),
    )
