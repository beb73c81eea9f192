"""The first question after a start is judged like every other."""

import pytest

from memoryd.replies.search import SearchReply
from tests.daemon import RunningDaemon

QUESTION = "Which machine is the gateway on?"


def test_first_question_after_a_restart_is_compared_with_strangers(daemon: RunningDaemon) -> None:
    """Nothing is left to embed then, but the strangers of the model must be loaded before the first question."""
    assert daemon.client().sync(wait="embedded")["complete"]
    before = daemon.client().search(QUESTION, explain=True)
    daemon.stop()
    daemon.start()
    assert daemon.client().sync(wait="embedded")["complete"]
    first = daemon.client().search(QUESTION, explain=True)
    assert first["mode"] == before["mode"] == "hybrid"
    # the strangers are stored with half the precision
    assert noise(first) == pytest.approx(noise(before), abs=0.001)


def noise(reply: SearchReply) -> tuple[float, float]:
    floors = reply["explain"]["floors"]
    assert floors is not None
    assert floors["noiseMean"] is not None
    assert floors["noiseDeviation"] is not None
    return floors["noiseMean"], floors["noiseDeviation"]
