"""Programs that stand in for systemctl, loginctl and launchctl: they note each call and keep a state."""

import json
import sys
from pathlib import Path

SYSTEMCTL = """
import os
words = [word for word in sys.argv[1:] if word != "--user"]
if state.get("bus") == "none":
    refuse("Failed to connect to bus: No medium found")
folder = pathlib.Path(os.environ["HOME"]) / ".config/systemd/user"
units = [word for word in words[1:] if word.startswith("memoryd.")]
if words[0] in ("enable", "start", "restart") and any(unit not in state.get("known", []) for unit in units):
    refuse(f"Unit {units[0]} not found.")
if words[0] == "daemon-reload":
    state["known"] = [unit for unit in ("memoryd.socket", "memoryd.service") if (folder / unit).exists()]
elif words[0] == "enable":
    state["enabled"] = True
elif words[0] in ("start", "restart"):
    if state.get("refuses") == words[0]:
        state["failed"] = True
        keep()
        refuse("Job for memoryd.service failed because the control process exited with error code.")
    state["running"] = True
elif words[0] in ("stop", "disable"):
    state["running"] = False
    state["enabled"] = state.get("enabled", False) and words[0] == "stop"
elif words[0] == "reset-failed":
    state["failed"] = False
elif words[0] == "show" and "Version" in words[1]:
    print("Version=252")
elif words[0] == "show":
    running, failed = state.get("running", False), state.get("failed", False)
    print(f"ActiveState={'active' if running else 'failed' if failed else 'inactive'}")
    print(f"SubState={'running' if running else 'failed' if failed else 'dead'}")
    print(f"Result={'watchdog' if failed else 'success'}")
    print(f"MainPID={4711 if running else 0}")
    print(f"UnitFileState={'enabled' if state.get('enabled') else ''}")
"""
LOGINCTL = """
print(f"Linger={state.get('linger', 'no')}")
"""
LAUNCHCTL = """
words = sys.argv[1:]
if words[0] == "print" and words[1].startswith("gui/") and words[1].endswith("/ai.memoryd"):
    if not state.get("loaded"):
        refuse("Could not find service")
    print("\\tstate = running\\n\\tpid = 4711" if state.get("running") else "\\tstate = not running")
elif words[0] == "print" and state.get("screen") == "none":
    refuse("Could not find domain for")
elif words[0] == "bootstrap":
    if state.pop("busy", 0):
        keep()
        refuse("Bootstrap failed: 5: Input/output error")
    if not pathlib.Path(words[2]).exists():
        refuse("Bootstrap failed: 2: No such file or directory")
    state["loaded"] = state["running"] = True
elif words[0] == "bootout":
    if not state.get("loaded"):
        refuse("Boot-out failed: 3: No such process")
    state["loaded"] = state["running"] = False
elif words[0] == "kickstart":
    state["running"] = True
elif words[0] == "kill":
    state["running"] = False
"""
HEAD = """#!{python} -ES
import json, pathlib, sys
place = pathlib.Path({place!r})
def keep():
    (place / "state.json").write_text(json.dumps(state))
def refuse(text):
    print(text, file=sys.stderr)
    sys.exit(1)
state = json.loads((place / "state.json").read_text())
with (place / "calls").open("a") as calls:
    calls.write(" ".join([pathlib.Path(sys.argv[0]).name, *sys.argv[1:]]) + "\\n")
"""
PROGRAMS = {"systemctl": SYSTEMCTL, "loginctl": LOGINCTL, "launchctl": LAUNCHCTL}


class StandInManager:
    """The programs in a folder that comes first in a PATH."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir()
        self.tell()
        for name, body in PROGRAMS.items():
            program = place / name
            program.write_text(HEAD.format(python=sys.executable, place=str(place)) + body + "\nkeep()\n")
            program.chmod(0o755)

    @property
    def state(self) -> dict[str, object]:
        """How the service stands, by the programs."""
        state = json.loads((self.place / "state.json").read_text())
        assert isinstance(state, dict)
        return state

    def tell(self, **state: object) -> None:
        """Set what the programs hold to be so."""
        held = self.state if (self.place / "state.json").exists() else {}
        (self.place / "state.json").write_text(json.dumps({**held, **state}))

    def changes(self) -> list[str]:
        """Return the calls since the last time that were more than questions."""
        calls = self.place / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        asking = {("systemctl", "show"), ("loginctl", "show-user"), ("launchctl", "print")}
        words = [[word for word in line.split() if word != "--user"] for line in lines]
        return [line for line, said in zip(lines, words, strict=True) if (said[0], said[1]) not in asking]
