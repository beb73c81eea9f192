"""The real daemon with its loopback port open, and ways to ask there: HTTP by httpx, anything by bytes."""

import random
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from memoryd.config.limits import DEFAULT_PORT
from memoryd.replies.daemon import PortReply
from tests.daemon import RunningDaemon, write_config
from tests.hasty import HASTY
from tests.waiting import SECONDS, eventually


def free_port() -> int:
    """Return a port that nobody listens on: not the usual one, nor one that the system gives to whoever connects."""
    while True:
        port = random.randint(DEFAULT_PORT + 1, 30_000)
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass(frozen=True)
class OpenPort:
    """A daemon and its port; `token` is that of the file now."""

    daemon: RunningDaemon
    port: int
    host: str = "127.0.0.1"

    @property
    def token_file(self) -> Path:
        return self.daemon.state / "http-token"

    @property
    def token(self) -> str:
        return self.token_file.read_text().strip()

    @property
    def url(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    def ask(
        self,
        method: str,
        path: str,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Ask with the token, or another one, on a connection of its own; an empty one is none."""
        given = self.token if token is None else token
        named = {"Authorization": f"Bearer {given}"} if given else {}
        # certificates take ten times what most questions do, and nothing here is encrypted
        with httpx.Client(base_url=self.url, timeout=SECONDS, verify=False) as client:
            return client.request(method, path, headers={**named, **(headers or {})}, **options)

    def talk(self, sent: bytes) -> bytes:
        """Send bytes and return what comes back until the other end hangs up."""
        received = b""
        with socket.create_connection((self.host, self.port), timeout=SECONDS) as sock, suppress(ConnectionError):
            sock.sendall(sent)
            while piece := sock.recv(65536):
                received += piece
        return received

    def until_open(self) -> None:
        """Wait until the port is open."""
        eventually(lambda: self.state()["open"])

    def state(self) -> PortReply:
        """Return what status tells of the port."""
        with self.daemon.client() as client:
            port = client.status()["http"]
        assert port is not None
        return port


@contextmanager
def open_port(
    home: Path, *, http: dict[str, object] | None = None, waits: bool = True, **sections: object
) -> Iterator[OpenPort]:
    """Run a daemon over two notes and two memories, by words only, with its port open if it `waits` for that."""
    workspace = home / "workspace"
    (workspace / "memory").mkdir(parents=True)
    (workspace / "MEMORY.md").write_text("# Memory\n\nThe gateway runs on alder.\n")
    (workspace / "memory" / "2026-11-18.md").write_text(
        "# Wednesday\n\nError GW-4172 came back.\n\n## Retain\n"
        "- W @Harbour: the pier was painted in spring\n- O(c=0.9) @Tea: green tea is the best\n"
    )
    found: dict[str, object] = {"enabled": True, "port": free_port(), **(http or {})}
    config = write_config(home, workspace, None, search=None, http=found, **sections)
    with RunningDaemon(home, config, workspace, program=HASTY) as running:
        running.client().sync()
        opened = OpenPort(running, int(str(found["port"])), str(found.get("host", "127.0.0.1")))
        if waits:
            opened.until_open()
        yield opened
