"""How a set is played: first statements in the logs of former days, then what corrects them, then the questions."""

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config_of
from tests.waiting import eventually

SETS: Final = Path(__file__).parent / "sets"
PLACES: Final = 5
"""Of an answer that are looked at."""
_HEAD: Final = re.compile(r"^\w+(?:\([^)]*\))?(?: @\S+)*: ")
Scenario = Mapping[str, Any]


class Played(Struct):
    """A scenario and what became of it."""

    id: str
    form: str
    lang: str
    is_correction: bool
    is_captured: bool
    """Whether a new memory holds what was said later."""
    is_good: bool
    """Whether what holds is told first and nothing outdated unmarked; of facts that both hold, whether both are."""
    is_harm: bool
    """Whether something outdated is told as if it held, and nothing right above it."""
    told: list[str]


def played(root: Path, model: Path | None = None) -> list[Played]:
    """Play a set, each person with a workspace of their own, and return what became of each scenario."""
    scenarios = [json.loads(line) for line in (root / "scenarios.jsonl").read_text(encoding="utf-8").splitlines()]
    background = [json.loads(line) for line in (root / "background.jsonl").read_text(encoding="utf-8").splitlines()]
    persons = list(dict.fromkeys(one["person"] for one in scenarios))
    agents = {person: f"person-{number}" for number, person in enumerate(persons)}
    with tempfile.TemporaryDirectory(prefix="corrections-") as folder:
        home = Path(folder)
        for person, agent in agents.items():
            of = [one for one in background if one["person"] == person]
            of += [
                first for one in scenarios if one["person"] == person for first in one["first"] if _is_written(first)
            ]
            _write_logs(home / "ws" / agent / "memory", of)
        named = list(agents.values())
        config = write_config_of(named, home, home / "ws", model)
        with RunningDaemon(home, config, home) as running:
            client = running.client(timeout=600)
            _settle(client)
            said = [(first, one) for one in scenarios for first in one["first"] if not _is_written(first)]
            for first, one in sorted(said, key=lambda pair: pair[0]["day"]):
                _state(client, agents[one["person"]], f"{one['id']}-first", first)
            _settle(client)
            before = {agent: _memories(client, agent) for agent in agents.values()}
            for one in scenarios:
                _state_later(client, agents[one["person"]], one)
            _settle(client)
            fresh = {agent: _memories(client, agent) - before[agent] for agent in agents.values()}
            return [_judged(client, agents[one["person"]], one, fresh[agents[one["person"]]]) for one in scenarios]


def _is_written(first: Mapping[str, Any]) -> bool:
    return bool(first["by"] == "retain" and first["day"] < 0)


def _day(offset: int) -> date:
    return datetime.now(UTC).date() + timedelta(days=offset)


def _write_logs(folder: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    folder.mkdir(parents=True)
    logs: dict[int, list[str]] = defaultdict(list)
    for line in lines:
        logs[line["day"]].append(f"- {line['text']}\n")
    for offset, texts in logs.items():
        log = folder / f"{_day(offset)}.md"
        log.write_text(f"# {_day(offset)}\n\n## Retain\n\n{''.join(texts)}", encoding="utf-8")


def _settle(client: Client) -> None:
    eventually(lambda: not any(one["pendingCaptures"] for one in client.status()["agents"]))
    client.sync(wait="embedded", timeout_ms=600_000)


def _memories(client: Client, agent: str) -> set[str]:
    return {str(one["text"]) for one in client.memories(agent=agent, limit=1000)["memories"]}


def _state(client: Client, agent: str, session: str, said: Mapping[str, Any]) -> None:
    key = f"agent:{agent}:chat:direct:{session}"
    if said["by"] == "retain":
        client.retain(said["text"], agent=agent, session_key=key)
        return
    at = f"{_day(said['day'])}T10:00:00Z" if said["day"] < 0 else None
    client.turn(said["text"], session_key=key, at=at)
    client.turn("Okay.", role="assistant", session_key=key, at=at)


def _state_later(client: Client, agent: str, one: Scenario) -> None:
    session = f"{one['id']}-then"
    if one["heard"]:
        key = f"agent:{agent}:chat:direct:{session}"
        client.turn(one["questions"][0]["question"], session_key=key)
        client.turn(one["heard"], role="assistant", session_key=key)
    _state(client, agent, session, one["then"])


def _judged(client: Client, agent: str, one: Scenario, fresh: set[str]) -> Played:
    asked = one["questions"][0]
    reply = client.recall(asked["question"], agent=agent, k=PLACES, touch=False)
    items = [item for item in reply["results"] if item["is"] != "entity"]
    holding = [item for item in items if not item.get("supersededBy")]
    texts = [str(item["content"]) for item in holding]
    right = [at for at, text in enumerate(texts) if _has_one(text, asked["want"])]
    stale = [at for at, text in enumerate(texts) if asked["stale"] and _is_stale(text, asked)]
    both = all(any(_has_one(text, [want]) for text in texts) for want in asked["want"])
    stated = _HEAD.sub("", one["then"]["text"])
    return Played(
        id=one["id"],
        form=one["form"],
        lang=one["lang"],
        is_correction=one["correction"],
        is_captured=any(_has_one(text, asked["want"]) or text.rstrip(".。") in stated for text in fresh),
        is_good=right[:1] == [0] and not stale if one["correction"] else both,
        is_harm=bool(one["correction"] and stale and (not right or stale[0] < right[0])),
        told=[("* " if item.get("supersededBy") else "") + str(item["content"]) for item in items],
    )


def _has_one(text: str, wanted: Sequence[str]) -> bool:
    return any(one.lower() in text.lower() for one in wanted)


def _is_stale(text: str, asked: Mapping[str, Any]) -> bool:
    return _has_one(text, [asked["stale"]]) and not _has_one(text, asked["want"])
