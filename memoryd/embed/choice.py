"""From an agent's configuration to the embedder that its workspace uses: which provider, why, and who stands in."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from msgspec.structs import replace

from memoryd.config.agents import Agent
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.providers import ModelsSection
from memoryd.config.section import Secret
from memoryd.domain.embedding import BY_KEY, LOCAL, NONE, PROVIDERS, Choice, ProviderOptions, choose
from memoryd.domain.media import MediaRules, embeds_media, modalities_of
from memoryd.embed.local.local_model import LocalSettings, model_file
from memoryd.embed.remote.api import PromptOverride
from memoryd.embed.remote.settings import (
    SECRET_HEADERS,
    AddressOwner,
    CallTimeouts,
    EndpointAccess,
    KeySources,
    RemoteSettings,
    entry_of,
    profile_files,
)
from memoryd.errors import ConfigError, MemorydError
from memoryd.models.store import ModelStore

ProviderSettings = LocalSettings | RemoteSettings


@dataclass(frozen=True, slots=True)
class EmbedderPlan:
    """What is to be run for an agent, and why. Plans that come to the same are equal, whatever led to them."""

    choice: Choice = field(compare=False)
    first: ProviderSettings | None
    second: ProviderSettings | None
    profiles: tuple[Path, ...] = ()
    """Files in which OpenClaw keeps keys that this agent may use; none for a plan that sends nothing away."""

    @property
    def takes_media(self) -> bool:
        """Whether what is run embeds pictures and sounds."""
        return isinstance(self.first, RemoteSettings) and embeds_media(self.first.provider, self.first.model_name)


def plan_for(
    agent: Agent, models: ModelsSection, *, store: ModelStore, environment: Mapping[str, str], home: Path
) -> EmbedderPlan:
    """Decide for one agent; reads files of keys, and asks nobody."""
    search = agent.memory_search
    profiles = tuple(profile_files(environment, home, agent.id))
    keys = KeySources(models, environment, profiles)
    options = ProviderOptions(
        provider=search.provider,
        named_by=agent.provider_named_by,
        fallback=search.fallback,
        is_model_here="model_path" in search.local.model_fields_set and _is_here(search.local.model_path, store),
        is_searchable=search.enabled,
        keys=_origins(search, models, keys) if search.provider == "auto" else {},
    )
    choice = choose(options)
    first = _settings(choice.provider, choice, search, models)
    second = None if choice.fallback is None else _settings(choice.fallback, choice, search, models)
    is_remote = any(isinstance(settings, RemoteSettings) for settings in (first, second))
    return EmbedderPlan(choice, first, second, profiles if is_remote else ())


def media_rules(search: MemorySearchSection, plan: EmbedderPlan) -> MediaRules | None:
    """Return which pictures and sounds are indexed; None if none are wanted, or nothing that is run can embed them."""
    wanted = search.multimodal
    if not wanted.enabled or not plan.takes_media:
        return None
    return MediaRules(modalities_of(wanted.modalities), wanted.max_file_bytes)


def _settings(
    provider: str, choice: Choice, search: MemorySearchSection, models: ModelsSection
) -> ProviderSettings | None:
    if provider == NONE:
        return None
    is_first = provider == choice.provider
    if provider == LOCAL:
        return _local(search, is_first=is_first)
    return _remote(provider, search, models, is_owner=provider == choice.remote_owner, is_first=is_first)


def _local(search: MemorySearchSection, *, is_first: bool) -> LocalSettings:
    local = search.local
    return LocalSettings(
        spec=local.model_path,
        threads=local.threads or max(1, (os.cpu_count() or 2) // 2),
        idle_unload=timedelta(minutes=local.idle_unload_minutes),
        context=local.context_size,
        query_instruction=search.query_instruction if is_first else None,
        document_instruction=search.document_instruction if is_first else None,
    )


def _remote(
    provider: str, search: MemorySearchSection, models: ModelsSection, *, is_owner: bool, is_first: bool
) -> RemoteSettings:
    base_url, owner = _address(provider, search, models, is_owner=is_owner)
    seconds = search.sync.embedding_batch_timeout_seconds
    common = RemoteSettings(
        provider=provider,
        access=EndpointAccess(base_url, owner, headers=_headers(provider, search, models, owner, is_owner=is_owner)),
        timeouts=CallTimeouts(bulk=timedelta(seconds=seconds)) if seconds else CallTimeouts(),
        tokens_per_day=search.remote.tokens_per_day,
        batch=search.remote.batch if search.remote.batch.enabled and PROVIDERS[provider].has_batches else None,
    )
    return _owned(common, search, is_first=is_first) if is_owner else common


def _owned(common: RemoteSettings, search: MemorySearchSection, *, is_first: bool) -> RemoteSettings:
    """Add what `memorySearch.remote` and `.model` say to the provider that they speak of."""
    remote = search.remote
    has_concurrency = "non_batch_concurrency" in remote.model_fields_set
    instructions = (search.query_instruction, search.document_instruction) if is_first else (None, None)
    return replace(
        common,
        model=search.model or "",
        access=replace(common.access, key=remote.api_key),
        dimensions=search.output_dimensionality,
        query=PromptOverride(instructions[0], search.query_input_type or search.input_type),
        document=PromptOverride(instructions[1], search.document_input_type or search.input_type),
        concurrency=remote.non_batch_concurrency if has_concurrency else None,
    )


def _address(
    provider: str, search: MemorySearchSection, models: ModelsSection, *, is_owner: bool
) -> tuple[str, AddressOwner]:
    usual = urlsplit(PROVIDERS[provider].base_url).netloc
    own = search.remote.base_url if is_owner else None
    for base_url, address in ((own, AddressOwner.REMOTE), (entry_of(models, provider).base_url, AddressOwner.ENTRY)):
        if base_url is not None:
            return base_url, AddressOwner.USUAL if urlsplit(base_url).netloc == usual else address
    return "", AddressOwner.USUAL


def _headers(
    provider: str, search: MemorySearchSection, models: ModelsSection, address: AddressOwner, *, is_owner: bool
) -> tuple[tuple[str, Secret], ...]:
    """Return the headers of `models.providers`, and over them those of `remote`; no key goes to the other's host."""
    entry = {
        name: value
        for name, value in entry_of(models, provider).headers.items()
        if address is not AddressOwner.REMOTE or name.lower() not in SECRET_HEADERS
    }
    own = search.remote.headers if is_owner else {}
    replaced = {name.lower() for name in own}
    kept = {name: value for name, value in entry.items() if name.lower() not in replaced}
    return tuple(sorted((kept | own).items(), key=lambda pair: pair[0]))


def _origins(search: MemorySearchSection, models: ModelsSection, keys: KeySources) -> dict[str, str]:
    """Return where the key of each provider that `auto` may take stands, if there is one for its address."""
    found = {}
    for provider in BY_KEY:
        _, address = _address(provider, search, models, is_owner=True)
        try:
            key = keys.find(provider, search.remote.api_key, address)
        except ConfigError:
            continue
        if key is not None:
            found[provider] = key.origin
    return found


def _is_here(spec: str, store: ModelStore) -> bool:
    try:
        return store.locate(model_file(spec)) is not None
    except MemorydError:
        return False
