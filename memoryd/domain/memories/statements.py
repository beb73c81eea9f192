"""What somebody asks to be retained, as the line that states it: one bullet, whatever the text holds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from memoryd.domain.memories.attributes import Attributes, Provenance
from memoryd.domain.memories.entities import slug_of
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.near_misses import NearMiss
from memoryd.domain.memories.retained import RetainedLine, parse_line
from memoryd.domain.memories.scopes import GLOBAL

REMEMBERED_IMPORTANCE: Final = 0.8
OWN_CHANNELS: Final = frozenset({"cron", "heartbeat", "system"})
"""What is stated there is for that channel alone, unless it says otherwise."""
_BULLET: Final = re.compile(r"[-*+][ \t]")
_SCOPE: Final = re.compile(r"agent:(?P<agent>[a-z0-9][a-z0-9_-]{0,63})(?::(?P<channel>[^\s,，()（）=＝]{1,100}))?\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedText:
    """What is to be retained: a bullet, or plain text, and what is said about it beside.

    `kind` is for text that names none; what the text says of itself already must not be said otherwise beside it.
    """

    text: str
    kind: Kind | None = None
    usual_kind: Kind = Kind.WORLD
    """Of text that is no bullet, where no kind is given."""
    importance: float | None = None
    usual_importance: float | None = None
    """Of a memory that names none; None: by its kind."""
    scope: str = ""
    entities: tuple[str, ...] = ()
    at: str = ""
    provenance: Provenance | None = None
    tags: tuple[str, ...] = ()
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class Stater:
    """Who states: the owner, or what an agent does in one of its channels."""

    agent: str
    channel: str | None = None
    is_owner: bool = True

    @property
    def own_scopes(self) -> tuple[str, ...]:
        """The scopes that a session may name: its agent's, and that of its own channel."""
        whole = f"agent:{self.agent}"
        return (whole, f"{whole}:{self.channel}") if self.channel else (whole,)


def stated_line(said: StatedText) -> RetainedLine:
    """Return the line of a statement; raise ValueError, which says what is wrong and what may be meant."""
    found = parse_line(said.text)
    if isinstance(found, NearMiss):
        if found.is_meant or said.kind is None:
            raise ValueError(f"this is nearly a memory, but not quite: {found.reason}")
        found = None
    is_plain = found is None
    if found is None:
        found = parse_line(said.text, usual_kind=said.kind or said.usual_kind)
    if not isinstance(found, RetainedLine):
        raise ValueError(found.reason if found else "nothing is said: no sign of it can be seen")
    if not is_plain and said.kind not in (None, found.kind):
        raise ValueError(f"the text says {found.kind.value}, and beside it {said.kind.value if said.kind else ''}")
    return replace(found, entities=_joined(found, said.entities), attributes=_attributes(found.attributes, said))


def not_taken(wanted: RetainedLine, standing: RetainedLine) -> tuple[str, ...]:
    """Return what of a statement the line that states the same already does not say: its kind, or keys of attributes.

    Who said it first does not matter.
    """
    asked, said = wanted.attributes, standing.attributes
    given = {
        "kind": wanted.kind is not standing.kind,
        "c": asked.confidence not in (None, said.confidence),
        "i": asked.importance not in (None, said.importance),
        "pin": asked.is_pinned and not said.is_pinned,
        "supports": not set(asked.supports) <= set(said.supports),
        "contradicts": not set(asked.contradicts) <= set(said.contradicts),
        "supersedes": not set(asked.supersedes) <= set(said.supersedes),
        "tags": not set(asked.tags) <= set(said.tags),
    }
    return tuple(key for key, is_lacking in given.items() if is_lacking)


def each_statement(text: str) -> list[str]:
    """Return the bullets of a text, each with the lines below it; the whole text where it does not begin with one."""
    pieces: list[list[str]] = []
    for line in text.strip("\n").split("\n"):
        if _BULLET.match(line):
            pieces.append([line])
        elif pieces:
            pieces[-1].append(line)
        elif line.strip():
            return [text]
    return ["\n".join(piece) for piece in pieces] or [text]


def admitted_scope(scope: str, stater: Stater) -> str:
    """Return the scope of a memory that somebody states; raise ValueError for one that is none, or not theirs.

    What a channel says to itself alone, such as a cron job, is for that channel where nothing else is said.
    """
    if not scope:
        is_apart = not stater.is_owner and stater.channel in OWN_CHANNELS
        return f"agent:{stater.agent}:{stater.channel}" if is_apart else ""
    named = _SCOPE.match(scope)
    if scope != GLOBAL and named is None:
        raise ValueError(f"{scope[:80]!r} is no scope: give agent:ID, agent:ID:CHANNEL or global")
    if not stater.is_owner and scope not in stater.own_scopes:
        raise ValueError(f"a session retains for itself alone: no scope, {' or '.join(stater.own_scopes)}")
    return scope


def _joined(line: RetainedLine, names: Sequence[str]) -> tuple[str, ...]:
    named = {slug_of(name): name for name in reversed([*line.entities, *(name.removeprefix("@") for name in names)])}
    beside = [name for name in reversed(named.values()) if slug_of(name) not in line.slugs]
    return (*line.entities, *beside)


def _attributes(own: Attributes, said: StatedText) -> Attributes:
    _check_same("importance", own.importance, said.importance)
    _check_same("at", own.at, said.at)
    _check_same("scope", own.scope, said.scope)
    importance = own.importance if said.importance is None else said.importance
    return replace(
        own,
        importance=said.usual_importance if importance is None else importance,
        at=own.at or said.at,
        scope=own.scope or said.scope,
        provenance=own.provenance or said.provenance,
        tags=tuple(dict.fromkeys([*own.tags, *said.tags])),
        is_pinned=own.is_pinned or said.is_pinned,
    )


def _check_same(name: str, own: float | str | None, beside: float | str | None) -> None:
    if own and beside and own != beside:
        raise ValueError(f"the text says {name}={own}, and beside it {name} is {beside}")
