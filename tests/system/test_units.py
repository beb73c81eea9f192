"""The service files, checked by the programs that read them."""

import json
import os
import plistlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from memoryd.client import Client
from memoryd.config.loading.load import load
from memoryd.daemon.main import PERMANENT
from memoryd.service.needs import ServiceNeeds, needs_of
from memoryd.service.systemd import hardening_drop_in, service_unit, socket_unit
from memoryd.wire import Exit
from tests.daemon import RunningDaemon, write_config, write_workspace
from tests.waiting import eventually
from tests.warm.programs import ran

ROOT = Path(__file__).parents[2]
SYSTEMD = ROOT / "systemd"
PLIST = ROOT / "launchd" / "ai.memoryd.plist"
with_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
COMMAND = "%h/.local/bin/memoryd"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Return the units as installed, with a command that exists here."""
    directory = tmp_path / "units"
    directory.mkdir()
    for name in ("memoryd.service", "memoryd.socket"):
        text = (SYSTEMD / name).read_text()
        (directory / name).write_text(text.replace(COMMAND, "/bin/true"))
    return directory


def analyze(units: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(units.parent)}
    return subprocess.run(
        ["systemd-analyze", *arguments], cwd=units, env=environ, capture_output=True, text=True, check=False
    )


def verify(units: Path) -> subprocess.CompletedProcess[str]:
    strict = ["--user", "verify", "--man=no", "--recursive-errors=yes"]
    return analyze(units, *strict, "./memoryd.service", "./memoryd.socket")


@with_systemd
def test_units_are_accepted_without_a_warning(units: Path) -> None:
    done = verify(units)
    assert (done.returncode, done.stderr) == (0, "")


@with_systemd
@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("KillMode=mixed", "KillMood=mixed"),
        ("/bin/true", "/bin/no-such-command"),
        ("WatchdogSec=30", "WatchdogSec=soon"),
    ],
)
def test_check_of_the_units_can_fail(units: Path, good: str, bad: str) -> None:
    service = units / "memoryd.service"
    service.write_text(service.read_text().replace(good, bad))
    done = verify(units)
    assert done.returncode != 0 or done.stderr


def filled_in(folder: Path, needs: ServiceNeeds, *, command: str, environment: Mapping[str, str]) -> Path:
    """Return the units as the installer writes them, with the drop-in."""
    units = folder / "units"
    (units / "memoryd.service.d").mkdir(parents=True)
    service = service_unit((SYSTEMD / "memoryd.service").read_text(), [command], environment, why_more_memory="a test")
    (units / "memoryd.service").write_text(service)
    listening = socket_unit((SYSTEMD / "memoryd.socket").read_text(), f"{folder}/a b 100%.sock", "/usual")
    (units / "memoryd.socket").write_text(listening)
    drop_in = hardening_drop_in((SYSTEMD / "hardening.conf").read_text(), needs)
    (units / "memoryd.service.d" / "hardening.conf").write_text(drop_in)
    return units


NEEDS = ServiceNeeds(own=(Path("/s"),), workspaces=(), readable=())


@with_systemd
@pytest.mark.parametrize("odd", ["plain", "a b", "100%h", "$HOME", "ünï 文", "semi;colon #x", "a:b", "[x]*?"])
def test_units_with_unusual_paths_are_accepted_without_a_warning(tmp_path: Path, odd: str) -> None:
    program = tmp_path / odd / "memoryd"
    program.parent.mkdir()
    program.symlink_to("/bin/true")
    folders = [Path(f"/data/{odd}"), *map(Path, ("/data/'", '/data/"q\\', "/data/\\x41 \"'"))]
    needs = replace(NEEDS, own=tuple(folders), network="a test", gpu="a test")
    environment = {"MEMORYD_CONFIG": f"/c/{odd}", "MEMORYD_STATE_DIR": "/a \"q\" 'q' \\ back"}
    done = verify(filled_in(tmp_path, needs, command=str(program), environment=environment))
    assert (done.returncode, done.stderr) == (0, "")


@with_systemd
@pytest.mark.parametrize(
    ("good", "bad"), [("ProtectSystem=strict", "ProtectSystem=strictly"), ('"-/s"', "s"), ("PrivateTmp", "PrivateTemp")]
)
def test_check_of_the_drop_in_can_fail(tmp_path: Path, good: str, bad: str) -> None:
    units = filled_in(tmp_path, NEEDS, command="/bin/true", environment={})
    drop_in = units / "memoryd.service.d" / "hardening.conf"
    drop_in.write_text(drop_in.read_text().replace(good, bad))
    done = verify(units)
    assert done.returncode != 0 or done.stderr


@with_systemd
def test_exposure_of_the_service_is_limited(units: Path, tmp_path: Path) -> None:
    done = analyze(units, "security", "--offline=true", "--threshold=70", "./memoryd.service")
    assert done.returncode == 0, done.stdout
    done = analyze(units, "security", "--offline=true", "--threshold=30", "./memoryd.service")
    assert done.returncode != 0
    hardened = filled_in(tmp_path / "hardened", NEEDS, command="/bin/true", environment={})
    done = analyze(hardened, "security", "--offline=true", "--threshold=30", "./memoryd.service")
    assert done.returncode == 0, done.stdout


def settings(name: str) -> dict[str, str]:
    lines = (SYSTEMD / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]\w+=", line))


def test_socket_unit_owns_the_socket_and_its_directory() -> None:
    service, sock = settings("memoryd.service"), settings("memoryd.socket")
    assert not {"RuntimeDirectory", "StateDirectory"} & service.keys()
    assert (sock["ListenStream"], sock["SocketMode"], sock["DirectoryMode"]) == (
        "%t/memoryd/memoryd.sock",
        "0600",
        "0700",
    )
    assert service["Requires"] == service["After"] == "memoryd.socket"
    assert service["ExecStart"] == COMMAND


def test_permanent_errors_are_not_retried() -> None:
    service = settings("memoryd.service")
    assert {"64", "77", "78"} <= set(service["RestartPreventExitStatus"].split())
    assert (service["Restart"], service["Type"], service["NotifyAccess"]) == ("on-failure", "notify", "main")


KEYS: dict[str, type] = {
    "Label": str,
    "ProgramArguments": list,
    "RunAtLoad": bool,
    "KeepAlive": dict,
    "ThrottleInterval": int,
    "ExitTimeOut": int,
    "ProcessType": str,
    "LowPriorityIO": bool,
    "Nice": int,
    "Umask": int,
    "SoftResourceLimits": dict,
    "HardResourceLimits": dict,
    "EnvironmentVariables": dict,
    "StandardOutPath": str,
    "StandardErrorPath": str,
    "WorkingDirectory": str,
    "AbandonProcessGroup": bool,
}
"""Keys and types of launchd.plist(5)."""


def installed_agent() -> dict[str, object]:
    text = PLIST.read_text().replace("@MEMORYD@", "/Users/a b/bin/memoryd").replace("@HOME@", "/Users/a b")
    found = plistlib.loads(text.encode())
    assert isinstance(found, dict)
    return found


def test_agent_is_a_property_list_of_known_keys() -> None:
    assert PLIST.read_text().startswith('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD')
    agent = installed_agent()
    assert {key: type(value) for key, value in agent.items()} == KEYS
    assert plistlib.loads(plistlib.dumps(agent)) == agent
    assert (agent["Label"], agent["Umask"]) == ("ai.memoryd", 0o077)
    assert agent["KeepAlive"] == {"SuccessfulExit": False, "Crashed": True}
    assert agent["SoftResourceLimits"] == {"NumberOfFiles": 4096, "Core": 0}


def test_installed_agent_has_only_absolute_paths() -> None:
    agent = installed_agent()
    assert "@" not in str(agent)
    paths = [
        agent["StandardOutPath"],
        agent["StandardErrorPath"],
        agent["WorkingDirectory"],
        *_texts(agent["ProgramArguments"]),
    ]
    assert all(str(path).startswith("/") for path in paths)
    assert not {"~", "$"} & set(str(agent))


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(item) for item in value]


@with_systemd
@pytest.mark.skipif(shutil.which("systemd-socket-activate") is None, reason="needs systemd-socket-activate")
def test_daemon_answers_the_first_connection_to_an_activated_socket(tmp_path: Path) -> None:
    """The socket exists before the daemon: the first connection waits in its queue, and is answered."""
    workspace = write_workspace(tmp_path / "notes")
    daemon = RunningDaemon(tmp_path, write_config(tmp_path, workspace, None), workspace)
    (tmp_path / "home").mkdir()
    daemon.socket.parent.mkdir(mode=0o700)
    set_environment = [f"--setenv={name}={value}" for name, value in daemon.env.items()]
    listen = ["systemd-socket-activate", f"--listen={daemon.socket}", "--fdname=memoryd", *set_environment]
    with daemon.log.open("ab") as log:
        activating = subprocess.Popen(
            [*listen, sys.executable, "-m", "memoryd.daemon.main"],
            env={**daemon.env, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        # a bound socket refuses connections until it listens
        eventually(lambda: _listens(daemon.socket))
        with Client(daemon.socket, timeout=120) as client:
            status = client.status()
        assert (status["pid"], status["socket"]) == (activating.pid, str(daemon.socket))
        with socket.socket(socket.AF_UNIX) as second:
            second.connect(str(daemon.socket))
    finally:
        activating.send_signal(signal.SIGTERM)
        code = activating.wait(60)
    assert code == Exit.DONE, daemon.log.read_text()
    # the manager removes its own socket
    assert daemon.socket.is_socket()


def _listens(path: Path) -> bool:
    """Tell whether a socket listens, without connecting: the fourth column of /proc/net/unix has the flag."""
    found = (line.split() for line in Path("/proc/net/unix").read_text().splitlines())
    return any(words[-1] == str(path) and words[3] == "00010000" for words in found)


def runs(command: Sequence[str], service: Mapping[str, str], environment: Mapping[str, str], most: int = 3) -> int:
    """Run a program as systemd does by the unit; return how often it was started, at most `most` times."""
    for count in range(1, most + 1):
        code = ran([*command], env=dict(environment), stdin=subprocess.DEVNULL, capture_output=True).returncode
        is_clean = code == 0 or code in (-signal.SIGHUP, -signal.SIGINT, -signal.SIGTERM, -signal.SIGPIPE)
        is_final = str(code) in service["RestartPreventExitStatus"].split()
        assert service["Restart"] == "on-failure"
        if is_clean or is_final:
            return count
    return most


@pytest.mark.parametrize(
    ("ending", "times"),
    [
        *[(f"exit {code}", 1) for code in (0, 2, 64, *PERMANENT)],
        *[(f"exit {code}", 3) for code in (1, Exit.STALLED)],
        ("kill -KILL $$", 3),
        ("kill -SEGV $$", 3),
        ("kill -TERM $$", 1),
    ],
)
def test_exit_codes_that_cause_a_restart(ending: str, times: int) -> None:
    assert runs(["/bin/sh", "-c", ending], settings("memoryd.service"), os.environ) == times


@pytest.fixture
def misconfigured(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a daemon that cannot start."""
    config = tmp_path / "config.json5"
    config.write_text("{ agents: 5 }")
    return {**os.environ, "MEMORYD_CONFIG": str(config)}


MEMORYD = [sys.executable, "-m", "memoryd.daemon.main"]


def test_wrong_configuration_does_not_loop_under_systemd(misconfigured: dict[str, str]) -> None:
    assert runs(MEMORYD, settings("memoryd.service"), misconfigured) == 1
    assert ran(MEMORYD, env=misconfigured, stderr=subprocess.DEVNULL).returncode == Exit.CONFIG


def test_wrong_configuration_is_reported_once_under_launchd(misconfigured: dict[str, str]) -> None:
    """launchd restarts everything that does not end with success."""
    variables = installed_agent()["EnvironmentVariables"]
    assert isinstance(variables, dict)
    done = ran(MEMORYD, env={**misconfigured, **variables, "PATH": os.environ["PATH"]}, capture_output=True, text=True)
    assert done.returncode == 0
    assert "agents" in done.stderr


def test_foreign_database_is_reported_once_under_launchd(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.sqlite"
    theirs.write_bytes(b"SQLite format 3\x00" + bytes(84))
    search = {"provider": "none", "store": {"path": str(theirs)}}
    config = tmp_path / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(tmp_path), "memorySearch": search}}}))
    variables = {"MEMORYD_SUPERVISOR": "launchd", "MEMORYD_CONFIG": str(config)}
    done = ran(MEMORYD, env={**os.environ, **variables}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "is not an index of memoryd" in done.stderr


SHUT_IN = """
import ctypes, os, subprocess, sys
bare, *folders = sys.argv[1:]
for folder in folders:
    subprocess.run(["mount", "--bind", folder, folder], check=True)
subprocess.run(["mount", "-o", "remount,bind,ro", "/"], check=True)
if os.access(bare, os.W_OK):
    sys.exit("the system is not read-only")
# PR_SET_MDWE, since Linux 6.3, is what systemd does by a filter: no memory that was written can be run
ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)
os.execv(sys.executable, [sys.executable, "-m", "memoryd.daemon.main"])
"""


def can_shut_in() -> bool:
    """Tell whether one process can be given a read-only system here."""
    words = ["unshare", "-Urm", "mount", "-o", "remount,bind,ro", "/"]
    return bool(shutil.which("unshare")) and subprocess.run(words, capture_output=True, check=False).returncode == 0


def needed_folders(daemon: RunningDaemon, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the folders that the drop-in of a daemon's configuration makes writable."""
    for name, value in daemon.env.items():
        monkeypatch.setenv(name, value)
    needs = needs_of(load().config, has_gpu=False)
    for folder in needs.own:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = hardening_drop_in((SYSTEMD / "hardening.conf").read_text(), needs).splitlines()
    written = [shlex.split(line.partition("=")[2])[0] for line in lines if line.startswith("ReadWritePaths=")]
    return [path.removeprefix("-") for path in written if path.removeprefix("-") not in ("/tmp", "/var/tmp")]


@pytest.mark.skipif(not can_shut_in(), reason="needs user and mount namespaces")
def test_daemon_works_with_only_its_own_folders_writable(
    tmp_path: Path, starter_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = write_workspace(tmp_path / "notes")
    config = write_config(
        tmp_path, workspace, starter_model, search={"store": {"path": str(tmp_path / "i" / "x.sqlite")}}
    )
    daemon = RunningDaemon(tmp_path, config, workspace)
    folders = needed_folders(daemon, monkeypatch)
    assert {str(workspace), str(tmp_path / "i"), str(daemon.state)} <= set(folders)
    daemon.env["PYTHONPATH"] = str(ROOT)
    shut_in = [sys.executable, "-c", SHUT_IN, str(tmp_path), *folders]
    daemon.program = ("-c", f"import os; os.execvp('unshare', {['unshare', '-Urm', *shut_in]!r})")
    with daemon:
        assert daemon.client().sync(wait="embedded")["complete"]
        found = daemon.client().search("what did we bake")
        assert (found["mode"], len(found["results"]) > 0) == ("hybrid", True)
        assert daemon.client().retain("The kettle is blue.")
    assert "kettle" in "".join(path.read_text() for path in (workspace / "memory").glob("*.md"))
