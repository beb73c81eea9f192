"""Where API keys are found, in which order, and that none is shown."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from memoryd.config.providers import ModelsSection, ProviderSection
from memoryd.config.section import Secret, parse_secret
from memoryd.domain.embedding import PROVIDERS
from memoryd.embed.remote.settings import AddressOwner, KeySources, profile_files
from memoryd.errors import ConfigError

KEY = "sk-very-secret-0815"
NO_MODELS = ModelsSection()


def models(**entries: str) -> ModelsSection:
    return ModelsSection(providers={name: ProviderSection(api_key=parse_secret(key)) for name, key in entries.items()})


def write_profiles(home: Path, store: object, agent: str = "main") -> Path:
    path = home / ".openclaw" / "agents" / agent / "agent" / "auth-profiles.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(store))
    return path


def api_key(key: str, provider: str = "openai") -> dict[str, object]:
    return {"type": "api_key", "provider": provider, "key": key}


def found(sources: KeySources, provider: str = "openai", own: Secret | None = None) -> tuple[str, str] | None:
    key = sources.find(provider, own)
    return None if key is None else (key.origin, key.reveal())


def test_order_is_memory_search_models_profile_environment(tmp_path: Path) -> None:
    file = write_profiles(tmp_path, {"profiles": {"openai:default": api_key("of-profile")}})
    environment = {"OPENAI_API_KEY": "of-environment"}
    everything = KeySources(models(openai="of-models"), environment, [file])
    assert found(everything, own=parse_secret("of-remote")) == ("memorySearch.remote.apiKey", "of-remote")
    assert found(everything) == ("models.providers.openai.apiKey", "of-models")
    assert found(KeySources(NO_MODELS, environment, [file])) == (
        "the profile openai:default of OpenClaw",
        "of-profile",
    )
    assert found(KeySources(NO_MODELS, environment)) == ("$OPENAI_API_KEY", "of-environment")
    assert found(KeySources(NO_MODELS, {})) is None


@pytest.mark.parametrize(
    ("provider", "variable"), [(row.name, variable) for row in PROVIDERS.values() for variable in row.key_variables]
)
def test_each_provider_has_its_variable_and_no_other(provider: str, variable: str) -> None:
    sources = KeySources(NO_MODELS, {variable: " ollama-local "})
    assert found(sources, provider) == (f"${variable}", "ollama-local")
    assert [name for name in PROVIDERS if sources.find(name)] == [provider]


def test_google_serves_gemini() -> None:
    assert found(KeySources(models(google=KEY), {}), "gemini") == ("models.providers.google.apiKey", KEY)


def test_references_are_read_on_each_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key"
    file.write_text("first\n")
    sources = KeySources(NO_MODELS, {})
    by_file = Secret("file", SecretStr(str(file)))
    assert found(sources, own=by_file) == ("memorySearch.remote.apiKey", "first")
    file.write_text("second\n")
    assert found(sources, own=by_file) == ("memorySearch.remote.apiKey", "second")
    monkeypatch.setenv("MY_KEY", KEY)
    assert found(sources, own=Secret("env", SecretStr("MY_KEY"))) == ("memorySearch.remote.apiKey", KEY)


def test_broken_reference_is_an_error_and_does_not_fall_through(tmp_path: Path) -> None:
    sources = KeySources(NO_MODELS, {"OPENAI_API_KEY": KEY})
    broken = Secret("file", SecretStr(str(tmp_path / "gone")))
    with pytest.raises(ConfigError, match=r"memorySearch\.remote\.apiKey: cannot read the secret in file"):
        sources.find("openai", broken)


def test_profiles_follow_their_order_and_sign_ins_are_skipped(tmp_path: Path) -> None:
    store = {
        "version": 1,
        "profiles": {
            "openai:signed-in": {"type": "oauth", "provider": "openai", "access": "token"},
            "openai:default": api_key("default"),
            "openai:work": api_key("work"),
            "anthropic:default": api_key("other", "anthropic"),
        },
        "order": {"openai": ["openai:signed-in", "openai:work"]},
    }
    file = write_profiles(tmp_path, store)
    assert found(KeySources(NO_MODELS, {}, [file])) == ("the profile openai:work of OpenClaw", "work")
    assert found(KeySources(NO_MODELS, {}, [file]), "voyage") is None


def test_profile_may_refer_to_the_environment(tmp_path: Path) -> None:
    profile = {"type": "api_key", "provider": "google", "keyRef": {"source": "env", "provider": "default", "id": "G"}}
    file = write_profiles(tmp_path, {"profiles": {"google:default": profile}})
    assert found(KeySources(NO_MODELS, {"G": KEY}, [file]), "gemini") == (
        "the profile google:default of OpenClaw",
        KEY,
    )
    assert found(KeySources(NO_MODELS, {}, [file]), "gemini") is None


@pytest.mark.parametrize("text", ["", "[]", "{", '{"profiles": []}', '{"profiles": {"a": 1}, "order": 7}', "[" * 9999])
def test_broken_profile_file_is_ignored(tmp_path: Path, text: str) -> None:
    file = write_profiles(tmp_path, {})
    file.write_text(text)
    assert found(KeySources(NO_MODELS, {"OPENAI_API_KEY": KEY}, [file])) == ("$OPENAI_API_KEY", KEY)


def test_profiles_of_the_agent_come_before_those_of_main(tmp_path: Path) -> None:
    main = write_profiles(tmp_path, {}, "main")
    work = write_profiles(tmp_path, {}, "work")
    assert profile_files({}, tmp_path, "work") == [work, main]
    assert profile_files({}, tmp_path, "other") == [main]
    assert profile_files({"OPENCLAW_STATE_DIR": str(tmp_path / "none")}, tmp_path, "main") == []


def test_key_is_used_only_for_the_address_it_belongs_to(tmp_path: Path) -> None:
    file = write_profiles(tmp_path, {"profiles": {"openai:default": api_key("of-profile")}})
    sources = KeySources(models(openai="of-models"), {"OPENAI_API_KEY": KEY}, [file])
    own = parse_secret("of-remote")
    assert sources.find("openai", None, AddressOwner.REMOTE) is None
    assert found(sources, own=own) == ("memorySearch.remote.apiKey", "of-remote")
    entry = sources.find("openai", None, AddressOwner.ENTRY)
    assert entry is not None
    assert entry.origin == "models.providers.openai.apiKey"
    elsewhere = KeySources(NO_MODELS, {"OPENAI_API_KEY": KEY}, [file])
    assert elsewhere.find("openai", None, AddressOwner.ENTRY) is None


def test_no_key_is_shown() -> None:
    sources = KeySources(models(openai=KEY), {"MISTRAL_API_KEY": KEY})
    assert KEY not in repr(sources) + repr(sources.find("openai")) + repr(sources.find("mistral"))
