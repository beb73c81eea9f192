"""Choice of the embedding provider; without a setting, nothing is sent to another machine."""

from itertools import combinations
from typing import Any

import pytest

from memoryd.domain.embedding import BY_KEY, REMOTE, ProviderOptions, choose


def options(provider: str, **others: Any) -> ProviderOptions:
    return ProviderOptions(provider, "memorySearch.provider", **others)


KEYS = {name: f"${name.upper()}_API_KEY" for name in BY_KEY}


def test_local_model_is_default_despite_keys() -> None:
    choice = choose(ProviderOptions("local", "", keys=KEYS))
    assert (choice.provider, choice.fallback, choice.remote_owner) == ("local", None, None)
    assert choice.rule == "memorySearch.provider is not set: the local model"


@pytest.mark.parametrize("name", sorted({"local", *REMOTE}))
def test_configured_provider_is_chosen_without_a_key(name: str) -> None:
    choice = choose(options(name))
    assert choice.provider == name
    assert choice.rule == f"memorySearch.provider names {name}"


def test_none_has_no_fallback() -> None:
    choice = choose(options("none", fallback="openai", keys=KEYS))
    assert (choice.provider, choice.fallback, choice.remote_owner) == ("none", None, None)
    assert "words only" in choice.rule


def test_disabled_search_needs_no_provider() -> None:
    choice = choose(options("openai", fallback="gemini", keys=KEYS, is_searchable=False))
    assert (choice.provider, choice.fallback, choice.remote_owner) == ("none", None, None)
    assert choice.rule == "memorySearch.enabled is false: no vectors are made"


def test_auto_prefers_model_file_to_keys() -> None:
    choice = choose(options("auto", is_model_here=True, keys=KEYS))
    assert choice.provider == "local"
    assert "is here" in choice.rule


def test_auto_takes_first_provider_with_a_key() -> None:
    for size in range(1, len(BY_KEY) + 1):
        for names in combinations(BY_KEY, size):
            keys = {name: KEYS[name] for name in reversed(names)}
            choice = choose(options("auto", keys=keys))
            assert choice.provider == names[0]
            assert choice.rule.endswith(f"a key for {names[0]} in {KEYS[names[0]]}")


def test_auto_never_takes_ollama() -> None:
    assert choose(options("auto", keys={"ollama": "$OLLAMA_API_KEY"})).provider == "local"


def test_auto_without_keys_is_the_local_model() -> None:
    choice = choose(options("auto"))
    assert choice.provider == "local"
    *first, last = BY_KEY
    assert f"no key for {', '.join(first)} or {last}" in choice.rule


@pytest.mark.parametrize(
    ("provider", "fallback", "expected", "owner"),
    [
        ("openai", "local", "local", "openai"),
        ("openai", "gemini", "gemini", "openai"),
        ("openai", "openai", None, "openai"),
        ("local", "openai", "openai", "openai"),
        ("local", "local", None, None),
        ("local", "none", None, None),
    ],
)
def test_fallback_and_owner_of_remote_section(
    provider: str, fallback: str, expected: str | None, owner: str | None
) -> None:
    choice = choose(options(provider, fallback=fallback))
    assert choice.fallback == expected
    assert choice.remote_owner == owner


def test_rule_names_the_setting() -> None:
    choice = choose(ProviderOptions("openai", "memory.embedder.remote.url"))
    assert choice.rule == "memory.embedder.remote.url names openai"
