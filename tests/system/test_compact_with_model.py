"""`/compact` with a text model stores its prose; without usable prose it stores sentences of the conversation."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.contract.chat_server import ChatServer
from tests.contract.embedding_server import Asked, Reply
from tests.contract.served_chat import served
from tests.daemon import RunningDaemon, write_config, write_workspace

SAID = ("Which varnish does the boat need?", "We decided to use linseed oil.", "My phone number is +43 660 1234567.")
EXTRACT = "Asked: Which varnish does the boat need? Decided: We decided to use linseed oil."
PROSE = "The boat is to be varnished with linseed oil."


@dataclass(frozen=True)
class Compacting:
    daemon: RunningDaemon
    server: ChatServer

    def compact(self, name: str) -> str:
        """Hold a conversation, and return the text of its `/compact`."""
        client, key = self.daemon.client(), f"agent:main:chat:direct:{name}"
        for text in SAID:
            client.turn(text, session_key=key)
        command = client.turn("/compact", session_key=key)["command"]
        assert command is not None
        return str(command["text"])

    def lines(self, name: str) -> list[str]:
        texts = [path.read_text() for path in (self.daemon.workspace / "memory").glob("2*.md")]
        lines = [line for text in texts for line in text.splitlines()]
        return [line for line in lines if line.startswith("- summary(") and f"tags=session:chat-{name}" in line]


@pytest.fixture(scope="module")
def compacting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compacting]:
    home = tmp_path_factory.mktemp("compact")
    workspace = write_workspace(home / "workspace")
    with served(ChatServer()) as server:
        llm = {"provider": "openai", "model": "m-1", "baseUrl": server.url}
        # requests of capture to the same server would come between
        config = write_config(home, workspace, None, memory={"llm": llm, "capture": {"enabled": False}})
        config.chmod(0o600)
        with RunningDaemon(home, config, workspace) as running:
            running.client().sync()
            yield Compacting(running, server)


def saying(server: ChatServer, *texts: str, cites: str = "00000001") -> None:
    answer = json.dumps({"sentences": [{"text": text, "cites": [cites]} for text in texts]})
    server.behaviour = lambda _asked: server.said(answer)


def test_prose_is_stored_under_the_name_of_its_model(compacting: Compacting) -> None:
    saying(compacting.server, PROSE)
    text = compacting.compact("prose")
    assert text.startswith("Summed up: ")
    assert text.endswith(PROSE)
    (line,) = compacting.lines("prose")
    assert line.endswith(f": {PROSE}")
    assert f"model:openai/m-1@127.0.0.1:{compacting.server.port}" in line
    assert "1234567" not in json.dumps([asked.body for asked in compacting.server.asked])


def fails(_asked: Asked) -> Reply:
    return Reply(500, {"error": {"message": "no"}})


@pytest.mark.parametrize("name", ["nonsense", "stranger", "long"])
def test_unusable_prose_is_reported_and_sentences_are_stored(compacting: Compacting, name: str) -> None:
    server = compacting.server
    if name == "nonsense":
        server.behaviour = lambda _asked: server.said("no JSON at all")
    elif name == "stranger":
        saying(server, PROSE, cites="0000abcd")
    else:
        saying(
            server, *(f"{number} boats {PROSE} {'Oil and oil again. ' * 12}" for number in ("No", "Few", "Many", "All"))
        )
    text = compacting.compact(name)
    assert "the text model gave no summary that can be used" in text
    (line,) = compacting.lines(name)
    assert line.endswith(f": {EXTRACT}")
    assert "model:" not in line


def test_failing_model_costs_only_its_prose(compacting: Compacting) -> None:
    compacting.server.behaviour = fails
    text = compacting.compact("fails")
    assert EXTRACT in text
    assert "the text model gave no summary that can be used" in text


def test_stored_and_forgotten_statements_are_not_summarized(compacting: Compacting) -> None:
    compacting.server.behaviour = fails
    client, key = compacting.daemon.client(), "agent:main:chat:direct:known"
    client.turn("/remember We decided to paint the oars green.", session_key=key)
    gone = client.turn("/remember We agreed to sell the anchor.", session_key=key)["command"]
    assert gone is not None
    client.sync()
    client.forget(gone["memories"][0])
    for message in (
        "Which colour do the oars get?",
        "We decided to paint the oars green.",
        "We agreed to sell the anchor!",
    ):
        client.turn(message, session_key=key)
    command = client.turn("/compact", session_key=key)["command"]
    assert command is not None
    assert "Asked: Which colour do the oars get?" in command["text"]
    assert "green" not in command["text"]
    assert "anchor" not in command["text"]
