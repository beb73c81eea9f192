"""The states of a child process: each event in each state changes it, is ignored, or is impossible."""

import pytest

from memoryd.sidecar.process import ChildEvent, ChildState, next_state


def test_every_pair_of_state_and_event_is_decided() -> None:
    impossible = {
        *((state, ChildEvent.SPAWNED) for state in ChildState if state is not ChildState.NEW),
        (ChildState.NEW, ChildEvent.EXITED),
        (ChildState.ENDED, ChildEvent.EXITED),
    }
    for state in ChildState:
        for event in ChildEvent:
            if (state, event) in impossible:
                with pytest.raises(KeyError):
                    next_state(state, event)
            else:
                assert next_state(state, event) in ChildState


def test_ended_is_final() -> None:
    assert {next_state(ChildState.ENDED, event) for event in (ChildEvent.STOP, ChildEvent.KILL)} == {ChildState.ENDED}
