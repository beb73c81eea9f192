"""Which events move an embedding worker where."""

import itertools

import pytest

from memoryd.embed.local.worker_process import WorkerEvent, WorkerPhase, next_phase

ASKED_AND_UNLOADED = [
    (WorkerEvent.STARTED, WorkerPhase.STARTING),
    (WorkerEvent.LOADED, WorkerPhase.READY),
    (WorkerEvent.UNLOADED, WorkerPhase.STOPPED),
    (WorkerEvent.ENDED, WorkerPhase.STOPPED),
]
FAILED_AND_TRIED_AGAIN = [
    (WorkerEvent.STARTED, WorkerPhase.STARTING),
    (WorkerEvent.FAILED, WorkerPhase.WAITING),
    (WorkerEvent.HELD_OFF, WorkerPhase.WAITING),
    (WorkerEvent.STARTED, WorkerPhase.STARTING),
    (WorkerEvent.LOADED, WorkerPhase.READY),
    (WorkerEvent.FAILED, WorkerPhase.WAITING),
    (WorkerEvent.ENDED, WorkerPhase.STOPPED),
    (WorkerEvent.HELD_OFF, WorkerPhase.WAITING),
]


@pytest.mark.parametrize("steps", [ASKED_AND_UNLOADED, FAILED_AND_TRIED_AGAIN])
def test_life_goes_from_phase_to_phase(steps: list[tuple[WorkerEvent, WorkerPhase]]) -> None:
    phase = WorkerPhase.STOPPED
    for event, expected in steps:
        phase = next_phase(phase, event)
        assert phase is expected


@pytest.mark.parametrize("phase", WorkerPhase)
def test_end_of_the_loop_stops_it_from_every_phase(phase: WorkerPhase) -> None:
    assert next_phase(phase, WorkerEvent.ENDED) is WorkerPhase.STOPPED


def test_what_cannot_happen_is_an_error() -> None:
    impossible = {
        (WorkerPhase.STOPPED, WorkerEvent.LOADED),
        (WorkerPhase.STOPPED, WorkerEvent.UNLOADED),
        (WorkerPhase.STOPPED, WorkerEvent.FAILED),
        (WorkerPhase.WAITING, WorkerEvent.LOADED),
        (WorkerPhase.WAITING, WorkerEvent.UNLOADED),
        (WorkerPhase.WAITING, WorkerEvent.FAILED),
        (WorkerPhase.STARTING, WorkerEvent.HELD_OFF),
        (WorkerPhase.STARTING, WorkerEvent.STARTED),
        (WorkerPhase.STARTING, WorkerEvent.UNLOADED),
        (WorkerPhase.READY, WorkerEvent.HELD_OFF),
        (WorkerPhase.READY, WorkerEvent.STARTED),
        (WorkerPhase.READY, WorkerEvent.LOADED),
    }
    for phase, event in itertools.product(WorkerPhase, WorkerEvent):
        if (phase, event) in impossible:
            with pytest.raises(KeyError):
                next_phase(phase, event)
        else:
            assert next_phase(phase, event) in WorkerPhase
