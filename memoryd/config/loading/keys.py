"""The names of the keys (which a section has, its path, the nearest to a wrong one), and problems as plain sentences.

Each problem reads `section.key: what is wrong`.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.config.section import Section

NEAR = 0.75
"""Least likeness (difflib ratio) of a name to be suggested."""


def dotted(location: Sequence[int | str]) -> str:
    """Write a location as people do: `agents.list[0].memorySearch`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def own_keys(section: type[Section]) -> dict[str, object]:
    """Return the keys of a section as the file spells them, each with the type of its value."""
    return {field.alias or name: field.annotation for name, field in section.model_fields.items()}


def section_at(root: type[Section], location: Iterable[int | str]) -> type[Section] | None:
    """Return the section whose keys stand at `location`, or None if there is none."""
    section: type[Section] | None = root
    is_entered = False
    for part in location:
        if section is None:
            return None
        if is_entered:
            is_entered = False
            continue
        annotation = own_keys(section).get(str(part))
        section = section_in(annotation)
        is_entered = getattr(annotation, "__origin__", None) in (dict, tuple)
    return section


def all_keys(root: type[Section], prefix: str = "") -> Iterator[str]:
    """Walk every key below a section, without list indexes: `agents.list.id`; a map's names count as `*`."""
    for key, annotation in own_keys(root).items():
        below = section_in(annotation)
        path = f"{prefix}{key}"
        yield path
        if below is not None:
            yield from all_keys(below, f"{path}.*." if is_map(annotation) else f"{path}.")


def nearest(name: str, section: type[Section]) -> str:
    """Return the key that was probably meant by `name`, or an empty text.

    First the section's own keys, then a key of exactly that name deeper in it (`maxResults` for
    `query.maxResults`).
    """
    lowered = {key.lower(): key for key in own_keys(section)}
    plain = name.replace("_", "").replace("-", "").lower()
    near = difflib.get_close_matches(plain, lowered, n=1, cutoff=NEAR)
    if near:
        return lowered[near[0]]
    deeper = (path for path in all_keys(section) if path.rpartition(".")[2].lower() == plain and "*" not in path)
    return next(deeper, "")


def section_in(annotation: object) -> type[Section] | None:
    """Return the section that a type holds, be it in a list or under any name."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    return next((found for part in get_args(annotation) if (found := section_in(part)) is not None), None)


def is_map(annotation: object) -> bool:
    """Tell whether names that anybody may choose lead to what it holds."""
    return getattr(annotation, "__origin__", None) is dict


SHOWN_CHARACTERS = 40
SECRET_KEYS = frozenset({"apiKey", "headers"})

SENTENCES: Mapping[str, str] = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "string_unicode": "holds half a character",
    "string_too_short": "is too short: {min_length} or more characters are needed",
    "string_too_long": "is too long: {max_length} characters at most",
    "date_type": "must be a day, as 2026-01-31",
    "date_parsing": "must be a day, as 2026-01-31",
    "date_from_datetime_parsing": "must be a day, as 2026-01-31",
    "list_type": "must be a list [ … ]",
    "tuple_type": "must be a list [ … ]",
    "dict_type": "must be an object {{ … }}",
    "model_type": "must be an object {{ … }}",
    "missing": "is missing",
    "too_short": "must name at least {min_length}",
    "too_long": "must name at most {max_length}",
    "literal_error": "must be one of {expected}",
    "enum": "must be one of {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "value_error": "{error}",
}
"""What is said of each kind of error, with the numbers and names that pydantic attaches to it."""


def explain(error: ValidationError, root: type[Section]) -> list[str]:
    """Return one line for each problem, in the order of the sections of `root`."""
    return [_problem(details, root) for details in error.errors(include_url=False)]


def unknown_key(location: tuple[int | str, ...], root: type[Section]) -> str:
    """Return the line for a key that its section does not have, with the name that was probably meant."""
    *above, name = location
    section = section_at(root, above)
    meant = nearest(str(name), section) if section is not None else ""
    suggestion = f" (did you mean `{meant}`?)" if meant else ""
    return f"{dotted(location)}: unknown key{suggestion}"


def location_of(details: ErrorDetails) -> tuple[int | str, ...]:
    """Return the location of the value, or of the name in a map, that an error is about."""
    return tuple(part for part in details["loc"] if part != "[key]")


def sentence_of(details: ErrorDetails) -> str:
    """Return what is wrong with a value, in words for people."""
    if details["type"] not in SENTENCES:
        return details["msg"]
    context = {name: _plain(value) for name, value in details.get("ctx", {}).items()}
    return SENTENCES[details["type"]].format(**context)


def _problem(details: ErrorDetails, root: type[Section]) -> str:
    location = location_of(details)
    if details["type"] == "extra_forbidden":
        return unknown_key(location, root)
    words = sentence_of(details)
    value = _quoted_value(details, location) if words.startswith("must be") else ""
    return f"{dotted(location)}: {words}{value}"


def _plain(value: object) -> str:
    """Write a bound, or a list of choices."""
    if isinstance(value, int | float):
        return f"{int(value):,}" if value == int(value) else str(value)
    return str(value).replace("'", "").replace(" or ", ", ") if isinstance(value, str) else str(value)


def _quoted_value(details: ErrorDetails, location: tuple[int | str, ...]) -> str:
    """Quote a plain value; never one that may be a secret, and of a long one the beginning."""
    value = details["input"]
    if SECRET_KEYS.intersection(map(str, location)):
        return ""
    if not isinstance(value, str | int | float | None):
        return ""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return f", not {text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + '…'}"
