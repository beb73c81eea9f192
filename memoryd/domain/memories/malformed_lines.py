"""Bullets that were intended as memories but are invalid, with the reason, for `doctor`. Nothing is guessed."""

import difflib

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.memories.kinds import Kind, kind_named

SHOWN = 120
"""Characters of a bullet that a report quotes."""
_SIMILAR_LETTERS = dict(zip("0586ＷＢＯＳОВ", "OSBBWBOSOB", strict=True))
"""Characters that look like a letter: digits, wide letters, Cyrillic ones."""
_FIRST = expression(r"(?P<word>[^\W_][\w-]{0,30}+)(?P<blank>\s*+)(?P<next>[(（\[{@＠:：]?)")
_LETTER = expression(r"[WBOS](?:\s|[(（])")
_COLON = expression("[:：]")
_CLOSES = expression("[)）]")
_ONLY_ENTITIES = "only entities belong between the kind and the colon, as @Name or @[Two Words]"
_AFTER_KIND = "attributes belong after the kind and before the entities, as in W(i=0.9) @Name: …"
_ATTRIBUTE = caseless(r"[\s(（](?:c|i|at|scope|supports|contradicts|superseded|supersedes|beside|from|tags)\s*+[=＝]")
_NEAR = 0.75
"""Least similarity of a misspelt word to a kind, by difflib, 0 to 1."""
_SHORTEST = 4


class MalformedLine(Struct, frozen=True):
    """A bullet that remains prose, and the reason."""

    text: str
    """Its beginning."""
    reason: str
    is_intended: bool = False
    """Whether it has brackets or an entity like a head."""
    line: int = 0
    """The line of its note, from 1; 0 if only the bullet is known."""


def nearly(body: str, reason: str) -> MalformedLine:
    """Return the malformed line of a bullet with a head."""
    return MalformedLine(_beginning(body), reason, is_intended=True)


def nearly_line(body: str) -> MalformedLine | None:
    """Return what is wrong with a bullet, given without its mark, if it seems to be intended as a memory."""
    first = _FIRST.match(body)
    if first is None:
        return None
    head = body[: len(_beginning(body))]
    is_intended = first["next"] not in ("", ":", "：")
    is_kind = kind_named(first["word"]) is not None
    reason = _wrong_after_kind(head, first) if is_kind else _wrong_kind(first)
    return MalformedLine(_beginning(body), reason, is_intended) if reason else None


def _wrong_kind(first: TextMatch) -> str:
    word, following = first["word"], first["next"]
    if not following or (first["blank"] and following in "[{"):
        return ""
    if intended := _SIMILAR_LETTERS.get(word):
        return f"did you mean {intended}?"
    if len(word) < _SHORTEST or following in "[{":
        return ""
    near = difflib.get_close_matches(word.lower().replace("-", "_"), [kind.value for kind in Kind], 1, _NEAR)
    return f"did you mean {near[0]}?" if near else ""


def _wrong_after_kind(head: str, first: TextMatch) -> str:
    """Return what is wrong after a kind; common words ("World peace …") are prose unless a sign follows them."""
    following, letter = first["next"], _LETTER.match(head)
    if following in ("[", "{") and not first["blank"]:
        return "attributes belong in round brackets, as in O(c=0.9)"
    if following in ("(", "（") and not _CLOSES.search(head):
        return "the bracket is not closed"
    if following in (":", "：") or not (following or letter):
        return ""
    colon = _COLON.search(head)
    if colon is None:
        return "a colon is missing before the text"
    return _AFTER_KIND if _ATTRIBUTE.search(head, 0, colon.end()) else _ONLY_ENTITIES


def _beginning(body: str) -> str:
    return body.split("\n", 1)[0][:SHOWN].rstrip()
