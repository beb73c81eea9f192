"""What an embedding worker is doing, and what moves it on: the table that `LlamaWorker` follows."""

from enum import StrEnum
from typing import Final


class WorkerPhase(StrEnum):
    """What the worker is doing."""

    STOPPED = "stopped"
    """Nobody needs it: not asked yet, or unloaded after being idle."""
    STARTING = "starting"
    READY = "ready"
    WAITING = "waiting"
    """It failed; the next try comes after the back-off, if somebody asks."""


class WorkerEvent(StrEnum):
    """What moves a worker from phase to phase."""

    HELD_OFF = "held off"
    """Somebody asks while the back-off still runs."""
    STARTED = "started"
    LOADED = "loaded"
    UNLOADED = "unloaded"
    FAILED = "failed"
    ENDED = "ended"
    """Its loop is cancelled."""


_NEXT: Final = {
    # a loop that was cancelled in its back-off and is run again
    (WorkerPhase.STOPPED, WorkerEvent.HELD_OFF): WorkerPhase.WAITING,
    (WorkerPhase.STOPPED, WorkerEvent.STARTED): WorkerPhase.STARTING,
    (WorkerPhase.WAITING, WorkerEvent.STARTED): WorkerPhase.STARTING,
    (WorkerPhase.WAITING, WorkerEvent.ENDED): WorkerPhase.STOPPED,
    (WorkerPhase.STARTING, WorkerEvent.LOADED): WorkerPhase.READY,
    (WorkerPhase.STARTING, WorkerEvent.FAILED): WorkerPhase.WAITING,
    (WorkerPhase.STARTING, WorkerEvent.ENDED): WorkerPhase.STOPPED,
    (WorkerPhase.READY, WorkerEvent.UNLOADED): WorkerPhase.STOPPED,
    (WorkerPhase.READY, WorkerEvent.FAILED): WorkerPhase.WAITING,
    (WorkerPhase.READY, WorkerEvent.ENDED): WorkerPhase.STOPPED,
}

_IGNORED: Final = {
    # the usual case: after a failure it waits already when somebody asks
    (WorkerPhase.WAITING, WorkerEvent.HELD_OFF),
    # cancelled before anybody asked, or after it was unloaded
    (WorkerPhase.STOPPED, WorkerEvent.ENDED),
}


def next_phase(phase: WorkerPhase, event: WorkerEvent) -> WorkerPhase:
    """Return the phase after `event`; raises KeyError for a pair that cannot happen."""
    return phase if (phase, event) in _IGNORED else _NEXT[phase, event]
