"""What a changed key takes to have its effect: a closed table, in which every key of the file stands once."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Final


class Effect(StrEnum):
    """How a reload brings a changed key to bear."""

    AT_ONCE = "at once"
    """It is set, and nothing is interrupted."""
    EXCHANGE = "exchange"
    """The parts of all agents are closed and opened again over the same files; calls wait meanwhile."""
    RESTART = "restart"
    """It is left as it was until the daemon is started again."""


EFFECTS: Final = {
    "memory": Effect.EXCHANGE,
    "agents.defaults": Effect.EXCHANGE,
    "agents.list.id": Effect.EXCHANGE,
    "agents.list.name": Effect.EXCHANGE,
    "agents.list.default": Effect.EXCHANGE,
    "agents.list.workspace": Effect.EXCHANGE,
    "agents.list.memory": Effect.EXCHANGE,
    "agents.list.memorySearch": Effect.EXCHANGE,
    "agents.list.sockets": Effect.RESTART,
    "models": Effect.EXCHANGE,
    "http": Effect.RESTART,
    "limits.maxFileBytes": Effect.EXCHANGE,
    "limits.maxQueryBytes": Effect.EXCHANGE,
    "limits.maxQueryTokens": Effect.EXCHANGE,
    "limits.maxVectorBytes": Effect.EXCHANGE,
    "limits.maxBodyBytes": Effect.RESTART,
    "limits.maxRequests": Effect.AT_ONCE,
    "limits.maxConnections": Effect.AT_ONCE,
    "limits.maxConnectionsPerProcess": Effect.AT_ONCE,
    "log.level": Effect.AT_ONCE,
    "log.file": Effect.AT_ONCE,
    "log.maxPerMinute": Effect.AT_ONCE,
}
"""The effect of a key and of all below it. A section stands here whole only if whatever comes to it belongs there."""

_PLACE: Final = re.compile(r"\[[^]]*\]")


def effect_of(key: str) -> Effect:
    """Return what a key takes that `changed_keys` names; of a whole section the strongest of what is in it."""
    plain = _PLACE.sub("", key)
    found = [effect for name, effect in EFFECTS.items() if _is_within(plain, name)]
    # sockets are named for themselves, and what else an agent has is exchanged
    inner = [effect for name, effect in EFFECTS.items() if _is_within(name, plain) and name != "agents.list.sockets"]
    return next((effect for effect in reversed(Effect) if effect in (found or inner)), Effect.RESTART)


def of_effect(keys: Iterable[str], effect: Effect) -> list[str]:
    """Return those of the keys that take this."""
    return [key for key in keys if effect_of(key) is effect]


def _is_within(key: str, section: str) -> bool:
    return key == section or key.startswith(f"{section}.")
