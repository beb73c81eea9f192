"""memoryctl service, run for real, with stand-ins for the programs of systemd and launchd."""

import json
import os
import plistlib
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memoryd.cli.local.service import state_lines
from memoryd.domain.embedding import PROVIDERS
from memoryd.service.managers import manager_here
from memoryd.service.steps import MARK
from memoryd.service.systemd import SERVICE, unit_folder
from memoryd.wire import Exit
from tests.integration.contract_server import serving
from tests.service_programs import StandInManager
from tests.warm.programs import ran

MEMORYCTL = Path(sys.executable).parent / "memoryctl"
ON_A_MAC = "import sys; from memoryd.cli.main import main; sys.platform = 'darwin'; main()"
RUNNING = ["systemctl --user daemon-reload", "systemctl --user enable memoryd.socket memoryd.service"]
STARTED = [*RUNNING, "systemctl --user start memoryd.socket memoryd.service"]
RESTARTED = [*RUNNING, "systemctl --user restart memoryd.service"]
OF_THE_MACHINE = ("PrivateDevices", "MemoryDenyWriteExecute", "PrivateTmp", '"-/tmp"', '"-/var/tmp"')
"""Lines that depend on the GPU and on the folder of the tests."""
GOLDEN = Path(__file__).parents[1] / "data" / "service"


@dataclass
class User:
    """A user with a home folder and a stand-in for the service manager."""

    home: Path
    manager: StandInManager
    env: dict[str, str] = field(default_factory=dict)

    @property
    def units(self) -> Path:
        return self.home / ".config" / "systemd" / "user"

    @property
    def agent(self) -> Path:
        return self.home / "Library" / "LaunchAgents" / "ai.memoryd.plist"

    def service(self, *words: str, mac: bool = False, **env: str) -> subprocess.CompletedProcess[str]:
        program: list[str | Path] = [sys.executable, "-c", ON_A_MAC] if mac else [MEMORYCTL]
        given = {**self.env, **env}
        return ran(
            [*program, "service", *words],
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    def reply(self, *words: str, mac: bool = False, **env: str) -> Any:
        done = self.service(*words, "--json", mac=mac, **env)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


def files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def user(tmp_path: Path) -> User:
    home = tmp_path / "home of a user"
    (home / "notes").mkdir(parents=True)
    config = home / ".config" / "memoryd" / "config.json5"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(home / "notes")}}}))
    manager = StandInManager(tmp_path / "programs")
    path = f"{manager.place}:{os.environ['PATH']}"
    runtime = str(tmp_path / "run")
    return User(home, manager, {"PATH": path, "HOME": str(home), "USER": "ada", "XDG_RUNTIME_DIR": runtime})


def test_service_is_installed_once_and_removed_completely(user: User) -> None:
    before = files_below(user.home)
    done = user.service("install")
    assert done.returncode == Exit.DONE, done.stderr
    assert user.manager.changes() == STARTED
    assert "loginctl enable-linger ada" in done.stderr
    assert sorted(path.name for path in user.units.iterdir()) == ["memoryd.service", "memoryd.socket"]
    again = user.service("install")
    assert (again.stdout, user.manager.changes()) == ("memoryd is installed and running as it should\n", [])
    gone = user.service("uninstall")
    assert gone.returncode == Exit.DONE
    assert user.manager.changes()[0] == "systemctl --user disable --now memoryd.socket memoryd.service"
    assert files_below(user.home) == before
    assert "your notes" in gone.stdout
    assert f"rm -r '{user.home}/.config/memoryd/config.json5'" in gone.stdout
    assert user.service("uninstall").stdout.startswith("no service is installed\n")
    assert user.manager.state["running"] is False


def test_dry_run_changes_nothing(user: User) -> None:
    shown = user.service("install", "--dry-run", "--hardened")
    assert shown.returncode == Exit.DONE
    assert "ReadWritePaths=" in shown.stdout
    assert user.manager.changes() == []
    assert not user.units.exists()
    assert "nothing was done: this is a dry run" in shown.stdout


@pytest.mark.parametrize(
    ("name", "words", "mac"),
    [
        ("install.txt", ["install"], False),
        ("install-hardened.txt", ["install", "--hardened"], False),
        ("install-mac.txt", ["install"], True),
        ("uninstall.txt", ["uninstall"], False),
    ],
)
def test_dry_run_output_equals_golden_file(user: User, name: str, words: list[str], mac: bool) -> None:
    state = f"{user.home}/a state"
    if words == ["uninstall"]:
        user.service("install", MEMORYD_STATE_DIR=state)
    shown = user.service(*words, "--dry-run", mac=mac, MEMORYD_STATE_DIR=state)
    text = shown.stdout.replace(str(user.home), "@HOME@").replace(str(MEMORYCTL.parent), "@BIN@")
    text = text.replace(user.env["XDG_RUNTIME_DIR"], "@RUN@")
    text = re.sub(r"/notes-[0-9a-f]{8}", "/notes-@HASH@", text)
    text = "\n".join(line for line in text.split("\n") if not any(word in line for word in OF_THE_MACHINE))
    golden = GOLDEN / name
    if os.environ.get("WRITE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_hardening_follows_the_configuration(user: User) -> None:
    assert user.service("install", "--hardened").returncode == Exit.DONE
    assert user.manager.changes() == STARTED
    drop_in = user.units / "memoryd.service.d" / "hardening.conf"
    assert f'ReadWritePaths="-{user.home}/notes"' in drop_in.read_text()
    assert (user.home / ".local" / "state" / "memoryd").is_dir()
    assert user.reply("status")["outdated"] == {}
    config = user.home / ".config" / "memoryd" / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(user.home / "other")}}}))
    outdated = user.reply("status")["outdated"]
    assert f'+ReadWritePaths="-{user.home}/other"' in outdated[str(drop_in)]
    assert "memoryctl service install" in user.service("status").stderr
    # without an option it stays hardened
    assert user.service("install").returncode == Exit.DONE
    assert user.manager.changes() == RESTARTED
    assert f"{user.home}/other" in drop_in.read_text()
    assert user.service("install", "--no-hardened").returncode == Exit.DONE
    assert not drop_in.exists()


def test_foreign_unit_is_not_overwritten(user: User) -> None:
    user.units.mkdir(parents=True)
    (user.units / "memoryd.service").write_text("[Service]\nExecStart=/opt/mine\n")
    refused = user.service("install")
    assert refused.returncode == Exit.NOT_PERMITTED
    assert "--force" in refused.stderr
    assert [path.name for path in user.units.iterdir()] == ["memoryd.service"]
    assert user.service("uninstall").stdout.startswith("no service is installed\n")
    assert user.service("install", "--force").returncode == Exit.DONE
    assert "/opt/mine" in (user.units / "memoryd.service.before-memoryd").read_text()
    assert user.reply("status")["foreign"] == []
    # the copy is reported, with the command to restore it
    gone = user.service("uninstall")
    kept = user.units / "memoryd.service.before-memoryd"
    assert f"mv '{kept}' '{user.units}/memoryd.service'" in gone.stdout
    assert kept.is_file()


@pytest.mark.parametrize("target", ["/dev/null", "gone/memoryd.service"])
def test_masked_or_dangling_unit_counts_as_foreign(user: User, target: str) -> None:
    """A mask forbids the unit to run, and a dangling link belongs to somebody who keeps units elsewhere."""
    user.units.mkdir(parents=True)
    unit = user.units / "memoryd.service"
    unit.symlink_to(target)
    refused = user.service("install")
    assert refused.returncode == Exit.NOT_PERMITTED
    assert f"a link to {target}" in refused.stderr
    assert [path.name for path in user.units.iterdir()] == ["memoryd.service"]
    assert user.manager.changes() == []
    status = user.reply("status")
    assert status["foreign"] == [str(unit)]
    assert ("unmask" in status["hint"]) == (target == "/dev/null")
    assert user.service("uninstall").stdout.startswith("no service is installed\n")
    assert user.service("install", "--force").returncode == Exit.DONE
    assert not unit.is_symlink()
    kept = user.units / "memoryd.service.before-memoryd"
    assert str(kept.readlink()) == target


def test_drop_in_of_the_user_is_kept(user: User) -> None:
    assert user.service("install", "--hardened").returncode == Exit.DONE
    mine = user.units / "memoryd.service.d" / "override.conf"
    mine.write_text("[Service]\nNice=5\n")
    gone = user.service("uninstall")
    assert gone.returncode == Exit.DONE
    assert f"{mine.parent}  (drop-ins" in gone.stdout
    assert files_below(user.units) == [mine]


def test_unavailable_provider_keys_are_named(user: User) -> None:
    names = [name for row in PROVIDERS.values() for name in row.key_variables]
    user.env.update(dict.fromkeys(names, "sk-1"))
    done = user.service("install")
    assert all(name in done.stderr for name in names)
    assert "sk-1" not in (user.units / "memoryd.service").read_text() + done.stderr


def test_variables_are_copied_into_the_unit_but_keys_are_not(user: User) -> None:
    elsewhere = user.home / 'with "quotes" and 100%' / "config.json5"
    elsewhere.parent.mkdir()
    elsewhere.write_text("{}")
    done = user.service("install", MEMORYD_CONFIG=str(elsewhere), XDG_CACHE_HOME="relative", OPENAI_API_KEY="sk-1")
    assert done.returncode == Exit.DONE, done.stderr
    unit = (user.units / "memoryd.service").read_text()
    assert f'Environment="MEMORYD_CONFIG={user.home}/with \\"quotes\\" and 100%%/config.json5"' in unit
    assert "XDG_CACHE_HOME" not in unit
    assert "sk-1" not in unit + done.stderr
    assert "OPENAI_API_KEY is set here and the service does not see it" in done.stderr
    assert "the service gets MEMORYD_CONFIG" in done.stderr


def test_proxy_is_copied_unless_it_has_a_password(user: User) -> None:
    user.env |= {"HTTPS_PROXY": "http://me:sesame@proxy:8080", "no_proxy": "localhost", "SSL_CERT_FILE": "/etc/own.pem"}
    shown = user.service("install", "--dry-run")
    assert 'Environment="no_proxy=localhost"' in shown.stdout
    assert 'Environment="SSL_CERT_FILE=/etc/own.pem"' in shown.stdout
    assert "sesame" not in shown.stdout + shown.stderr
    assert "HTTPS_PROXY holds a password, and the service does not see it" in shown.stderr


def test_doctor_finds_and_refreshes_outdated_units(user: User) -> None:
    def units(*words: str) -> Any:
        done = ran(
            [MEMORYCTL, "doctor", "--section", "service", "--json", *words],
            env=user.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )
        return json.loads(done.stdout)

    assert user.service("install", "--hardened").returncode == Exit.DONE
    assert not [one for one in units()["checks"] if "does not fit" in one["message"]]
    config = user.home / ".config" / "memoryd" / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": {"workspace": str(user.home / "other")}}}))
    user.manager.changes()
    drop_in = user.units / "memoryd.service.d" / "hardening.conf"
    (outdated,) = [one for one in units()["checks"] if "does not fit" in one["message"]]
    assert outdated["message"].startswith(str(drop_in))
    assert user.manager.changes() == []
    (fixed,) = units("--fix")["fixes"]
    assert fixed["done"]
    assert f"{user.home}/other" in drop_in.read_text()
    assert user.manager.changes() == RESTARTED
    assert not [one for one in units()["checks"] if "does not fit" in one["message"]]


def test_path_with_line_break_is_refused(user: User) -> None:
    refused = user.service("install", MEMORYD_STATE_DIR=f"{user.home}/two\nlines")
    assert refused.returncode == Exit.ERROR
    assert "line break" in refused.stderr
    assert not user.units.exists()


def test_wrong_configuration_is_not_installed(user: User) -> None:
    (user.home / ".config" / "memoryd" / "config.json5").write_text("{ agents: 5 }")
    assert user.service("install").returncode == Exit.CONFIG
    assert not user.units.exists()


def test_failed_start_points_to_the_logs(user: User) -> None:
    user.manager.tell(refuses="start")
    failed = user.service("install")
    assert failed.returncode == Exit.ERROR
    assert "memoryctl service logs" in failed.stderr
    assert user.reply("status")["reason"] == "the last run ended with watchdog"
    user.manager.changes()
    user.manager.tell(refuses="")
    assert user.service("start").returncode == Exit.DONE
    assert user.manager.changes()[0] == "systemctl --user reset-failed memoryd.socket memoryd.service"
    assert user.reply("status")["isRunning"]


def test_stop_also_stops_the_socket(user: User) -> None:
    assert user.service("status").returncode == Exit.NOT_RUNNING
    assert "memoryctl service install" in user.service("start").stderr
    user.service("install")
    assert user.service("status").returncode == Exit.DONE
    user.manager.changes()
    assert user.service("stop").returncode == Exit.DONE
    assert user.manager.changes() == ["systemctl --user stop memoryd.socket memoryd.service"]
    assert user.service("status").returncode == Exit.NOT_RUNNING
    assert user.service("restart").returncode == Exit.DONE
    assert user.manager.changes() == ["systemctl --user start memoryd.socket memoryd.service"]
    user.service("restart")
    assert user.manager.changes() == ["systemctl --user restart memoryd.service"]


def test_lingering_user_gets_no_hint_about_it(user: User) -> None:
    user.manager.tell(linger="yes")
    assert "linger" not in user.service("install").stderr
    assert user.reply("status")["lingers"] is True


def test_without_a_manager_there_is_a_hint_and_a_dry_run(user: User) -> None:
    user.manager.tell(bus="none")
    for words, hint in ((["install"], "tmux"), (["start"], "tmux"), (["stop"], "Ctrl-C"), (["restart"], "tmux")):
        done = user.service(*words)
        assert done.returncode == Exit.ERROR, words
        assert hint in done.stderr
    gone = user.service("uninstall")
    assert gone.returncode == Exit.DONE
    assert "left as they are: your notes" in gone.stdout
    assert "Ctrl-C" in gone.stderr
    assert not user.units.exists()
    shown = user.service("install", "--dry-run")
    assert shown.returncode == Exit.DONE
    assert "ExecStart=" in shown.stdout
    assert "there is no service manager here" in shown.stderr
    assert user.service("status").returncode == Exit.ERROR
    assert user.service("logs").returncode == Exit.ERROR


def test_logs_come_from_the_journal(user: User) -> None:
    journal = user.manager.place / "journalctl"
    event = '{"timestamp": "2026-11-20T08:30:00Z", "level": "info", "event": "ready"}'
    journal.write_text(f"#!/bin/sh\necho '{event}'\necho memoryd.service: Failed with result watchdog.\n")
    journal.chmod(0o755)
    shown = user.service("logs", "-f")
    assert shown.returncode == Exit.DONE, shown.stderr
    assert "Failed with result watchdog." in shown.stdout
    assert shown.stdout.count("ready") == 2


def test_invalid_utf8_in_the_journal_is_skipped(user: User) -> None:
    journal = user.manager.place / "journalctl"
    journal.write_text("#!/bin/sh\nprintf 'half \\377 a sign\\n'\necho afterwards\n")
    journal.chmod(0o755)
    shown = user.service("logs", "-f")
    assert shown.returncode == Exit.DONE, shown.stderr
    assert shown.stdout.count("afterwards") == 2


def test_logs_on_a_mac_are_our_file_and_that_of_launchd(user: User) -> None:
    tail = user.manager.place / "tail"
    tail.write_text('#!/bin/sh\nprintf "%s " "$@"\n')
    tail.chmod(0o755)
    shown = user.service("logs", "-n", "7", mac=True)
    files = [user.home / "Library/Logs/memoryd/memoryd.log", user.home / ".local/state/memoryd/log/memoryd.log"]
    assert shown.stdout == f"-n 7 {files[0]} {files[1]} "


def test_launch_agent_is_installed_once_and_removed_completely(user: User) -> None:
    done = user.service("install", mac=True, MEMORYD_LOG_LEVEL="DEBUG")
    assert done.returncode == Exit.DONE, done.stderr
    domain = f"gui/{os.getuid()}"
    loaded = [f"launchctl enable {domain}/ai.memoryd", f"launchctl bootstrap {domain} {user.agent}"]
    assert user.manager.changes() == loaded
    agent = plistlib.loads(user.agent.read_bytes())
    assert agent["EnvironmentVariables"]["MEMORYD_LOG_LEVEL"] == "DEBUG"
    assert agent["EnvironmentVariables"]["MEMORYD_SUPERVISOR"] == "launchd"
    assert agent["ProgramArguments"] == [str(MEMORYCTL.parent / "memoryd")]
    assert Path(agent["StandardErrorPath"]).parent.is_dir()
    assert user.service("install", mac=True, MEMORYD_LOG_LEVEL="DEBUG").stdout.endswith("as it should\n")
    assert user.manager.changes() == []
    user.manager.tell(busy=1)
    assert user.service("install", mac=True).returncode == Exit.DONE
    # after bootout a bootstrap may fail at first, and is retried
    assert user.manager.changes() == [f"launchctl bootout {domain}/ai.memoryd", *loaded, loaded[1]]
    assert user.reply("status", mac=True)["pid"] == 4711
    user.service("restart", mac=True)
    user.service("stop", mac=True)
    assert user.manager.changes() == [
        f"launchctl kickstart -k {domain}/ai.memoryd",
        f"launchctl kill SIGTERM {domain}/ai.memoryd",
    ]
    user.service("start", mac=True)
    assert user.manager.changes() == [f"launchctl kickstart {domain}/ai.memoryd"]
    assert user.service("uninstall", mac=True).returncode == Exit.DONE
    assert user.manager.changes() == [f"launchctl bootout {domain}/ai.memoryd"]
    assert not user.agent.exists()


def test_launch_agent_without_screen_uses_the_user_domain(user: User) -> None:
    user.manager.tell(screen="none")
    assert user.service("install", mac=True).returncode == Exit.DONE
    assert user.manager.changes()[-1] == f"launchctl bootstrap user/{os.getuid()} {user.agent}"


def test_install_refuses_beside_a_daemon_started_by_hand(user: User, tmp_path: Path) -> None:
    """systemd would take over its socket, and two daemons would write one index."""
    socket = tmp_path / "s"
    with serving(socket):
        refused = user.service("install", MEMORYD_SOCKET=str(socket))
        assert refused.returncode == Exit.ALREADY_RUNNING
        assert "stop it first: kill" in refused.stderr
        assert user.manager.changes() == []
        # the daemon of this service is no second one
        user.manager.tell(running=True)
        assert user.service("install", MEMORYD_SOCKET=str(socket)).returncode == Exit.DONE


def test_hardening_on_a_mac_only_prints_a_note(user: User) -> None:
    shown = user.service("install", "--hardened", "--dry-run", mac=True)
    assert "launchd has nothing like it" in shown.stderr
    assert "ReadWritePaths" not in shown.stdout


def test_leftover_units_are_removed_without_a_manager(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": str(tmp_path)}
    folder = unit_folder(environment)
    link = folder / "default.target.wants" / SERVICE
    link.parent.mkdir(parents=True)
    (folder / SERVICE).write_text(f"{MARK}\n[Service]\n")
    link.symlink_to(folder / SERVICE)
    manager = manager_here(environment)
    state = manager.state()
    assert (state.manager, state.files) == ("none", (link, folder / SERVICE))
    assert "service uninstall" in "\n".join(state_lines(state))
    assert [step.path for step in manager.uninstall(state)] == [link, folder / SERVICE]
