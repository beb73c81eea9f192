"""Lines of a note that are scoped to one agent reach no other agent by any route."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon
from tests.system.agents import daemon_of_agents, socket_of, with_socket

LOG = "memory/2025-11-27.md"
CANARY = "zanzibarcanary"
DOUBTFUL = """# Friday

A public word about the harbour.

## Retain
- W(scope=agent:b) @Mona leakone no colon
- W(scope=agent:b, c=7) @Mona: leaktwo
- X(scope=agent:b) @Mona: leakthree
- W(scope=agent:b) @Mona: leakfour
leakfive

  leaksix
- W @Mona: The harbour is frozen
"""
LEAKS = ("leakone", "leaktwo", "leakthree", "leakfour", "leakfive", "leaksix", CANARY)
MAIN_KEY = "agent:a:main"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("scoped")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / LOG).write_text(
        f"## Retain\n- W(scope=agent:b) @Peter: The {CANARY} is in the cellar\n- W @Peter: The lantern is in the hall\n"
    )
    (workspace / "memory" / "2025-11-28.md").write_text(DOUBTFUL)
    with daemon_of_agents(home, (with_socket(home, name) for name in "ab"), workspace) as running:
        running.client().sync()
        yield running


def agent(daemon: RunningDaemon, name: str) -> Client:
    return Client(socket_of(daemon.home, name))


def test_note_is_read_without_lines_of_others(daemon: RunningDaemon) -> None:
    with agent(daemon, "a") as a, agent(daemon, "b") as b:
        read = a.get(LOG, session_key="agent:a:main")
        assert read["text"].split("\n")[:3] == ["## Retain", "", "- W @Peter: The lantern is in the hall"]
        assert read["totalLines"] == 3
        assert CANARY in b.get(LOG, session_key="agent:b:main")["text"]
    assert CANARY in daemon.client().get(LOG, agent="a")["text"]


def test_citation_of_anothers_line_reveals_nothing(daemon: RunningDaemon) -> None:
    (memory,) = daemon.client().forget(CANARY, dry_run=True)["memories"]
    with agent(daemon, "a") as a, agent(daemon, "b") as b:
        marked = f"{LOG}#L2@{memory['id'][:8]}"
        assert b.verify(marked, session_key="agent:b:main")["state"] == "verified"
        reply = a.verify(marked, session_key="agent:a:main")
        assert (reply["state"], reply["content"], reply["now"]) == ("edited", None, None)


def _shown(reply: Mapping[str, Any]) -> list[Any]:
    return [reply["results"], reply.get("leftOut"), reply.get("misses"), reply["explain"].get("misses")]


@pytest.mark.parametrize("word", LEAKS)
def test_no_answer_has_lines_of_others(daemon: RunningDaemon, word: str) -> None:
    with agent(daemon, "a") as a:
        options: dict[str, Any] = {"explain": True, "session_key": MAIN_KEY}
        found = [
            a.search(f"harbour {word}", **options),
            a.recall(word, **options),
            a.recall(f"harbour {word}", **options),
        ]
        bundled = a.recall(f"harbour {word} Mona", format="bundle", session_key=MAIN_KEY)
        note = a.get("memory/2025-11-28.md", session_key=MAIN_KEY)["text"]
    assert word not in "".join(json.dumps(_shown(reply)) for reply in found)
    assert word not in str(bundled["bundle"])
    assert word not in note


@pytest.mark.parametrize("word", LEAKS)
def test_weights_of_words_reveal_no_lines_of_others(daemon: RunningDaemon, word: str) -> None:
    with agent(daemon, "a") as a:
        for ask in (a.search, a.recall):
            hidden: Any = ask(f"{word} harbour", explain=True, session_key=MAIN_KEY)
            unknown: Any = ask("nowherefound harbour", explain=True, session_key=MAIN_KEY)
            assert hidden["reason"] == unknown["reason"]
            weights = [reply["explain"]["floors"]["weights"] for reply in (hidden, unknown)]
            assert [weights[0][word], weights[0]["harbour"]] == [weights[1]["nowherefound"], weights[1]["harbour"]]


def test_own_lines_are_recalled(daemon: RunningDaemon) -> None:
    with agent(daemon, "b") as b:
        assert "leakfour" in str(b.recall("leakfour", session_key="agent:b:main")["results"])
