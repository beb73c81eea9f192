"""The bundle of a message has stated facts, but no summaries of sessions and no bare headings."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, indexed_daemon

STATED = "- W: The spare key of the boathouse hangs behind the barometer.\n"
DIGESTS = "".join(
    f"- session(from=agent, tags=session:chat-{at}): Session chat-{at}: Asked: where is the spare key of the "
    f"boathouse, number {at}? Said: I do not know, the boathouse key is hardly mine.\n"
    for at in range(6)
)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "2026-10-01.md").write_text(f"# The boathouse key\n\nkey\n\n## Retain\n\n{STATED}", "utf-8")
    (folder / "memory" / "2026-10-02.md").write_text(f"## Retain\n\n{DIGESTS}", "utf-8")
    with indexed_daemon(tmp_path, folder) as running:
        yield running


def test_bundle_of_a_message_has_facts_but_no_session_summaries(daemon: RunningDaemon) -> None:
    client = daemon.client()
    bundle = str(
        client.turn("where is the spare key of my boathouse?", session_key="agent:main:chat:direct:a")["bundle"]
    )
    recalled = bundle.partition("<recalled-memory>")[2]
    assert "behind the barometer" in recalled
    assert "Session chat-" not in recalled
    assert recalled.count("<note") == 1
    reply = client.call("POST", "/recall", {"query": "spare key of the boathouse", "k": 10, "touch": False})
    assert any("Session chat-" in item["content"] for item in reply["results"]), "an explicit recall returns them"
