"""The example file, the examples of the reference and the JSON Schema match the models."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import json5
import pytest
from pydantic import ValidationError

from memoryd.config.loading.keys import all_keys, explain
from memoryd.config.loading.load import load
from memoryd.config.root import Config, json_schema

ROOT = Path(__file__).parents[3]
EXAMPLE = (ROOT / "config.example.json5").read_text(encoding="utf-8")
COMPLETE = EXAMPLE.replace("//? ", "")
REFERENCE = sorted((ROOT / "tests/data/config/reference").glob("*.json5"))


def keys_in(raw: object, prefix: str = "") -> Iterator[str]:
    """Yield the keys as `all_keys` writes them, without names of headers and forms of secrets."""
    if isinstance(raw, list):
        for item in raw:
            yield from keys_in(item, prefix)
    elif isinstance(raw, dict) and not prefix.endswith(("headers.", "apiKey.", "secret.")):
        for key, value in raw.items():
            path = f"{prefix}{'*' if prefix == 'models.providers.' else key}"
            if not path.endswith("*"):
                yield path
            yield from keys_in(value, f"{path}.")


def test_example_has_exactly_the_keys_of_the_models() -> None:
    repeated = "agents.list.memorySearch."
    shown = {key for key in keys_in(json5.loads(COMPLETE)) if not key.startswith(repeated)}
    assert shown == {key for key in all_keys(Config) if not key.startswith(repeated)}


def test_keys_without_a_default_are_behind_the_mark() -> None:
    shown = set(keys_in(json5.loads(EXAMPLE)))
    assert shown == set(keys_in(Config().model_dump(mode="json", exclude_none=True)))


def test_values_of_the_example_are_the_defaults() -> None:
    example = Config.model_validate(json5.loads(EXAMPLE), by_alias=True, by_name=False)
    assert example.model_dump() == Config().model_dump()


def test_example_loads_without_a_notice_of_keys(tmp_path: Path) -> None:
    for name, text in {"plain": EXAMPLE, "complete": COMPLETE}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o600)
    assert load(tmp_path / "plain").notices == []
    assert all("has no effect" in notice for notice in load(tmp_path / "complete").notices)


def test_every_value_of_the_example_has_a_comment() -> None:
    lines = EXAMPLE.splitlines()
    values = [n for n, line in enumerate(lines) if re.match(r"\s*(//\? )?[\w\"-]+: [^{\[]", line)]
    bare = [lines[n] for n in values if "//" not in lines[n].split(": ", 1)[1] and "//" not in lines[n - 1]]
    assert len(values) > 90
    assert bare == []


def replaced_everywhere(raw: object, value: object) -> Iterator[object]:
    """Yield copies of `raw`, each with one value below it replaced."""
    places: Iterable[tuple[str | int, object]] = ()
    if isinstance(raw, dict):
        places = raw.items()
    elif isinstance(raw, list):
        places = enumerate(raw)
    for place, below in places:
        for changed in (value, *replaced_everywhere(below, value)):
            yield {**raw, place: changed} if isinstance(raw, dict) else [changed]


@pytest.mark.parametrize("value", [None, [[]], -1.5, "\ud800", {"a": {}}])
def test_wrong_value_anywhere_is_explained_in_plain_words(value: object) -> None:
    count = 0
    for raw in replaced_everywhere(json5.loads(COMPLETE), value):
        try:
            Config.model_validate(raw, by_alias=True, by_name=False)
        except ValidationError as error:
            count += 1
            lines = explain(error, Config)
            assert not [line for line in lines if "Input should" in line or "Value error" in line or not line.strip()]
    assert count > 80


@pytest.mark.parametrize("path", REFERENCE, ids=lambda path: path.stem)
def test_example_of_the_reference_is_accepted(path: Path) -> None:
    raw = json5.loads(path.read_text(encoding="utf-8"))
    config = load(path).config
    assert config.model_dump(mode="json", exclude_unset=True).keys() == raw.keys()


def test_values_of_the_reference_are_read() -> None:
    found = {path.stem: load(path).config for path in REFERENCE}
    assert len(found) == 13
    assert found["qmd"].memory.qmd.update.interval.total_seconds() == 300
    assert found["qmd"].memory.qmd.scope.rules[2].match.raw_key_prefix == "agent:main:discord:"
    assert found["hybrid"].resolved_agents()[0].memory_search.query.hybrid.temporal_decay.half_life_days == 30
    assert found["sqlite-vec"].agents.defaults.memory_search.store.vector.extension_path == "/path/to/sqlite-vec"


def test_schema_knows_the_keys_and_allows_those_of_other_programs() -> None:
    schema = json_schema()
    assert set(schema["properties"]) == {"memory", "agents", "models", "team", "http", "limits", "log"}
    shared = {name for name, part in schema["$defs"].items() if part.get("additionalProperties") is True}
    rsclaws = {"AgentMemorySection", "EmbedderSection", "LocalEmbedderSection", "RemoteEmbedderSection"}
    assert shared == {"AgentDefaultsSection", "AgentSection", "ModelsSection", "ProviderSection"} | rsclaws
    assert schema["additionalProperties"] is True
    assert schema["$defs"]["QuerySection"]["properties"]["maxResults"]["default"] == 6
    assert "lambda" in schema["$defs"]["MmrSection"]["properties"]
