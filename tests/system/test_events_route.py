"""`GET /v1/events` of the real daemon: what happens, as it happens."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from memoryd.client import Client
from memoryd.errors import MemorydError
from memoryd.replies.search import ServerEvent
from tests.daemon import RunningDaemon
from tests.waiting import eventually


class Listening:
    """Collects events on a connection and a thread of its own."""

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
    ear = Listening(daemon)
    try:
        yield ear
    finally:
        daemon.stop()
        ear.join()


def test_saved_note_shows_as_sync_and_embedding_and_the_stop_ends_the_stream(daemon: RunningDaemon) -> None:
    with listening(daemon) as ear:
        note = daemon.workspace / "memory" / "new.md"

        def is_watched() -> bool:
            note.write_text(f"# New\n\nSave number {note.stat().st_mtime_ns if note.exists() else 0}.\n")
            daemon_client.sync()
            return bool(ear.named("sync"))

        with Client(daemon.socket) as daemon_client:
            eventually(is_watched)
            assert daemon_client.sync(wait="embedded")["complete"]
        eventually(lambda: ear.named("embedding"))
        eventually(lambda: ear.named("sync")[-1]["data"]["state"] == "finished")
        assert {event["data"]["agent"] for event in ear.events} == {"main"}
        assert ear.named("embedding")[-1]["data"]["pending"] == 0
    assert ear.is_over.is_set()
    assert ear.error is None


def test_stream_of_one_agent_is_quiet_about_the_others(daemon: RunningDaemon) -> None:
    with Client(daemon.socket) as client:
        stream = client.events(agent="main", silence=10)
        (daemon.workspace / "memory" / "new.md").write_text("# New\n\nSaved.\n")
        client.reindex(force=True)
        assert next(stream)["data"]["agent"] == "main"
        stream.close()
        assert client.health()["ok"]
