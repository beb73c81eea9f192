"""Every list of providers has exactly the rows of the table."""

import re
from pathlib import Path
from typing import get_args

import pytest

from memoryd.config.memory_search import MemorySearchSection
from memoryd.config.providers import READ_PROVIDERS, FallbackName, ProviderName
from memoryd.config.section import docstrings
from memoryd.domain import media
from memoryd.domain.embedding import BY_KEY, PROVIDERS, REMOTE, RemoteName
from memoryd.embed.remote.providers import WIRES
from memoryd.embed.remote.settings import EndpointAccess, RemoteSettings
from tests.contract.embedding_server import DIALECTS

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "how-to" / "providers.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(\w+)` \| `?([\w.–-]+)`? \| (\d+|–) \| (.+?) \| (.+?) \|$", re.MULTILINE)


@pytest.mark.parametrize("provider", REMOTE)
def test_own_address_is_recognised_with_and_without_a_final_slash(provider: str) -> None:
    row = PROVIDERS[provider].base_url.rstrip("/")
    found = {address: RemoteSettings(provider, access=EndpointAccess(address)) for address in ("", row, f"{row}/")}
    assert all(settings.is_own_address and settings.base_url == row for settings in found.values())
    assert not RemoteSettings(provider, access=EndpointAccess(f"{row}/other")).is_own_address


def test_configuration_and_contract_suite_have_exactly_the_rows() -> None:
    assert tuple(PROVIDERS) == tuple(WIRES) == REMOTE
    assert set(get_args(ProviderName)) - {"auto"} == set(get_args(FallbackName)) == {"local", "none", *PROVIDERS}
    assert PROVIDERS.keys() == DIALECTS.keys() == {*get_args(RemoteName)}
    assert get_args(RemoteName) == REMOTE
    assert READ_PROVIDERS.issuperset(PROVIDERS)
    assert media.PROVIDER in PROVIDERS
    assert all(DIALECTS[name].provider == name for name in DIALECTS)


@pytest.mark.parametrize("name", PROVIDERS)
def test_page_names_model_dimensions_limits_and_destination(name: str) -> None:
    row = PROVIDERS[name]
    rows = {match[1]: match for match in ROW.finditer(PAGE)}
    assert rows.keys() == {"local", "none", *PROVIDERS}
    _, model, dimensions, limits, destination = rows[name].groups()
    assert (model, int(dimensions)) == (row.model, row.dimensions)
    assert f"{row.items} texts" in limits
    assert row.context == 0 or f"{row.context} tokens a text" in limits
    assert row.base_url.partition("://")[2].partition("/")[0] in destination
    assert destination.startswith("nothing") is (name not in BY_KEY)


def test_pages_and_example_list_the_same_names() -> None:
    *first, last = BY_KEY
    assert f"first of {', '.join(first)} and {last} that has a key" in " ".join(PAGE.split())
    keys = [" or ".join(f"`{variable}`" for variable in row.key_variables) for row in PROVIDERS.values()]
    assert f"in {', '.join(keys)}." in PAGE
    aliases = [(other, name) for name, row in PROVIDERS.items() for other in row.config_names if other != name]
    assert all(f"`{other}` serves {name}" in PAGE for other, name in aliases)
    example = (ROOT / "config.example.json5").read_text(encoding="utf-8")
    *first, last = REMOTE
    assert f"// local, none (words only), auto, {', '.join(first)} or {last}\n" in example
    status = (ROOT / "memoryd" / "replies" / "models.py").read_text(encoding="utf-8")
    assert f"The provider: {', '.join(f'`{name}`' for name in first)} or `{last}`." in status
    described = docstrings(MemorySearchSection)["input_type"]
    assert set(re.findall(r"`(\w+)`", described)) == {row.name for row in PROVIDERS.values() if row.has_input_types}
