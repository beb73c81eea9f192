"""The kinds of memories, their networks and ids, who writes them, and how much history a workspace keeps.

The same statement about the same entities has the same id, wherever and however often it is written. Kind, confidence
and the other attributes are no part of it: they may be corrected in place.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NewType
from uuid import UUID, uuid5

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
