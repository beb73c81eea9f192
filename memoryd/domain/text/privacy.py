"""Detect notes that declare themselves private: `memory: false` in their first block. In doubt, a note is private.

The block is YAML between `---`, TOML between `+++`, or a JSON object, as static site generators write it. Detection is
looser than reading front matter: what the author may have meant counts, even if the YAML has mistakes, characters are
wide or invisible, or lines end in unusual ways. The end of the block is read strictly.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from memoryd.domain.expressions import expression
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.markdown import FRONT_MATTER_CHARS, front_matter

PRIVACY_RULE_VERSION = 5
"""Version of this rule: documents indexed under another version are read again."""
HEAD_CHARS = 2**20
"""Characters of a note that are examined; a first block is far shorter."""

_YAML = expression(r"-{3,}(?:(?!\S)|\w{2,16}[^\S\n]*$|[{\[&!?\"'])", re.MULTILINE)
"""The dashes may be followed by the name of a language, or by a YAML value."""
_TOML = expression(r"\+{3,}(?!\S)")
_JSON = expression(r"""\{\s*["'\w]""")
_OPENING_CHARS = 64
_CLOSINGS = {
    _YAML: expression(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    _TOML: expression(r"^\+\+\+[ \t]*$", re.MULTILINE),
    _JSON: expression(r"^\}[ \t]*$", re.MULTILINE),
}
_RULER = expression(r"---|\+\+\+")
_DIRECTIVE = expression(r"%[A-Z]")
_LEAD_CHARS = 16 * 1024
"""Most characters before the block: YAML directives and comments."""
_KEY = expression(
    r"""(?:^|[{,\[])[^\S\n]*(?:(?:[-?]|[&!]\S{0,64})[^\S\n]+){0,8}(?P<above>(?:["'\w-]{1,64}\.){0,4})"""
    r"""(?:["'`*_“”‘’]*memory["'`*_“”‘’]*|\*[^\s,:]{1,64}[^\S\n])\s*[:=]"""
    r"""(?:[^\S\n]*(?:\#[^\n]*)?\n)*[^\S\n]*(?=(?P<value>[^\n]{0,200}))""",
    re.MULTILINE | re.IGNORECASE,
)
"""A key named `memory`, or an alias that may mean it, and the first line of its value, which may be below the key."""
_PROPERTY = expression(r"(?:[!&]\S*\s+)+")
_ESCAPED = expression(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U000([01][0-9a-fA-F]{4}))")
_TRUE = frozenset({"true", "yes", "on", "y", "t", "1"})
_FALSE = frozenset({"false", "no", "off", "n", "f", "0"})
_WRAPPING = " \t\"'`,}]"
_ENDS_OF_LINES = "\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0\ufffd"
"""Letters and signs without a visible shape, and the replacement character for undecodable bytes."""


class _Statement(Struct, frozen=True):
    """The value of one `memory:` key.

    `is_top`: the key is not indented; `is_early`: it is before the first blank line.
    """

    value: str
    is_top: bool
    is_early: bool

    @property
    def is_false(self) -> bool:
        word = re.match(r"[\W_]*([^\W_]+)", self.value)
        return word is not None and word[1].lower() in _FALSE

    @property
    def is_true(self) -> bool:
        return _bare(re.split(r"(?:^|\s)#|[,}\]]", self.value, maxsplit=1)[0]) in _TRUE

    @property
    def may_be_prose(self) -> bool:
        return not self.is_early and len(self.value.split()) > 1


def is_private(text: str) -> bool:
    """Return whether the text of a note says that it must not be indexed, cited or passed on."""
    return bool(why_private(text))


def why_private(text: str) -> str:
    """Return the reason why a note is private, empty if it is not private.

    The first block begins with `---` on the first line with visible characters and ends at the next line that is
    exactly `---` or `...`, unless nothing is in between. A TOML block is between `+++`, a JSON block ends with its
    object. The note is private if a `memory` key at any depth is false, or if one at the top level is not true.

    An unclosed block may be text below a ruler: a sentence that merely begins like the key does not count. After
    comments, which may be headings above a ruler, only false values before the first blank line count.
    """
    raw = text[:HEAD_CHARS].replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    begin, follows_comment = _beginning(raw)
    opening = _loose(raw[begin : begin + _OPENING_CHARS])
    form = next((form for form in _CLOSINGS if form.match(opening)), None)
    if form is None:
        return ""
    end, values = _json(raw, begin) if form is _JSON else (None, None)
    end = end or _end(raw, begin, _CLOSINGS[form])
    block = _loose(raw[begin : len(raw) if end is None else end]).lstrip("-+")
    if follows_comment or (form is _JSON and end is None):
        is_declared = any(statement.is_false and statement.is_early for statement in _statements(block.strip()))
        return SkipReason.SAYS_PRIVATE if is_declared else ""
    statements = list(_statements(block))
    if any(statement.is_false for statement in statements):
        return SkipReason.SAYS_PRIVATE
    if any(
        (statement.is_top and not statement.is_true and not (end is None and statement.may_be_prose))
        or statement.value.startswith("*")
        for statement in statements
    ):
        return SkipReason.MAY_BE_PRIVATE
    if form is _YAML and end is not None and len(block) < FRONT_MATTER_CHARS - 16:
        values = front_matter(f"---\n{block.strip()}\n---\n").values
    memory_values = list(_of_memory(values, is_top=True))
    if any(value is False or _bare(value) in _FALSE for _, value in memory_values):
        return SkipReason.SAYS_PRIVATE
    may_be_private = any(is_top and _bare(value) not in _TRUE for is_top, value in memory_values)
    return SkipReason.MAY_BE_PRIVATE if may_be_private else ""


def _beginning(raw: str) -> tuple[int, bool]:
    """Return where the first block may begin, after directives and comments, and whether there are comments."""
    at, follows_comment = _next_shown(raw, 0), False
    while at < _LEAD_CHARS:
        line = _loose(raw[at : at + _OPENING_CHARS])
        if line.startswith("<!--"):
            end = raw.find("-->", at)
        elif line.startswith("#") or _DIRECTIVE.match(line):
            end = raw.find("\n", at)
        else:
            break
        if end < 0:
            break
        at = _next_shown(raw, end + (3 if raw[end] == "-" else 1))
        follows_comment |= not line.startswith("%")
    return at, follows_comment


def _next_shown(raw: str, begin: int) -> int:
    return next((at for at in range(begin, len(raw)) if not _is_blank(raw[at])), len(raw))


def _is_blank(character: str) -> bool:
    """Return whether a character is invisible: white space, a control, a format character, or a lone accent."""
    return unicodedata.category(character)[0] in "ZCM" or character in _FILLERS


def _loose(text: str) -> str:
    """Return the text with plain characters for wide ones, `\n` for each line end, and without invisible characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    if not text.isascii() or not text.replace("\n", "").isprintable():
        unseen = {ord(character): None for character in set(text) if not character.isspace() and _is_blank(character)}
        ends = dict.fromkeys(map(ord, _ENDS_OF_LINES), "\n")
        # word processors turn three dashes into one long dash
        text = text.translate({**unseen, **ends, ord("—"): "---"})
    return _ESCAPED.sub(lambda escape: chr(int(escape[1] or escape[2] or escape[3], 16)), text)


def _json(raw: str, begin: int) -> tuple[int | None, object]:
    """Return the end and the value of a JSON object; (None, None) if it is malformed."""
    try:
        values, end = json.JSONDecoder().raw_decode(raw, begin)
    except (ValueError, RecursionError):
        return None, None
    return end, values


def _end(raw: str, begin: int, closings: re.Pattern[str]) -> int | None:
    """Return the start of the line that closes the block, or None if the block is not closed."""
    inside = raw.find("\n", begin)
    if inside < 0:
        return None
    for closing in closings.finditer(raw, inside):
        if not all(map(_is_blank, _RULER.sub("", raw[inside : closing.start()]))):
            return closing.start()
        inside = closing.end()
    return None


def _statements(block: str) -> Iterator[_Statement]:
    gap = re.search(r"\n[^\S\n]*\n", block)
    for key in _KEY.finditer(block):
        is_top = key[0][0] not in "{,[-" and not key[0][0].isspace() and not key["above"]
        is_early = gap is None or key.start() < gap.start()
        value = key["value"]
        yield _Statement(_PROPERTY.sub("", value, count=1) if value[:1] in "!&" else value, is_top, is_early)


def _bare(value: object) -> str:
    return str(value).strip(_WRAPPING).lower()


def _of_memory(value: object, *, is_top: bool = False) -> Iterable[tuple[bool, object]]:
    """Yield for each `memory` key whether it is at the top level, and its value; the YAML loader bounds the depth."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if str(key).strip().lower() == "memory":
                yield is_top, inner
            yield from _of_memory(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_memory(inner)
