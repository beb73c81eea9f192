"""The README's tables name every configuration key with its true default."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from memoryd.config.models import Config

README = Path(__file__).parents[3] / "README.md"
ROW = re.compile(r"^\| (`[A-Za-z]+\.[^|]+) \| ([^|]+) \|", re.MULTILINE)
SEARCH = "agents.defaults.memorySearch."
IN_WORDS = {"memory.scope.rules": "direct chats", "memory.qmd.scope.rules": "direct chats"}


def _defaults(section: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(section, dict) and section:
        for key, value in section.items():
            yield from _defaults(value, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, section


def _written(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value)


def _expected() -> dict[str, str]:
    dumped = Config().model_dump(mode="json", by_alias=True)
    keys = {key.replace(SEARCH, "memorySearch."): _written(value) for key, value in _defaults(dumped)}
    return keys | IN_WORDS


def _documented() -> dict[str, str]:
    rows: dict[str, str] = {}
    for keys, defaults in ROW.findall(README.read_text(encoding="utf-8")):
        names = re.findall(r"`([^`]+)`", keys)
        values = [part.strip("` ") for part in re.split(r",(?![^\[]*\])", defaults)]
        rows |= dict(zip(names, values * len(names) if len(values) == 1 else values, strict=False))
    return rows


def test_readme_names_every_key_with_its_default() -> None:
    documented, expected = _documented(), _expected()
    assert documented.keys() - expected.keys() == set()
    assert {key: documented.get(key, "missing") for key in expected} == expected
