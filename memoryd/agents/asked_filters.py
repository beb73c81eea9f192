"""What somebody filters memories by, held against what there is: kinds and scopes by their names."""

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.recall_filters import WORKSPACE, kinds_named
from memoryd.domain.memories.scopes import GLOBAL, is_scope
from memoryd.errors import InvalidRequest


def asked_kinds(name: str) -> frozenset[Kind] | None:
    """Return the kinds that a network or kind names, None for no name; raises InvalidRequest for one that is none."""
    kinds = kinds_named(name) if name else None
    if name and kinds is None:
        raise InvalidRequest(f"there is no kind {name!r}", hint="world, experience, opinion, observation, fact, …")
    return kinds


def check_scope(scope: str) -> None:
    """Raise InvalidRequest for what is no scope; empty is none, and all."""
    if scope not in ("", WORKSPACE) and not is_scope(scope):
        hint = f"{WORKSPACE}, {GLOBAL}, agent:ID or agent:ID:CHANNEL"
        raise InvalidRequest(f"{scope!r} is no scope", hint=hint)
