"""Lines of a note that are for another agent are told to nobody else, by whatever route they could come."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from memoryd.client import Client
from tests.daemon import RunningDaemon

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
    listed = [{"id": name, "sockets": [{"path": str(home / "run" / f"{name}.sock")}]} for name in "ab"]
    defaults = {"workspace": str(workspace), "memorySearch": {"provider": "none"}}
    config = home / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults, "list": listed}}))
    with RunningDaemon(home, config, workspace) as running:
        running.client().sync()
        yield running


def agent(daemon: RunningDaemon, name: str) -> Client:
    return Client(daemon.home / "run" / f"{name}.sock")


def test_a_note_is_read_without_the_lines_of_others(daemon: RunningDaemon) -> None:
    with agent(daemon, "a") as a, agent(daemon, "b") as b:
        read = a.get(LOG, session_key="agent:a:main")
        assert read["text"].split("\n")[:3] == ["## Retain", "", "- W @Peter: The lantern is in the hall"]
        assert read["totalLines"] == 3
        assert CANARY in b.get(LOG, session_key="agent:b:main")["text"]
    assert CANARY in daemon.client().get(LOG, agent="a")["text"]


def test_a_citation_of_anothers_line_says_nothing(daemon: RunningDaemon) -> None:
    (memory,) = daemon.client().forget(CANARY, dry_run=True)["memories"]
    with agent(daemon, "a") as a, agent(daemon, "b") as b:
        marked = f"{LOG}#L2@{memory['id'][:8]}"
        assert b.verify(marked, session_key="agent:b:main")["state"] == "verified"
        told = a.verify(marked, session_key="agent:a:main")
        assert (told["state"], told["content"], told["now"]) == ("edited", None, None)


def _told(reply: Mapping[str, Any]) -> list[Any]:
    return [reply["results"], reply.get("leftOut"), reply.get("misses"), reply["explain"].get("misses")]


@pytest.mark.parametrize("word", LEAKS)
def test_no_answer_tells_anothers_lines(daemon: RunningDaemon, word: str) -> None:
    with agent(daemon, "a") as a:
        asked: dict[str, Any] = {"explain": True, "session_key": MAIN_KEY}
        found = [a.search(f"harbour {word}", **asked), a.recall(word, **asked), a.recall(f"harbour {word}", **asked)]
        bundled = a.recall(f"harbour {word} Mona", format="bundle", session_key=MAIN_KEY)
        note = a.get("memory/2025-11-28.md", session_key=MAIN_KEY)["text"]
    assert word not in "".join(json.dumps(_told(one)) for one in found)
    assert word not in str(bundled["bundle"])
    assert word not in note


@pytest.mark.parametrize("word", LEAKS)
def test_how_common_a_word_is_tells_nothing_of_anothers_lines(daemon: RunningDaemon, word: str) -> None:
    with agent(daemon, "a") as a:
        for ask in (a.search, a.recall):
            hidden: Any = ask(f"{word} harbour", explain=True, session_key=MAIN_KEY)
            unknown: Any = ask("nowherefound harbour", explain=True, session_key=MAIN_KEY)
            assert hidden["reason"] == unknown["reason"]
            told = [reply["explain"]["floors"]["weights"] for reply in (hidden, unknown)]
            assert [told[0][word], told[0]["harbour"]] == [told[1]["nowherefound"], told[1]["harbour"]]


def test_what_is_ones_own_is_told(daemon: RunningDaemon) -> None:
    with agent(daemon, "b") as b:
        assert "leakfour" in str(b.recall("leakfour", session_key="agent:b:main")["results"])
