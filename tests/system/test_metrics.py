"""`GET /metrics` of the real daemon: requests are counted exactly, and no value reveals the memory."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing

import httpx
import pytest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.parser import text_string_to_metric_families

from memoryd.api.metrics import METRICS
from memoryd.client import Client
from tests.loopback import OpenPort, open_port
from tests.waiting import eventually

Series = Mapping[tuple[str, tuple[tuple[str, str], ...]], float]
KEY = "agent:main:telegram:direct:anna"
SEARCH = {"route": "/v1/search", "method": "POST"}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPort]:
    with open_port(tmp_path_factory.mktemp("metrics")) as running:
        yield running


@pytest.fixture
def client(opened: OpenPort) -> Iterator[Client]:
    with closing(Client(opened.daemon.socket)) as http:
        yield http


def series(text: str) -> Series:
    """Return all values by name and labels; the parser rejects what Prometheus would reject."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def value(values: Series, name: str, **labels: str) -> float:
    return values.get((f"memoryd_{name}", tuple(sorted(labels.items()))), 0)


def gained(before: Series, after: Series, name: str, **labels: str) -> float:
    return value(after, name, **labels) - value(before, name, **labels)


def test_requests_are_counted_exactly(opened: OpenPort, client: Client) -> None:
    before = series(client.metrics())
    for _ in range(7):
        client.search("gateway")
    for _ in range(3):
        opened.ask("POST", "/v1/search", json={"query": "gateway"})
    with httpx.Client(
        transport=httpx.HTTPTransport(uds=str(opened.daemon.socket), verify=False), base_url="http://memoryd"
    ) as http:
        assert http.post("/v1/search", json={"nonsense": 1}).is_client_error
        assert [http.get(f"/{word}/alder").status_code for word in ("one", "two")] == [404, 404]
        assert http.head("/v1/health").status_code == 200
        assert http.request("BREW", "/v1/health").is_client_error
    assert opened.ask("GET", "/v1/health", token="wrong").status_code == 401
    after = series(client.metrics())
    assert gained(before, after, "requests_total", **SEARCH, code="2xx") == 10
    assert gained(before, after, "requests_total", **SEARCH, code="4xx") == 1
    assert gained(before, after, "request_duration_seconds_count", **SEARCH) == 11
    assert gained(before, after, "requests_total", route="unmatched", method="GET", code="4xx") == 3
    assert gained(before, after, "requests_total", route="unmatched", method="other", code="4xx") == 1
    assert gained(before, after, "requests_total", route="/v1/health", method="HEAD", code="2xx") == 1
    assert gained(before, after, "requests_total", route="/metrics", method="GET", code="2xx") == 1
    assert gained(before, after, "arm_answers_total", arm="lexical", state="ok") == 10
    assert gained(before, after, "arm_duration_seconds_count", arm="lexical") == 10
    assert gained(before, after, "connections_refused_total", on="port", reason="wrong token") == 1
    assert value(after, "requests_in_flight") == 1


def test_recalls_and_scans_are_counted(client: Client) -> None:
    before = series(client.metrics())
    client.recall("pier")
    client.recall("pier")
    client.sync()
    after = series(client.metrics())
    assert gained(before, after, "arm_duration_seconds_count", arm="recall") == 2
    assert gained(before, after, "scans_total", reason="asked") == 1
    assert gained(before, after, "cache_hits_total", cache="memories") >= 1


def test_figures_equal_those_of_status(opened: OpenPort, client: Client) -> None:
    eventually(lambda: not opened.daemon.agent()["dirty"])
    found, agent = series(client.metrics()), opened.daemon.agent()
    for name, key in (("index_files", "files"), ("index_chunks", "chunks"), ("pending_files", "pendingFiles")):
        assert value(found, name, agent="main") == agent[key]  # type: ignore[literal-required]  # keys of a table
    assert value(found, "index_bytes", agent="main") == agent["database"]["bytes"]
    assert value(found, "index_memories", agent="main") == agent["memories"]["memories"]
    assert value(found, "sidecar_state", agent="main", sidecar="embedder", state="off") == 1
    assert value(found, "process_resident_memory_bytes", process="daemon", agent="") > 1_000_000
    assert value(found, "process_open_fds", process="daemon", agent="") > 3
    assert 0 <= value(found, "scan_age_seconds", agent="main") < 3600


def test_every_metric_is_exported_without_text_of_the_memory(opened: OpenPort, client: Client) -> None:
    client.search("gateway alder")
    text = client.metrics()
    exported = {family.name for family in text_string_to_metric_families(text)}
    assert {metric.name.removesuffix("_total") for metric in METRICS} == exported
    assert str(opened.daemon.home) not in text
    assert "alder" not in text
    assert "pier" not in text


def test_search_in_conversations_is_counted(client: Client) -> None:
    client.add_turn("Who repaired the boiler?", "Tom repaired the boiler.", session_key=KEY, significance=0.9)
    eventually(lambda: client.search("boiler", sources=["sessions"])["results"])
    before = series(client.metrics())
    client.search("boiler", sources=["sessions"])
    after = series(client.metrics())
    assert gained(before, after, "arm_answers_total", arm="conversations lexical", state="ok") == 1
    assert gained(before, after, "arm_answers_total", arm="lexical", state="ok") == 0
    talks = client.status()["agents"][0]["sessions"]
    assert talks is not None
    assert value(after, "conversations_index_bytes", agent="main") == talks["bytes"] > 0


def test_refused_request_is_counted(opened: OpenPort, client: Client) -> None:
    usual = opened.daemon.config.read_text()
    before = series(client.metrics())
    opened.daemon.config.write_text(json.dumps({**json.loads(usual), "limits": {"maxRequests": 1}}))
    assert client.reload()["changed"] == ["limits.maxRequests"]
    with closing(socket.socket(socket.AF_UNIX)) as slow:
        slow.connect(str(opened.daemon.socket))
        # it occupies the only slot until its body is complete
        slow.sendall(
            b"POST /v1/search HTTP/1.1\r\nHost: m\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"
        )
        eventually(lambda: opened.ask("POST", "/v1/search", json={"query": "gateway"}).status_code == 503)
        after = series(client.metrics())
        assert gained(before, after, "requests_refused_total") == 1
    opened.daemon.config.write_text(usual)
    assert client.reload()["changed"] == ["limits.maxRequests"]


def test_counters_survive_a_reload(opened: OpenPort, client: Client) -> None:
    client.search("gateway")
    usual = opened.daemon.config.read_text()
    before = series(client.metrics())
    opened.daemon.config.write_text(json.dumps({**json.loads(usual), "memory": {"citations": "on"}}))
    assert client.reload()["changed"] == ["memory.citations"]
    client.search("gateway")
    after = series(client.metrics())
    fell = [
        key for key in before if key[0].endswith(("_total", "_count", "_bucket")) and after.get(key, 0) < before[key]
    ]
    assert fell == []
    assert gained(before, after, "arm_answers_total", arm="lexical", state="ok") == 1
    opened.daemon.config.write_text(usual)
    assert client.reload()["changed"] == ["memory.citations"]


def test_port_requires_the_token(opened: OpenPort) -> None:
    assert opened.ask("GET", "/metrics", token="").status_code == 401
    reply = opened.ask("GET", "/metrics")
    assert reply.headers["content-type"] == CONTENT_TYPE_LATEST
    assert value(series(reply.text), "requests_in_flight") == 1
