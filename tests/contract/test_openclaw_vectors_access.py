"""OpenClaw's answers on scope, citations, reading and configuration, and memoryd's intended differences.

The facts and the reason of each difference are in `tests/data/openclaw/access.json`.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from memoryd.config.access import AccessSection
from memoryd.config.root import Config
from memoryd.domain.access import OWNER as OWNERS_SOCKET
from memoryd.domain.access import AccessRules, ChatType, decide, read_key
from memoryd.domain.documents import Citation, with_footer
from memoryd.errors import InvalidRequest, NotFound
from tests.daemon import RunningDaemon, indexed_daemon

FACTS = json.loads((Path(__file__).parents[1] / "data/openclaw/access.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """The workspace of the reading facts."""
    home = tmp_path_factory.mktemp("facts")
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (home / "extra").mkdir()
    (workspace / "MEMORY.md").write_text(FACTS["reads"]["document"])
    (workspace / "secret.md").write_text("secret\n")
    (workspace / "memory" / "a.txt").write_text("text\n")
    (workspace / "memory" / "link.md").symlink_to(workspace / "secret.md")
    (home / "extra" / "x.md").write_text("extra\n")
    (workspace / "memory" / "130.md").write_text("".join(f"l{number}\n" for number in range(1, 131)))
    (workspace / "memory" / "three.md").write_text("".join(f"{letter * 5000}\n" for letter in "abc"))
    (workspace / "memory" / "long.md").write_text("x" * 30_000)
    with indexed_daemon(home, workspace) as running:
        yield running


@pytest.mark.parametrize("fact", FACTS["keys"], ids=lambda fact: str(fact["key"]))
def test_channel_and_chat_type(fact: Mapping[str, Any]) -> None:
    key = read_key(fact["key"])
    assert (key.channel, key.chat_type) == (fact["channel"], fact["chatType"] and ChatType(fact["chatType"]))


@pytest.mark.parametrize("fact", FACTS["rules"]["asked"], ids=lambda fact: str(fact["key"]))
def test_first_matching_rule_wins(fact: Mapping[str, Any]) -> None:
    scope = AccessSection.model_validate(FACTS["rules"]["scope"])
    agents = {key.agent for asked in FACTS["rules"]["asked"] if (key := read_key(asked["key"])).agent}
    assert decide(AccessRules((scope.to_access(),)), OWNERS_SOCKET, fact["key"], agents).is_allowed == fact["allowed"]


@pytest.mark.parametrize("fact", FACTS["footers"], ids=lambda fact: str(fact["citation"]))
def test_footer(fact: Mapping[str, Any]) -> None:
    citation = Citation(fact["path"], fact["startLine"], fact["endLine"])
    text = with_footer(fact["snippet"], citation)
    assert str(citation) == fact["citation"]
    assert (text != fact["text"]) == ("difference" in fact)
    assert text.lstrip() == fact["text"]


@pytest.mark.parametrize("fact", FACTS["modes"], ids=lambda fact: str(fact["value"]))
def test_mode_of_citations(fact: Mapping[str, Any]) -> None:
    if "difference" in fact and fact["value"] is not None:
        with pytest.raises(ValueError):
            Config.model_validate({"memory": {"citations": fact["value"]}})
        return
    given = {} if fact["value"] is None else {"citations": fact["value"]}
    assert Config.model_validate({"memory": given}).memory.citation_mode == fact["mode"]


@pytest.mark.parametrize("number", range(len(FACTS["reads"]["calls"])))
def test_lines_of_a_document(daemon: RunningDaemon, number: int) -> None:
    fact = FACTS["reads"]["calls"][number]
    if fact["from"] is not None and fact["from"] < 1:
        assert "refused" in fact["difference"]
        with pytest.raises(InvalidRequest):
            daemon.client().get("MEMORY.md", start=fact["from"], lines=fact["lines"])
        return
    reply = daemon.client().get("MEMORY.md", start=fact["from"], lines=fact["lines"])
    assert reply["text"].rstrip("\n") == fact["text"].partition("\n\n[More content")[0]
    assert (reply["text"] == fact["text"]) == ("difference" not in fact)
    assert (reply["lines"], reply.get("nextFrom")) == (fact["counted"], fact["nextFrom"])


@pytest.mark.parametrize("fact", FACTS["refusals"], ids=lambda fact: str(fact["path"]) or "empty")
def test_path_that_may_not_be_read(daemon: RunningDaemon, fact: Mapping[str, str]) -> None:
    path = fact["path"].replace("<extra>", str(daemon.home / "extra"))
    with pytest.raises(NotFound if path else InvalidRequest):
        daemon.client().get(path)


def test_reply_is_120_lines_unless_asked(daemon: RunningDaemon) -> None:
    fact = FACTS["limits"][0]
    reply = daemon.client().get("memory/130.md")
    assert (reply["lines"], reply.get("nextFrom")) == (fact["lines"], fact["nextFrom"])
    assert reply["text"].endswith("l120\n")


def test_whole_lines_are_kept_within_the_size_of_a_reply(daemon: RunningDaemon) -> None:
    fact = FACTS["limits"][1]
    reply = daemon.client().get("memory/three.md")
    assert (reply["lines"], reply.get("nextFrom")) == (fact["lines"], fact["nextFrom"])
    assert reply["text"] == f"{'a' * 5000}\n{'b' * 5000}\n"
    assert reply["truncated"]


def test_rest_of_a_long_line_can_be_read(daemon: RunningDaemon) -> None:
    fact = FACTS["limits"][2]
    client, text, column = daemon.client(), "", 1
    for _ in range(3):
        reply = client.get("memory/long.md", column=column)
        assert (reply["lines"], reply.get("nextFrom")) == (fact["lines"], fact["nextFrom"])
        text += reply["text"]
        column = reply.get("nextColumn") or 0
    assert (text, column) == ("x" * 30_000, 0)


def _flat(value: object, prefix: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _flat(below, f"{prefix}.{key}" if prefix else key)
    else:
        yield prefix, value


def test_defaults_of_the_configuration() -> None:
    ours = dict(_flat(Config().agents.defaults.memory_search.model_dump(mode="json", by_alias=True)))
    renamed = {"fts.tokenizer": "store.fts.tokenizer", "vector.enabled": "store.vector.enabled"}
    theirs = {renamed.get(key, key): value for key, value in _flat(FACTS["config"]["expected"])}
    differing = {key for key, value in theirs.items() if ours[key] != value}
    assert differing == set(FACTS["config"]["differences"])


def test_agent_over_defaults() -> None:
    fact = FACTS["merged"]
    agents = {"defaults": {"memorySearch": fact["defaults"]}, "list": [{"id": "a", "memorySearch": fact["agent"]}]}
    merged = Config.model_validate({"agents": agents}).resolved_agents()[0].memory_search
    hybrid = merged.query.hybrid
    ours = {
        "sources": list(merged.sources),
        "extraPaths": list(merged.extra_paths),
        "weights": [hybrid.vector_weight, hybrid.text_weight],
    }
    assert {key for key, value in fact["expected"].items() if ours[key] != value} == set(fact["differences"])
