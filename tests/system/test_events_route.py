"""`GET /v1/events` of the real daemon."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.search import ServerEvent
from tests.daemon import RunningDaemon
from tests.waiting import eventually


class Listening:
    """Collects events on its own connection and thread."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self.events: list[ServerEvent] = []
        self.error: MemorydError | None = None
        self.is_over = threading.Event()
        self._client = Client(daemon.socket)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            for event in self._client.events(silence=30):
                self.events.append(event)
        except MemorydError as exc:
            self.error = exc
        self.is_over.set()

    def named(self, name: str) -> list[ServerEvent]:
        return [event for event in self.events if event["event"] == name]

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


@contextmanager
def listening(daemon: RunningDaemon) -> Iterator[Listening]:
    """Listen until the daemon stops, which ends the stream."""
    listener = Listening(daemon)
    try:
        yield listener
    finally:
        daemon.stop()
        listener.join()


def test_events_follow_sync_and_embedding_and_end_with_the_daemon(daemon: RunningDaemon) -> None:
    with listening(daemon) as listener:
        note = daemon.workspace / "memory" / "new.md"

        def is_watched() -> bool:
            note.write_text(f"# New\n\nSave number {note.stat().st_mtime_ns if note.exists() else 0}.\n")
            daemon_client.sync()
            return bool(listener.named("sync"))

        with Client(daemon.socket) as daemon_client:
            eventually(is_watched)
            assert daemon_client.sync(wait="embedded")["complete"]
        eventually(lambda: listener.named("embedding"))
        eventually(lambda: listener.named("sync")[-1]["data"]["state"] == "finished")
        assert {event["data"]["agent"] for event in listener.events} == {"main"}
        assert listener.named("embedding")[-1]["data"]["pending"] == 0
    assert listener.is_over.is_set()
    assert listener.error is None


def test_events_of_one_agent_exclude_the_others(daemon: RunningDaemon) -> None:
    with Client(daemon.socket) as client:
        stream = client.events(agent="main", silence=10)
        (daemon.workspace / "memory" / "new.md").write_text("# New\n\nSaved.\n")
        client.reindex(force=True)
        assert next(stream)["data"]["agent"] == "main"
        stream.close()
        assert client.health()["ok"]
