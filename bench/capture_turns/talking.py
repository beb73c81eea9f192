"""A labelled conversation, told to the real daemon message by message, and what it keeps of each."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.capture_turns.scoring import SETS, CaptureScore, KeptMemory, LabelledTurn, score, turns_in
from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

_LINE: Final = re.compile(r"^- (?P<kind>\w+)(?:\([^)]*\))?(?: @[^:]*)?: (?P<text>.*)$", re.MULTILINE)

Hears = Callable[[LabelledTurn], None]


@contextmanager
def listening(home: Path, **memory: object) -> Iterator[RunningDaemon]:
    """Run a daemon with an agent for each conversation, all with workspaces of their own."""
    agents: list[dict[str, object]] = []
    for name in SETS:
        (home / name / "memory").mkdir(parents=True)
        agents.append({"id": name, "workspace": str(home / name)})
    first = home / next(iter(SETS))
    config = write_config(home, first, None, memory={"timezone": "UTC", **memory})
    given = json.loads(config.read_text())
    given["agents"]["list"] = agents
    config.write_text(json.dumps(given))
    # a file that names an endpoint may hold a key
    config.chmod(0o600)
    with RunningDaemon(home, config, first) as running:
        running.client().sync()
        yield running


def measured_by(running: RunningDaemon, hears: Hears = lambda _turn: None) -> dict[str, CaptureScore]:
    """Tell all conversations, and return the counts of each; `hears` is called with each turn before it is told."""
    client = running.client()
    scores = {}
    for name, path in SETS.items():
        workspace = running.home / name
        kept = []
        for turn in turns_in(path):
            before = kept_memories(workspace)
            hears(turn)
            say(client, name, turn["user"])
            kept.append((turn, kept_memories(workspace)[len(before) :]))
            if turn["assistant"]:
                client.turn(turn["assistant"], role="assistant", session_key=key_of(name))
        scores[name] = score(kept)
    return scores


def say(client: Client, agent: str, text: str) -> str:
    """Say something to an agent, wait until capture has settled, and return the bundle that came for it."""
    bundle = client.turn(text, session_key=key_of(agent))["bundle"]
    eventually(lambda: not pending_captures(client, agent))
    return str(bundle or "")


def key_of(agent: str) -> str:
    """Return the session that its owner has with an agent."""
    return f"agent:{agent}:chat:direct:owner"


def pending_captures(client: Client, agent: str) -> int:
    """Return how many messages to an agent are still to be looked at."""
    return next(one["pendingCaptures"] for one in client.status()["agents"] if one["id"] == agent)


def kept_memories(workspace: Path) -> list[KeptMemory]:
    """Return the memories in the logs of a workspace, in the order in which they were written on a day."""
    logs = sorted((workspace / "memory").glob("2*.md"))
    lines = (found for log in logs for found in _LINE.finditer(log.read_text("utf-8")))
    return [KeptMemory(found["kind"], found["text"]) for found in lines]
