"""The page about providers tells of them what the code knows."""

import re
from pathlib import Path

import pytest

from memoryd.embed.remote.providers import DIMENSIONS, PROVIDERS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "providers.md"
ROW = re.compile(r"\| `(\w+)` \| `([\w.-]+)` \| (\d+) \| (.+?) \| (.+?) \|")


@pytest.mark.parametrize("name", PROVIDERS)
def test_page_names_model_dimensions_limits_and_destination(name: str) -> None:
    facts = PROVIDERS[name]
    rows = {match[1]: match for match in ROW.finditer(PAGE.read_text())}
    _, model, dimensions, limits, destination = rows[name].groups()
    assert (model, int(dimensions)) == (facts.model, DIMENSIONS[facts.model])
    assert f"{facts.items} texts" in limits
    assert facts.context == 0 or f"{facts.context} tokens a text" in limits
    assert facts.base_url.partition("://")[2].partition("/")[0] in destination
