"""What file events told that no look at the disk has answered yet."""

import os
from collections.abc import Iterable, Set
from dataclasses import dataclass

from memoryd.domain.documents import RelativePath, is_hidden, is_utf8_name
from memoryd.files.ignore import IGNORE_FILE
from memoryd.index.file_events import FileEvents
from memoryd.index.look import Look


@dataclass(frozen=True, slots=True)
class Changes:
    """What may have changed in one workspace."""

    names: Set[RelativePath] = frozenset()
    """Documents, or what would be one."""
    is_vague: bool = False
    """Whether anything else may have changed, too."""

    def __bool__(self) -> bool:
        return bool(self.names) or self.is_vague

    def __or__(self, newer: "Changes") -> "Changes":
        return Changes(self.names | newer.names, self.is_vague or newer.is_vague)


NOTHING = Changes()
ANY_CHANGE = Changes(is_vague=True)


class Unseen:
    """Collects changes until a look is taken; they count until a plan has taken them over.

    `begin` before the look, `end` after its plan, or `give_back` if there is none.
    """

    def __init__(self) -> None:
        self._told = NOTHING
        self._looked_at = NOTHING
        self._unclosed: Set[RelativePath] = frozenset()
        self._look: Look | None = None

    @property
    def changes(self) -> Changes:
        """All that no plan knows of."""
        return self._looked_at | self._told

    @property
    def is_waiting(self) -> bool:
        """Whether something was told that no look was begun for."""
        return bool(self._told)

    @property
    def unclosed(self) -> Set[RelativePath]:
        """Documents that somebody writes to still, as far as is known: they may be half saved."""
        return self._unclosed

    def note_look(self, look: Look) -> None:
        """Take where documents are by the last look."""
        self._look = look

    def hear(self, events: FileEvents) -> None:
        """Take what events tell; what can be no document counts for nothing."""
        if events.is_lossy or self._look is None:
            # that a file was closed may be among what was lost; then it counts as saved when it lay still
            self._told, self._unclosed = self._told | ANY_CHANGE, frozenset()
        else:
            self._told |= _changes(events, self._look)
            self._unclosed = (self._unclosed - _documents(events.closed, self._look)) | _documents(
                events.unclosed, self._look
            )

    def begin(self) -> Changes:
        """Begin a look; return what it is to answer. What is told from here on is for the next one."""
        self._looked_at, self._told = self._looked_at | self._told, NOTHING
        return self._looked_at

    def end(self) -> None:
        """Note that a plan knows of all that was looked at."""
        self._looked_at = NOTHING

    def give_back(self) -> None:
        """Note that there is no plan: the next look is to answer the same."""
        self._looked_at, self._told = NOTHING, self._looked_at | self._told


def _changes(events: FileEvents, look: Look) -> Changes:
    is_vague = any(_may_hold_documents(path, look) for path in events.folders)
    is_vague = is_vague or any(_decides_on_documents(path, look) for path in events.files)
    return Changes(_documents(events.files, look), is_vague)


def _documents(paths: Iterable[str], look: Look) -> Set[RelativePath]:
    found = (os.path.relpath(path, look.rules.workspace) for path in paths if _is_document(path, look))
    return {RelativePath(at.replace(os.sep, "/")) for at in found}


def _is_document(path: str, look: Look) -> bool:
    """Tell whether a file is or was one by its name, in a folder that is listed or as a root itself."""
    folder, _, name = path.rpartition(os.sep)
    if is_hidden(name) or not is_utf8_name(name) or not look.rules.may_be_document(name):
        return False
    return folder in look.seen.folders or any(path == str(root.path) for root in look.roots)


def _decides_on_documents(path: str, look: Look) -> bool:
    """Tell whether something that is no document decides what is one: the rules of privacy, a link, a new match."""
    if _is_document(path, look):
        return False
    folder, _, name = path.rpartition(os.sep)
    if name == IGNORE_FILE:
        return True
    if is_hidden(name):
        return False
    is_listed = folder in look.seen.folders
    if is_listed and look.rules.follow_symlinks and not look.rules.may_be_document(name):
        return True
    return not is_listed and _may_be_root(path, look)


def _may_hold_documents(path: str, look: Look) -> bool:
    """Tell whether a folder is listed or may be from now on, or is one that a root stands in."""
    if path in look.seen.folders or path in look.seen.above:
        return True
    folder, _, name = path.rpartition(os.sep)
    return (folder in look.seen.folders and not is_hidden(name)) or _may_be_root(path, look)


def _may_be_root(path: str, look: Look) -> bool:
    """Tell whether something is a root, holds one, or may match the glob of one."""
    if any(root.pattern and path.startswith(f"{root.stands_in}{os.sep}") for root in look.roots):
        return True
    return any(f"{root.path}{os.sep}".startswith(f"{path}{os.sep}") for root in look.roots)
