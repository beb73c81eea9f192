"""The kinds of memories, their networks, ids and scopes, who writes them, and how much history a workspace keeps.

The same statement about the same entities has the same id, wherever and however often it is written. Kind, confidence
and the other attributes are no part of it: they may be corrected in place.

A scope says which agents, and which of their channels, may see a memory. In doubt no one may. Every question is asked
by an agent, in a channel, or by the owner for an agent.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NewType
from uuid import UUID, uuid5

from msgspec import Struct

from memoryd.domain.access import Admitted
from memoryd.domain.memories.entities import EntitySlug


class Network(StrEnum):
    """What is so, what was done, what is believed, and what was summed up."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


class Kind(StrEnum):
    """What a retained line says it is."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"
    ENTITY = "entity"
    PREFERENCE = "preference"
    FACT = "fact"
    PROCEDURE = "procedure"
    PROJECT_STATE = "project_state"
    RELATIONSHIP = "relationship"
    LESSON = "lesson"
    FAILURE = "failure"
    NOTE = "note"
    SUMMARY = "summary"
    SESSION = "session"


_LETTERS = {"w": Kind.WORLD, "b": Kind.EXPERIENCE, "o": Kind.OPINION, "s": Kind.OBSERVATION}
_WRITTEN: Mapping[Kind, str] = {kind: letter.upper() for letter, kind in _LETTERS.items()}
_NAMED: Mapping[str, Kind] = {kind.value: kind for kind in Kind} | _LETTERS
_NETWORKS: Mapping[Network, tuple[Kind, ...]] = {
    Network.WORLD: (Kind.ENTITY, Kind.FACT, Kind.PROJECT_STATE, Kind.RELATIONSHIP),
    Network.EXPERIENCE: (Kind.PROCEDURE, Kind.LESSON, Kind.FAILURE, Kind.SESSION),
    Network.OPINION: (Kind.PREFERENCE,),
    Network.OBSERVATION: (Kind.NOTE, Kind.SUMMARY),
}
_NETWORK_OF: Mapping[Kind, Network] = {
    kind: network for network, kinds in _NETWORKS.items() for kind in (Kind(network.value), *kinds)
}
_IMPORTANCE: Mapping[Kind, float] = {
    Kind.ENTITY: 0.9,
    Kind.LESSON: 0.8,
    Kind.PREFERENCE: 0.7,
    Kind.RELATIONSHIP: 0.7,
    Kind.FACT: 0.6,
    Kind.WORLD: 0.6,
    Kind.OPINION: 0.6,
    Kind.PROCEDURE: 0.6,
    Kind.SESSION: 0.4,
}
_OTHERS_IMPORTANCE = 0.5


def kind_named(text: str) -> Kind | None:
    """Return the kind that a letter (`W B O S`) or a full word names, in any case; None if it names none."""
    return _NAMED.get(text.lower())


def written_kind(kind: Kind) -> str:
    """Return how a line begins that is of this kind: its letter, or its full word where it has none."""
    return _WRITTEN.get(kind, kind.value)


def network_of(kind: Kind) -> Network:
    """Return the network that a kind belongs to."""
    return _NETWORK_OF[kind]


def default_importance(kind: Kind) -> float:
    """Return the importance, 0 to 1, of a memory whose line names none."""
    return _IMPORTANCE.get(kind, _OTHERS_IMPORTANCE)


def is_belief(kind: Kind) -> bool:
    """Tell whether a memory of this kind has a confidence that evidence moves: opinions and preferences."""
    return network_of(kind) is Network.OPINION


MemoryId = NewType("MemoryId", str)
"""A UUIDv5 in its usual spelling."""
ShortId = NewType("ShortId", str)
"""The first eight signs of an id, by which lines name each other."""

ID_PREFIX_CHARS = 8
_NAMESPACE = UUID("8c704803-bde9-420e-82d8-13e1bceabffd")
"""Drawn once; another one would give every memory another id."""
_as_json = json.JSONEncoder(separators=(",", ":")).encode


def memory_id(*, scope: str, slugs: Iterable[EntitySlug], at: str, text: str) -> MemoryId:
    """Return the UUIDv5 (RFC 9562) of scope, sorted slugs, event time as written, and the text.

    The text counts in NFC with its white space folded. The parts are joined as JSON, so that no sign in one of them
    can be taken for the end of it.
    """
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return MemoryId(str(uuid5(_NAMESPACE, _as_json([scope, sorted(set(slugs)), at, folded]))))


def short_id(memory: MemoryId) -> ShortId:
    """Return the beginning of an id that lines, citations and people use."""
    return ShortId(memory[:ID_PREFIX_CHARS])


CHANGES_MAX = 10_000
CHANGE_BYTES_MAX = 64 * 2**20
"""Of the lines of all changes, which undoing them takes."""
PROPOSALS_MAX = 5_000
"""The oldest that were decided go; open ones stay."""
RUNS_MAX = 400
"""Of reflect: a year of daily ones."""


class WrittenBy(StrEnum):
    """What part of memoryd made a change; `changes --by` takes these names."""

    RETAIN = "retain"
    """A memory that somebody stated."""
    CORE = "core"
    """An explicit edit of the core file."""
    REFLECT = "reflect"
    """What reflect writes between its markers."""
    PROPOSAL = "proposal"
    """A proposal that a person accepted."""
    FORGET = "forget"
    """A memory that is to be forgotten."""
    ENTITIES = "entities"
    """Entities that a person merged or split."""
    LINES = "lines"
    """Lines of a note that its owner corrected by their place."""
    MEMORIES = "memories"
    """A memory that was pinned, weighed or deleted by its id."""
    CAPTURE = "capture"
    """What a turn of a conversation said."""
    TIERS = "tiers"
    """Tiers that rested on touches which are no uses."""
    IMPORT = "import"
    """Memories of another workspace, by `memoryctl import`."""
    UNDO = "undo"
    """A change that was taken back."""


GLOBAL = "global"
TEAM = "team"
"""Of what others of a team share. No line can name it: what is under it lies in the notes of the team."""
_AGENT = "agent"


def scope_admits(scope: str, agent: str, channel: str | None) -> bool:
    """Tell whether a memory of this scope is for an agent that asks in a channel (None: in none).

    No scope is the workspace's, and reaches every agent on it, as `global` does, and what its team shares. `agent:ID`
    reaches that agent, and `agent:ID:CHANNEL` only what it asks in that channel. Anything else reaches no agent.
    """
    return scope in ("", GLOBAL, TEAM) or _agent_of(scope) in ((agent, ""), (agent, channel))


def unnamed_scope(agent: str, channel: str = "", *, is_alone: bool) -> str:
    """Return whose a memory is that names no scope and was said to an agent, or in a channel that is a person's own.

    `is_alone`: no other agent shares the workspace, so that it is the workspace's.
    """
    if channel:
        return f"{_AGENT}:{agent}:{channel}"
    # what is said to one agent is not for another on the same workspace
    return "" if is_alone else f"{_AGENT}:{agent}"


def is_scope(text: str) -> bool:
    """Tell whether a text reads as a scope: `global`, `agent:ID` or `agent:ID:CHANNEL`."""
    return text == GLOBAL or _agent_of(text) is not None


def is_team(scope: str) -> bool:
    """Tell whether somebody means what the team shares: `team`, or `team:NAME`."""
    return scope.partition(":")[0] == TEAM


def covers(wider: str, scope: str) -> bool:
    """Tell whether a memory of scope `wider` reaches all whom one of `scope` reaches; in doubt it does not."""
    if wider in ("", GLOBAL, scope):
        return True
    agent = _agent_of(wider)
    return agent is not None and not agent[1] and scope.startswith(f"{wider}:")


def _agent_of(scope: str) -> tuple[str, str] | None:
    """Return the agent and the channel (empty: any) that a scope names; None for what names no agent."""
    kind, _, rest = scope.partition(":")
    # an id may hold no colon, a channel may
    agent, colon, channel = rest.partition(":")
    return (agent, channel) if kind == _AGENT and agent and bool(channel) == bool(colon) else None


class Visibility(Struct, frozen=True):
    """Who asks: an agent, in a channel (None: in none); or the owner for it, who sees what it may see anywhere."""

    agent: str
    channel: str | None = None
    is_owner: bool = False

    @classmethod
    def of(cls, agent: str, admitted: Admitted) -> "Visibility":
        """Return what a request sees of the memories that reach an agent."""
        return cls(agent, admitted.channel, admitted.is_owner)

    def admits(self, scope: str) -> bool:
        """Tell whether a memory of this scope may be shown.

        What reads as no scope is for the owner alone, who can fix it; those of another agent are shown to no one.
        """
        return scope_admits(scope, self.agent, self.channel) or (self.is_owner and not self._is_anothers(scope))

    def _is_anothers(self, scope: str) -> bool:
        kind, colon, rest = scope.strip().lower().partition(":")
        return kind == _AGENT and bool(colon) and rest.partition(":")[0].strip() != self.agent
