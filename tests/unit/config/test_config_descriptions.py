"""Every key has one plain sentence of its own, in the models and in the JSON Schema."""

import re
from collections.abc import Iterator

from memoryd.config.root import json_schema
from memoryd.config.section import Section

UNITS = {"Ms": "milliseconds", "Seconds": "seconds", "Minutes": "minutes", "Days": "days", "Bytes": "bytes"}
UNITS |= {"Chars": "characters"}


def sections(root: type[Section] = Section) -> Iterator[type[Section]]:
    for section in root.__subclasses__():
        yield from (section, *sections(section))


def described() -> dict[str, str]:
    """Return the description of every key, by section and key."""
    return {
        f"{section.__name__}.{field.alias or name}": field.description or ""
        for section in sections()
        for name, field in section.model_fields.items()
    }


def test_every_key_is_described_in_one_sentence() -> None:
    texts = described()
    assert len(texts) > 150
    assert [key for key, text in texts.items() if not re.fullmatch(r"[^\n]+\.", text) or ". " in text] == []


def test_unit_of_a_number_is_said() -> None:
    texts = described()
    units = {key: unit for key in texts for ending, unit in UNITS.items() if key.endswith(ending)}
    assert len(units) > 25
    assert [key for key, unit in units.items() if unit not in texts[key]] == []


def test_schema_has_the_descriptions() -> None:
    schema = json_schema()
    shown = {
        f"{section}.{key}": part.get("description")
        for section, below in {**schema["$defs"], "Config": schema}.items()
        for key, part in below["properties"].items()
    }
    assert shown == described()
