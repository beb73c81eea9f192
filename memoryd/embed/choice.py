"""From an agent's configuration to the embedder that its workspace uses: which provider, why, and who stands in."""

import asyncio
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.models import Agent
from memoryd.config.providers import ModelsSection
from memoryd.config.secret import Secret
from memoryd.domain.media import MediaRules, embeds_media, modalities_of
from memoryd.domain.provider_choice import BY_KEY, LOCAL, NONE, Choice, ProviderOptions, choose
from memoryd.embed.embedder_source import EmbedderSource
from memoryd.embed.fallback_embedding import FallbackEmbedding
from memoryd.embed.local.local_embedding import LocalEmbedding, LocalSettings, model_file
from memoryd.embed.remote.api_keys import AddressOwner, KeySources, entry_of, profile_files
from memoryd.embed.remote.catalogue import PROVIDERS
from memoryd.embed.remote.remote_embedding import RemoteEmbedding, RemoteWish
from memoryd.embed.remote.spending import SpendingBook
from memoryd.embed.slot import EmbedderPhase, EmbedderSlot, EmbedderState
from memoryd.errors import ConfigError, MemorydError
from memoryd.models.store import ModelStore

CREDENTIALS: Final = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
"""Headers that carry a key."""
NO_PROVIDER: Final = "memorySearch.provider is none"

ProviderSettings = LocalSettings | RemoteWish


Runnable = tuple[ProviderSettings | None, ProviderSettings | None, tuple[Path, ...]]
"""What agents must have in common to share one embedder."""


@dataclass(frozen=True, slots=True)
class EmbedderPlan:
    """What is to be run for an agent, and why."""

    choice: Choice
    first: ProviderSettings | None
    second: ProviderSettings | None
    profiles: tuple[Path, ...]
    """Files in which OpenClaw keeps keys that this agent may use."""

    @property
    def takes_media(self) -> bool:
        """Whether what is run embeds pictures and sounds."""
        return isinstance(self.first, RemoteWish) and embeds_media(self.first.provider, self.first.model_name)

    @property
    def runnable(self) -> Runnable:
        """Return what it comes down to; where keys lie matters only to remote providers."""
        is_remote = any(isinstance(settings, RemoteWish) for settings in (self.first, self.second))
        return (self.first, self.second, self.profiles if is_remote else ())


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedder that some agents share: its plan, its slot, and what fills the slot (None: nothing)."""

    plan: EmbedderPlan
    slot: EmbedderSlot
    source: EmbedderSource | None

    @property
    def local(self) -> LocalEmbedding | None:
        """The part that runs a model here, if one does."""
        return next((source for source in self._sources() if isinstance(source, LocalEmbedding)), None)

    @property
    def remote(self) -> RemoteEmbedding | None:
        """The part that sends text away, if one does; the first provider before its fallback."""
        return next((source for source in self._sources() if isinstance(source, RemoteEmbedding)), None)

    @property
    def sends(self) -> bool:
        """Whether notes go to the remote part now, rather than only while it stands in."""
        return isinstance(self.plan.first, RemoteWish) or (self.slot.stand_in is not None and self.remote is not None)

    def obstacle(self) -> str | None:
        """Return why no vectors will come until something changes; None while they come, or are on their way."""
        state = self.slot.state
        if state.phase is EmbedderPhase.OFF:
            return state.reason
        is_settled = state.phase in (EmbedderPhase.READY, EmbedderPhase.FAILED)
        # while the first is fetched, the second may be at work in a moment
        if is_settled or isinstance(self.source, FallbackEmbedding):
            return None if self.source is None else self.source.trouble()
        return state.reason if state.is_out_of_reach else None

    def _sources(self) -> Iterator[EmbedderSource]:
        if isinstance(self.source, FallbackEmbedding):
            yield self.source.first
            yield self.source.second
        elif self.source is not None:
            yield self.source


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
    return EmbedderPlan(
        choice=choice,
        first=_settings(choice.provider, choice, search, models),
        second=None if choice.fallback is None else _settings(choice.fallback, choice, search, models),
        profiles=profiles,
    )


def media_rules(search: MemorySearchSection, plan: EmbedderPlan) -> MediaRules | None:
    """Return which pictures and sounds are indexed; None if none are wanted, or nothing that is run can embed them."""
    wanted = search.multimodal
    if not wanted.enabled or not plan.takes_media:
        return None
    return MediaRules(modalities_of(wanted.modalities), wanted.max_file_bytes)


def build(
    plan: EmbedderPlan, models: ModelsSection, *, store: ModelStore, slot: EmbedderSlot, book: SpendingBook, jobs: Path
) -> Embedding:
    """Make the parts that a plan names; nothing runs yet. Batch jobs are noted in the folder `jobs`."""
    keys = KeySources(models, os.environ, plan.profiles)

    def source_of(settings: ProviderSettings, its: EmbedderSlot) -> EmbedderSource:
        if isinstance(settings, LocalSettings):
            return LocalEmbedding(settings=settings, store=store, slot=its)
        return RemoteEmbedding(wish=settings, keys=keys, slot=its, book=book, jobs=jobs)

    if plan.first is None:
        slot.state = EmbedderState(EmbedderPhase.OFF, NO_PROVIDER)
        return Embedding(plan, slot, None)
    if plan.second is None:
        return Embedding(plan, slot, source_of(plan.first, slot))
    news = asyncio.Event()
    first, second = (EmbedderSlot(lambda _state: news.set()) for _ in range(2))
    both = FallbackEmbedding(
        first=source_of(plan.first, first),
        second=source_of(plan.second, second),
        slot=slot,
        names=(plan.choice.provider, plan.choice.fallback or NONE),
        news=news,
    )
    return Embedding(plan, slot, both)


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
) -> RemoteWish:
    base_url, address = _address(provider, search, models, is_owner=is_owner)
    seconds = search.sync.embedding_batch_timeout_seconds or RemoteWish("").timeout.total_seconds()
    common = RemoteWish(
        provider=provider,
        base_url=base_url,
        address=address,
        headers=_headers(provider, search, models, address, is_owner=is_owner),
        timeout=timedelta(seconds=seconds),
        tokens_per_day=search.remote.tokens_per_day,
        batch=search.remote.batch if search.remote.batch.enabled and PROVIDERS[provider].has_batches else None,
    )
    return _owned(common, search, is_first=is_first) if is_owner else common


def _owned(common: RemoteWish, search: MemorySearchSection, *, is_first: bool) -> RemoteWish:
    remote = search.remote
    has_concurrency = "non_batch_concurrency" in remote.model_fields_set
    return replace(
        common,
        model=search.model or "",
        key=remote.api_key,
        dimensions=search.output_dimensionality,
        query_instruction=search.query_instruction if is_first else None,
        document_instruction=search.document_instruction if is_first else None,
        query_input_type=search.query_input_type or search.input_type,
        document_input_type=search.document_input_type or search.input_type,
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
    """Headers of `models.providers`, and over them those of `remote`; a key of the one stays from the other's host."""
    entry = {
        name: value
        for name, value in entry_of(models, provider).headers.items()
        if address is not AddressOwner.REMOTE or name.lower() not in CREDENTIALS
    }
    own = search.remote.headers if is_owner else {}
    replaced = {name.lower() for name in own}
    kept = {name: value for name, value in entry.items() if name.lower() not in replaced}
    return tuple(sorted((kept | own).items(), key=lambda pair: pair[0]))


def _origins(search: MemorySearchSection, models: ModelsSection, keys: KeySources) -> dict[str, str]:
    """Where the key of each provider that `auto` may take stands, if there is one for the address it would go to."""
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
