"""Ordinary days in three languages: statements are captured, corrected in plain words, and recalled when needed."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

KEY = "agent:main:telegram:direct:rob"
SAID = (
    "my girlfriend Maya is vegetarian and allergic to peanuts",
    "Wir wohnen in Trier.",
    "我住在苏州",
)
CORRECTED = (
    "Maya isn't vegetarian any more, she eats fish now",
    "Wir wohnen jetzt in Köln.",
    "我现在住在南京",
)
RETAINED = (
    "W @Ida: Ida hat am {0.day}.{0.month}.{0.year} um 15 Uhr einen Zahnarzttermin bei Frau Vogel.",
    "W: The spare key is under the pot behind the shed.",
    "W: The proxy runs on Debian.",
)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    with RunningDaemon(tmp_path, write_config(tmp_path, folder, None), folder) as running:
        yield running


def is_logged(log: Path, line: str) -> bool:
    return log.exists() and line in log.read_text("utf-8")


def say(daemon: RunningDaemon, days_ago: int, *texts: str) -> None:
    """Say something on a day, and wait until each text is in that day's log."""
    at = datetime.now(UTC) - timedelta(days=days_ago)
    log = daemon.workspace / "memory" / f"{at:%Y-%m-%d}.md"
    for text in texts:
        body = {"sessionKey": KEY, "role": "user", "text": text, "at": at.isoformat()}
        daemon.client().call("POST", "/turns", body)
        eventually(partial(is_logged, log, text.rstrip(".")))
        daemon.client().sync()


def bundle_for(daemon: RunningDaemon, question: str) -> str:
    return str(daemon.client().turn(question, session_key=f"{KEY}:asks")["bundle"])


def test_corrected_statements_are_recalled_when_needed(daemon: RunningDaemon) -> None:
    say(daemon, 5, *SAID)
    daemon.stop()
    daemon.start()
    say(daemon, 1, *CORRECTED)
    for text in RETAINED:
        body = {"text": text.format(datetime.now(UTC)), "sessionKey": KEY}
        daemon.client().call("POST", "/retain", body)
    daemon.client().sync()

    allergy = bundle_for(daemon, "is Maya allergic to anything?")
    # the line that says what changed repeats what still holds
    assert allergy.index("allergic to peanuts") < allergy.index("earlier")
    for question, place, was in (("wo wohnen wir?", "Köln", SAID[1]), ("我住在哪里？", "南京", SAID[2])):
        home = bundle_for(daemon, question)
        assert home.index(place) < home.index("earlier") < home.index(was.rstrip("."))

    agenda = bundle_for(daemon, "Was steht heute an?")
    assert "Zahnarzttermin" in agenda
    assert "Debian" not in agenda
    assert "Zahnarzttermin" in bundle_for(daemon, "wann muss Ida zum Zahnarzt?")
    assert "under the pot" in bundle_for(daemon, "where's the spare key?")
    assert bundle_for(daemon, "so what do you know about me?").partition("<recalled-memory>")[2].count("<note") >= 3
