"""Settings of other programs, as text: a value put in or cut out, with all else byte for byte as it was.

It is JSON, with comments and trailing commas where the program takes them, or JSON5; a Markdown or TOML file gets a
block between marks. A path names keys and numbers of items from the outermost object on; `-` at its end is the place
behind the last value of a list.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, expression

BACKUP_SUFFIX = ".before-memoryd"
"""The end of the name of a copy: of a file of others, as it was before we changed it."""
TOKEN = expression(
    r"(?P<skipped>[\s\ufeff]+|//[^\n\r\u2028\u2029]*|/\*.*?\*/)"
    r"|(?P<text>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>[^\s{}\[\]:,\"'/]+)",
    re.DOTALL,
)
"""Of JSON5, and so of JSON. Whatever is none of these is passed over: a text is followed as far as that can be done."""
_LONE_SURROGATE = expression(r"\\u[dD][89a-fA-F]")
_INDENT = expression(r"\n([ \t]+)\S")
_LAST_COMMAS = expression(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])""", re.DOTALL)
_NO_BLANK = expression(r"[^\r\n]")
_BEHIND = "-"
_OTHER_FORM = "its form is another than that of its program"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it has a key twice")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unique)


class _Child(Struct, frozen=True):
    """A value in an object or a list; positions are characters of the text."""

    key: str
    start: int
    value_start: int
    end: int


def parsed(text: str, *, has_comments: bool = False) -> dict[str, Any]:
    """Return the object that a text holds, empty for an empty text; raises ValueError for anything else."""
    return _decoded(_plain(text, has_comments))


def put(text: str, path: Sequence[str], value: object, *, has_comments: bool = False, is_json5: bool = False) -> str:
    """Return a text with a value at a path, in the indentation of the text; raises ValueError.

    What is missing on the way is made; what stood there gives way. Whether JSON5 is right is for the caller to see.
    """
    text = text if text.strip("\ufeff \t\r\n") else "{}\n"
    plain = _plain(text, has_comments or is_json5)
    if not is_json5:
        _decoded(plain)
    at, end = len(plain) - len(plain.lstrip("\ufeff \t\r\n")), len(text)
    for depth, key in enumerate(path):
        children = _children(plain, at)
        found = next((child for child in children if child.key == key), None)
        if found is None and (plain[at] == "[") is not (key == _BEHIND):
            raise ValueError(_OTHER_FORM)
        if found is None:
            for step in reversed(path[depth + 1 :]):
                value = [value] if step == _BEHIND else {step: value}
            return _inserted(text, plain, at, children, depth, key, value)
        at, end = found.value_start, found.end
    return text[:at] + json.dumps(value) + text[end:]


def cut(text: str, path: Sequence[str], *, has_comments: bool = False) -> str:
    """Return a text without the value at a path, which is there, and without what is empty then; raises ValueError."""
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
    # a list or an object that holds nothing else goes with it
    while len(steps) > 1 and len(steps[-1][1]) == 1:
        steps.pop()
    at, children, place = steps[-1]
    child = children[place]
    if len(children) == 1:
        close = _close(plain, at)
        rest = text[at + 1 : child.start] + text[child.end : close].lstrip().removeprefix(",")
        return text[: at + 1] + (rest if rest.strip() else "") + text[close:]
    gap = text[children[place - 1].end : child.start] if place else ""
    # a comment that stands between is somebody's
    if place and (gap.strip() == "," or place == len(children) - 1):
        kept = "" if gap.strip() == "," else gap.replace(",", "", 1).rstrip()
        return text[: children[place - 1].end] + kept + text[child.end :]
    gap = text[child.end : children[place + 1].start]
    kept = "" if gap.strip() == "," else gap.replace(",", "", 1).lstrip(" ")
    return text[: child.start] + kept + text[children[place + 1].start :]


def with_block(text: str, block: str) -> str:
    """Return a text with a block at its end, or in the place of one between the same marks: its first and last line."""
    if (found := _block_span(text, block)) is not None:
        return text[: found[0]] + block + text[found[1] :]
    parting = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + parting + block


def without_block(text: str, block: str) -> str:
    """Return a text without the block between the marks of this one, and without the line that parted it."""
    found = _block_span(text, block)
    if found is None:
        return text
    before = text[: found[0]]
    return (before[:-1] if before.endswith("\n\n") else before) + text[found[1] :]


def _block_span(text: str, block: str) -> tuple[int, int] | None:
    lines = block.splitlines(keepends=True)
    start = text.find(lines[0])
    end = text.find(lines[-1], start)
    return None if start < 0 or end < 0 else (start, end + len(lines[-1]))


def _plain(text: str, has_comments: bool) -> str:
    """Return a text of the same length without comments and last commas, where it may have them."""
    if not has_comments:
        return text
    blank = partial(_NO_BLANK.sub, " ")
    text = TOKEN.sub(lambda found: blank(found[0]) if found.lastgroup == "skipped" else found[0], text)
    return _LAST_COMMAS.sub(lambda found: blank(found[0]) if found[0] == "," else found[0], text)


def _decoded(plain: str) -> dict[str, Any]:
    start = len(plain) - len(plain.lstrip("\ufeff \t\r\n"))
    if start == len(plain):
        return {}
    try:
        whole, end = _DECODER.raw_decode(plain, start)
    except RecursionError as exc:
        raise ValueError("it is nested too deeply") from exc
    if not isinstance(whole, dict) or plain[end:].strip():
        raise ValueError("it holds no JSON object, or something stands behind it")
    return whole


def _children(plain: str, at: int) -> list[_Child]:
    """Return what the object or list at this position holds; raises ValueError for another value."""
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
    """Yield what stands inside of an object or a list, and its end; each with how deep it is in another one."""
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
    """Return where an object or a list ends."""
    return max(token.start() for token, _ in _tokens(plain, at + 1))


def _name(key: TextMatch) -> str:
    return str(json.loads(key[0])) if key[0][0] == '"' else key[0].strip("'")


def _inserted(text: str, plain: str, at: int, children: Sequence[_Child], depth: int, key: str, value: object) -> str:
    """Return the text with a value at the end of the object or list at this position."""
    end = _close(plain, at) + 1
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = found[1] if (found := _INDENT.search(text)) else "  "
    # an empty one is as its text is; a text that holds nothing yet gets lines
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
