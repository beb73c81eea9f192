"""Memories of three agents on two workspaces: each sees the memories visible to it, on every route, and no others.

Every line has a unique word, so that every leak is noticed and every count is known.
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
"""The word of each line in the workspace of `a` and `b`, with its scope."""
OWN = {"elfenbein": "", "karmesin": "agent:c", "obsidian": "agent:a"}
"""The same of the workspace of `c`, of which `a` is no agent."""
MARKERS = (*SHARED, *OWN)
KEYS = {"main": "agent:{}:main", "cron": "agent:{}:cron:daily"}
VISIBLE = {
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
"""What each may see, as an agent in a session of this kind, or as the owner."""
OWN_SCOPES = {"a": ("agent:a", "agent:a:cron"), "b": ("agent:b", "agent:b:cron"), "c": ("", "agent:c")}
SCOPES = ["", "workspace", "global", "agent:a", "agent:a:cron", "agent:b", "agent:b:cron", "agent:c", "agent:nobody"]
WHO = st.sampled_from(sorted(VISIBLE))
QUERIES = st.lists(st.sampled_from([*MARKERS, "lantern", "hangs", "beside", "door"]), min_size=1, max_size=3)


def daily_log(words: dict[str, str]) -> str:
    """Return a daily log with a line for each word, all with the same other words."""
    lines = [
        f"- W(i=0.9{f', scope={scope}' if scope else ''}) @{word.title()}: The {word} lantern hangs beside a door"
        for word, scope in words.items()
    ]
    return "\n".join(["# Wednesday", "", "## Retain", *lines, ""])


def started(home: Path, **memory: object) -> RunningDaemon:
    for name, words in (("shared", SHARED), ("own", OWN)):
        folder = home / name / "memory"
        folder.mkdir(parents=True)
        (folder / "2026-11-18.md").write_text(daily_log(words))
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
def separated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    with started(tmp_path_factory.mktemp("apart"), capture={"enabled": False}) as running:
        running.client().sync()
        yield running


class Caller:
    """A client of an agent's own socket in a session of a kind, or of the owner's socket."""

    def __init__(self, daemon: RunningDaemon, agent: str, kind: str) -> None:
        is_owner = kind == "owner"
        path = daemon.socket if is_owner else daemon.home / "run" / f"{agent}.sock"
        self._http = httpx.Client(
            transport=httpx.HTTPTransport(uds=str(path), verify=False), base_url="http://memoryd", timeout=SECONDS
        )
        self._who = {"agent": agent} if is_owner else {"sessionKey": KEYS[kind].format(agent)}

    def __enter__(self) -> "Caller":
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
    """Return the id of the memory of each word that the owner may see."""
    found: dict[str, str] = {}
    for agent in "abc":
        for memory in daemon.client().memories(agent=agent)["memories"]:
            word = next(word for word in MARKERS if word in memory["text"])
            found[word] = memory["id"]
    return found


def words_in(reply: httpx.Response) -> set[str]:
    """Return the words in a reply, without the parts that repeat the question."""
    body: Any = reply.json()
    for part in ("reason", "explain", "sequence", "context"):
        body.pop(part, None)
    return {word for word in MARKERS if word in json.dumps(body).lower()}


def visible_in_scope(who: tuple[str, str], scope: str) -> set[str]:
    """Return the visible words whose lines have a scope, as shown or as written."""
    words = OWN if who[0] == "c" else SHARED
    wanted = {
        word
        for word, own in words.items()
        if scope in ("", own) or (not own and (scope == "workspace" or (who[0] == "c" and scope == "agent:c")))
    }
    return wanted & VISIBLE[who]


@settings(max_examples=whole_or(15, 120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(who=WHO, query=QUERIES, scope=st.sampled_from(SCOPES))
def test_f145_no_invisible_memory_is_returned_or_counted(
    separated: RunningDaemon, who: tuple[str, str], query: list[str], scope: str
) -> None:
    """List, search, recall, stats and decay return to each caller only visible memories, and count only these."""
    with Caller(separated, *who) as caller:
        visible = visible_in_scope(who, scope)
        listed = caller.get("memories", scope=scope, limit=1)
        assert listed.json()["total"] == len(visible)
        assert words_in(caller.get("memories", scope=scope)) == visible
        words = caller.get("memories", scope=scope, query=" ".join(query)).json()
        asked = {word for word in query if word in MARKERS}
        plain = {word for word in visible if asked <= {word}}
        assert words["total"] == len(plain)
        searched = caller.post("memories/search", query=" ".join(query), top_k=50, scope=scope or None)
        assert words_in(searched) <= visible
        if "lantern" in query:
            assert words_in(searched) == visible
        recalled = caller.post(
            "recall", query=" ".join(query), k=50, explain=True, format="bundle", scope=scope or None
        )
        assert words_in(recalled) <= visible
        stats = caller.get("memories/stats").json()
        assert (stats["total"], sum(stats["by_scope"].values())) == (len(VISIBLE[who]),) * 2
        decay = caller.get("memories/decay", **{"in": "5y"})
        assert decay.json()["total"] == len(VISIBLE[who])
        # memories that lose nothing are left out
        assert words_in(decay) <= VISIBLE[who]


@settings(max_examples=whole_or(10, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    who=WHO.filter(lambda who: who[1] != "owner"), query=st.sampled_from(["lantern door", "/forget what hangs", "hi"])
)
def test_f145_turn_returns_no_invisible_memory(separated: RunningDaemon, who: tuple[str, str], query: str) -> None:
    """The reply to a message, and its bundle, contain only memories visible to its session."""
    with Caller(separated, *who) as caller:
        reply = caller.post("turns", role="user", text=query, k=12)
        assert reply.is_success
        assert words_in(reply) <= VISIBLE[who]


@pytest.mark.parametrize("who", sorted(VISIBLE))
def test_f145_invisible_id_is_answered_like_an_unknown_one(separated: RunningDaemon, who: tuple[str, str]) -> None:
    """No call with an id distinguishes a memory of others from an unknown one; nothing is written."""
    ids = ids_of(separated)
    foreign = sorted(ids.keys() - VISIBLE[who])
    assert foreign
    before = {path: path.read_bytes() for path in separated.home.rglob("2026-11-18.md")}
    with Caller(separated, *who) as caller:
        for word in VISIBLE[who]:
            assert words_in(caller.get(f"memories/{ids[word]}")) == {word}
            assert words_in(caller.get(f"memories/{ids[word][:8]}/why")) == {word}
        nobody = "00000000-0000-5000-8000-000000000000"
        wanted = answers(caller, nobody)
        assert {status for status, _ in wanted} == {HTTPStatus.NOT_FOUND}
        for word in foreign:
            assert answers(caller, ids[word]) == wanted
            assert answers(caller, ids[word][:8]) == wanted
    assert {path: path.read_bytes() for path in before} == before


def answers(caller: Caller, name: str) -> list[tuple[int, str]]:
    """Return the answer of each call that takes an id, without the id."""
    path = f"memories/{quote(name)}"
    replies = [
        caller.get(path),
        caller.get(f"{path}/why"),
        caller.post(f"{path}/pin"),
        caller.post(f"{path}/unpin"),
        caller.post(f"{path}/importance", importance=0.2),
        caller.delete(path),
    ]
    return [(reply.status_code, reply.text.replace(name, "ID")) for reply in replies]


@pytest.mark.parametrize("who", [who for who in sorted(VISIBLE) if who[1] != "owner"])
def test_session_changes_only_memories_of_its_agent(separated: RunningDaemon, who: tuple[str, str]) -> None:
    """Shared memories cannot be changed, only read; own ones can be weighed, but not into the core."""
    ids, words = ids_of(separated), OWN if who[0] == "c" else SHARED
    with Caller(separated, *who) as caller:
        for word in VISIBLE[who]:
            path, is_own = f"memories/{ids[word]}", words[word] in OWN_SCOPES[who[0]]
            log = next(path for path in separated.home.rglob("2026-11-18.md") if word in path.read_text())
            before = log.read_bytes()
            replies = [
                caller.post(f"{path}/importance", importance=0.5),
                caller.post(f"{path}/importance", importance=0.9),
            ]
            assert [reply.is_success for reply in replies] == [is_own] * 2, word
            refused = [caller.post(f"{path}/{verb}") for verb in ("pin", "unpin")]
            refused.append(caller.post(f"{path}/importance", importance=0.95))
            assert {reply.json()["error"]["code"] for reply in refused} == {"denied"}
            assert log.read_bytes() == before
            if not is_own:
                replies.append(caller.delete(path))
                assert {reply.json()["error"]["code"] for reply in replies} == {"denied"}
                assert log.read_bytes() == before


def test_session_adds_memories_only_for_itself(tmp_path: Path) -> None:
    """In a shared workspace a memory without a scope is the agent's own."""
    with started(tmp_path) as running:
        running.client().sync()
        for scope in ("workspace", "global", "agent:b", "agent:b:cron", "agent:a:cron", "agent:a:telegram:direct:8"):
            with Caller(running, "a", "main") as caller:
                for path in ("memories", "retain"):
                    reply = caller.post(path, text="W: The teapot is cracked.", scope=scope)
                    assert reply.json()["error"]["code"] in ("denied", "invalid_request"), (path, scope)
        assert "teapot" not in "".join(path.read_text() for path in tmp_path.rglob("memory/*.md"))
        for agent, kind, scope in (("a", "main", "agent:a"), ("a", "cron", "agent:a:cron"), ("c", "main", "agent:c")):
            with Caller(running, agent, kind) as caller:
                pinned = caller.post("memories", text=f"The teapot of {kind} is cracked.", pinned=True)
                assert pinned.json()["error"]["code"] == "denied"
                added = caller.post("memories", text=f"The teapot of {kind} is cracked.", importance=1.0, tags=["tea"])
                document = added.json()["memory"]
                assert (document["scope"], document["importance"], document["tags"]) == (scope, 0.94, ["tea"])
                assert (document["tier"], document["pinned"]) == ("working", False)
                assert "its importance was set to 0.94" in " ".join(added.json()["notes"])
                assert caller.post("memories", text=f"The teapot of {kind} is cracked.").json()["created"] is False
        with Caller(running, "b", "main") as caller:
            assert caller.get("memories", query="teapot").json()["total"] == 0


def test_session_cannot_change_the_core(tmp_path: Path) -> None:
    """A session on an agent's socket cannot pin, write as its user, or delete what its owner pinned."""
    with started(tmp_path) as running, Caller(running, "c", "main") as session, Caller(running, "c", "owner") as owner:
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

        remembered = session.post("turns", role="user", text="/remember note(i=1.0): The teapot is cracked.").json()[
            "command"
        ]
        log = next(path for path in notes.glob("*.md") if path not in before)
        assert log.read_text() == "## Retain\n- note(i=0.94, from=agent): The teapot is cracked.\n"
        assert "its importance was set to 0.94" in remembered["text"]

        path = f"memories/{remembered['memories'][0]}"
        assert owner.post(f"{path}/pin").is_success
        forget = session.post("turns", role="user", text=f"/forget {remembered['memories'][0]}")
        kept = [session.post(f"{path}/unpin"), session.delete(path), session.post(f"{path}/pin"), forget]
        assert {reply.json()["error"]["code"] for reply in kept} == {"denied"}
        assert owner.post(f"{path}/unpin").is_success
        assert session.delete(path).is_success


def test_f145_tools_return_no_invisible_memory(separated: RunningDaemon) -> None:
    """Through MCP a session sees what it may see on its socket."""
    ids = ids_of(separated)
    for agent in "ab":
        with driven(separated, "--agent", agent, "--session-key", KEYS["main"].format(agent)) as tools:
            outputs = [
                tools.call(name, query=query).model_dump_json()
                for name in ("memory_search", "recall")
                for query in ("lantern door", "what hangs beside a door")
            ]
            outputs += [
                tools.call("memory_get", id=memory_id).model_dump_json()
                for word, memory_id in ids.items()
                if word not in VISIBLE[agent, "main"]
            ]
        found = {word for word in MARKERS if word in "".join(outputs).lower()}
        assert found == VISIBLE[agent, "main"]


def test_f145_port_returns_only_memories_of_the_named_agent(separated: RunningDaemon) -> None:
    """The port returns of each agent what the owner's socket returns."""
    token = {"Authorization": f"Bearer {(separated.state / 'http-token').read_text().strip()}"}
    ids = ids_of(separated)
    port = separated.client().status()["http"]
    assert port is not None
    with httpx.Client(base_url=f"http://{port['address']}", headers=token, timeout=SECONDS, verify=False) as client:
        for agent in "abc":
            visible = VISIBLE[agent, "owner"]
            for asked in ({}, {"q": "lantern door"}, {"q": "what hangs beside a door"}):
                assert words_in(client.get("/api/v1/memory/docs", params={"agent": agent, **asked})) == visible
            assert client.get("/api/v1/memory/stats", params={"agent": agent}).json()["total"] == len(visible)
            for word in ids.keys() - visible:
                reply = client.get(f"/api/v1/memory/docs/{ids[word]}", params={"agent": agent})
                assert (reply.status_code, words_in(reply)) == (HTTPStatus.NOT_FOUND, set())


def test_nothing_is_written_if_memory_is_read_only(tmp_path: Path) -> None:
    """Every writing call is denied, even to the owner, and no byte changes; reading works."""
    with started(tmp_path, readOnly=True) as running:
        running.client().sync()
        ids = ids_of(running)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
        for agent, kind, word in (("a", "owner", "zinnober"), ("a", "main", "messingtopf"), ("c", "main", "karmesin")):
            with Caller(running, agent, kind) as caller:
                path = f"memories/{ids[word]}"
                replies = [
                    caller.post("memories", text="The teapot is cracked."),
                    caller.post(f"{path}/pin"),
                    caller.post(f"{path}/unpin"),
                    caller.post(f"{path}/importance", importance=0.1),
                    caller.delete(path),
                ]
                assert {reply.json()["error"]["code"] for reply in replies} == {"denied"}
                assert words_in(caller.get(path)) == {word}
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before
