"""Writes one value into the text of a configuration; all else, comments too, stays as its owner wrote it."""

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from re import Match

from memoryd.config.loading.raw import TOKEN, KeyPath, line_starts, parse, places, value_at
from memoryd.errors import InvalidRequest

STEP = "  "
EMPTY = "{\n}\n"
"""What is written into where there is no file."""


def with_value(text: str, key: KeyPath, value: str) -> str:
    """Return the text of JSON5 with a value at a key, whose sections are made where they are missing.

    Raises InvalidRequest where the text cannot be followed there, such as through a list that is not there.
    """
    written = text if text.strip() else EMPTY
    edited = _edited(written, key, value)
    if edited is None or value_at(parse(edited, Path("configuration")), key) != value:
        name = ".".join(map(str, key))
        raise InvalidRequest(
            f"{name} cannot be written into the configuration", hint=f"write {json.dumps(value)} there"
        )
    return edited


def without_key(text: str, key: KeyPath) -> str:
    """Return the text of JSON5 without a key of an object and what stands there; raises as `with_value` does."""
    tokens = list(_tokens(text, _offsets(text)[key]))
    depth, end = 0, tokens[-1].end()
    for token, following in pairwise(tokens[2:]):
        depth += (token[0] in "{[") - (token[0] in "}]")
        if depth == 0:
            end = following.end() if following[0] == "," else token.end()
            break
    start = tokens[0].start()
    edited = text[: len(text[:start].rstrip(" \t\n"))] + text[end:]
    above = value_at(parse(text, Path("configuration")), key[:-1])
    left = {name: value for name, value in above.items() if name != key[-1]} if isinstance(above, dict) else None
    if value_at(parse(edited, Path("configuration")), key[:-1]) != left:
        raise InvalidRequest(
            f"{'.'.join(map(str, key))} cannot be taken out of the configuration", hint="delete it there"
        )
    return edited


def _edited(text: str, key: KeyPath, value: str) -> str | None:
    offsets = _offsets(text)
    if key in offsets:
        old = _value_token(text, offsets[key])
        return old and text[: old.start()] + json.dumps(value) + text[old.end() :]
    depth = next(depth for depth in range(len(key) - 1, -1, -1) if not depth or key[:depth] in offsets)
    opening = _value_token(text, offsets[key[:depth]]) if depth else next(_tokens(text, 0), None)
    if opening is None or opening[0] != "{":
        return None
    rest: object = value
    for name in reversed(key[depth + 1 :]):
        rest = {name: rest}
    following = next(_tokens(text, opening.end()), None)
    is_last = following is not None and following[0] == "}"
    row = f"\n{STEP * (depth + 1)}{json.dumps(key[depth])}: {json.dumps(rest)}{'' if is_last else ','}"
    return text[: opening.end()] + row + text[opening.end() :]


def _offsets(text: str) -> Mapping[KeyPath, int]:
    """Return where each key and each item of a list begins."""
    lines = line_starts(text)
    found = places(text).of_keys
    return {location: lines[place.line - 1] + place.column - 1 for location, place in found.items()}


def _tokens(text: str, start: int) -> Iterator[Match[str]]:
    return (token for token in TOKEN.finditer(text, start) if token.lastgroup != "skipped")


def _value_token(text: str, start: int) -> Match[str] | None:
    """Return the first token of the value of the key that begins there, or of the item of a list."""
    tokens = _tokens(text, start)
    first, second = next(tokens, None), next(tokens, None)
    return next(tokens, None) if second is not None and second[0] == ":" else first
