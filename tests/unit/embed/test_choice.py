"""A configuration becomes a plan of embedders; address, key and headers go only where they belong."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from memoryd.config.root import Config
from memoryd.embed.choice import EmbedderPlan, plan_for
from memoryd.embed.local.local_model import LocalSettings, model_file
from memoryd.embed.remote.settings import (
    AddressOwner,
    Credentials,
    EndpointAccess,
    KeySources,
    RemoteSettings,
    credentials_of,
)
from memoryd.errors import ModelError
from memoryd.models.store import ModelStore

ENTRY = {"openai": {"apiKey": "of-entry", "headers": {"X-Org": "entry", "Authorization": "Bearer entry"}}}


def plan(
    tmp_path: Path,
    search: Mapping[str, object],
    providers: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
) -> tuple[EmbedderPlan, Config]:
    raw = {"agents": {"defaults": {"memorySearch": search}}, "models": {"providers": providers or {}}}
    config = Config.model_validate(raw, by_alias=True, by_name=False)
    agent = config.resolved_agents()[0]
    store = ModelStore(tmp_path / "models")
    return plan_for(agent, config.models, store=store, environment=environment or {}, home=tmp_path), config


def first_remote(
    tmp_path: Path, search: Mapping[str, object], **more: Mapping[str, object]
) -> tuple[RemoteSettings, Credentials]:
    """Return the settings and credentials of the first provider."""
    environment = {name: str(value) for name, value in more.get("environment", {}).items()}
    found, config = plan(tmp_path, search, more.get("providers"), environment)
    assert isinstance(found.first, RemoteSettings)
    return found.first, credentials_of(found.first, KeySources(config.models, environment))


def test_without_a_provider_the_plan_is_local(tmp_path: Path) -> None:
    found, _ = plan(tmp_path, {"remote": {"apiKey": "k"}}, ENTRY, {"OPENAI_API_KEY": "k"})
    assert isinstance(found.first, LocalSettings)
    assert found.second is None


def test_named_provider_gets_its_settings(tmp_path: Path) -> None:
    search = {
        "provider": "voyage",
        "model": "voyage-4",
        "outputDimensionality": 512,
        "inputType": "both",
        "queryInputType": "query",
        "queryInstruction": "find: ",
        "sync": {"embeddingBatchTimeoutSeconds": 7},
        "remote": {"nonBatchConcurrency": 3, "tokensPerDay": 10},
    }
    settings, credentials = first_remote(tmp_path, search, environment={"VOYAGE_API_KEY": "k"})
    assert (settings.provider, settings.model, settings.dimensions, credentials.api_key) == (
        "voyage",
        "voyage-4",
        512,
        "k",
    )
    assert (settings.query.input_type, settings.document.input_type) == ("query", "both")
    assert (settings.query.instruction, settings.concurrency) == ("find: ", 3)
    assert settings.timeouts.bulk == timedelta(seconds=7)


def test_headers_are_merged_and_those_of_remote_override(tmp_path: Path) -> None:
    _, credentials = first_remote(
        tmp_path, {"provider": "openai", "remote": {"headers": {"x-org": "own"}}}, providers=ENTRY
    )
    assert dict(credentials.headers) == {"Authorization": "Bearer entry", "x-org": "own"}
    assert credentials.api_key == "of-entry"


def test_credentials_of_a_provider_are_not_sent_to_another_address(tmp_path: Path) -> None:
    search = {"provider": "openai", "remote": {"baseUrl": "http://127.0.0.1:9/v1"}}
    settings, credentials = first_remote(
        tmp_path, search, providers=ENTRY, environment={"OPENAI_API_KEY": "of-environment"}
    )
    assert settings.base_url == "http://127.0.0.1:9/v1"
    assert credentials.api_key == ""
    # any header may be a secret, whatever its name
    assert dict(credentials.headers) == {}


def test_credentials_of_a_proxy_are_not_sent_to_the_provider(tmp_path: Path) -> None:
    proxied = {"openai": {**ENTRY["openai"], "baseUrl": "http://127.0.0.1:9/v1"}}
    search = {"provider": "openai", "remote": {"baseUrl": "https://api.openai.com/v1"}}
    _, credentials = first_remote(tmp_path, search, providers=proxied, environment={"OPENAI_API_KEY": "of-environment"})
    assert (credentials.api_key, dict(credentials.headers)) == ("of-environment", {})


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("https://api.openai.com/v1/", "k"),
        ("https://API.openai.com:443/v1", "k"),
        ("http://api.openai.com/v1", ""),
    ],
)
def test_providers_own_address_written_out_gets_its_key(tmp_path: Path, address: str, key: str) -> None:
    search = {"provider": "openai", "remote": {"baseUrl": address}}
    assert first_remote(tmp_path, search, environment={"OPENAI_API_KEY": "k"})[1].api_key == key


def test_key_and_address_of_the_first_are_not_used_for_the_fallback(tmp_path: Path) -> None:
    search = {
        "provider": "openai",
        "fallback": "mistral",
        "model": "theirs",
        "remote": {"baseUrl": "http://127.0.0.1:9/v1", "apiKey": "of-openai", "headers": {"X-A": "b"}},
    }
    found, config = plan(tmp_path, search, environment={"MISTRAL_API_KEY": "of-mistral"})
    assert isinstance(found.second, RemoteSettings)
    assert found.second.access == EndpointAccess("", AddressOwner.PROVIDER, None, ())
    keys = KeySources(config.models, {"MISTRAL_API_KEY": "of-mistral"})
    assert (credentials_of(found.second, keys).api_key, found.second.model) == ("of-mistral", "")


def test_remote_section_applies_to_the_fallback_of_a_local_model(tmp_path: Path) -> None:
    search = {"provider": "local", "fallback": "openai", "model": "small", "remote": {"apiKey": "k"}}
    found, _ = plan(tmp_path, search)
    assert isinstance(found.first, LocalSettings)
    assert isinstance(found.second, RemoteSettings)
    assert found.second.model == "small"
    assert found.second.access.key is not None


def test_missing_key_is_reported_with_the_places_for_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no key for gemini") as caught:
        first_remote(tmp_path, {"provider": "gemini"})
    assert "models.providers.google.apiKey" in caught.value.hint
    assert "GEMINI_API_KEY" in caught.value.hint


def test_ollama_needs_no_key(tmp_path: Path) -> None:
    assert first_remote(tmp_path, {"provider": "ollama"})[1].api_key == ""


def test_auto_prefers_a_named_model_file_that_exists(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    search = {"provider": "auto", "local": {"modelPath": str(model)}}
    environment = {"GEMINI_API_KEY": "k", "MISTRAL_API_KEY": "k"}
    assert plan(tmp_path, search, environment=environment)[0].choice.provider == "gemini"
    model.touch()
    assert plan(tmp_path, search, environment=environment)[0].choice.provider == "local"


def test_equal_settings_give_equal_plans(tmp_path: Path) -> None:
    unset, named = plan(tmp_path, {})[0], plan(tmp_path, {"provider": "local"})[0]
    assert unset.choice.rule != named.choice.rule
    assert unset == named
    other = plan(tmp_path, {"provider": "local", "queryInstruction": "find: "})[0]
    assert other != named


def test_plan_with_a_rotated_key_differs(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("first")
    search = {"provider": "openai", "remote": {"apiKey": {"file": str(key)}}}
    before, _ = plan(tmp_path, search)
    assert plan(tmp_path, search)[0] == before
    key.write_text("second")
    assert plan(tmp_path, search)[0] != before


def test_batches_are_used_only_if_the_provider_has_them(tmp_path: Path) -> None:
    batch = {"remote": {"batch": {"enabled": True}}}
    for provider, expected in {"openai": True, "gemini": True, "voyage": True, "mistral": False}.items():
        found, _ = plan(tmp_path, {"provider": provider, **batch})
        assert isinstance(found.first, RemoteSettings)
        assert (found.first.batch is not None) == expected


def test_folder_means_the_one_model_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no \.gguf file"):
        model_file(str(tmp_path))
    (tmp_path / "a.gguf").touch()
    assert model_file(str(tmp_path)) == str(tmp_path / "a.gguf")
    assert model_file("pypi:some-model==1") == "pypi:some-model==1"
    (tmp_path / "b.GGUF").touch()
    with pytest.raises(ModelError, match=r"2 \.gguf files"):
        model_file(str(tmp_path))
