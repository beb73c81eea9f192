"""Editing of other programs' settings as text: a value is put in or cut out, and the rest stays byte for byte.

The text is JSON, with comments and trailing commas if the program allows them, or JSON5. A Markdown or TOML file gets a
block between marks. A path consists of keys and list indexes, from the outermost object on; a final `-` is the position
after the last item of a list.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, expression

BACKUP_SUFFIX = ".before-memoryd"
"""Suffix of the backup of another program's file, made before the file is changed."""
TOKEN = expression(
    r"(?P<skipped>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>[^\s{}\[\]:,\"'/]+)",
    re.DOTALL,
)
"""A token of JSON5, and so of JSON. Other characters are ignored: an invalid text is read as far as possible."""
_LONE_SURROGATE = expression(r"\\u[dD][89a-fA-F]")
_INDENT = expression(r"\n([ \t]+)\S")
_LAST_COMMAS = expression(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])""", re.DOTALL)
_NO_BLANK = expression(r"[^\r\n]")
_END = "-"
_OTHER_FORM = "its form is another than that of its program"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("it has a key twice")
    return unique


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique)


class _Child(Struct, frozen=True):
    """An item of an object or a list; `start`, `value_start` and `end` are offsets in characters."""

    key: str
    start: int
    value_start: int
    end: int


def parse_settings(text: str, *, has_comments: bool = False) -> dict[str, Any]:
    """Return the object in a text; empty for an empty text. Raises ValueError for anything else."""
    return _decoded(_plain(text, has_comments))


def set_value(
    text: str, path: Sequence[str], value: object, *, has_comments: bool = False, is_json5: bool = False
) -> str:
    """Return a text with a value at a path, indented like the text.

    Missing objects and lists are created, and an existing value is replaced. Raises ValueError if the text is invalid,
    or has another type of value on the path. JSON5 is not validated: the caller must check the result.
    """
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    plain = _plain(text, has_comments or is_json5)
    if not is_json5:
        _decoded(plain)
    at, end = len(plain) - len(plain.lstrip("\ufeff \t\r\n")), len(text)
    for depth, key in enumerate(path):
        children = _children(plain, at)
        child = next((child for child in children if child.key == key), None)
        if child is None:
            if (plain[at] == "[") is not (key == _END):
                raise ValueError(_OTHER_FORM)
            for step in reversed(path[depth + 1 :]):
                value = [value] if step == _END else {step: value}
            return _inserted(text, plain, at, children, depth, key, value)
        at, end = child.value_start, child.end
    return text[:at] + json.dumps(value) + text[end:]


def remove_value(text: str, path: Sequence[str], *, has_comments: bool = False) -> str:
    """Return a text without the value at a path, and without the lists and objects that this leaves empty.

    Raises ValueError if the text has no such value, or is invalid.
    """
    plain = _plain(text, has_comments)
    at = len(plain) - len(plain.lstrip("\ufeff \t\r\n"))
    steps: list[tuple[int, list[_Child], int]] = []
    for key in path:
        children = _children(plain, at)
        place = next((place for place, child in enumerate(children) if child.key == key), -1)
        if place < 0:
            raise ValueError(f"it has no {'.'.join(path)}")
        steps.append((at, children, place))
        at = children[place].value_start
    # a list or object with no other item is removed, too
    while len(steps) > 1 and len(steps[-1][1]) == 1:
        steps.pop()
    at, children, place = steps[-1]
    child = children[place]
    if len(children) == 1:
        close = _close(plain, at)
        rest = text[at + 1 : child.start] + text[child.end : close].lstrip().removeprefix(",")
        return text[: at + 1] + (rest if rest.strip() else "") + text[close:]
    gap = text[children[place - 1].end : child.start] if place else ""
    if place and (gap.strip() == "," or place == len(children) - 1):
        return text[: children[place - 1].end] + _comments_in(gap).rstrip() + text[child.end :]
    gap = text[child.end : children[place + 1].start]
    return text[: child.start] + _comments_in(gap).lstrip(" ") + text[children[place + 1].start :]


def _comments_in(gap: str) -> str:
    """Return the text between two items without its comma; empty if it has no comments."""
    return "" if gap.strip() == "," else gap.replace(",", "", 1)


def with_block(text: str, block: str) -> str:
    """Return a text with a block at its end, or in place of a block with the same marks: its first and last line."""
    if span := _block_span(text, block):
        return text[: span[0]] + block + text[span[1] :]
    separator = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + separator + block


def without_block(text: str, block: str) -> str:
    """Return a text without the block that has the marks of `block`, and without a blank line before it."""
    span = _block_span(text, block)
    if span is None:
        return text
    before = text[: span[0]]
    return (before[:-1] if before.endswith("\n\n") else before) + text[span[1] :]


def _block_span(text: str, block: str) -> tuple[int, int] | None:
    lines = block.splitlines(keepends=True)
    start = text.find(lines[0])
    end = text.find(lines[-1], start)
    return None if start < 0 or end < 0 else (start, end + len(lines[-1]))


def _plain(text: str, has_comments: bool) -> str:
    """Return a text with spaces for comments and trailing commas, so that offsets stay valid, if it may have them."""
    if not has_comments:
        return text
    blank = partial(_NO_BLANK.sub, " ")
    text = TOKEN.sub(lambda match: blank(match[0]) if match.lastgroup == "skipped" else match[0], text)
    return _LAST_COMMAS.sub(lambda match: " " if match[0] == "," else match[0], text)


def _decoded(plain: str) -> dict[str, Any]:
    start = len(plain) - len(plain.lstrip("\ufeff \t\r\n"))
    if start == len(plain):
        return {}
    try:
        value, end = _DECODER.raw_decode(plain, start)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    if not isinstance(value, dict) or plain[end:].strip():
        raise ValueError("it holds no JSON object, or has text after it")
    return value


def _children(plain: str, at: int) -> list[_Child]:
    """Return the items of the object or list at `at`; raises ValueError for another value."""
    if plain[at : at + 1] not in ("{", "["):
        raise ValueError(_OTHER_FORM)
    return list(_each_child(plain, at))


def _each_child(plain: str, at: int) -> Iterator[_Child]:
    is_object, count, inner = plain[at] == "{", 0, list[TextMatch]()
    for token, depth in _tokens(plain, at + 1):
        if depth == 0 and token[0] in (",", "}", "]"):
            if inner:
                value = inner[min(2 * is_object, len(inner) - 1)]
                key = _name(inner[0]) if is_object else str(count)
                yield _Child(key, inner[0].start(), value.start(), inner[-1].end())
            inner, count = [], count + 1
        else:
            inner.append(token)


def _tokens(plain: str, at: int) -> Iterator[tuple[TextMatch, int]]:
    """Yield the tokens of an object or list up to its closing bracket, each with its nesting depth inside it."""
    depth = 0
    for token in TOKEN.finditer(plain, at):
        if token.lastgroup == "skipped":
            continue
        yield token, depth
        if token[0] in ("}", "]"):
            if not depth:
                return
            depth -= 1
        depth += token[0] in ("{", "[")


def _close(plain: str, at: int) -> int:
    """Return the offset of the closing bracket of the object or list at `at`."""
    return max(token.start() for token, _ in _tokens(plain, at + 1))


def _name(key: TextMatch) -> str:
    return str(json.loads(key[0])) if key[0][0] == '"' else key[0].strip("'")


def _inserted(text: str, plain: str, at: int, children: Sequence[_Child], depth: int, key: str, value: object) -> str:
    """Return the text with a value added at the end of the object or list at `at`."""
    end = _close(plain, at) + 1
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = indent[1] if (indent := _INDENT.search(text)) else "  "
    # An empty object or list follows the style of the text; the outermost one gets lines.
    is_inline = newline not in text[at:end] if children else depth > 0 and newline not in text.strip()
    is_tight = is_inline and '": ' not in text
    outer = newline + unit * depth
    body = json.dumps(
        value,
        ensure_ascii=text.lstrip("\ufeff").isascii() or _LONE_SURROGATE.search(text) is not None,
        indent=None if is_inline else unit,
        separators=(",", ":") if is_tight else None,
    ).replace("\n", outer + unit)
    if plain[at] == "{":
        body = f"{json.dumps(key)}:{'' if is_tight else ' '}{body}"
    if children:
        last = children[-1].end
        return f"{text[:last]},{('' if is_tight else ' ') if is_inline else outer + unit}{body}{text[last:]}"
    if is_inline:
        return text[: at + 1] + body + text[end - 1 :]
    inner = text[at + 1 : end - 1].rstrip()
    return f"{text[: at + 1]}{inner}{outer}{unit}{body}{outer}{text[end - 1 :]}"
