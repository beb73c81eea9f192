"""The units of systemd, filled in for one installation. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from memoryd.service.unit_escaping import argument_word, environment_word, program_word, whole_value

MARKED: Final = (
    "# Written by `memoryctl service install`, which writes it anew. What you want otherwise goes into a file\n"
    "# of your own beside it: systemctl --user edit memoryd\n"
)
COMMAND: Final = "ExecStart=%h/.local/bin/memoryd"
SOCKET_LINE: Final = "ListenStream=%t/memoryd/memoryd.sock"
PLACEHOLDER: Final = "# the installer puts the absolute path of the command here\n"
MORE_MEMORY: Final = {"MemoryHigh=2G": "MemoryHigh=8G", "MemoryMax=4G": "MemoryMax=12G"}


def service_unit(
    template: str, command: Sequence[str], environment: Mapping[str, str], *, why_more_memory: str = ""
) -> str:
    """Return memoryd.service; raises InvalidRequest for a path that no unit can hold."""
    words = [program_word(command[0]), *map(argument_word, command[1:])]
    lines = [f"ExecStart={' '.join(words)}"]
    lines += [f"Environment={environment_word(name, value)}" for name, value in environment.items()]
    text = template.replace(PLACEHOLDER, "").replace(COMMAND, "\n".join(lines))
    if why_more_memory:
        for usual, more in MORE_MEMORY.items():
            text = text.replace(usual, f"# more than {usual.partition('=')[2]}, for {why_more_memory}\n{more}")
    return MARKED + text


def socket_unit(template: str, socket: str, usual_socket: str) -> str:
    """Return memoryd.socket, which listens where clients look; raises as `service_unit`.

    Where that is the usual place, systemd fills in the runtime folder.
    """
    line = SOCKET_LINE if socket == usual_socket else f"ListenStream={whole_value(socket)}"
    return MARKED + template.replace(SOCKET_LINE, line)
