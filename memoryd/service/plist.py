"""The property list of launchd, filled in for one installation. Pure."""

import plistlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from memoryd.service.unit_escaping import held

MARKED: Final = "<!-- Written by `memoryctl service install`, which writes it anew. -->\n"
DOCTYPE_END: Final = 'PropertyList-1.0.dtd">\n'


def launch_agent(
    template: str, command: Sequence[str], environment: Mapping[str, str], *, home: Path, folders: Sequence[str] = ()
) -> str:
    """Return the agent; `folders` come first in its PATH. Raises InvalidRequest for a path that no list can hold."""
    agent = plistlib.loads(template.encode())
    for key in ("StandardOutPath", "StandardErrorPath"):
        agent[key] = held(agent[key].replace("@HOME@", str(home)))
    agent["ProgramArguments"] = [held(word) for word in command]
    told = agent["EnvironmentVariables"]
    told["PATH"] = held(":".join([*folders, told["PATH"].replace("@HOME@", str(home))]))
    told.update({name: held(value) for name, value in environment.items()})
    text = plistlib.dumps(agent, sort_keys=False).decode()
    return text.replace(DOCTYPE_END, DOCTYPE_END + MARKED, 1)
