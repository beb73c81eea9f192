"""Every key has a description of one sentence, in the models and in the JSON Schema."""

import re

from memoryd.config.root import json_schema
from memoryd.config.section import Section, docstrings, subclasses

UNITS = {"Ms": "milliseconds", "Seconds": "seconds", "Minutes": "minutes", "Days": "days", "Bytes": "bytes"}
UNITS |= {"Chars": "characters"}


def described() -> dict[str, str]:
    """Return the description of every key, by section and key."""
    return {
        f"{section.__name__}.{section.model_fields[name].alias or name}": text
        for section in subclasses(Section)
        for name, text in docstrings(section).items()
    }


def test_every_key_is_described_in_one_sentence() -> None:
    texts = described()
    assert len(texts) == sum(len(section.model_fields) for section in set(subclasses(Section))) > 150
    assert [key for key, text in texts.items() if not re.fullmatch(r"[^\n]+\.", text) or ". " in text] == []


def test_description_names_the_unit_of_a_number() -> None:
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
