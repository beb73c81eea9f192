"""The service files, checked by the programs that read them."""

import os
import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SYSTEMD = ROOT / "systemd"
PLIST = ROOT / "launchd" / "ai.memoryd.plist"
with_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")
COMMAND = "%h/.local/bin/memoryd"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units as installed, with a command that exists here."""
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
def test_units_are_accepted_without_a_word(units: Path) -> None:
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
def test_the_check_of_the_units_can_fail(units: Path, good: str, bad: str) -> None:
    service = units / "memoryd.service"
    service.write_text(service.read_text().replace(good, bad))
    done = verify(units)
    assert done.returncode != 0 or done.stderr


@with_systemd
def test_exposure_of_the_service_does_not_grow(units: Path) -> None:
    done = analyze(units, "security", "--offline=true", "--threshold=70", "./memoryd.service")
    assert done.returncode == 0, done.stdout


def settings(name: str) -> dict[str, str]:
    lines = (SYSTEMD / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]\w+=", line))


def test_service_leaves_the_socket_and_its_directory_to_the_socket_unit() -> None:
    service, sock = settings("memoryd.service"), settings("memoryd.socket")
    assert not {"RuntimeDirectory", "StateDirectory"} & service.keys()
    assert (sock["ListenStream"], sock["SocketMode"], sock["DirectoryMode"]) == (
        "%t/memoryd/memoryd.sock",
        "0600",
        "0700",
    )
    assert service["Requires"] == service["After"] == "memoryd.socket"
    assert service["ExecStart"] == COMMAND


def test_errors_that_do_not_heal_are_not_retried() -> None:
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
"""Key → type, by launchd.plist(5)."""


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


def test_agent_has_only_absolute_paths_once_its_places_are_filled_in() -> None:
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
