"""The keys of the sections (their names, which of them are secrets, the nearest to a wrong name), and problem texts.

Each problem text reads `section.key: what is wrong`.
"""

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from memoryd.config.section import Secret, Section

NEAR = 0.75
"""Least similarity (difflib ratio) of a name to be suggested."""
SHOWN_CHARACTERS = 40


def dotted(location: Sequence[int | str]) -> str:
    """Return a location as text, such as `agents.list[0].memorySearch`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return text.removeprefix(".")


def own_keys(section: type[Section]) -> dict[str, object]:
    """Return the keys of a section in the spelling of the file, each with the type of its value."""
    return {field.alias or name: field.annotation for name, field in section.model_fields.items()}


def section_at(root: type[Section], location: Sequence[int | str]) -> type[Section] | None:
    """Return the section at `location`, or None if there is none."""
    section: type[Section] | None = root
    skips_part = False
    for part in location:
        if section is None:
            return None
        if skips_part:
            # the index in a list, or the free name in a map
            skips_part = False
            continue
        annotation = own_keys(section).get(str(part))
        section = section_of_type(annotation)
        skips_part = getattr(annotation, "__origin__", None) in (dict, tuple)
    return section


def all_keys(root: type[Section]) -> Iterator[str]:
    """Yield every key below a section, without list indexes (`agents.list.id`); a name in a map is `*`."""
    return (dotted(path) for path, _ in _typed_keys(root))


@cache
def secret_paths(root: type[Section]) -> tuple[tuple[str, ...], ...]:
    """Return the paths of all keys whose type is a secret, as in `all_keys`; a map of secrets ends in `*`."""
    typed = _typed_keys(root)
    return tuple((*path, *["*"] * is_map(kind)) for path, kind in typed if Secret in _types_in(kind))


def is_secret(root: type[Section], location: Sequence[int | str]) -> bool:
    """Return whether the key at `location` is a secret."""
    names = [part for part in location if isinstance(part, str)]
    paths = (path for path in secret_paths(root) if len(path) == len(names))
    return any(all(part in (name, "*") for part, name in zip(path, names, strict=True)) for path in paths)


def may_show_secret(root: type[Section], location: Sequence[int | str]) -> bool:
    """Return whether a value at `location` may show a secret: it is a secret, in a secret, or a map of secrets."""
    above = [location[:end] for end in range(len(location) + 1)]
    return any(is_secret(root, place) or is_secret(root, (*place, "*")) for place in above)


def _typed_keys(root: type[Section], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield the path and the type of every key below a section."""
    for key, annotation in own_keys(root).items():
        path = (*above, key)
        yield path, annotation
        if (below := section_of_type(annotation)) is not None:
            yield from _typed_keys(below, (*path, *["*"] * is_map(annotation)))


def nearest(name: str, section: type[Section]) -> str:
    """Return the key, or the path of the key, that `name` probably means; an empty string if there is none.

    The section's own keys come first, then keys of exactly that name in sections below (`maxResults` for
    `query.maxResults`).
    """
    lowered = {key.lower(): key for key in own_keys(section)}
    plain = name.replace("_", "").replace("-", "").lower()
    near = difflib.get_close_matches(plain, lowered, n=1, cutoff=NEAR)
    if near:
        return lowered[near[0]]
    deeper = (path for path in all_keys(section) if path.rpartition(".")[2].lower() == plain and "*" not in path)
    return next(deeper, "")


def section_of_type(annotation: object) -> type[Section] | None:
    """Return the section in a type, which may be a list or map of sections; None if there is none."""
    return next((kind for kind in _types_in(annotation) if issubclass(kind, Section)), None)


def _types_in(annotation: object) -> Iterator[type]:
    if isinstance(annotation, type):
        yield annotation
    for part in get_args(annotation):
        yield from _types_in(part)


def is_map(annotation: object) -> bool:
    """Return whether a type is a map, whose keys are free names."""
    return getattr(annotation, "__origin__", None) is dict


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
    "string_pattern_mismatch": "must match {pattern}",
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
"""pydantic's error type → our sentence; the placeholders are filled from the error's context."""


def explain(error: ValidationError, root: type[Section]) -> list[str]:
    """Return one line per problem, in pydantic's order."""
    return [_problem(details, root) for details in error.errors(include_url=False)]


def unknown_key(location: tuple[int | str, ...], root: type[Section]) -> str:
    """Return the problem of an unknown key, with a suggestion if a similar key exists."""
    *above, name = location
    section = section_at(root, above)
    similar = nearest(str(name), section) if section is not None else ""
    suggestion = f" (did you mean `{similar}`?)" if similar else ""
    return f"{dotted(location)}: unknown key{suggestion}"


def location_of(details: ErrorDetails) -> tuple[int | str, ...]:
    """Return the location of the invalid value, or of the invalid name in a map."""
    return tuple(part for part in details["loc"] if part != "[key]")


def sentence_of(details: ErrorDetails) -> str:
    """Return a sentence for people that says what is wrong with a value."""
    if details["type"] not in SENTENCES:
        return details["msg"]
    if details.get("ctx", {}).get("pattern") == r"\S":
        return "is blank"
    context = {name: _plain(value) for name, value in details.get("ctx", {}).items()}
    return SENTENCES[details["type"]].format(**context)


def _problem(details: ErrorDetails, root: type[Section]) -> str:
    location = location_of(details)
    if details["type"] == "extra_forbidden":
        return unknown_key(location, root)
    words = sentence_of(details)
    value = ""
    if words.startswith("must be") and not may_show_secret(root, location):
        value = _quoted_value(details["input"])
    return f"{dotted(location)}: {words}{value}"


def _plain(value: object) -> str:
    """Return a bound with thousands separators, or choices without quotes and with commas for `or`."""
    if isinstance(value, int | float):
        return f"{int(value):,}" if value == int(value) else str(value)
    return str(value).replace("'", "").replace(" or ", ", ") if isinstance(value, str) else str(value)


def _quoted_value(value: object) -> str:
    """Return `, not VALUE` for a single value, cut to SHOWN_CHARACTERS; an empty string for a list or object."""
    if not isinstance(value, str | int | float | None):
        return ""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode()
    return f", not {text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + '…'}"
