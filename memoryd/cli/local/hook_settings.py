"""The settings file of an agent program: where it lies, and changes of it that lose nothing of anybody's."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from memoryd.domain.claude_settings import is_nothing, our_commands, with_hooks, without_hooks
from memoryd.domain.documents import FileStat
from memoryd.errors import InvalidRequest, MemorydError, NotNow
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot
from memoryd.files.writing import FileChangedError, remove_file, replace_file
from memoryd.hooks.hosts import Host

_MAX_BYTES: Final = 4 * 1024 * 1024
_BACKUP: Final = ".before-memoryd"


class SettingsFile(Struct, frozen=True):
    """A settings file as it was read; `stat` is None where there is none."""

    path: Path
    text: str
    stat: FileStat | None

    @property
    def backup(self) -> Path:
        return self.path.with_name(self.path.name + _BACKUP)

    def installed(self, commands: dict[str, str]) -> str:
        """Return its text with our hooks; raises InvalidRequest for what is no settings file."""
        with self._read_whole():
            return with_hooks(self.text, commands)

    def removed(self) -> str:
        """Return its text without our hooks: the text from before them, unless another program has changed it since."""
        with self._read_whole():
            commands = our_commands(self.text)
            if not commands:
                return self.text
            before = _read(self.backup)
            if before.stat is not None and json.loads(with_hooks(before.text, commands)) == json.loads(self.text):
                return before.text
            return without_hooks(self.text)

    def commands(self) -> dict[str, str]:
        """Return the commands in it that are ours, by event; raises InvalidRequest."""
        with self._read_whole():
            return our_commands(self.text)

    @contextmanager
    def _read_whole(self) -> Iterator[None]:
        try:
            yield
        except ValueError as exc:
            hint = "mend it by hand, and try again"
            raise InvalidRequest(f"{self.path} is left as it is: {exc}", hint=hint) from exc


def settings_path(host: Host, project: Path | None) -> Path:
    """Tell where the settings lie: of the user, or those of a project that are not shared with others.

    They hold a path of this machine, so the `settings.json` of a project, which is committed, is no place for them.
    """
    if project is not None:
        path = project / host.project
    else:
        path = Path(os.environ.get(host.folder_variable) or Path.home() / host.folder) / host.settings
    # the file itself where the path is a link, which stays one
    return Path(os.path.realpath(path))


def read_settings(path: Path) -> SettingsFile:
    """Read a settings file; raises InvalidRequest for one that cannot be read as text."""
    try:
        return _read(path)
    except (UnicodeDecodeError, NotReadableError) as exc:
        raise InvalidRequest(f"{path} is left as it is: it is no text file", hint=str(exc)) from exc
    except (OSError, TornReadError) as exc:
        raise MemorydError(f"{path} cannot be read: {exc}") from exc


def write_settings(before: SettingsFile, text: str, *, is_removal: bool = False) -> None:
    """Write the text in place of what was read; raises NotNow where somebody changed the file meanwhile.

    What was there before our hooks is kept beside it until they are removed.
    """
    expected: FileStat | Literal["absent"] = "absent" if before.stat is None else before.stat
    try:
        before.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_removal and before.stat is not None and not before.commands():
            replace_file(before.backup, before.text.encode("utf-8"), is_durable=True)
        if is_removal and is_nothing(text) and before.stat is not None and not before.backup.exists():
            remove_file(before.path, before.stat)  # it was made for our hooks
        else:
            replace_file(before.path, text.encode("utf-8"), expected=expected, is_durable=True)
        if is_removal:
            before.backup.unlink(missing_ok=True)
    except FileChangedError as exc:
        raise NotNow(f"{before.path} was changed meanwhile, and is left as it is", hint="try again") from exc
    except OSError as exc:
        raise MemorydError(f"{before.path} cannot be written: {exc}") from exc


def _read(path: Path) -> SettingsFile:
    try:
        read = read_snapshot(path.parent, path.name, max_bytes=_MAX_BYTES)
    except FileNotFoundError:
        return SettingsFile(path, "", None)
    return SettingsFile(path, read.data.decode("utf-8"), read.stat)
