"""Sockets: ownership, permissions, limits of number and time, and what happens when one is lost or the server stops."""

import asyncio
import contextlib
import errno
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import tracemalloc
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memoryd.api.http.connection import ConnectionLimits
from memoryd.api.http.server import Server
from memoryd.api.http.sockets import Listener, bind_listener, take_inherited
from memoryd.errors import AlreadyRunning, ConfigError, MemorydError, NotPermitted
from memoryd.wire import SUN_PATH_MAX
from tests.integration.serving import Stage, client, hang_up, read_all, serving, talk
from tests.waiting import eventually_async

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to act as another user")
HEALTH = b"GET /v1/health HTTP/1.1\r\nhost: x\r\n\r\n"
SHORT = timedelta(seconds=0.2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "m.sock"


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def server(path: Path, stage: Stage) -> AsyncIterator[Server]:
    async with serving(path, stage) as running:
        yield running


@pytest.fixture
def open_directory() -> Iterator[Path]:
    """Yield a directory that other users can reach, unlike tmp_path."""
    directory = Path(tempfile.mkdtemp())
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def connects(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0


@contextlib.contextmanager
def umask(value: int) -> Iterator[None]:
    before = os.umask(value)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_f102_socket_is_private_under_any_umask(path: Path, mask: int) -> None:
    """Socket 0600 and folder 0700 under each umask."""
    with umask(mask):
        listener = bind_listener(path)
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)
    listener.close()


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace, to see the instant of the bind")
def test_f102_socket_is_private_from_the_first_instant(tmp_path: Path) -> None:
    """Killed between bind and listen, the socket is 0600 already."""
    program = (
        "import os, pathlib, signal, sys; os.umask(0); from memoryd.api.http.sockets import bind_listener;"
        "bind_listener(pathlib.Path(sys.argv[1]))"
    )
    path = tmp_path / "run" / "m.sock"
    kill_after_bind = [
        "strace",
        "-f",
        "-o",
        str(tmp_path / "trace"),
        "-e",
        "trace=listen",
        "-e",
        "inject=listen:signal=KILL",
    ]
    done = subprocess.run(
        [*kill_after_bind, sys.executable, "-c", program, str(path)], capture_output=True, check=False
    )
    assert done.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)
    assert mode_of(path) == 0o600


def test_f097_dead_socket_of_ours_is_replaced(path: Path) -> None:
    """A dead socket of ours is replaced by one that answers."""
    bind_listener(path).sock.close()
    assert path.is_socket()
    assert not connects(path)
    listener = bind_listener(path)
    assert connects(path)
    listener.close()


def test_f098_live_socket_is_not_stolen(path: Path) -> None:
    """Binding a live socket is refused; the first listener is still bound and answers."""
    first = bind_listener(path)
    with pytest.raises(AlreadyRunning, match="already listens"):
        bind_listener(path)
    assert first.is_still_bound()
    assert connects(path)
    first.close()


def test_f099_path_too_long_for_the_kernel_is_an_error(tmp_path: Path) -> None:
    """The longest path binds; one byte more is an error that says how long and what to set."""
    room = SUN_PATH_MAX - len(bytes(tmp_path / "d")) - 1
    listener = bind_listener(tmp_path / "d" / ("s" * room))
    listener.close()
    with pytest.raises(ConfigError, match=f"{SUN_PATH_MAX + 1} bytes.*MEMORYD_SOCKET"):
        bind_listener(tmp_path / "d" / ("s" * (room + 1)))


def test_f100_missing_directories_are_created_private(tmp_path: Path) -> None:
    """Missing folders are made with 0700 under umask 0."""
    path = tmp_path / "state" / "run" / "m.sock"
    with umask(0):
        bind_listener(path).close()
    assert (mode_of(tmp_path / "state"), mode_of(tmp_path / "state" / "run")) == (0o700, 0o700)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o755, 0o711])
def test_f101_directory_open_to_others_is_refused(path: Path, mode: int) -> None:
    """A folder open to others is refused and left as it is."""
    path.parent.mkdir()
    path.parent.chmod(mode)
    with pytest.raises(NotPermitted, match="open to others"):
        bind_listener(path)
    assert mode_of(path.parent) == mode
    assert not path.exists()


@as_root
def test_f101_f155_directory_of_another_user_is_refused(path: Path) -> None:
    """A folder of another user is refused."""
    path.parent.mkdir(mode=0o700)
    os.chown(path.parent, NOBODY, NOBODY)
    with pytest.raises(NotPermitted, match="belongs to uid 65534"):
        bind_listener(path)


def test_f101_symlink_in_place_of_the_directory_is_refused(path: Path, tmp_path: Path) -> None:
    """A link in place of the folder is refused, and nothing is put behind it."""
    (tmp_path / "real").mkdir(mode=0o700)
    path.parent.symlink_to(tmp_path / "real")
    with pytest.raises(NotPermitted, match="not a real directory"):
        bind_listener(path)
    assert path.parent.is_symlink()
    assert not list((tmp_path / "real").iterdir())


def test_f101_file_or_symlink_in_the_way_is_kept(path: Path, tmp_path: Path) -> None:
    """A file or a link in the way is refused and left as it is."""
    target = tmp_path / "target"
    path.parent.mkdir(mode=0o700)
    path.write_text("precious")
    with pytest.raises(NotPermitted, match="not a socket"):
        bind_listener(path)
    assert path.read_text() == "precious"
    path.unlink()
    path.symlink_to(target)
    with pytest.raises(NotPermitted, match="not a socket"):
        bind_listener(path)
    assert path.is_symlink()
    assert not target.exists()


@as_root
def test_f101_dead_socket_of_another_user_is_kept(path: Path) -> None:
    """A dead socket of another user is refused and left there."""
    bind_listener(path).sock.close()
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(NotPermitted, match="belongs to uid 65534"):
        bind_listener(path)
    assert path.is_socket()


def test_closing_removes_only_our_own_socket(path: Path) -> None:
    first = bind_listener(path)
    path.unlink()
    second = bind_listener(path)
    assert not first.is_still_bound()
    first.close()
    assert second.is_still_bound()
    second.close()
    assert not path.exists()


async def test_peer_and_socket_name_reach_the_handler(tmp_path: Path, stage: Stage) -> None:
    paths = {"owner": tmp_path / "a" / "m.sock", "agent": tmp_path / "b" / "m.sock"}
    listeners = [bind_listener(path, name=name) for name, path in paths.items()]
    async with serving(paths["owner"], stage, listeners=listeners):
        for name, path in paths.items():
            async with client(path) as asking:
                found = (await asking.get("/v1/peer")).json()
            assert found == {"uid": os.geteuid(), "pid": os.getpid(), "socket": name}


@as_root
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl, as a client of another user")
async def test_f103_other_users_get_no_answer_whatever_the_mode(open_directory: Path, stage: Stage) -> None:
    """Another user gets no byte, even with mode 0666, and is counted; root is answered."""
    path = open_directory / "run" / "m.sock"
    curl = ["curl", "--silent", "--max-time", "5", "--unix-socket", str(path), "http://localhost/v1/health"]

    async def ask(uid: int) -> tuple[int | None, bytes]:
        child = await asyncio.create_subprocess_exec(*curl, stdout=subprocess.PIPE, user=uid, cwd="/")
        out, _ = await child.communicate()
        return child.returncode, out

    async with serving(path, stage) as server:
        path.parent.chmod(0o755)
        code, out = await ask(NOBODY)
        assert (code, out) == (7, b"")  # could not connect: the mode keeps them out
        assert not server.connections.refused
        path.chmod(0o666)
        code, out = await ask(NOBODY)
        assert code != 0
        assert out == b""
        assert server.connections.refused["foreign user"] == 1
        assert await ask(0) == (0, b'{"ok":true}')


async def test_f104_removed_socket_is_bound_again(path: Path, stage: Stage) -> None:
    """With its folder removed the socket is bound again, private, and old connections live."""
    async with serving(path, stage, check_every=timedelta(seconds=0.05)) as server, client(path) as early:
        assert (await early.get("/v1/health")).status_code == 200
        shutil.rmtree(path.parent)
        await eventually_async(lambda: path.exists() and connects(path))
        async with client(path) as late:
            assert (await late.get("/v1/health")).status_code == 200
        assert (await early.get("/v1/health")).status_code == 200
        assert (mode_of(path), mode_of(path.parent), len(server.listeners)) == (0o600, 0o700, 1)
    assert not path.exists()


async def test_f104_obstacle_to_rebinding_is_reported(path: Path, stage: Stage) -> None:
    """An obstacle to binding again is reported and left in place; once it is gone, the socket is bound."""
    async with serving(path, stage, check_every=timedelta(seconds=0.05)) as server:
        path.unlink()
        path.write_text("in the way")
        await eventually_async(lambda: "not a socket" in server.unreachable.get("owner", ""))
        assert path.read_text() == "in the way"
        path.unlink()
        await eventually_async(lambda: connects(path) if path.exists() else False)
        await eventually_async(lambda: server.unreachable == {})


async def test_f105_connections_per_process_are_bounded(path: Path, stage: Stage) -> None:
    """Beyond the limit of a process a client gets 503; when the others have left it is answered."""
    limits = ConnectionLimits(total=5, per_process=3)
    async with serving(path, stage, limits=limits) as server:
        opened = [await asyncio.open_unix_connection(str(path)) for _ in range(3)]
        await eventually_async(lambda: server.connections.open == 3)
        refusal = await talk(path, HEALTH)
        assert refusal.startswith(b"HTTP/1.1 503")
        assert b'"code": "unavailable"' in refusal
        for _, writer in opened:
            await hang_up(writer)
        await eventually_async(lambda: server.connections.open == 0)
        async with client(path) as asking:
            assert (await asking.get("/v1/health")).status_code == 200


async def test_f105_total_of_connections_is_bounded(path: Path, stage: Stage) -> None:
    """Beyond the total a client of any process gets 503."""
    program = (
        "import socket, sys; held = [socket.socket(socket.AF_UNIX) for _ in range(4)];"
        "[one.connect(sys.argv[1]) for one in held]; print('held', flush=True); sys.stdin.read()"
    )
    async with serving(path, stage, limits=ConnectionLimits(total=4, per_process=4)) as server:
        pipe = asyncio.subprocess.PIPE
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", program, str(path), stdin=pipe, stdout=pipe)
        await eventually_async(lambda: server.connections.open == 4)
        assert (await talk(path, HEALTH)).startswith(b"HTTP/1.1 503")
        await other.communicate(b"")
        await eventually_async(lambda: server.connections.open == 0)
        async with client(path) as asking:
            assert (await asking.get("/v1/health")).status_code == 200


async def test_f105_silent_and_trickling_clients_are_dropped(path: Path, stage: Stage) -> None:
    """Silent and trickling clients are dropped at the time limit, and counted."""
    async with serving(path, stage, limits=ConnectionLimits(header_timeout=SHORT)) as server:
        assert await talk(path, b"") == b""
        assert await talk(path, b"GET /v1/hea") == b""
        reader, writer = await asyncio.open_unix_connection(str(path))
        dropped = asyncio.create_task(read_all(reader))
        for byte in HEALTH * 3:
            if dropped.done() or writer.is_closing():
                break
            writer.write(bytes([byte]))
            await asyncio.wait([dropped], timeout=0.02)
        assert await dropped == b""
        await hang_up(writer)
        assert server.connections.refused["timed out"] == 3


async def test_f105_trickled_second_request_is_dropped_too(path: Path, stage: Stage) -> None:
    """A second request that trickles is dropped at the time limit, too."""
    async with serving(path, stage, limits=ConnectionLimits(header_timeout=SHORT)) as server:
        reader, writer = await asyncio.open_unix_connection(str(path))
        writer.write(HEALTH)
        assert await reader.readuntil(b'{"ok":true}')
        writer.write(b"GET /v1/hea")
        assert await reader.read() == b""
        await hang_up(writer)
        assert server.connections.refused["timed out"] == 1


async def test_f105_only_idle_connections_are_closed(path: Path, stage: Stage) -> None:
    """An idle connection is closed at its limit; one that waits for its answer gets it."""
    limits = ConnectionLimits(header_timeout=SHORT, idle_timeout=timedelta(seconds=1))
    async with serving(path, stage, limits=limits):
        asking = asyncio.create_task(talk(path, b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n"))
        await eventually_async(lambda: stage.waiting == 1)
        assert (await talk(path, HEALTH)).endswith(b'{"ok":true}')  # returns when the idle time is over
        assert not asking.done()
        stage.release.set()
        assert (await asking).endswith(b'{"done":true}')


async def test_f105_clients_are_answered_beside_many_idle_ones(path: Path, stage: Stage) -> None:
    """Twenty clients are answered beside 150 idle ones."""
    async with serving(path, stage, limits=ConnectionLimits(total=200, per_process=200)) as server:
        idle = [await asyncio.open_unix_connection(str(path)) for _ in range(150)]
        await eventually_async(lambda: server.connections.open == 150)
        async with client(path) as asking:
            replies = await asyncio.gather(*(asking.get("/v1/health") for _ in range(20)))
        assert [reply.status_code for reply in replies] == [200] * 20
        for _, writer in idle:
            await hang_up(writer)


async def test_refused_client_can_still_read_the_reason(path: Path, stage: Stage) -> None:
    async with serving(path, stage, limits=ConnectionLimits(total=1, per_process=1)) as server:
        _, first = await asyncio.open_unix_connection(path)
        await eventually_async(lambda: server.connections.open == 1)
        reader, writer = await asyncio.open_unix_connection(path)
        await eventually_async(lambda: server.connections.refused.total() == 1)
        writer.write(b"GET /v1/health HTTP/1.1\r\nHost: m\r\n\r\n")
        await writer.drain()
        reply = await reader.read()
        assert reply.startswith(b"HTTP/1.1 503")
        assert b"too many connections" in reply
        assert b"limits.maxConnections" in reply
        first.close()
        writer.close()


async def test_f134_nearly_full_descriptor_table_refuses_connections(path: Path, stage: Stage) -> None:
    """With five descriptors left a client gets 503 and is counted; with room it is answered."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    async with serving(path, stage) as server:
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free + 5, hard))
        try:
            assert (await talk(path, HEALTH)).startswith(b"HTTP/1.1 503")
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert server.connections.refused["out of file descriptors"] == 1
        async with client(path) as asking:
            assert (await asking.get("/v1/health")).status_code == 200


async def test_f106_client_that_never_reads_is_dropped(path: Path, stage: Stage) -> None:
    """A client that never reads is dropped at the time limit, in bounded memory, and the next gets its large answer."""
    large = b"GET /v1/large?size=4000000 HTTP/1.1\r\nhost: x\r\n\r\n"
    async with serving(path, stage, limits=ConnectionLimits(write_timeout=5 * SHORT)) as server:
        with socket.socket(socket.AF_UNIX) as deaf:
            deaf.connect(str(path))
            tracemalloc.start()
            deaf.sendall(large * 50)
            await eventually_async(lambda: server.connections.refused["timed out"] == 1)
            await eventually_async(lambda: server.connections.open == 0)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        # of the 200 MB that it requested
        assert most < 50_000_000
        assert len(await talk(path, large, then_eof=True)) > 4_000_000


async def test_f107_half_closed_client_gets_its_answer(path: Path, stage: Stage, server: Server) -> None:
    """A client that closed its sending side gets its answer."""
    asking = asyncio.create_task(talk(path, b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n", then_eof=True))
    await eventually_async(lambda: stage.waiting == 1)
    stage.release.set()
    assert (await asking).endswith(b'{"done":true}')
    await eventually_async(lambda: server.connections.open == 0)


@pytest.mark.parametrize("next_request", [b"", HEALTH])
async def test_f107_work_for_a_client_that_left_is_cancelled(
    path: Path, stage: Stage, next_request: bytes, server: Server
) -> None:
    """The work for a client that left is cancelled, and its connection forgotten."""
    with socket.socket(socket.AF_UNIX) as leaving:
        leaving.connect(str(path))
        leaving.sendall(b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n")
        await eventually_async(lambda: stage.waiting == 1)
        leaving.sendall(next_request)
    await eventually_async(lambda: stage.cancelled == 1)
    await eventually_async(lambda: server.connections.open == 0)


async def test_f107_client_that_leaves_inside_its_body_is_forgotten(path: Path, stage: Stage) -> None:
    """A client that leaves inside its body gets nothing and is forgotten."""
    start = b"POST /v1/echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
    async with serving(path, stage) as server:
        assert await talk(path, start, then_eof=True) == b""
        await eventually_async(lambda: server.connections.open == 0)


async def test_f115_stop_lets_requests_finish(path: Path, stage: Stage, server: Server) -> None:
    """At the stop a running request is answered, an idle connection closed, the socket gone."""
    idle_reader, idle_writer = await asyncio.open_unix_connection(str(path))
    asking = asyncio.create_task(talk(path, b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n"))
    await eventually_async(lambda: stage.waiting == 1)
    server.stop()
    assert await idle_reader.read() == b""
    assert not path.exists()
    stage.release.set()
    assert (await asking).endswith(b'{"done":true}')
    await hang_up(idle_writer)


async def test_f115_request_that_outlasts_the_stop_is_cancelled(path: Path, stage: Stage) -> None:
    """A request that outlasts the grace of the stop gets shutting_down, and is cancelled."""
    async with serving(path, stage, grace=SHORT) as server:
        asking = asyncio.create_task(talk(path, b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n"))
        await eventually_async(lambda: stage.waiting == 1)
        server.stop()
        reply = await asking
    assert reply.startswith(b"HTTP/1.1 503")
    assert b'"code": "shutting_down"' in reply
    assert stage.cancelled == 1


async def test_cancelling_the_server_stops_it_gracefully(path: Path, stage: Stage) -> None:
    async with serving(path, stage):
        asking = asyncio.create_task(talk(path, b"GET /v1/wait HTTP/1.1\r\nhost: x\r\n\r\n"))
        await eventually_async(lambda: stage.waiting == 1)
        (task,) = [task for task in asyncio.all_tasks() if task.get_name() == "server"]
        task.cancel()
        await eventually_async(lambda: not path.exists())
        stage.release.set()
        assert (await asking).endswith(b'{"done":true}')
        with pytest.raises(asyncio.CancelledError):
            await task


async def test_f116_pipelined_requests_are_answered_in_order(path: Path, stage: Stage) -> None:
    """A hundred requests sent at once are answered in their order."""
    requests = b"".join(b"GET /v1/large?size=%d HTTP/1.1\r\nhost: x\r\n\r\n" % size for size in range(100))
    async with serving(path, stage):
        replies = (await talk(path, requests, then_eof=True)).split(b"HTTP/1.1 200")[1:]
    assert [reply.partition(b'{"text":"')[2].count(b"x") for reply in replies] == list(range(100))


async def test_server_changes_no_signal_handlers(path: Path, stage: Stage) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    async with serving(path, stage):
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def environment(count: int, **changes: str) -> dict[str, str]:
    return {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": "memoryd", "X": "y"} | changes


def test_sockets_for_another_process_are_ignored() -> None:
    environ = environment(1, LISTEN_PID="1")
    assert take_inherited(environ) == []
    assert environ == {"X": "y"}


ADOPTER = """
import os, sys
from memoryd.api.http.sockets import take_inherited
(listener,) = take_inherited(os.environ)
left = [name for name in os.environ if name.startswith("LISTEN")]
print(listener.path, listener.is_inherited, listener.is_still_bound(), left, listener.sock.get_inheritable())
listener.close()
print(listener.path.exists(), flush=True)
"""


@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="needs systemd-socket-activate")
async def test_inherited_socket_is_adopted_and_never_unlinked(tmp_path: Path) -> None:
    path = tmp_path / "m.sock"
    activate = ["systemd-socket-activate", "--listen", str(path), "--fdname=memoryd"]
    child = await asyncio.create_subprocess_exec(
        *activate, sys.executable, "-c", ADOPTER, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    await eventually_async(lambda: path.exists() and connects(path))
    out, _ = await child.communicate()
    assert out.decode().splitlines() == [f"{path} True True [] False", "True"]


def inherit(listener: Listener) -> Listener:
    """Return the same socket as passed by a service manager: its path is not ours to unlink."""
    return Listener(listener.sock, listener.path, listener.name, is_inherited=True, file_id=listener.file_id)


async def test_inherited_socket_outlives_the_server(path: Path, stage: Stage) -> None:
    manager = bind_listener(path)
    passed = inherit(manager)
    passed.sock = manager.sock.dup()
    async with serving(path, stage, listeners=[passed]), client(path) as asking:
        assert (await asking.get("/v1/health")).status_code == 200
    assert path.is_socket()
    assert connects(path)  # the manager's copy still queues clients for the next daemon
    manager.close()


async def test_f104_inherited_socket_with_removed_path_is_replaced(path: Path, stage: Stage) -> None:
    """An inherited socket whose path was removed is replaced, and ours is removed at the end."""
    manager = bind_listener(path)
    passed = inherit(manager)
    passed.sock = manager.sock.dup()
    path.unlink()
    async with serving(path, stage, listeners=[passed]), client(path) as asking:
        assert (await asking.get("/v1/health")).status_code == 200
    assert not path.exists()
    manager.close()


PASSER = """
import os, socket, sys, tempfile
from memoryd.api.http.sockets import take_inherited
directory = tempfile.mkdtemp()
def plain(): return os.open("/dev/null", os.O_RDONLY)
def stream():
    sock = socket.socket(socket.AF_UNIX); sock.bind(directory + "/" + str(len(os.listdir(directory)))); return sock
good = stream(); good.listen()
silent = stream()
datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
abstract = socket.socket(socket.AF_UNIX); abstract.bind("\\0memoryd-test-%d" % os.getpid()); abstract.listen()
tcp = socket.socket(); tcp.bind(("127.0.0.1", 0)); tcp.listen()
passed = [plain(), silent.detach(), good.detach(), datagram.detach(), abstract.detach(), tcp.detach()]
high = [os.dup2(fd, 100 + index) for index, fd in enumerate(passed)]
for index, fd in enumerate(high):
    os.dup2(fd, 3 + index)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(passed)), LISTEN_FDNAMES="a:b:c:d:e:f")
kept = take_inherited(os.environ)
print(len(kept))
open_now = []
for fd in range(3, 3 + len(passed)):
    try: os.fstat(fd); open_now.append(fd)
    except OSError: pass
print(open_now)
"""


def test_only_listening_unix_sockets_with_a_path_are_adopted() -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PASSER], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-2:] == ["1", "[5]"]


def test_uncreatable_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MemorydError, match=os.strerror(errno.ENOTDIR)):
        bind_listener(tmp_path / "file" / "run" / "m.sock")
