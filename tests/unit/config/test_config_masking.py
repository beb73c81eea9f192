"""Secrets in the text of a configuration are masked and restored; every other character stays."""

from pathlib import Path

import pytest

from memoryd.config.loading.load import load_text
from memoryd.config.loading.masking import mask_text, unmask_text
from memoryd.config.loading.raw import parse
from memoryd.errors import ConfigError

TEXT = """{ // the old one was sk-abcdefghijklmnopqrstuvwx1234567890ABCDEFG
  models: { providers: { openai: { apiKey: 'honey-key', baseUrl: "https://example.org" } } },
  agents: { list: [
    { id: "one", memorySearch: { remote: { apiKey: "${OPENAI}", headers: { "X-Who": "h\\u0065ader" } } } },
    { id: "two", memorySearch: { remote: { apiKey: { env: "TWO" } } } },
  ] },
}"""
NO_FILE = Path("config")


def test_secrets_are_masked_and_the_rest_stays() -> None:
    masked, number = mask_text(TEXT)
    assert number == 2
    for secret in ("honey-key", "h\\u0065ader", "header", "opqrstuvwx"):
        assert secret not in masked.replace("headers", "")
    for kept in ("// the old one was", 'baseUrl: "https://example.org"', '"${OPENAI}"', '{ env: "TWO" }', 'id: "one"'):
        assert kept in masked
    assert parse(masked, NO_FILE)["agents"] is not None
    assert mask_text(masked)[1] == 0


def test_secrets_of_the_present_configuration_replace_masked_ones() -> None:
    masked, _ = mask_text(TEXT)
    filled, missing = unmask_text(masked, parse(TEXT, NO_FILE))
    assert missing == []
    assert parse(filled, NO_FILE) == parse(TEXT, NO_FILE)


def test_secret_that_is_missing_is_named_and_stays_masked() -> None:
    masked, _ = mask_text(TEXT)
    filled, missing = unmask_text(masked, {})
    assert filled == masked
    assert missing == ["models.providers.openai.apiKey", "agents.list[0].memorySearch.remote.headers.X-Who"]


def test_secret_of_another_agent_is_not_used() -> None:
    masked, _ = mask_text(TEXT)
    other = parse(TEXT.replace('id: "one"', 'id: "another"'), NO_FILE)
    assert unmask_text(masked, other)[1] == ["agents.list[0].memorySearch.remote.headers.X-Who"]


def test_credentials_in_an_address_are_masked_and_it_stays_valid() -> None:
    text = """{ agents: { defaults: { memorySearch: { provider: "openai", remote: {
        baseUrl: "https://me:honeypot@example.org/v1?api_key=marzipan", apiKey: "sugar" } } } } }"""
    masked, number = mask_text(text)
    assert number == 2
    assert not any(secret in masked for secret in ("honeypot", "marzipan", "sugar"))
    assert load_text(masked, NO_FILE).config.resolved_agents()
    assert mask_text(masked)[1] == 0
    filled, missing = unmask_text(masked, parse(text, NO_FILE))
    assert (parse(filled, NO_FILE), missing) == (parse(text, NO_FILE), [])
    elsewhere = parse(text.replace("example.org", "example.com"), NO_FILE)
    assert unmask_text(masked, elsewhere)[1] == ["agents.defaults.memorySearch.remote.baseUrl"]


@pytest.mark.parametrize("key", ["ollama", "local", "main"])
def test_other_value_equal_to_a_secret_stays(key: str) -> None:
    text = f"""{{ models: {{ providers: {{ ollama: {{ apiKey: "{key}", baseUrl: 'http://here:1' }} }} }},
        agents: {{ defaults: {{ memorySearch: {{ "provider": "ollama", fallback: /* "x" */ "local" }} }},
        list: [ {{ id: 'main' }} ] }} }}"""
    masked, number = mask_text(text)
    assert number == 1
    assert masked == text.replace(f'apiKey: "{key}"', 'apiKey: {"env": "MEMORYD_MASKED_1"}')
    assert load_text(masked, NO_FILE).config.resolved_agents()[0].memory_search.provider == "ollama"


def test_invalid_configuration_is_refused() -> None:
    for text in ("", "{ apiKey: ", "[1]"):
        with pytest.raises(ConfigError):
            mask_text(text)
