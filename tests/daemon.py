"""The real daemon as a child process, with folders of its own, for tests and benchmarks."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from memoryd.client import Client
from memoryd.config.paths import cache_dir
from memoryd.domain.embedding import ENGLISH_STARTER, MULTILINGUAL_STARTER
from memoryd.embed.calibration import UnrelatedTexts
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.errors import DaemonNotRunning, NotNow
from memoryd.replies.status import AgentStatus
from tests.waiting import eventually
from tests.warm.programs import ran, started

STARTER = ENGLISH_STARTER
MULTILINGUAL = MULTILINGUAL_STARTER
START_SECONDS = 90.0
STOP_SECONDS = 60.0
PROGRAM = ("-m", "memoryd.daemon.main")
MEMORYCTL = Path(sys.executable).parent / "memoryctl"
LEARNED = cache_dir() / "strangers-of-tests"
"""What the models of the tests make of texts of nobody."""


def write_workspace(root: Path) -> Path:
    """Write a small workspace of believable notes."""
    (root / "memory").mkdir(parents=True)
    (root / "MEMORY.md").write_text("# Memory\n\n- The gateway runs on the Mac Studio called alder.\n")
    (root / "memory" / "2026-10-06.md").write_text(
        "# Tuesday\n\nError GW-4172 means that a second process holds the lease.\n\n"
        "Baked a sourdough loaf for the neighbours.\n"
    )
    (root / "memory" / "2026-10-18.md").write_text("# 星期日\n\n今天和文一起去海边的木屋，修好了屋顶的排水沟。\n")
    return root


async def learn_strangers(model: Path) -> None:
    """See to it once what a model makes of texts of nobody: each daemon would take a second to learn it anew."""
    worker = LlamaWorker.of(model, idle_unload=timedelta(minutes=1), query_timeout=timedelta(minutes=1))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        await UnrelatedTexts(LEARNED).measure(worker)
        running.cancel()


def bring_strangers(cache: Path) -> None:
    """Lay what was learned below the cache folder of a daemon that is to be started."""
    kept = cache / "memoryd" / "strangers"
    if LEARNED.is_dir() and not kept.exists():
        shutil.copytree(LEARNED, kept)


def write_config(
    folder: Path,
    workspace: Path,
    model: Path | None,
    *,
    search: Mapping[str, object] | None = None,
    **sections: object,
) -> Path:
    """Write a configuration; `search` lies over memorySearch, `sections` beside `agents`; no model means words only.

    No editor works here that takes a file away before it brings the next: what is deleted is gone soon. Questions wait
    until what changed is read, however busy the machine is.
    """
    found: dict[str, Any] = {"local": {"modelPath": str(model), "threads": 1}} if model else {"provider": "none"}
    found |= search or {}
    found["sync"] = {"deleteGraceMs": 100, **found.get("sync", {})}
    found["query"] = {"freshMs": 20_000, **found.get("query", {})}
    if model:
        bring_strangers(folder / "cache")
    path = folder / "config.json5"
    agents = {"defaults": {"workspace": str(workspace), "memorySearch": found}}
    path.write_text(json.dumps({"agents": agents, **sections}))
    return path


def write_config_of(
    persons: Sequence[str], folder: Path, workspaces: Path, model: Path | None, **sections: object
) -> Path:
    """Write a configuration of agents of these names, each with the workspace of its name below a folder."""
    config = write_config(folder, workspaces / persons[0], model, **sections)  # type: ignore[arg-type]
    given = json.loads(config.read_text())
    given["agents"]["list"] = [{"id": one, "workspace": str(workspaces / one)} for one in persons]
    config.write_text(json.dumps(given))
    return config


class RunningDaemon:
    """`memoryd` in its own folders below `home`; leaves no process behind."""

    def __init__(
        self,
        home: Path,
        config: Path,
        workspace: Path,
        *,
        environment: Mapping[str, str] | None = None,
        program: Sequence[str] = PROGRAM,
        python: str = sys.executable,
    ) -> None:
        self.program = program
        self.python = python
        self.home = home
        self.config = config
        self.workspace = workspace
        self.state = home / "state" / "memoryd"
        self.socket = home / "run" / "memoryd.sock"
        self.log = home / "daemon.log"
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(home / "home"),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "MEMORYD_CONFIG": str(config),
            "MEMORYD_SOCKET": str(self.socket),
            "MEMORYD_LOG_LEVEL": "DEBUG",
            "LANG": "C.UTF-8",
            **(environment or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self._clients = ExitStack()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def client(self, timeout: float = 60.0) -> Client:
        """Return a client that is closed when the daemon is stopped."""
        return self._clients.enter_context(Client(self.socket, timeout=timeout))

    def agent(self, number: int = 0) -> AgentStatus:
        """Return what the status says of an agent."""
        with Client(self.socket, timeout=60) as client:
            return client.status()["agents"][number]

    def degraded(self) -> dict[str, str]:
        """Return the parts of the first agent that are degraded, and the reason of each."""
        return {part["part"]: part["reason"] for part in self.agent()["degraded"]}

    def memoryctl(
        self, *arguments: str | Path, given: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a command of its owner's to the end; these variables lie over those of the daemon."""
        typed = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
        env = {**self.env, **environment}
        return ran([MEMORYCTL, *arguments], env=env, capture_output=True, text=True, timeout=120, **typed)

    def close_clients(self) -> None:
        """Close the connections of all clients that it gave away; these may go on and open new ones."""
        self._clients.close()

    def spawn(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start the program without waiting for anything."""
        (self.home / "home").mkdir(exist_ok=True)
        with self.log.open("ab") as log:
            return started(
                [self.python, *self.program, *arguments],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def start(self) -> None:
        """Start the program and wait until it answers."""
        self.process = self.spawn()
        eventually(self._answers_or_ended, seconds=START_SECONDS)
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended with {self.process.returncode}:\n{self.log.read_text()[-4000:]}")

    def stop(self) -> int:
        """End the daemon in order and return its exit code; nothing it started may remain."""
        self._clients.close()
        if self.process is None:
            return 0
        children = self._descendants()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.process = None
        _, alive = psutil.wait_procs(children, timeout=30)
        assert not alive, f"left behind: {alive}"
        return code

    def kill(self) -> None:
        """End the daemon as a crash would, and wait until its children noticed."""
        assert self.process is not None
        children = self._descendants()
        self.process.kill()
        self.process.wait()
        self.process = None
        psutil.wait_procs(children, timeout=30)

    def _descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def answers(self) -> bool:
        """Tell whether somebody answers at the socket."""
        try:
            with Client(self.socket, timeout=5) as client:
                return client.health()["ok"]
        except (DaemonNotRunning, NotNow, OSError):
            return False

    def _answers_or_ended(self) -> bool:
        assert self.process is not None
        return self.process.poll() is not None or self.answers()


@contextmanager
def indexed_daemon(home: Path, workspace: Path, model: Path | None = None, **sections: Any) -> Iterator[RunningDaemon]:
    """Run the daemon over `workspace` with its index equal to the disk; `sections` as `write_config` takes them."""
    with RunningDaemon(home, write_config(home, workspace, model, **sections), workspace) as running:
        running.client().sync()
        yield running
