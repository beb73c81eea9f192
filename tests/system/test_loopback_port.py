"""The loopback port of the real daemon, used with curl and with a plain HTTP client."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.loopback import OpenPort, free_port, open_port
from tests.page import OURS, PageClient
from tests.waiting import SECONDS, eventually
from tests.warm.programs import ran

DOCUMENT = {
    *("id", "scope", "kind", "network", "text", "tier", "importance", "pinned", "tags", "entities", "access_count"),
    *("created_at", "created_day", "accessed_at", "accessed_day", "abstract_text", "overview_text", "citation"),
    *("sources", "relevance", "superseded_by", "flags", "score", "author"),
}
PIER = "the pier was painted in spring"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPort]:
    with open_port(tmp_path_factory.mktemp("opened")) as running:
        yield running


def memoryctl(opened: OpenPort, *arguments: str) -> str:
    """Return the output of a command."""
    return opened.daemon.memoryctl(*arguments).stdout


def curl(opened: OpenPort, path: str, *arguments: str) -> str:
    """Return the reply to curl, sent with the token."""
    header = f"Authorization: Bearer {opened.token}"
    command = ["curl", "-sS", "--max-time", "20", "-H", header, *arguments, f"{opened.url}{path}"]
    return ran(command, capture_output=True, text=True, timeout=60, check=True).stdout


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def reason_of(opened: OpenPort) -> str:
    return opened.state()["reason"] or ""


def pier(opened: OpenPort) -> str:
    """Return the id of the memory about the pier."""
    docs = opened.ask("GET", "/api/v1/memory/docs", params={"q": "pier painted"}).json()["docs"]
    return next(str(doc["id"]) for doc in docs if doc["text"] == PIER)


def log_of(opened: OpenPort) -> str:
    return (opened.daemon.workspace / "memory" / "2026-11-18.md").read_text()


def test_curl_works_with_the_token(opened: OpenPort) -> None:
    assert json.loads(curl(opened, "/v1/health")) == {"ok": True, "ready": True}
    found = json.loads(
        curl(opened, "/v1/search", "-H", "Content-Type: application/json", "-d", '{"query": "gateway alder"}')
    )
    assert found["results"][0]["path"] == "MEMORY.md"
    assert json.loads(curl(opened, "/api/v1/memory/docs?q=pier&limit=5"))["docs"][0]["text"] == PIER


def test_stats_have_the_keys_of_rsclaw(opened: OpenPort) -> None:
    stats = opened.ask("GET", "/api/v1/memory/stats").json()
    assert list(stats) == ["total", "by_tier", "by_kind", "by_scope", "pinned"]
    assert stats["total"] == 2
    assert sum(stats["by_tier"].values()) == sum(stats["by_kind"].values()) == sum(stats["by_scope"].values()) == 2


def test_documents_are_listed_filtered_and_read(opened: OpenPort) -> None:
    docs = opened.ask("GET", "/api/v1/memory/docs").json()
    assert list(docs) == ["docs"]
    assert all(set(doc) == DOCUMENT for doc in docs["docs"])
    assert len(docs["docs"]) == 2
    assert len(opened.ask("GET", "/api/v1/memory/docs", params={"limit": 1}).json()["docs"]) == 1
    kinds = opened.ask("GET", "/api/v1/memory/docs", params={"kind": "opinion"}).json()["docs"]
    assert [kind["text"] for kind in kinds] == ["green tea is the best"]
    assert opened.ask("GET", "/api/v1/memory/docs", params={"scope": "global"}).json() == {"docs": []}
    assert opened.ask("GET", f"/api/v1/memory/docs/{pier(opened)}").json()["doc"]["text"] == PIER
    for query in ({"kind": "nonsense"}, {"scope": "nobody's"}, {"limit": 0}, {"limit": 100_000}):
        assert opened.ask("GET", "/api/v1/memory/docs", params=query).status_code == httpx.codes.BAD_REQUEST


def test_memory_is_pinned_weighted_deleted_and_undone(opened: OpenPort) -> None:
    before, name = log_of(opened), pier(opened)
    pinned = json.loads(curl(opened, f"/api/v1/memory/{name}/pin", "-X", "POST"))
    assert (pinned["doc"]["pinned"], pinned["changed"]) == (True, True)
    assert not opened.ask("POST", f"/api/v1/memory/{name}/pin").json()["changed"]
    assert opened.ask("GET", "/api/v1/memory/stats").json()["pinned"] == 1
    assert not opened.ask("POST", f"/api/v1/memory/{name}/unpin").json()["doc"]["pinned"]
    assert log_of(opened) == before
    weighed = opened.ask("POST", f"/api/v1/memory/{name}/importance", json={"importance": 0.25}).json()
    assert weighed["doc"]["importance"] == 0.25
    for value in (2, -1, "high", None):
        reply = opened.ask("POST", f"/api/v1/memory/{name}/importance", json={"importance": value})
        assert reply.status_code == httpx.codes.BAD_REQUEST
    assert opened.ask("DELETE", f"/api/v1/memory/{name}").json() == {"id": name, "deleted": True}
    assert PIER not in log_of(opened)
    assert opened.ask("DELETE", f"/api/v1/memory/{name}").status_code == httpx.codes.NOT_FOUND
    with opened.daemon.client() as client:
        for change in client.changes()["changes"][:2]:
            client.undo(change["id"])
    assert log_of(opened) == before


def test_new_token_replaces_the_old_at_once(opened: OpenPort) -> None:
    old = opened.token
    with httpx.stream("GET", f"{opened.url}/v1/events", headers=_bearer(old), timeout=SECONDS) as stream:
        lines = stream.iter_lines()
        assert next(lines) == ": connected"
        path, new = memoryctl(opened, "http", "token", "--rotate").splitlines()
        assert (path, new) == (str(opened.token_file), opened.token)
        assert new != old
        assert opened.ask("GET", "/v1/health", token=old).status_code in (401, 429)
        assert opened.ask("GET", "/v1/health", token=new).is_success
        with httpx.stream("GET", f"{opened.url}/v1/events", headers=_bearer(new), timeout=SECONDS) as other:
            new_lines = other.iter_lines()
            assert next(new_lines) == ": connected"
            # an event that was not sent before
            opened.daemon.client().reflect(dry_run=True)
            assert any('"step"' in line for line in new_lines)
        assert not any('"step"' in line for line in lines), "the old stream has ended before"
    assert memoryctl(opened, "http", "token").splitlines() == [path, new]
    assert json.loads(memoryctl(opened, "http", "token", "--json")) == {"tokenFile": path, "token": new}


def test_status_and_doctor_show_the_token_file_but_no_token(opened: OpenPort) -> None:
    for command in (("status",), ("status", "--json"), ("doctor",), ("doctor", "--json")):
        shown = memoryctl(opened, *command)
        # a narrow terminal wraps a long path
        assert str(opened.token_file) in shown.replace("\n", "").replace(" ", "") or str(opened.token_file) in shown
        assert str(opened.port) in shown
        assert opened.token not in shown


def test_neither_token_nor_question_is_logged(opened: OpenPort) -> None:
    opened.ask("GET", "/api/v1/memory/docs", params={"q": "kreuzspinne"})
    opened.ask("GET", "/api/v1/memory/docs", params={"q": "kreuzspinne"}, token="y" * 43)
    log = opened.daemon.log.read_text()
    assert "kreuzspinne" not in log
    assert opened.token not in log
    assert "y" * 43 not in log


def test_token_file_readable_by_others_closes_the_port(opened: OpenPort) -> None:
    opened.token_file.chmod(0o644)
    try:
        assert opened.ask("GET", "/v1/health").status_code == httpx.codes.UNAUTHORIZED
        eventually(lambda: "open to others" in reason_of(opened))
        assert "loopback port" in opened.daemon.degraded()
    finally:
        opened.token_file.chmod(0o600)
    assert opened.ask("GET", "/v1/health").is_success
    eventually(lambda: not reason_of(opened))


def doctor_of_port(opened: OpenPort) -> tuple[str, str]:
    (found,) = json.loads(memoryctl(opened, "doctor", "--section", "http", "--json"))["checks"]
    return found["state"], found["message"]


def test_occupied_port_is_reported_and_opened_when_free(tmp_path: Path) -> None:
    port = free_port()
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with open_port(tmp_path, http={"port": port}, waits=False) as opened:
            eventually(lambda: "another program listens there" in reason_of(opened))
            assert not opened.state()["open"]
            assert "loopback port" in opened.daemon.degraded()
            assert opened.daemon.client().search("gateway")["results"]
            state, message = doctor_of_port(opened)
            assert (state, message.partition(": ")[0]) == ("wrong", f"port {port} of 127.0.0.1")
            assert "another program listens there" in message
            opened.daemon.stop()
            assert doctor_of_port(opened) == ("wrong", f"another program listens on port {port} of 127.0.0.1")
            opened.daemon.start()
            taken.close()
            opened.until_open()
            assert opened.ask("GET", "/v1/health").is_success
            assert doctor_of_port(opened)[0] == "ok"
            # an open connection does not delay the stop
            with httpx.stream(
                "GET", f"{opened.url}/v1/events", headers={"Authorization": f"Bearer {opened.token}"}, timeout=SECONDS
            ) as stream:
                assert next(stream.iter_lines()) == ": connected"
                assert opened.daemon.stop() == 0
            assert doctor_of_port(opened)[0] == "ok"


def test_symlink_as_token_file_keeps_the_port_closed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("x" * 43)
    (tmp_path / "elsewhere").chmod(0o600)
    (tmp_path / "token").symlink_to(tmp_path / "elsewhere")
    with open_port(tmp_path, http={"tokenFile": "token"}, waits=False) as opened:
        eventually(lambda: "is a link" in reason_of(opened))
        assert "wrong" in memoryctl(opened, "doctor")
        token = memoryctl(opened, "http", "token", "--rotate").splitlines()[1]
        opened.until_open()
        assert opened.ask("GET", "/v1/health", token=token).is_success
        assert opened.ask("GET", "/v1/health", token="x" * 43).status_code == httpx.codes.UNAUTHORIZED
        assert (tmp_path / "elsewhere").read_text() == "x" * 43


def test_ipv6_address_is_served_or_reported_as_unavailable(tmp_path: Path) -> None:
    with open_port(tmp_path, http={"host": "::1"}, waits=False) as opened:
        eventually(lambda: opened.state()["open"] or reason_of(opened))
        if opened.state()["open"]:
            assert opened.ask("GET", "/v1/health").is_success
        else:
            assert f"[::1]:{opened.port} cannot be listened on" in reason_of(opened)
        assert opened.daemon.client().search("gateway")["results"]


def test_port_is_off_unless_enabled(tmp_path: Path) -> None:
    with open_port(tmp_path, http={"enabled": False}, waits=False) as opened:
        with opened.daemon.client() as client:
            assert client.status()["http"] is None
        assert not opened.token_file.exists()
        with pytest.raises(ConnectionRefusedError):
            opened.talk(b"GET / HTTP/1.1\r\n\r\n")


def test_page_and_calls_share_the_port_with_separate_keys(opened: OpenPort) -> None:
    with opened.daemon.client() as client:
        link = client.open_page()["url"]
    assert link.startswith(f"{opened.url}/web/login#")
    with PageClient(opened.url, link=link) as page:
        assert page.get("ask").status_code == 200
        assert httpx.get(f"{opened.url}{page.base}/ask", headers=_bearer(opened.token)).status_code == 401
        assert httpx.get(f"{opened.url}/v1/health", headers={"Cookie": f"memoryd={page.cookie}"}).status_code == 401
    assert opened.ask("GET", "/v1/health").status_code == 200


def test_page_is_not_served_under_a_network_name(tmp_path: Path) -> None:
    """Over plain HTTP its cookie would go to whoever the name points to; a tunnel from another port is allowed."""
    names: dict[str, object] = {"allowedHosts": ["memory.internal:80", "localhost:9999"]}
    with open_port(tmp_path, http=names) as opened:
        headers = {**_bearer(opened.token), "Host": "memory.internal:80"}
        assert httpx.get(f"{opened.url}/v1/health", headers=headers).status_code == 200
        with opened.daemon.client() as client:
            token = client.open_page()["url"].partition("#")[2]

        def log_in(host: str) -> httpx.Response:
            return httpx.post(f"{opened.url}/web/login", data={"token": token}, headers={**OURS, "Host": host})

        refused = log_in("memory.internal:80")
        assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
        shown = httpx.get(f"{opened.url}/web/login", headers={"Host": "memory.internal:80"})
        assert (shown.status_code, "under 127.0.0.1 and localhost alone" in shown.text) == (403, True)
        assert log_in("localhost:9999").status_code == 303, "the link still works"
