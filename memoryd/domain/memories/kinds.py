"""Kinds, networks, ids, scopes and visibility of memories; writers of changes; and the length of the history.

The same statement about the same entities has the same id, wherever and however often it is written. Kind, confidence
and most other attributes are not part of the id, so that they can be corrected in place.

A scope says which agents, and which of their channels, may see a memory. In doubt no one may. Every query comes from an
agent, in a channel or not, or from the owner on behalf of an agent.
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
    """The four networks: facts, experiences, beliefs, and summaries."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


class Kind(StrEnum):
    """The kind of a memory, as stated by its line."""

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


def kind_named(text: str) -> Kind | None:
    """Return the kind that a letter (`W B O S`) or a full word names, in any case; None if it names none."""
    return _NAMED.get(text.lower())


def written_kind(kind: Kind) -> str:
    """Return the kind as written in a line: its letter, or its full name if it has no letter."""
    return _WRITTEN.get(kind, kind.value)


def network_of(kind: Kind) -> Network:
    """Return the network that a kind belongs to."""
    return _NETWORK_OF[kind]


def default_importance(kind: Kind) -> float:
    """Return the importance, 0 to 1, of a memory whose line has none."""
    return _IMPORTANCE.get(kind, 0.5)


def is_belief(kind: Kind) -> bool:
    """Return whether a memory of this kind has a confidence that evidence changes: opinions and preferences."""
    return network_of(kind) is Network.OPINION


MemoryId = NewType("MemoryId", str)
"""A UUIDv5 as a string."""
ShortId = NewType("ShortId", str)
"""The first eight characters of an id, by which lines reference each other."""

ID_PREFIX_CHARS = 8
_NAMESPACE = UUID("8c704803-bde9-420e-82d8-13e1bceabffd")
"""A random constant; changing it would change every id."""
_as_json = json.JSONEncoder(separators=(",", ":")).encode


def memory_id(*, scope: str, slugs: Iterable[EntitySlug], at: str, text: str) -> MemoryId:
    """Return the UUIDv5 (RFC 9562) of scope, sorted slugs, event time as written, and the text.

    The text is in NFC with its white space folded. The parts are joined as JSON, so that their boundaries are
    unambiguous.
    """
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return MemoryId(str(uuid5(_NAMESPACE, _as_json([scope, sorted(set(slugs)), at, folded]))))


def short_id(memory: MemoryId) -> ShortId:
    """Return the beginning of an id that is used in lines, citations and commands."""
    return ShortId(memory[:ID_PREFIX_CHARS])


CHANGES_MAX = 10_000
CHANGE_BYTES_MAX = 64 * 2**20
"""Most bytes of the lines of all changes, which undoing requires."""
PROPOSALS_MAX = 5_000
"""The oldest decided proposals are deleted; open ones are not."""
RUNS_MAX = 400
"""Runs of reflect: a year of daily ones."""


class WrittenBy(StrEnum):
    """The part of memoryd that made a change; also the values of `changes --by`."""

    RETAIN = "retain"
    """A memory was stated."""
    CORE = "core"
    """An explicit edit of the core file."""
    REFLECT = "reflect"
    """Reflect wrote a generated block."""
    PROPOSAL = "proposal"
    """A person accepted a proposal."""
    FORGET = "forget"
    """A memory was forgotten."""
    ENTITIES = "entities"
    """A person merged or split entities."""
    LINES = "lines"
    """The owner corrected lines of a note by their place."""
    MEMORIES = "memories"
    """A memory was pinned, weighted or deleted by its id."""
    CAPTURE = "capture"
    """A statement in a turn of a conversation was captured."""
    TIERS = "tiers"
    """Tiers that were based on accesses other than uses were corrected."""
    IMPORT = "import"
    """Memories of another workspace were imported by `memoryctl import`."""
    UNDO = "undo"
    """A change was reverted."""


GLOBAL = "global"
TEAM = "team"
"""The scope of shared memories of a team. No line can have it: it follows from the place in the team's notes."""
_AGENT = "agent"


def scope_admits(scope: str, agent: str, channel: str | None) -> bool:
    """Return whether a memory of this scope is visible to an agent in a channel (None: in no channel).

    An empty scope, `global` and `team` are visible to every agent of the workspace. `agent:ID` is visible to that
    agent, and `agent:ID:CHANNEL` only in that channel. Any other scope is visible to no agent.
    """
    return scope in ("", GLOBAL, TEAM) or _agent_of(scope) in ((agent, ""), (agent, channel))


def unnamed_scope(agent: str, channel: str = "", *, is_alone: bool) -> str:
    """Return the default scope of a memory that was said to an agent, or in a channel that is a person's own.

    `is_alone`: no other agent shares the workspace, so that the default is the workspace.
    """
    if channel:
        return f"{_AGENT}:{agent}:{channel}"
    # a statement to one agent is not meant for other agents of the workspace
    return "" if is_alone else f"{_AGENT}:{agent}"


def is_scope(text: str) -> bool:
    """Return whether a text is a scope: `global`, `agent:ID` or `agent:ID:CHANNEL`."""
    return text == GLOBAL or _agent_of(text) is not None


def is_team(scope: str) -> bool:
    """Return whether a scope means memories shared by the team: `team`, or `team:NAME`."""
    return scope.partition(":")[0] == TEAM


def covers(wider: str, scope: str) -> bool:
    """Return whether scope `wider` is visible wherever `scope` is; in doubt it is not."""
    if wider in ("", GLOBAL, scope):
        return True
    agent = _agent_of(wider)
    return agent is not None and not agent[1] and scope.startswith(f"{wider}:")


def _agent_of(scope: str) -> tuple[str, str] | None:
    """Return the agent and the channel (empty: any) of a scope; None if it has no agent."""
    kind, _, rest = scope.partition(":")
    # an id contains no colon, a channel may
    agent, colon, channel = rest.partition(":")
    return (agent, channel) if kind == _AGENT and agent and bool(channel) == bool(colon) else None


class Visibility(Struct, frozen=True):
    """The identity of a client: an agent, in a channel or not, or the owner.

    The owner sees what the agent sees in any channel.
    """

    agent: str
    channel: str | None = None
    is_owner: bool = False

    @classmethod
    def of(cls, agent: str, admitted: Admitted) -> "Visibility":
        """Return the visibility of a request for the memories of an agent."""
        return cls(agent, admitted.channel, admitted.is_owner)

    def admits(self, scope: str) -> bool:
        """Return whether a memory of this scope may be shown.

        An invalid scope is shown to the owner alone, who can correct it; scopes of other agents are shown to no one.
        """
        return scope_admits(scope, self.agent, self.channel) or (self.is_owner and not self._is_anothers(scope))

    def _is_anothers(self, scope: str) -> bool:
        kind, colon, rest = scope.strip().lower().partition(":")
        return kind == _AGENT and bool(colon) and rest.partition(":")[0].strip() != self.agent
