"""An agent learns nothing of other scopes from pins, from pages that reflect wrote, or from names."""

import json
from collections.abc import Iterator

import pytest

from memoryd.client import Client
from memoryd.errors import Denied
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents, socket_of, with_socket
from tests.unit.domain.memories.test_scoped_items import HEADS, MEANT

LOG = "memory/2025-11-27.md"
KEY = "agent:b:main"
NOTE = """## Retain
- W(i=0.9) @Pia: The privatetango code is 4711
- W(i=0.9) @Pia: The harbour is frozen
- W(i=0.9,scope=agent:a) @MainSecret: lives in the attic
"""


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("others")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / LOG).write_text(NOTE)
    agents = (with_socket(home, name) for name in "ab")
    # waits long enough on a busy machine
    with daemon_of_agents(home, agents, workspace, search={"query": {"freshMs": 20_000}}) as running:
        running.client().sync()
        yield running


def agent(daemon: RunningDaemon, name: str = "b") -> Client:
    return Client(socket_of(daemon.home, name))


def test_agent_cannot_pin(daemon: RunningDaemon) -> None:
    """Pinned memories are in the stable block of every agent, like the core file."""
    before = (daemon.workspace / "memory").iterdir()
    names = sorted(path.name for path in before)
    with agent(daemon) as b:
        for text in ("W(pin) @Peter: obey", "W(pin,scope=agent:b): obey", "O(i=1, pin): obey"):
            with pytest.raises(Denied, match="owner"):
                b.retain(text, session_key=KEY)
        assert sorted(path.name for path in (daemon.workspace / "memory").iterdir()) == names
        assert b.retain("W(i=1) @Peter: sleeps late", session_key=KEY)["memories"]
    assert daemon.client().retain("W(pin) @Peter: is allergic to walnuts", agent="a")["memories"]


@pytest.mark.parametrize("change", [("i=0.9) @Pia: The private", "i=0.9,scope=agent:a) @Pia: The private"), (NOTE, "")])
def test_page_loses_lines_that_left_the_scope(daemon: RunningDaemon, change: tuple[str, str]) -> None:
    client = daemon.client()
    client.reflect(agent="a", since="9000d")
    client.sync()
    with agent(daemon) as b:
        for page in ("bank/entities/pia.md", "bank/world.md"):
            assert "privatetango" in b.get(page, session_key=KEY)["text"]
        (daemon.workspace / LOG).write_text(NOTE.replace(*change))
        client.sync()
        for page in ("bank/entities/pia.md", "bank/world.md"):
            text = b.get(page, session_key=KEY)["text"]
            assert "privatetango" not in text
            assert ("The harbour is frozen" in text) == bool(change[1])
            assert "privatetango" in client.get(page, agent="a")["text"]


def test_name_in_lines_of_others_is_like_an_unknown_one(daemon: RunningDaemon) -> None:
    with agent(daemon) as b:
        replies = []
        for name in ("MainSecret", "NoSuchName"):
            by_entity = b.recall("s", entity=name, session_key=KEY, touch=False)
            by_words = b.recall(f"{name} harbour", session_key=KEY, explain=True, touch=False)
            kept = [
                by_entity["reason"],
                by_words["verdict"],
                by_words["reason"],
                by_words["results"],
                by_words.get("leftOut"),
            ]
            replies.append(json.dumps(kept).lower().replace(name.lower(), "NAME"))
        assert replies[0] == replies[1]
        assert "harbour" in replies[0]
    assert daemon.client().recall("s", agent="a", entity="MainSecret")["results"]


def words(kind: str) -> list[str]:
    return [f"zanzibar{kind}{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(len(HEADS) + len(MEANT))]


def forms(kind: str) -> str:
    """Return every form of a scoped item for the agent `main`, each with its own word."""
    texts = (text.replace("leak", word) for text, word in zip([*HEADS, *MEANT], words(kind), strict=True))
    return "\n\nover\n\n".join(texts)


def test_no_form_of_a_scoped_item_reaches_others(daemon: RunningDaemon) -> None:
    """Outside Retain, inside it, and on a page of memories; the owner finds all of them."""
    client, page = daemon.client(), "bank/world.md"
    (daemon.workspace / "bank").mkdir()
    (daemon.workspace / page).write_text(f"# World\n\n{forms('page')}\n")
    (daemon.workspace / "memory" / "2025-11-28.md").write_text(
        f"# Friday\n\n{forms('plain')}\n\n## Retain\n\n{forms('kept')}\n\n- W @Mona: The lantern is lit\n"
    )
    client.sync()
    every = [*words("plain"), *words("kept"), *words("page")]
    with agent(daemon) as b:
        for word in every:
            searched = b.search(word, session_key=KEY, explain=True)
            recalled = b.recall(word, session_key=KEY, explain=True)
            shown = [searched["results"], recalled["results"], recalled.get("leftOut")]
            assert word not in json.dumps(shown), word
        assert b.recall("lantern lit", session_key=KEY)["results"]
    # the owner finds them all, also when asking for this agent
    for word in (words("plain")[0], words("kept")[1], words("page")[7], words("page")[12]):
        assert word in json.dumps(client.search(word, agent="a")["results"]), word
        assert word in json.dumps(client.recall(word, agent="a")["results"]), word


@pytest.mark.parametrize("route", ["search", "recall"])
def test_word_of_others_weighs_like_an_unknown_one(daemon: RunningDaemon, route: str) -> None:
    (daemon.workspace / "memory" / "2025-11-28.md").write_text(
        f"# Friday\n\n{forms('plain')}\n\n## Retain\n\n{forms('kept')}\n\n- W @Mona: The lantern is lit\n"
    )
    daemon.client().sync()
    replies = []
    with agent(daemon) as b:
        for word in ("zanzibarnowhere", words("plain")[0], words("kept")[3], words("kept")[-1]):
            # a recalled memory weighs more the next time
            more = {"touch": False} if route == "recall" else {}
            found = dict(getattr(b, route)(f"{word} lantern", session_key=KEY, explain=True, **more))
            found.pop("tookMs")
            replies.append(json.dumps(found).replace(word, "WORD"))
    assert "lantern" in replies[0]
    assert replies == [replies[0]] * len(replies)
