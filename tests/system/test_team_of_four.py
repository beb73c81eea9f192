"""Four people with a daemon each, by a git repository and by a server, and clocks that are a day off."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.daemon import PROGRAM, RunningDaemon, write_config
from tests.postgres import Postgres, server_team
from tests.teams import bare_repository, team
from tests.waiting import eventually

PEOPLE = "ana", "ben", "carl", "dora"
CLOCKS = {"ben": 86_400, "carl": -86_400}
"""Whose clock is wrong, and by how many seconds."""
DAEMON = """
import time, time_machine
time_machine.travel(time.time() + {off}).start()
from memoryd.daemon.main import main
main()
"""
PRINTERS = {"ana": "The office printer is a Brother.", "ben": "The office printer is an HP."}


class Four:
    """Ana, ben, carl and dora in team acme."""

    def __init__(self, folder: Path, remote: Callable[[str], str], away: Callable[[], object]) -> None:
        self.away = away
        """Has what carries their notes go away."""
        self.daemons = {one: self._daemon(folder / one, one, remote(one)) for one in PEOPLE}

    def _daemon(self, home: Path, person: str, remote: str) -> RunningDaemon:
        workspace = home / "workspace"
        (workspace / "memory").mkdir(parents=True)
        of_team = {"remote": remote, "name": "acme", "person": person, "intervalMinutes": 0}
        config = write_config(home, workspace, None, team=of_team)
        off = CLOCKS.get(person)
        program = PROGRAM if off is None else ("-c", DAEMON.format(off=off))
        return RunningDaemon(home, config, workspace, program=program)

    def share(self, person: str, text: str) -> str:
        """Have a person retain a memory and share it; return its id."""
        client = self.daemons[person].client()
        reply = client.retain(f"W @Office: {text}")
        assert client.promote_memory(reply["id"])["promoted"]
        return reply["id"]

    def exchange(self) -> None:
        """Have all of them send, then all of them see what the others sent."""
        for _ in range(2):
            for daemon in self.daemons.values():
                client = daemon.client()
                reply = client.sync_team()
                assert (reply["offline"], reply["published"]["pending"]) == (None, 0), reply
                client.sync()

    def recalled(self, person: str, question: str) -> dict[str, str]:
        """Return what a person recalls, by who said it."""
        reply = self.daemons[person].client().recall(question, k=10)
        assert reply["health"]["complete"], reply["health"]
        told = [(one.get("person") or person, one["content"], one["source"]) for one in reply["results"]]
        assert all(source.startswith(f"{who}:memory/") for who, _, source in told if who != person)
        assert len({(who, content) for who, content, _ in told}) == len(told), told
        return {who: content for who, content, _ in told}


@pytest.fixture(params=["git", pytest.param("server", marks=pytest.mark.torture)])
def four(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Four]:
    with ExitStack() as stack:
        if request.param == "server":
            server = Postgres()
            stack.callback(server.stop)
            asyncio.run(server_team(server, tmp_path / "begun", *PEOPLE, name="acme"))
            four = Four(tmp_path, server.remote, server.kill)
        else:
            asyncio.run(team(tmp_path / "begun", *PEOPLE))
            bare = bare_repository(tmp_path / "begun")
            four = Four(tmp_path, lambda _: str(bare), lambda: bare.rename(tmp_path / "away.git"))
            for person, daemon in four.daemons.items():
                at = daemon.state / "teams"
                at.mkdir(parents=True)
                (tmp_path / "begun" / person).rename(at / "acme")
        for daemon in four.daemons.values():
            stack.enter_context(daemon)
        yield four


def test_four_share_recall_take_back_and_forget(four: Four) -> None:
    said = {person: four.share(person, f"The kiln was fired by {person}.") for person in PEOPLE}
    four.exchange()
    for person in PEOPLE:
        assert four.recalled(person, "who fired the kiln") == {one: f"The kiln was fired by {one}." for one in PEOPLE}
    # one is killed, the next takes back, another one forgets: it is gone from each
    four.daemons["dora"].kill()
    four.daemons["ana"].client().revoke_memory(said["ana"])
    four.daemons["ben"].client().forget(said["ben"])
    four.daemons["dora"].start()
    four.exchange()
    for person in PEOPLE:
        told = {who for who, content in four.recalled(person, "who fired the kiln").items() if "fired" in content}
        assert told == {"carl", "dora"} | ({"ana"} if person == "ana" else set())


def test_what_two_say_against_each_other_is_told_by_both_names(four: Four) -> None:
    for person, text in PRINTERS.items():
        four.share(person, text)
    four.exchange()
    for person, text in PRINTERS.items():
        # one's own stands, whatever the clock of the other one says
        leads, *_ = four.daemons[person].client().recall("which printer is in the office")["results"]
        assert leads["content"] == text
    for person in PEOPLE:
        assert four.recalled(person, "which printer is in the office") == PRINTERS
        [pair] = four.daemons[person].client().disagreements()["disagreements"]
        assert {pair["older"]["text"], pair["newer"]["text"]} == set(PRINTERS.values())


@pytest.mark.torture
def test_nobody_takes_an_answer_for_whole_while_what_carries_is_away(four: Four) -> None:
    four.share("ana", "The boat lies at pier four.")
    four.exchange()
    four.away()
    for daemon in four.daemons.values():
        client = daemon.client()
        client.sync_team()

        def is_incomplete(client: Any = client) -> bool:
            answer = client.recall("where is the boat")
            assert [one["content"] for one in answer["results"]] == ["The boat lies at pier four."]
            return not answer["health"]["complete"]

        eventually(is_incomplete)
