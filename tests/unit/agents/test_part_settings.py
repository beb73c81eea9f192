"""The keys of `memorySearch` become settings of the parts."""

from memoryd.agents.workspace.settings import embedding_loop_settings, index_settings, search_settings
from memoryd.config.memory_search import MemorySearchSection
from memoryd.domain.embedding import Choice
from memoryd.index.pending import EmbeddingLoopSettings

CHOICE = Choice("openai", "local", "it was named")


def section(**given: object) -> MemorySearchSection:
    return MemorySearchSection.model_validate(given)


def test_batch_interface_gets_full_jobs() -> None:
    usual = embedding_loop_settings(section(), CHOICE)
    assert (usual.remote_batch, usual.read_ahead) == (
        EmbeddingLoopSettings().remote_batch,
        EmbeddingLoopSettings().read_ahead,
    )
    batch = embedding_loop_settings(
        section(remote={"batch": {"enabled": True, "concurrency": 3, "pollIntervalMs": 5000}}), CHOICE
    )
    assert (batch.remote_batch, batch.read_ahead, batch.retry) == (3000, 3000, 5.0)


def test_vectors_of_both_providers_stay_and_unused_ones_with_a_cache() -> None:
    assert embedding_loop_settings(section(), CHOICE).providers == ("openai", "local")
    assert embedding_loop_settings(section(), Choice("local", None, "")).providers == ("local",)
    assert embedding_loop_settings(section(cache={"enabled": False, "maxEntries": 7}), CHOICE).max_unused == 0
    assert embedding_loop_settings(section(cache={"maxEntries": 7}), CHOICE).max_unused == 7


def test_milliseconds_become_seconds() -> None:
    settings = index_settings(section(sync={"watchDebounceMs": 1500, "settleMs": 200, "deleteGraceMs": 2000}))
    assert (settings.debounce, settings.settle, settings.grace.file) == (1.5, 0.2, 2.0)


def test_decay_and_diversity_are_off_unless_they_are_switched_on() -> None:
    off, on = (
        search_settings(
            section(query={"hybrid": {"mmr": {"enabled": is_on}, "temporalDecay": {"enabled": is_on}}}), 1024
        )
        for is_on in (False, True)
    )
    assert off.vector_bytes == 1024
    assert (off.half_life_days, off.mmr_lambda) == (None, None)
    assert (on.half_life_days, on.mmr_lambda) == (30, 0.7)
