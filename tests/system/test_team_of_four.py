"""Four people with a daemon each, with a git repository and with a server, and with clocks that are a day off."""

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
"""People whose clocks are wrong, and by how many seconds."""
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
        self.stop_remote = away
        """Makes the remote unavailable."""
        self.daemons = {person: self._daemon(folder / person, person, remote(person)) for person in PEOPLE}

    def _daemon(self, home: Path, person: str, remote: str) -> RunningDaemon:
        workspace = home / "workspace"
        (workspace / "memory").mkdir(parents=True)
        of_team = {"remote": remote, "name": "acme", "person": person, "intervalMinutes": 0}
        config = write_config(home, workspace, None, team=of_team)
        off = CLOCKS.get(person)
        program = PROGRAM if off is None else ("-c", DAEMON.format(off=off))
        return RunningDaemon(home, config, workspace, program=program)

    def share(self, person: str, text: str) -> str:
        """Have a person retain and share a memory; return its id."""
        client = self.daemons[person].client()
        reply = client.retain(f"W @Office: {text}")
        assert client.promote_memory(reply["id"])["promoted"]
        return reply["id"]

    def exchange(self) -> None:
        """Have everyone send, and then receive what the others sent."""
        for _ in range(2):
            for daemon in self.daemons.values():
                client = daemon.client()
                reply = client.sync_team()
                assert (reply["offline"], reply["published"]["pending"]) == (None, 0), reply
                client.sync()

    def recalled(self, person: str, question: str) -> dict[str, str]:
        """Return what a person recalls, by its author."""
        reply = self.daemons[person].client().recall(question, k=10)
        assert reply["health"]["complete"], reply["health"]
        found = [(item.get("person") or person, item["content"], item["source"]) for item in reply["results"]]
        assert all(source.startswith(f"{who}:memory/") for who, _, source in found if who != person)
        assert len({(who, content) for who, content, _ in found}) == len(found), found
        return {who: content for who, content, _ in found}


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


def test_four_share_recall_revoke_and_forget(four: Four) -> None:
    shared = {person: four.share(person, f"The kiln was fired by {person}.") for person in PEOPLE}
    four.exchange()
    for person in PEOPLE:
        expected = {author: f"The kiln was fired by {author}." for author in PEOPLE}
        assert four.recalled(person, "who fired the kiln") == expected
    # dora is killed, ana revokes and ben forgets
    four.daemons["dora"].kill()
    four.daemons["ana"].client().revoke_memory(shared["ana"])
    four.daemons["ben"].client().forget(shared["ben"])
    four.daemons["dora"].start()
    four.exchange()
    for person in PEOPLE:
        authors = {who for who, content in four.recalled(person, "who fired the kiln").items() if "fired" in content}
        assert authors == {"carl", "dora"} | ({"ana"} if person == "ana" else set())


def test_contradiction_of_two_people_is_shown_with_both_names(four: Four) -> None:
    for person, text in PRINTERS.items():
        four.share(person, text)
    four.exchange()
    for person, text in PRINTERS.items():
        # one's own statement leads, whatever the other's clock says
        leads, *_ = four.daemons[person].client().recall("which printer is in the office")["results"]
        assert leads["content"] == text
    for person in PEOPLE:
        assert four.recalled(person, "which printer is in the office") == PRINTERS
        [pair] = four.daemons[person].client().disagreements()["disagreements"]
        assert {pair["older"]["text"], pair["newer"]["text"]} == set(PRINTERS.values())


@pytest.mark.torture
def test_answers_are_incomplete_while_the_remote_is_unavailable(four: Four) -> None:
    four.share("ana", "The boat lies at pier four.")
    four.exchange()
    four.stop_remote()
    for daemon in four.daemons.values():
        client = daemon.client()
        client.sync_team()

        def is_incomplete(client: Any = client) -> bool:
            answer = client.recall("where is the boat")
            assert [item["content"] for item in answer["results"]] == ["The boat lies at pier four."]
            return not answer["health"]["complete"]

        eventually(is_incomplete)
