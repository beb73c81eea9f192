"""The person's own files of a team on a server, stored here in two versions: current, and last on the server.

With both, changes that a person makes on two machines are merged, and a server restored from an older backup is
recognised. What an exchange is about to change is stored first. If the exchange is interrupted, the number of its
transaction shows whether the server committed it. Otherwise a file that another machine has removed since then would
look like a file to be sent.
"""

import contextlib
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from memoryd.domain.memories.edits import NoPlaceError
from memoryd.domain.memories.sharing import merged_log, shared_file
from memoryd.errors import SidecarError
from memoryd.files.writing import make_private_folder, replace_file, sync_folder, write_private

PART_BYTES = 1024 * 1024
"""Most bytes of a transaction, unless a file is larger. On a slow line that is cut off, earlier parts stay sent."""
MAX_CHANGES = 200
"""The number of last changes on the server that are remembered."""
UNMERGED = "what waits cannot be put upon what the others have: {}"


class BegunExchange(Struct, frozen=True):
    """A step of an exchange that was begun."""

    files: dict[str, tuple[bytes | None, bytes | None]]
    """The files that change on either side, by path: the version here before, and the version on both sides after."""
    transaction: str = ""
    """The number of the transaction on the server; empty if nothing is sent."""


class SeenServer(Struct, frozen=True):
    """The identity of a server: the unique channel name of its team, and the ids of the person's last changes there."""

    team: str = ""
    changes: tuple[str, ...] = ()
    """The newest is last."""


class OwnFiles:
    """The person's own files: the current versions, and those on the server at the last exchange. All methods block.

    After a loss of power the latter may be older; then the same changes are merged again.
    """

    def __init__(self, folder: Path) -> None:
        self._own, self._sent, self._counted = folder / "own", folder / "sent", folder / "generation"
        self._step, self._server = folder / "step", folder / "server"
        self._generation: int | None = None
        self._read: dict[Path, dict[str, bytes]] = {}

    def generation(self) -> int:
        """Return the number of changes on the server at the last exchange; 0 if unknown."""
        if self._generation is None:
            with contextlib.suppress(OSError, ValueError):
                self._generation = int(self._counted.read_text())
        return self._generation or 0

    def note_generation(self, generation: int) -> None:
        """Store the number of changes on the server. Raises OSError."""
        if generation != self.generation():
            write_private(self._counted, str(generation).encode())
            self._generation = generation

    def see(self, team: str, change: str) -> None:
        """Store the identity of the server. Raises OSError.

        If `team`, the unique channel name, has changed, it is another team, even with the same display name: all own
        files are dropped, so that nothing passes from one team to the other. If `change` is an earlier one, the server
        was restored from an older backup: files missing there were not removed by another machine.
        """
        seen = SeenServer()
        with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
            seen = msgspec.json.decode(self._server.read_bytes(), type=SeenServer)
        if seen.team not in ("", team):
            self._start_over()
            seen = SeenServer()
        if change in seen.changes[:-1]:
            self.note({})
        earlier = (known for known in seen.changes if known != change)
        now = SeenServer(team, (*earlier, change)[-MAX_CHANGES:])
        if now != seen:
            write_private(self._server, msgspec.json.encode(now))

    def _start_over(self) -> None:
        for folder in (self._own, self._sent):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self._step, self._counted):
            file.unlink(missing_ok=True)
        self._read, self._generation = {}, None

    def own(self) -> Mapping[str, bytes]:
        """Return the current files by path."""
        return dict(self._files(self._own))

    def sent(self) -> Mapping[str, bytes]:
        """Return the files on the server at the last exchange, by path."""
        return dict(self._files(self._sent))

    def change(self, put: Mapping[str, bytes], remove: Collection[str]) -> None:
        """Change the current files durably. Raises OSError."""
        self._change(self._own, put, remove, is_durable=True)

    def begin(self, step: BegunExchange) -> None:
        """Store a step before it is carried out. Raises OSError."""
        write_private(self._step, msgspec.json.encode(step))

    def begun(self) -> BegunExchange | None:
        """Return the step that was begun and not ended, None if there is none. Raises OSError."""
        with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.json.decode(self._step.read_bytes(), type=BegunExchange)
        return None

    def planned(self, theirs: Mapping[str, bytes]) -> tuple[dict[str, bytes], BegunExchange]:
        """Plan the next step for the server's files `theirs`. Return the files after it, and the step.

        A step changes at most `PART_BYTES`, or one larger file. Raises SidecarError.
        """
        before, ours = self.sent(), self.own()
        result = merged(before, ours, theirs)
        files, size = dict[str, tuple[bytes | None, bytes | None]](), 0
        for path in sorted(before.keys() | ours.keys() | result.keys()):
            here, after = ours.get(path), result.get(path)
            if len({before.get(path), here, after}) == 1:
                continue
            size += len(after or b"")
            if files and size > PART_BYTES:
                break
            files[path] = here, after
        others = {path: data for path, data in theirs.items() if path not in files}
        part = {path: data for path, (_, data) in files.items() if data is not None}
        return others | part, BegunExchange(files)

    def end(self, begun: BegunExchange, *, is_done: bool) -> None:
        """Apply a step to the files if `is_done`, else discard it. Raises OSError, SidecarError.

        Own changes since the step began stay.
        """
        sent = self.sent()
        if is_done:
            before, after = [
                {path: data for path, pair in begun.files.items() if (data := pair[at]) is not None} for at in (0, 1)
            ]
            here = {path: data for path, data in self.own().items() if path in begun.files}
            result = merged(before, here, after)
            put = {path: data for path, data in result.items() if here.get(path) != data}
            self.change(put, here.keys() - result.keys())
            sent = {path: data for path, data in sent.items() if path not in begun.files} | after
        self.note(sent)

    def note(self, sent: Mapping[str, bytes]) -> None:
        """Store the files that are now on the server, which ends a begun step. Raises OSError."""
        before = self._files(self._sent)
        put = {path: data for path, data in sent.items() if before.get(path) != data}
        self._change(self._sent, put, before.keys() - sent.keys(), is_durable=False)
        self._step.unlink(missing_ok=True)

    def _files(self, folder: Path) -> dict[str, bytes]:
        if folder not in self._read:
            self._read[folder] = files_below(folder)
        return self._read[folder]

    def _change(self, folder: Path, put: Mapping[str, bytes], remove: Collection[str], *, is_durable: bool) -> None:
        files = self._files(folder)
        for path, data in put.items():
            make_private_folder((folder / path).parent)
            replace_file(folder / path, data, is_durable=is_durable, syncs_folder=False)
            files[path] = data
        for path in list(remove):
            (folder / path).unlink(missing_ok=True)
            files.pop(path, None)
        for parent in {(folder / path).parent for path in (*put, *remove)} if is_durable else ():
            if parent.is_dir():
                sync_folder(parent)


def merged(before: Mapping[str, bytes], ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Merge the changes of both sides since `before`. Raises SidecarError if that is impossible."""
    result = dict[str, bytes]()
    for path in sorted(ours.keys() | theirs.keys()):
        was, here, there = before.get(path), ours.get(path), theirs.get(path)
        after = there if was == here else here if was == there else merged_file(path, was, here, there)
        if after is not None:
            result[path] = after
    return result


def merged_file(path: str, before: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """Merge a file that was changed on both sides: a log memory by memory; of any other file ours wins.

    None means that the file is removed. Raises SidecarError.
    """
    place = shared_file(path)
    if place is None or not place.is_log:
        return ours
    texts = [(data or b"").decode("utf-8", "replace") for data in (before, ours, theirs)]
    try:
        return merged_log(path, *texts).encode() or None
    except (NoPlaceError, ValueError) as exc:
        raise SidecarError(UNMERGED.format(exc)) from exc


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the notes below a folder by relative path, without symlinks. Blocks."""
    notes = (path for path in folder.rglob("*.md") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in notes}
