"""Derived data may be deleted: the real daemon rebuilds the same memories and answers."""

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.store.consistency import open_index
from tests.system.over_socket import send
from tests.waiting import eventually

DATA = Path(__file__).parents[1] / "data" / "memories"
QUESTIONS = [
    "port collision ltnp",
    "where does Peter live",
    "door code",
    "王芳 喜欢 茶",
    "kiln",
    "what does Wren prefer",
]
STATED = """
SELECT f.path, m.memory, c.start_line, c.end_line, c.text
FROM memory_chunks m JOIN chunks c ON c.id = m.chunk_id JOIN files f ON f.id = c.file_id ORDER BY 1, 3
"""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    workspace = tmp_path / "workspace"
    shutil.copytree(DATA / "ws", workspace)
    with RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace) as running:
        settle(running)
        yield running


def settle(daemon: RunningDaemon) -> None:
    assert daemon.client().sync(wait="indexed", timeout_ms=60_000)["complete"]


def status(daemon: RunningDaemon) -> Any:
    return send(daemon.socket, "GET", "/v1/status").json["agents"][0]


def database(daemon: RunningDaemon) -> Path:
    return Path(status(daemon)["database"]["path"])


def stated(daemon: RunningDaemon) -> list[tuple[object, ...]]:
    with closing(open_index(database(daemon))) as db:
        return list(db.execute(STATED))


def answers(daemon: RunningDaemon) -> list[Any]:
    found = []
    for question in QUESTIONS:
        answer = send(daemon.socket, "POST", "/v1/search", {"query": question, "maxResults": 20}).json
        hits = [
            (hit["path"], hit["startLine"], hit["endLine"], hit["snippet"], hit["focus"]) for hit in answer["results"]
        ]
        found.append((question, answer["verdict"], hits))
    return found


def delete(daemon: RunningDaemon, pattern: str) -> int:
    paths = list(daemon.state.rglob(pattern))
    for path in paths:
        path.unlink()
    return len(paths)


def test_memory_line_is_cited_alone(daemon: RunningDaemon) -> None:
    lines = [json.loads(line) for line in (DATA / "lines.jsonl").read_text().splitlines()]
    places = {(path, first, last): text for path, _, first, last, text in stated(daemon)}
    assert len(places) >= len(lines)
    ((_, _, hits),) = [answer for answer in answers(daemon) if answer[0] == QUESTIONS[0]]
    path, first, last, snippet, focus = hits[0]
    assert places[path, first, last] == snippet.split("\n\nSource:")[0]
    assert "`ss -ltnp`" in snippet
    assert (focus["startLine"], focus["endLine"]) == (first, last)


def test_index_deleted_while_running_is_rebuilt_equal(daemon: RunningDaemon) -> None:
    before, expected = stated(daemon), answers(daemon)
    counted = status(daemon)["memories"]
    assert counted["lines"] == len(before) > 100
    path = database(daemon)
    assert delete(daemon, f"{path.name}*")
    eventually(lambda: database(daemon).exists())
    eventually(lambda: status(daemon)["memories"] == counted)
    settle(daemon)
    assert stated(daemon) == before
    assert answers(daemon) == expected
    assert status(daemon)["memories"] == counted


@pytest.mark.parametrize("pattern", ["*.sqlite*", "*ledger*"])
def test_database_deleted_while_stopped_is_rebuilt_equal(daemon: RunningDaemon, pattern: str) -> None:
    before, expected = stated(daemon), answers(daemon)
    daemon.stop()
    delete(daemon, pattern)
    daemon.start()
    settle(daemon)
    assert stated(daemon) == before
    assert answers(daemon) == expected
