"""Choice of the embedder of a workspace from the agent's configuration: the provider, the reason, and the fallback."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from memoryd.config.agents import Agent
from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.providers import ModelsSection
from memoryd.config.section import Secret
from memoryd.domain.embedding import BY_KEY, LOCAL, NONE, PROVIDERS, Choice, ProviderOptions, choose
from memoryd.domain.media import MediaRules, embeds_media, modalities_of
from memoryd.embed.local.local_model import LocalSettings, find_model
from memoryd.embed.remote.providers import PromptOverride
from memoryd.embed.remote.settings import (
    AddressOwner,
    CallTimeouts,
    EndpointAccess,
    KeySources,
    RemoteSettings,
    address_of,
    entry_of,
    owner_of,
    profile_files,
)
from memoryd.errors import ConfigError
from memoryd.models.store import ModelStore

ProviderSettings = LocalSettings | RemoteSettings
DEFAULTS = MemorySearchSection()


@dataclass(frozen=True, slots=True)
class EmbedderPlan:
    """The embedders to run for an agent, and why. Plans with the same embedders are equal, whatever the reason."""

    choice: Choice = field(compare=False)
    first: ProviderSettings | None
    second: ProviderSettings | None
    """The fallback."""
    profiles: tuple[Path, ...] = ()
    """OpenClaw's files of keys that this agent may use; empty for a plan without a remote provider."""

    @property
    def takes_media(self) -> bool:
        """True if the first embedder embeds pictures and sounds."""
        return isinstance(self.first, RemoteSettings) and embeds_media(self.first.provider, self.first.model_name)


def plan_for(
    agent: Agent, models: ModelsSection, *, store: ModelStore, environment: Mapping[str, str], home: Path
) -> EmbedderPlan:
    """Return the plan for one agent; reads files of keys, and makes no network calls."""
    search = agent.memory_search
    profiles = tuple(profile_files(environment, home, agent.id))
    keys = KeySources(models, environment, profiles)
    names_model = "model_path" in search.local.model_fields_set
    options = ProviderOptions(
        provider=search.provider,
        named_by=agent.provider_named_by,
        fallback=search.fallback,
        is_model_here=names_model and find_model(store, search.local.model_path) is not None,
        is_searchable=search.enabled,
        keys=_origins(search, keys) if search.provider == "auto" else {},
    )
    choice = choose(options)
    first = _settings(choice.provider, choice, search, models)
    second = None if choice.fallback is None else _settings(choice.fallback, choice, search, models)
    is_remote = any(isinstance(settings, RemoteSettings) for settings in (first, second))
    return EmbedderPlan(choice, first, second, profiles if is_remote else ())


def media_rules(search: MemorySearchSection, plan: EmbedderPlan) -> MediaRules | None:
    """Return the rules for indexed pictures and sounds; None if they are off, or the embedder cannot embed them."""
    wanted = search.multimodal
    if not wanted.enabled or not plan.takes_media:
        return None
    return MediaRules(modalities_of(wanted.modalities), wanted.max_file_bytes)


def _settings(
    provider: str, choice: Choice, search: MemorySearchSection, models: ModelsSection
) -> ProviderSettings | None:
    if provider == NONE:
        return None
    # configured instructions are for the first provider
    first = search if provider == choice.provider else DEFAULTS
    if provider == LOCAL:
        return LocalSettings(
            spec=search.local.model_path,
            threads=search.local.threads or max(1, (os.cpu_count() or 2) // 2),
            idle_unload=timedelta(minutes=search.local.idle_unload_minutes),
            context=search.local.context_size,
            gpu_layers=search.local.gpu_layers,
            query_instruction=first.query_instruction,
            document_instruction=first.document_instruction,
        )
    # `memorySearch.remote` and `.model` are for one provider only
    section = search if provider == choice.remote_owner else DEFAULTS
    base_url, address = address_of(provider, section.remote.base_url, entry_of(models, provider))
    seconds, batch = search.sync.embedding_batch_timeout_seconds, search.remote.batch
    has_concurrency = "non_batch_concurrency" in section.remote.model_fields_set
    query, document = (section.query_instruction, section.document_instruction) if first is search else (None, None)
    return RemoteSettings(
        provider=provider,
        model=section.model or "",
        access=EndpointAccess(base_url, address, section.remote.api_key, _headers(provider, section, models, address)),
        dimensions=section.output_dimensionality,
        query=PromptOverride(query, section.query_input_type or section.input_type),
        document=PromptOverride(document, section.document_input_type or section.input_type),
        concurrency=section.remote.non_batch_concurrency if has_concurrency else None,
        timeouts=CallTimeouts(bulk=timedelta(seconds=seconds)) if seconds else CallTimeouts(),
        tokens_per_day=search.remote.tokens_per_day,
        batch=batch if batch.enabled and PROVIDERS[provider].has_batches else None,
    )


def _headers(
    provider: str, search: MemorySearchSection, models: ModelsSection, address: AddressOwner
) -> tuple[tuple[str, Secret], ...]:
    """Return the headers of `remote`, and of `models.providers` if the address is not of `remote`; `remote` wins."""
    own = search.remote.headers
    replaced = {name.lower() for name in own}
    entry = entry_of(models, provider)
    is_of_entry = owner_of(provider, entry.base_url, AddressOwner.ENTRY) is address
    others = {name: value for name, value in entry.headers.items() if is_of_entry and name.lower() not in replaced}
    return tuple(sorted((others | own).items(), key=lambda pair: pair[0]))


def _origins(search: MemorySearchSection, keys: KeySources) -> dict[str, str]:
    """Return provider → origin of its key, for each provider that `auto` may choose and that has a key."""
    origins = {}
    for provider in BY_KEY:
        with suppress(ConfigError):
            _, owner = address_of(provider, search.remote.base_url, entry_of(keys.models, provider))
            key = keys.find(provider, search.remote.api_key, owner)
            if key is not None:
                origins[provider] = key.origin
    return origins
