"""The kinds of memories, as a retained line names them, and the networks that they belong to."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


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


_LETTERS: Final = {"w": Kind.WORLD, "b": Kind.EXPERIENCE, "o": Kind.OPINION, "s": Kind.OBSERVATION}
_WRITTEN: Final[Mapping[Kind, str]] = {kind: letter.upper() for letter, kind in _LETTERS.items()}
_NAMED: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind} | _LETTERS
_NETWORKS: Final[Mapping[Network, tuple[Kind, ...]]] = {
    Network.WORLD: (Kind.ENTITY, Kind.FACT, Kind.PROJECT_STATE, Kind.RELATIONSHIP),
    Network.EXPERIENCE: (Kind.PROCEDURE, Kind.LESSON, Kind.FAILURE, Kind.SESSION),
    Network.OPINION: (Kind.PREFERENCE,),
    Network.OBSERVATION: (Kind.NOTE, Kind.SUMMARY),
}
_NETWORK_OF: Final[Mapping[Kind, Network]] = {
    kind: network for network, kinds in _NETWORKS.items() for kind in (Kind(network.value), *kinds)
}
_IMPORTANCE: Final[Mapping[Kind, float]] = {
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
_OTHERS_IMPORTANCE: Final = 0.5


def kind_named(text: str) -> Kind | None:
    """Return the kind that a letter (`W B O S`) or a full word names, in any case; None if it names none."""
    return _NAMED.get(text.lower())


def written_kind(kind: Kind) -> str:
    """Return how a line begins that is of this kind: its letter, or its full word where it has none."""
    return _WRITTEN.get(kind, kind.value)


def network_of(kind: Kind) -> Network:
    """Return the network that a kind belongs to."""
    return _NETWORK_OF[kind]


def usual_importance(kind: Kind) -> float:
    """Return the importance, 0 to 1, of a memory whose line names none."""
    return _IMPORTANCE.get(kind, _OTHERS_IMPORTANCE)


def is_belief(kind: Kind) -> bool:
    """Tell whether a memory of this kind has a confidence that evidence moves: opinions and preferences."""
    return network_of(kind) is Network.OPINION
