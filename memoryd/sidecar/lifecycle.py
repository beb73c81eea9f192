"""The life of a child process as a state machine: which event leads where, and which may come too late to matter."""

from enum import StrEnum


class ChildState(StrEnum):
    """Where a child is in its life."""

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    TERMINATING = "terminating"
    KILLING = "killing"
    ENDED = "ended"


class ChildEvent(StrEnum):
    """What moves a child from state to state."""

    SPAWNED = "spawned"
    SETTLED = "settled"
    STOP = "stop"
    KILL = "kill"
    EXITED = "exited"


_NEXT = {
    (ChildState.NEW, ChildEvent.SPAWNED): ChildState.STARTING,
    (ChildState.NEW, ChildEvent.STOP): ChildState.ENDED,
    (ChildState.NEW, ChildEvent.KILL): ChildState.ENDED,
    (ChildState.STARTING, ChildEvent.SETTLED): ChildState.RUNNING,
    (ChildState.STARTING, ChildEvent.STOP): ChildState.TERMINATING,
    (ChildState.STARTING, ChildEvent.KILL): ChildState.KILLING,
    (ChildState.STARTING, ChildEvent.EXITED): ChildState.ENDED,
    (ChildState.RUNNING, ChildEvent.STOP): ChildState.TERMINATING,
    (ChildState.RUNNING, ChildEvent.KILL): ChildState.KILLING,
    (ChildState.RUNNING, ChildEvent.EXITED): ChildState.ENDED,
    (ChildState.TERMINATING, ChildEvent.KILL): ChildState.KILLING,
    (ChildState.TERMINATING, ChildEvent.EXITED): ChildState.ENDED,
    (ChildState.KILLING, ChildEvent.EXITED): ChildState.ENDED,
}

_IGNORED = {
    # stopped by its owner while start() still waited for the settle time
    (ChildState.TERMINATING, ChildEvent.SETTLED),
    (ChildState.KILLING, ChildEvent.SETTLED),
    (ChildState.ENDED, ChildEvent.SETTLED),
    # two owners may stop one child, and it may end by itself while they do
    (ChildState.TERMINATING, ChildEvent.STOP),
    (ChildState.KILLING, ChildEvent.STOP),
    (ChildState.ENDED, ChildEvent.STOP),
    (ChildState.KILLING, ChildEvent.KILL),
    (ChildState.ENDED, ChildEvent.KILL),
}


def next_state(state: ChildState, event: ChildEvent) -> ChildState:
    """Return the state after `event`; raises KeyError for a pair that cannot happen."""
    return state if (state, event) in _IGNORED else _NEXT[state, event]
