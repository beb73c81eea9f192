"""Whether a note says of itself that it is private: `memory: false` in its first block. In doubt, it is.

This is looser than reading front matter: what a person may have meant by it counts, also where YAML has slips.
"""

import re
from collections.abc import Iterable, Mapping

from memoryd.domain.markdown import FRONT_MATTER_CHARS, front_matter

LAW_VERSION = 2
"""Counts the changes of this rule: what was indexed under another one is read again."""
HEAD_CHARS = 2**20
"""So much of a note is looked at; a first block is far shorter."""
SAYS_FALSE = "its front matter says memory: false"
UNCLEAR = "its front matter says memory: but neither true nor false, so that it counts as private"

_LEADING = "\ufeff\ufffe\ufffd\u200b\u2060 \t\n"
_OPENING = re.compile(r"-{3,}(?!\S)")
_CLOSING = re.compile(r"^(?:-{3,}|\.{3,})[^\S\n]*(?:#.*)?$", re.MULTILINE)
_KEY = re.compile(r"""(?:^|[{,\[])[^\S\n]*(?:[-?][^\S\n]+)*["']*memory["']*[^\S\n]*[:=\uff1a](.*)""", re.M | re.I)
_TRUE = frozenset({"true", "yes", "on", "y", "t", "1"})
_FALSE = frozenset({"false", "no", "off", "n", "f", "0"})
_WRAPPING = " \t\"'`,}]"


def is_private(text: str) -> bool:
    """Tell whether a note must not be indexed, cited or handed on, by what it says itself."""
    return bool(why_private(text))


def why_private(text: str) -> str:
    """Return why a note is private, empty if it is not.

    Its first block begins with `---` on the first line that is not blank and ends at the next such line or `...`.
    A `memory` in it that is false at any depth makes the note private, and so does one at the top that is not true.
    Of a block that nobody closed only what is plainly false counts, since it may be text below a ruler.
    """
    head = text[:HEAD_CHARS].replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").lstrip(_LEADING)
    opening = _OPENING.match(head)
    if opening is None:
        return ""
    closing = _CLOSING.search(head, opening.end())
    block = head[opening.end() : closing.start() if closing else len(head)]
    said = [_cleaned(found) for found in _KEY.finditer(block)]
    if any(value in _FALSE for _, value in said):
        return SAYS_FALSE
    if closing is None:
        return ""
    if any(is_top and value not in _TRUE for is_top, value in said):
        return UNCLEAR
    return _why_by_yaml(block) if len(block) < FRONT_MATTER_CHARS - 16 else ""


def _cleaned(found: re.Match[str]) -> tuple[bool, str]:
    """Return whether the key stands at the very left, and its value in lower case without quotes and comment."""
    value = re.split(r"(?:^|\s)#|[,}\]]", found[1], maxsplit=1)[0]
    return found[0][0] in "mM\"'", re.sub(r"^\s*![^\s]*\s", "", value).strip(_WRAPPING).lower()


def _why_by_yaml(block: str) -> str:
    values = list(_of_memory(front_matter(f"---\n{block.strip()}\n---\n").values, is_top=True))
    if any(value is False or str(value).strip(_WRAPPING).lower() in _FALSE for _, value in values):
        return SAYS_FALSE
    is_unclear = any(is_top and str(value).strip(_WRAPPING).lower() not in _TRUE for is_top, value in values)
    return UNCLEAR if is_unclear else ""


def _of_memory(value: object, *, is_top: bool = False) -> Iterable[tuple[bool, object]]:
    """Yield what the key `memory` says, at any depth; the reader of YAML bounds the depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if str(key).strip().lower() == "memory":
                yield is_top, inner
            yield from _of_memory(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_memory(inner)
