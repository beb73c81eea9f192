"""The API conforms to its OpenAPI description whatever is sent: no 5xx, no traceback, no undeclared status."""

import contextlib
import json
import socket
import time
from collections import Counter
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

import pytest
import requests
import schemathesis
import urllib3
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, CheckFunction, load_all_checks
from schemathesis.generation.case import Case
from schemathesis.schemas import BaseSchema

from memoryd.api.application import TABLE
from memoryd.api.call import Transport
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import RetainedLine, render
from memoryd.errors import NotFound
from memoryd.replies.daemon import PortReply
from memoryd.wire import ErrorCode
from tests.daemon import RunningDaemon
from tests.loopback import free_port
from tests.sweeps import WHOLE, some, whole_or
from tests.system.over_socket import send
from tests.system.words_only import words_only
from tests.teams import team_of
from tests.waiting import eventually

HOST = "http://localhost"
STREAM = "/v1/events"
PORT_CALLS = [(row.method, row.path) for row in TABLE if row.served is Transport.PORT]
"""Served only on the loopback port."""
WITHOUT_PARAMETERS = [("GET", "/v1/health"), ("GET", "/v1/status"), ("GET", "/metrics")]
WITH_PARAMETERS = [
    (row.method, row.path)
    for row in TABLE
    if row.path not in (STREAM, "/openapi.json") and (row.method, row.path) not in WITHOUT_PARAMETERS
]
OPINION = RetainedLine(Kind.OPINION, "is well tested", ("Fuzzed",))
TOLD: dict[str, str | int] = {}
"""A part that was shown for a message, to be judged."""
SHARED: dict[str, str] = {}
"""A memory to be shared with the team or revoked."""
CONFLICT: dict[str, str] = {}
"""The copy of a conflict to be settled."""
KNOWN: dict[str, str | int] = {
    "path": "MEMORY.md",
    "agent": "main",
    "sessionKey": "agent:main:main",
    "session": "fuzzed",
    "citation": "session:fuzzed#Q1",
    "opinion": OPINION.id,
    "memory": OPINION.id,
    "in": "90d",
    "entity": "Fuzzed",
    "into": "Fuzzed",
    "name": "Fuzzy",
    "alias": "Fuzzy",
    "target": "memory/2026-11-18.md#L3",
    "after": "# Memory",
    "old": "runs on alder",
}
"""Values that random generation does not find, and that good answers need."""
ALONE = {"id": ["run"], "citation": ["session", "seq"], "old": ["sessionKey"]}
"""Fields that exclude others: a citation names its session, and the core file's `old` has no session."""
CASES = whole_or(4, 100)
"""Least number of cases of a call with parameters."""
LONG = 4096
"""Characters; longer limits are used only in the whole sweep, since long texts are slow to generate."""
SETTINGS = settings(
    max_examples=whole_or(8, 150),
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SHORT = settings(SETTINGS, max_examples=whole_or(4, 150))
"""Refusals need fewer examples."""
CHECK_NAMES = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
    "allow_header_conformance",
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    home = tmp_path_factory.mktemp("fuzzed")
    team = team_of(home / "state" / "memoryd", home, "ana")
    with words_only(home, http={"enabled": True, "port": free_port()}, team=team) as running:
        page = running.workspace / "bank" / "entities" / "fuzzed.md"
        page.parent.mkdir(parents=True)
        page.write_text("---\naliases: [Fuzzy]\n---\n# Fuzzed\n")
        (running.workspace / "bank" / "opinions.md").write_text(f"# Opinions\n\n{render(OPINION)}\n")
        running.client().sync()
        eventually(lambda: _port(running)["open"])
        yield running
        assert running.client().search("gateway")["results"]
        assert "Traceback" not in running.log.read_text()
        assert "request failed" not in running.log.read_text()


def _port(daemon: RunningDaemon) -> PortReply:
    port = daemon.client().status()["http"]
    assert port is not None
    return port


@pytest.fixture(scope="module")
def open_port(daemon: RunningDaemon) -> tuple[str, dict[str, str]]:
    """Return the address of the port, and the header that authorizes there."""
    port = _port(daemon)
    token = Path(port["tokenFile"]).read_text().strip()
    return f"http://{port['address']}", {"Authorization": f"Bearer {token}"}


def ensure_session_and_opinion(daemon: RunningDaemon) -> None:
    """Create a session and an opinion, whatever other tests forgot, marked or deleted."""
    with daemon.client() as client, contextlib.suppress(NotFound):
        client.remember_session("fuzzed", remember=True)
    with daemon.client() as client:
        client.add_turn("Which port does the gateway use?", "It uses 18790.", session="fuzzed")
        # deleted by tests of memories
        (daemon.workspace / "bank" / "opinions.md").write_text(f"# Opinions\n\n{render(OPINION)}\n")
        client.sync()


def ensure_proposal(daemon: RunningDaemon) -> None:
    """Create an open proposal, whatever other tests decided."""
    pages = daemon.workspace / "bank" / "entities"
    name = f"Proposed-{len(list(pages.iterdir()))}"
    (pages / f"{name.lower()}.md").write_text(f"# {name}\n")
    (daemon.workspace / "memory" / f"2020-01-02-{name}.md").write_text(f"## Retain\n- W @{name}: It stands.\n")
    with daemon.client() as client:
        client.reflect("2020-01-01")
        KNOWN["proposal"] = client.proposals()["proposals"][0]["id"]


def ensure_disagreement(daemon: RunningDaemon) -> None:
    """Create a disagreement, whatever other tests settled."""
    name = f"Disputed-{time.monotonic_ns()}"
    (daemon.workspace / "memory" / f"2020-01-03-{name}.md").write_text(
        f"## Retain\n- W @{name}: The {name} is a Brother.\n- W(from=agent) @{name}: The {name} is an HP.\n"
    )
    with daemon.client() as client:
        client.sync()
        KNOWN["disagreement"] = client.disagreements()["disagreements"][0]["id"]


def ensure_conflict(daemon: RunningDaemon) -> None:
    """Create the copy of a conflict, whatever other tests settled."""
    copy = f"memory/fuzzed-{time.monotonic_ns()} (conflicted copy 2026-11-03).md"
    (daemon.workspace / copy).write_text("# Fuzzed\n")
    CONFLICT.update(path=copy, keep="copy")


def ensure_change(daemon: RunningDaemon) -> None:
    """Create a change that can be undone, whatever other tests undid."""
    with daemon.client() as client:
        client.retain(f"W @Fuzzed: It was changed {time.monotonic_ns()}.")
        KNOWN["id"] = client.changes()["changes"][0]["id"]


def ensure_shared(daemon: RunningDaemon) -> None:
    """Share a memory with the team, whatever other tests revoked or replaced."""
    with daemon.client() as client:
        stated = client.retain(f"W @Fuzzed: Pear number {time.monotonic_ns()} is for the team.")
        SHARED["target"] = stated["memories"][0]["id"]
        client.promote_memory(SHARED["target"])


def ensure_told(daemon: RunningDaemon) -> None:
    """Have a part shown for a message, so that it can be judged."""
    with daemon.client() as client:
        client.retain("W @Fuzzed: The gateway of the fuzzed house stands in the cellar.")
        message = f"Where does the gateway of the fuzzed house stand? {time.monotonic_ns()}"
        client.turn(message, session_key="agent:main:told")
        turn = next(row for row in client.told()["turns"] if row["parts"])
    TOLD.update(number=turn["number"], name=turn["parts"][0]["name"])


@pytest.fixture(scope="module")
def session(daemon: RunningDaemon) -> Iterator[requests.Session]:
    with requests.Session() as asking:
        asking.mount(HOST, _Adapter(daemon.socket))
        yield asking


@pytest.fixture(scope="module")
def described(session: requests.Session) -> BaseSchema:
    description = session.get(f"{HOST}/openapi.json").json()
    return schemathesis.openapi.from_dict(description if WHOLE else without_long_limits(description))


def without_long_limits(schema: Any) -> Any:
    """Return a description without limits of texts above `LONG`."""
    if isinstance(schema, list):
        return [without_long_limits(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        name: value
        for name, value in schema.items()
        if name != "maxLength" or not isinstance(value, int) or value <= LONG
    }
    return {name: without_long_limits(value) for name, value in kept.items()}


@pytest.fixture(scope="module")
def checks() -> list[CheckFunction]:
    load_all_checks()
    return [cast(CheckFunction, CHECKS.get_one(name)) for name in CHECK_NAMES]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("method", "path", "mode"),
    [(*call, GenerationMode.POSITIVE) for call in (*WITHOUT_PARAMETERS, *WITH_PARAMETERS)]
    + [(*call, GenerationMode.NEGATIVE) for call in some(WITH_PARAMETERS, 12)],
)
def test_f111_api_conforms_to_its_description(
    daemon: RunningDaemon,
    described: BaseSchema,
    session: requests.Session,
    checks: list[CheckFunction],
    open_port: tuple[str, dict[str, str]],
    method: str,
    path: str,
    mode: GenerationMode,
) -> None:
    """Every described request is answered as described, and every error has a code of the closed list."""
    statuses: Counter[int] = Counter()
    refuses = CHECKS.get_one("negative_data_rejection")
    where, headers = open_port if (method, path) in PORT_CALLS else (HOST, {})
    if mode is GenerationMode.POSITIVE:
        ensure_session_and_opinion(daemon)
    prepare(daemon, path)

    @(SETTINGS if mode is GenerationMode.POSITIVE else SHORT)
    @given(described[path][method].as_strategy(generation_mode=mode), st.sampled_from([True, True, True, False]))
    def conforms(case: Case[Any], is_known: bool) -> None:
        if is_known and mode is GenerationMode.POSITIVE:
            use_known_values(case)
        reply = case.call(base_url=where, session=session, headers=headers)
        statuses[reply.status_code] += 1
        assert "Traceback" not in reply.text
        if reply.status_code >= HTTPStatus.BAD_REQUEST:
            error = json.loads(reply.text)["error"]
            assert set(error) == {"code", "message", "hint"}
            assert error["code"] in set(ErrorCode)
        # a request longer than any body or header may be is refused, too
        is_too_long = reply.status_code in {
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        }
        case.validate_response(reply, checks=[check for check in checks if not (is_too_long and check is refuses)])

    conforms()
    assert statuses.total() >= (1 if (method, path) in WITHOUT_PARAMETERS else CASES)
    if mode is GenerationMode.POSITIVE:
        assert {status for status in statuses if status < HTTPStatus.BAD_REQUEST}, statuses
    elif path != "/v1/reload":  # its only option may always be left out
        assert {status for status in statuses if status >= HTTPStatus.BAD_REQUEST}, statuses


def prepare(daemon: RunningDaemon, path: str) -> None:
    """Create what a call needs."""
    if "{proposal}" in path:
        ensure_proposal(daemon)
    if "{disagreement}" in path:
        ensure_disagreement(daemon)
    if path == "/v1/conflicts/settle":
        ensure_conflict(daemon)
    if path == "/v1/undo":
        ensure_change(daemon)
    if path == "/v1/told":
        ensure_told(daemon)
    if path.startswith("/v1/team/"):
        ensure_shared(daemon)


FITTING: dict[str, dict[str, Any]] = {
    "/v1/conflicts/settle": CONFLICT,
    "/v1/disagreements/{disagreement}": {"keep": "both"},
    "/v1/team/promote": SHARED,
    "/v1/team/revoke": SHARED,
    # the schema has no format of times, and a text is required
    "/v1/turns": {"at": None, "text": "Where does the weir key hang?"},
    # no other call takes the citation of a note
    "/v1/verify": {"citation": KNOWN["target"]},
    "/v1/lines/replace": {"citation": "memory/2026-11-18.md#L1", "old": "# Wednesday"},
}
"""Values for calls that need special ones."""


def use_known_values(case: Case[Any]) -> None:
    for part in (case.path_parameters, case.query, case.body):
        if isinstance(part, dict):
            part.update({name: KNOWN[name] for name in KNOWN.keys() & part.keys()})
            if (case.method, case.path) == ("POST", "/v1/told"):
                part.update({name: TOLD[name] for name in TOLD.keys() & part.keys()})
            part.update(FITTING.get(case.path, {}))
            for name in part.keys() & ALONE.keys():
                for other in ALONE[name]:
                    part.pop(other, None)


@pytest.mark.sweep
@pytest.mark.parametrize("mode", GenerationMode)
def test_stream_of_events_conforms_to_its_description(
    described: BaseSchema, session: requests.Session, mode: GenerationMode
) -> None:
    """The stream has no end, so read its first line and close the connection."""
    statuses: Counter[int] = Counter()
    responses = described.raw_schema["paths"][STREAM]["get"]["responses"]

    @SETTINGS
    @given(described[STREAM]["GET"].as_strategy(generation_mode=mode))
    def conforms(case: Case[Any]) -> None:
        with session.request(**case.as_transport_kwargs(base_url=HOST), stream=True, timeout=20) as reply:
            statuses[reply.status_code] += 1
            assert str(reply.status_code) in responses or reply.status_code == HTTPStatus.METHOD_NOT_ALLOWED
            if reply.status_code == HTTPStatus.OK:
                assert reply.headers["content-type"].startswith("text/event-stream")
                assert next(reply.iter_lines()) == b": connected"
            else:
                assert json.loads(reply.text)["error"]["code"] in set(ErrorCode)

    conforms()
    assert statuses.total() >= CASES
    assert len(statuses) > 1 or HTTPStatus.OK not in statuses


@pytest.mark.parametrize("query", ["agent=%00", "agent=" + "a" * 65, "sessionKey=%ff", "sessionKey=" + "k" * 513])
def test_stream_of_events_refuses_as_described(daemon: RunningDaemon, described: BaseSchema, query: str) -> None:
    reply = send(daemon.socket, "GET", f"{STREAM}?{query}")
    assert str(reply.status) in described.raw_schema["paths"][STREAM]["get"]["responses"]
    assert reply.error in set(ErrorCode)


def test_every_error_is_described_in_our_form(described: BaseSchema) -> None:
    operations = [operation for path in described.raw_schema["paths"].values() for operation in path.values()]
    assert len(operations) >= 7
    for operation in operations:
        errors = {status: reply for status, reply in operation["responses"].items() if status >= "400"}
        assert {"400", "403", "404", "413", "500", "503"} <= errors.keys()
        assert "422" not in errors
        for reply in errors.values():
            assert reply["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/ErrorReply"}


class _Connection(urllib3.connection.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    path: Path

    def _new_conn(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with contextlib.ExitStack() as stack:
            stack.callback(sock.close)
            sock.settimeout(20)
            sock.connect(str(self.path))
            stack.pop_all()
        return sock


class _Adapter(HTTPAdapter):
    """Sends the requests for a host to a socket."""

    def __init__(self, path: Path) -> None:
        kind = type("Connection", (_Connection,), {"path": path})
        self._pool = urllib3.HTTPConnectionPool("localhost")
        self._pool.ConnectionCls = kind
        super().__init__()

    def get_connection_with_tls_context(self, *_: Any, **__: Any) -> urllib3.HTTPConnectionPool:
        return self._pool

    def close(self) -> None:
        self._pool.close()
        super().close()
