"""How a value is written in a unit file, so that systemd reads it as it was: systemd.syntax(7) and systemd.unit(5).

Pure text. Raises InvalidRequest for what no unit file can hold.
"""

import re
from typing import Final

from memoryd.errors import InvalidRequest

CONTROLS: Final = re.compile("[\x00-\x1f\x7f]")


def program_word(path: str) -> str:
    """Write the program of `ExecStart=`, in quotes; systemd refuses quotes and backslashes in it."""
    if re.search(r"[\"'\\]", held(path)):
        raise InvalidRequest(
            f"systemd runs no program with a quote or a backslash in its path: {path!r}",
            hint="install memoryd in a folder with a plainer name",
        )
    return f'"{percents(path)}"'


def argument_word(text: str) -> str:
    """Write an argument of `ExecStart=`, in quotes; a dollar would be a variable."""
    return _in_quotes(text).replace("$", "$$")


def environment_word(name: str, value: str) -> str:
    """Write one entry of `Environment=`, in quotes."""
    return _in_quotes(f"{name}={value}")


def path_word(path: str) -> str:
    """Write one entry of a list of paths such as `ReadWritePaths=`, in quotes; a missing one is no error."""
    return _in_quotes(f"-{path}")


def whole_value(path: str) -> str:
    """Write a value that is the rest of its line, such as that of `ListenStream=`; raises for one that a line cuts."""
    if path != path.strip() or path.endswith("\\"):
        raise InvalidRequest(f"a unit cannot name a path that ends so: {path!r}", hint="give it a plainer name")
    return percents(held(path))


def percents(text: str) -> str:
    """Double what would be a specifier."""
    return text.replace("%", "%%")


def held(text: str) -> str:
    """Return text that a line of a unit can hold; raises InvalidRequest for line breaks and what is no UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        is_fit = False
    else:
        is_fit = not CONTROLS.search(text)
    if not is_fit:
        raise InvalidRequest(
            f"a service cannot be told of {text!r}: it has a line break, a control character or "
            "bytes that are no UTF-8",
            hint="give the folder another name",
        )
    return text


def _in_quotes(text: str) -> str:
    escaped_text = percents(held(text)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_text}"'
