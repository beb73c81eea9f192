"""The base of every configuration section, and the kinds of text that more than one of them holds."""

import os
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


def _alias(name: str) -> str:
    return to_camel(name.rstrip("_"))


def _title(section: type) -> str:
    """Return what the JSON Schema calls a section: `Query` for QuerySection."""
    return section.__name__.removesuffix("Section")


class Section(BaseModel):
    """Values of one `{ … }` of the file: frozen, no unknown keys, no conversions between types.

    The file spells keys in camelCase; Python code may construct a section by either spelling.
    """

    model_config = ConfigDict(
        alias_generator=_alias,
        model_title_generator=_title,
        validate_by_alias=True,
        validate_by_name=True,
        serialize_by_alias=True,
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
    )


class SharedSection(Section):
    """A section in which other programs keep keys of their own; loading sets those aside with a notice."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": True})


def _usable(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    if "\0" in text:
        raise ValueError("must not hold a NUL character")
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        raise ValueError("holds half a character") from error
    return text


Text = Annotated[str, AfterValidator(_usable)]
"""Text that names something: never blank, fit for a path or an argument."""

Texts = Annotated[tuple[Text, ...], Field(strict=False)]
"""A list of such texts; the file's list becomes a tuple."""


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


UpperCase = BeforeValidator(_upper)
