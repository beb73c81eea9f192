"""The units of systemd and the property list of launchd, filled in."""

import plistlib
from pathlib import Path

import pytest

from memoryd.config.loading.overrides import HUB_VARIABLE, OFFLINE
from memoryd.errors import InvalidRequest
from memoryd.service.installing import carried_environment
from memoryd.service.launchd import launch_agent
from memoryd.service.steps import unit_template
from memoryd.service.systemd import service_unit, socket_unit

SERVICE = unit_template("systemd/memoryd.service")
SOCKET = unit_template("systemd/memoryd.socket")
AGENT = unit_template("launchd/ai.memoryd.plist")


def test_variables_that_control_downloads_are_passed_on() -> None:
    """An address with a password stays out of the unit."""
    given = {**dict.fromkeys(OFFLINE, "1"), HUB_VARIABLE: "https://mirror.example"}
    assert carried_environment(given) == given
    assert carried_environment({"HF_ENDPOINT": "https://ada:pw@mirror.example"}) == {}


def test_command_and_environment_are_in_the_unit() -> None:
    unit = service_unit(SERVICE, ["/opt/a b/python", "-m", "memoryd"], {"MEMORYD_CONFIG": "/c d"})
    assert 'ExecStart="/opt/a b/python" "-m" "memoryd"\nEnvironment="MEMORYD_CONFIG=/c d"\n' in unit
    assert "%h/.local" not in unit
    assert unit.startswith("# Written by `memoryctl service install`")


def test_service_with_models_gets_more_memory() -> None:
    usual = service_unit(SERVICE, ["/m"], {})
    more = service_unit(SERVICE, ["/m"], {}, why_more_memory="memoryd runs a text model")
    assert "\nMemoryMax=4G\n" in usual
    assert "\nMemoryMax=12G\n" in more
    assert "MemoryMax=4G" not in more


@pytest.mark.parametrize(
    ("socket", "line"),
    [
        ("/run/user/7/memoryd/memoryd.sock", "ListenStream=%t/memoryd/memoryd.sock"),
        ("/home/a b/100%.sock", "ListenStream=/home/a b/100%%.sock"),
    ],
)
def test_socket_unit_has_the_path_of_the_clients(socket: str, line: str) -> None:
    assert line in socket_unit(SOCKET, socket, "/run/user/7/memoryd/memoryd.sock").splitlines()


def test_launch_agent_escapes_xml() -> None:
    home = Path('/Users/a & <b> "c"')
    text = launch_agent(AGENT, [f"{home}/memoryd"], {"MEMORYD_CONFIG": f"{home}/ü"}, home=home, folders=["/opt/q"])
    agent = plistlib.loads(text.encode())
    assert agent["ProgramArguments"] == [f"{home}/memoryd"]
    assert agent["EnvironmentVariables"]["MEMORYD_CONFIG"] == f"{home}/ü"
    assert agent["EnvironmentVariables"]["PATH"].startswith(f"/opt/q:{home}/.local/bin:")
    assert "memoryctl service install" in text[:400]
    assert "@" not in text


def test_launch_agent_refuses_a_line_break() -> None:
    with pytest.raises(InvalidRequest):
        launch_agent(AGENT, ["/two\nlines"], {}, home=Path("/Users/a"))
