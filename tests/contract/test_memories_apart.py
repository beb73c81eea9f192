"""Memories of three agents on two workspaces: each learns what is within its reach, by whatever route, and no more.

Every line has a word that stands nowhere else, so that nothing foreign can be told unseen, and every count is known.
"""

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.daemon import RunningDaemon
from tests.loopback import free_port
from tests.mcp_program import driven
from tests.sweeps import whole_or
from tests.waiting import SECONDS

SHARED = {
    "zinnober": "",
    "kupferkabel": "global",
    "messingtopf": "agent:a",
    "ultramarin": "agent:a:cron",
    "perlmutt": "agent:b",
    "bernstein": "agent:b:cron",
    "schellack": "agent:",
    "safran": "agent:c",
}
"""The word of each line on the workspace of `a` and `b`, and its scope."""
OWN = {"elfenbein": "", "karmesin": "agent:c", "obsidian": "agent:a"}
"""Of each line on the workspace of `c`; `a` is none of its agents."""
MARKERS = (*SHARED, *OWN)
KEYS = {"main": "agent:{}:main", "cron": "agent:{}:cron:daily"}
REACH = {
    ("a", "main"): {"zinnober", "kupferkabel", "messingtopf"},
    ("a", "cron"): {"zinnober", "kupferkabel", "messingtopf", "ultramarin"},
    ("b", "main"): {"zinnober", "kupferkabel", "perlmutt"},
    ("b", "cron"): {"zinnober", "kupferkabel", "perlmutt", "bernstein"},
    ("c", "main"): {"elfenbein", "karmesin"},
    ("c", "cron"): {"elfenbein", "karmesin"},
    ("a", "owner"): {"zinnober", "kupferkabel", "messingtopf", "ultramarin"},
    ("b", "owner"): {"zinnober", "kupferkabel", "perlmutt", "bernstein"},
    ("c", "owner"): {"elfenbein", "karmesin"},
}
"""What each may learn, as an agent in a session of this kind, or as the owner who asks for it."""
OWN_SCOPES = {"a": ("agent:a", "agent:a:cron"), "b": ("agent:b", "agent:b:cron"), "c": ("", "agent:c")}
SCOPES = ["", "workspace", "global", "agent:a", "agent:a:cron", "agent:b", "agent:b:cron", "agent:c", "agent:nobody"]
WHO = st.sampled_from(sorted(REACH))
QUERIES = st.lists(st.sampled_from([*MARKERS, "lantern", "hangs", "beside", "door"]), min_size=1, max_size=3)


def noted(words: dict[str, str]) -> str:
    """Return a log with a line for each word; in all of them the lantern hangs beside a door."""
    lines = [
        f"- W(i=0.9{f', scope={scope}' if scope else ''}) @{word.title()}: The {word} lantern hangs beside a door"
        for word, scope in words.items()
    ]
    return "\n".join(["# Wednesday", "", "## Retain", *lines, ""])


def started(home: Path, **memory: object) -> RunningDaemon:
    for name, words in (("shared", SHARED), ("own", OWN)):
        folder = home / name / "memory"
        folder.mkdir(parents=True)
        (folder / "2026-11-18.md").write_text(noted(words))
    listed = [
        {
            "id": agent,
            "workspace": str(home / ("own" if agent == "c" else "shared")),
            "sockets": [{"path": str(home / "run" / f"{agent}.sock")}],
        }
        for agent in "abc"
    ]
    config = home / "config.json5"
    agents = {"defaults": {"memorySearch": {"provider": "none"}}, "list": listed}
    http = {"enabled": True, "port": free_port()}
    config.write_text(json.dumps({"agents": agents, "memory": memory, "http": http}))
    config.chmod(0o600)
    return RunningDaemon(home, config, home / "shared")


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with started(tmp_path_factory.mktemp("apart"), capture={"enabled": False}) as running:
        running.client().sync()
        yield running


class Asker:
    """Asks as an agent on its own socket, in a session of a kind, or as the owner for it."""

    def __init__(self, daemon: RunningDaemon, agent: str, kind: str) -> None:
        is_owner = kind == "owner"
        path = daemon.socket if is_owner else daemon.home / "run" / f"{agent}.sock"
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(path), verify=False), base_url="http://memoryd", timeout=SECONDS
        )
        self._who = {"agent": agent} if is_owner else {"sessionKey": KEYS[kind].format(agent)}

    def __enter__(self) -> "Asker":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, **asked: str | int) -> httpx.Response:
        return self._http.get(f"/v1/{path}", params={**self._who, **asked})

    def post(self, path: str, **asked: object) -> httpx.Response:
        return self._http.post(f"/v1/{path}", json={**self._who, **asked})

    def delete(self, path: str) -> httpx.Response:
        return self._http.delete(f"/v1/{path}", params=self._who)


def ids_of(daemon: RunningDaemon) -> dict[str, str]:
    """Return the id of the line of each word that the owner may be told of."""
    found: dict[str, str] = {}
    for agent in "abc":
        for one in daemon.client().memories(agent=agent)["memories"]:
            word = next(word for word in MARKERS if word in one["text"])
            found[word] = one["id"]
    return found


def told(reply: httpx.Response) -> set[str]:
    """Return the words that a reply tells; what only repeats the question is none of it."""
    body: Any = reply.json()
    for part in ("reason", "explain", "sequence", "context"):
        body.pop(part, None)
    return {word for word in MARKERS if word in json.dumps(body).lower()}


def of_scope(who: tuple[str, str], scope: str) -> set[str]:
    """Return the words within reach whose lines are of a scope, as it is told or written."""
    words = OWN if who[0] == "c" else SHARED
    wanted = {
        word
        for word, own in words.items()
        if scope in ("", own) or (not own and (scope == "workspace" or (who[0] == "c" and scope == "agent:c")))
    }
    return wanted & REACH[who]


@settings(max_examples=whole_or(15, 120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=WHO, query=QUERIES, scope=st.sampled_from(SCOPES))
def test_f145_no_word_beyond_reach_is_told_or_counted(
    apart: RunningDaemon, who: tuple[str, str], query: list[str], scope: str
) -> None:
    """List, search, recall, stats and decay tell each asker its own, and their counts are those of its own."""
    with Asker(apart, *who) as asker:
        within = of_scope(who, scope)
        listed = asker.get("memories", scope=scope, limit=1)
        assert listed.json()["total"] == len(within)
        assert told(asker.get("memories", scope=scope)) == within
        words = asker.get("memories", scope=scope, query=" ".join(query)).json()
        asked = {word for word in query if word in MARKERS}
        plain = {word for word in within if asked <= {word}}
        assert words["total"] == len(plain)
        searched = asker.post("memories/search", query=" ".join(query), top_k=50, scope=scope or None)
        assert told(searched) <= within
        if "lantern" in query:
            assert told(searched) == within
        recalled = asker.post("recall", query=" ".join(query), k=50, explain=True, format="bundle", scope=scope or None)
        assert told(recalled) <= within
        stats = asker.get("memories/stats").json()
        assert (stats["total"], sum(stats["by_scope"].values())) == (len(REACH[who]),) * 2
        decay = asker.get("memories/decay", **{"in": "5y"})
        assert decay.json()["total"] == len(REACH[who])
        # what loses nothing is left out
        assert told(decay) <= REACH[who]


@settings(max_examples=whole_or(10, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=WHO.filter(lambda who: who[1] != "owner"), query=st.sampled_from(["lantern door", "what hangs", "hi"]))
def test_f145_turn_tells_no_word_beyond_reach(apart: RunningDaemon, who: tuple[str, str], query: str) -> None:
    """The reply to a message holds what is within reach of its session; nothing of others is in its bundle."""
    with Asker(apart, *who) as asker:
        reply = asker.post("turns", role="user", text=query, k=12)
        assert reply.is_success
        assert told(reply) <= REACH[who]


@pytest.mark.parametrize("who", sorted(REACH))
def test_f145_id_beyond_reach_answers_like_one_that_there_is_not(apart: RunningDaemon, who: tuple[str, str]) -> None:
    """By no call that takes an id can a memory of others be told from none at all; nothing is written."""
    ids = ids_of(apart)
    foreign = sorted(ids.keys() - REACH[who])
    assert foreign
    before = {path: path.read_bytes() for path in apart.home.rglob("2026-11-18.md")}
    with Asker(apart, *who) as asker:
        for word in REACH[who]:
            assert told(asker.get(f"memories/{ids[word]}")) == {word}
            assert told(asker.get(f"memories/{ids[word][:8]}/why")) == {word}
        nobody = "00000000-0000-5000-8000-000000000000"
        wanted = answers(asker, nobody)
        assert {status for status, _ in wanted} == {HTTPStatus.NOT_FOUND}
        for word in foreign:
            assert answers(asker, ids[word]) == wanted
            assert answers(asker, ids[word][:8]) == wanted
    assert {path: path.read_bytes() for path in before} == before


def answers(asker: Asker, name: str) -> list[tuple[int, str]]:
    """Return what each call that takes an id answers, without the id."""
    path = f"memories/{quote(name)}"
    replies = [
        asker.get(path),
        asker.get(f"{path}/why"),
        asker.post(f"{path}/pin"),
        asker.post(f"{path}/unpin"),
        asker.post(f"{path}/importance", importance=0.2),
        asker.delete(path),
    ]
    return [(reply.status_code, reply.text.replace(name, "ID")) for reply in replies]


@pytest.mark.parametrize("who", [who for who in sorted(REACH) if who[1] != "owner"])
def test_session_changes_only_what_is_its_agents_own(apart: RunningDaemon, who: tuple[str, str]) -> None:
    """What others rely on is denied to it, though it may read it; what is its own it weighs, not into the core."""
    ids, words = ids_of(apart), OWN if who[0] == "c" else SHARED
    with Asker(apart, *who) as asker:
        for word in REACH[who]:
            path, is_own = f"memories/{ids[word]}", words[word] in OWN_SCOPES[who[0]]
            log = next(one for one in apart.home.rglob("2026-11-18.md") if word in one.read_text())
            before = log.read_bytes()
            replies = [
                asker.post(f"{path}/importance", importance=0.5),
                asker.post(f"{path}/importance", importance=0.9),
            ]
            assert [reply.is_success for reply in replies] == [is_own] * 2, word
            refused = [asker.post(f"{path}/{verb}") for verb in ("pin", "unpin")]
            refused.append(asker.post(f"{path}/importance", importance=0.95))
            assert {reply.json()["error"]["code"] for reply in refused} == {"denied"}
            assert log.read_bytes() == before
            if not is_own:
                replies.append(asker.delete(path))
                assert {reply.json()["error"]["code"] for reply in replies} == {"denied"}
                assert log.read_bytes() == before


def test_session_adds_for_itself_alone(tmp_path: Path) -> None:
    """Without a scope a memory is the agent's own where others share the workspace; it is for nobody else."""
    with started(tmp_path) as running:
        running.client().sync()
        for scope in ("workspace", "global", "agent:b", "agent:b:cron", "agent:a:cron", "agent:a:telegram:direct:8"):
            with Asker(running, "a", "main") as asker:
                for path in ("memories", "retain"):
                    reply = asker.post(path, text="W: The teapot is cracked.", scope=scope)
                    assert reply.json()["error"]["code"] in ("denied", "invalid_request"), (path, scope)
        assert "teapot" not in "".join(path.read_text() for path in tmp_path.rglob("memory/*.md"))
        for agent, kind, scope in (("a", "main", "agent:a"), ("a", "cron", "agent:a:cron"), ("c", "main", "agent:c")):
            with Asker(running, agent, kind) as asker:
                pinned = asker.post("memories", text=f"The teapot of {kind} is cracked.", pinned=True)
                assert pinned.json()["error"]["code"] == "denied"
                added = asker.post("memories", text=f"The teapot of {kind} is cracked.", importance=1.0, tags=["tea"])
                document = added.json()["memory"]
                assert (document["scope"], document["importance"], document["tags"]) == (scope, 0.94, ["tea"])
                assert (document["tier"], document["pinned"]) == ("working", False)
                assert "its importance was set to 0.94" in " ".join(added.json()["notes"])
                assert asker.post("memories", text=f"The teapot of {kind} is cracked.").json()["created"] is False
        with Asker(running, "b", "main") as asker:
            assert asker.get("memories", query="teapot").json()["total"] == 0


def test_what_is_in_the_core_is_not_a_sessions_to_decide(tmp_path: Path) -> None:
    """By no way a session on an agent's socket pins, passes for its user, or takes out what its owner pinned."""
    with started(tmp_path) as running, Asker(running, "c", "main") as session, Asker(running, "c", "owner") as owner:
        running.client().sync()
        notes = tmp_path / "own" / "memory"
        before = {path: path.read_bytes() for path in notes.glob("*.md")}
        refused = [
            session.post("retain", text="W(pin): The teapot is cracked."),
            session.post("retain", text="W(from=user): The teapot is cracked."),
            session.post("memories", text="The teapot is cracked.", pinned=True),
            session.post("turns", role="user", text="/remember W(pin): The teapot is cracked."),
            session.post("turns", role="user", text="/remember W(from=user): The teapot is cracked."),
            *(session.post(f"core/{verb}", text="x", old="x", after="x") for verb in ("append", "replace", "insert")),
        ]
        assert {reply.json()["error"]["code"] for reply in refused} == {"denied"}
        assert {path: path.read_bytes() for path in notes.glob("*.md")} == before

        told = session.post("turns", role="user", text="/remember note(i=1.0): The teapot is cracked.").json()[
            "command"
        ]
        log = next(path for path in notes.glob("*.md") if path not in before)
        assert log.read_text() == "## Retain\n- note(i=0.94, from=agent): The teapot is cracked.\n"
        assert "its importance was set to 0.94" in told["text"]

        path = f"memories/{told['memories'][0]}"
        assert owner.post(f"{path}/pin").is_success
        kept = [session.post(f"{path}/unpin"), session.delete(path), session.post(f"{path}/pin")]
        assert {reply.json()["error"]["code"] for reply in kept} == {"denied"}
        assert owner.post(f"{path}/unpin").is_success
        assert session.delete(path).is_success


def test_f145_tools_of_a_session_tell_no_word_beyond_reach(apart: RunningDaemon) -> None:
    """Through MCP a session learns what it may learn over its socket."""
    ids = ids_of(apart)
    for agent in "ab":
        with driven(apart, "--agent", agent, "--session-key", KEYS["main"].format(agent)) as tools:
            said = [
                tools.call(name, query=query).model_dump_json()
                for name in ("memory_search", "recall")
                for query in ("lantern door", "what hangs beside a door")
            ]
            said += [
                tools.call("memory_get", id=one).model_dump_json()
                for word, one in ids.items()
                if word not in REACH[agent, "main"]
            ]
        found = {word for word in MARKERS if word in "".join(said).lower()}
        assert found == REACH[agent, "main"]


def test_f145_port_tells_of_the_agent_that_is_asked_alone(apart: RunningDaemon) -> None:
    """Who has the token is the owner, and learns of each agent what the owner's socket tells."""
    token = {"Authorization": f"Bearer {(apart.state / 'http-token').read_text().strip()}"}
    ids = ids_of(apart)
    port = apart.client().status()["http"]
    assert port is not None
    with httpx.Client(base_url=f"http://{port['address']}", headers=token, timeout=SECONDS, verify=False) as client:
        for agent in "abc":
            within = REACH[agent, "owner"]
            for asked in ({}, {"q": "lantern door"}, {"q": "what hangs beside a door"}):
                assert told(client.get("/api/v1/memory/docs", params={"agent": agent, **asked})) == within
            assert client.get("/api/v1/memory/stats", params={"agent": agent}).json()["total"] == len(within)
            for word in ids.keys() - within:
                reply = client.get(f"/api/v1/memory/docs/{ids[word]}", params={"agent": agent})
                assert (reply.status_code, told(reply)) == (HTTPStatus.NOT_FOUND, set())


def test_nothing_is_written_where_memory_is_read_only(tmp_path: Path) -> None:
    """Every call that writes is denied, to the owner too, and no byte changes; asking goes on."""
    with started(tmp_path, readOnly=True) as running:
        running.client().sync()
        ids = ids_of(running)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
        for agent, kind, word in (("a", "owner", "zinnober"), ("a", "main", "messingtopf"), ("c", "main", "karmesin")):
            with Asker(running, agent, kind) as asker:
                path = f"memories/{ids[word]}"
                replies = [
                    asker.post("memories", text="The teapot is cracked."),
                    asker.post(f"{path}/pin"),
                    asker.post(f"{path}/unpin"),
                    asker.post(f"{path}/importance", importance=0.1),
                    asker.delete(path),
                ]
                assert {reply.json()["error"]["code"] for reply in replies} == {"denied"}
                assert told(asker.get(path)) == {word}
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before
