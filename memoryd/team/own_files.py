"""One's own files of a team on a server, on this machine: as they are to be, and as the server had them.

Both are kept, so that what one person does on two machines is merged, and a server from an older copy is known as one.
What an exchange is about to change of both is noted before: if that ends in between, the server says by the number of
the transaction whether it took it. Else what another machine took back meanwhile would look like something to be sent.
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
"""What one transaction brings, unless one file is larger: what was sent before a slow line is cut off stays sent."""
MAX_CHANGES = 200
"""Of which it is known that they were seen."""
UNMERGED = "what waits cannot be put upon what the others have: {}"


class BegunExchange(Struct, frozen=True):
    """What an exchange is about to do."""

    files: dict[str, tuple[bytes | None, bytes | None]]
    """Those that change here or there, by their paths: as they were here, and as both sides have them then."""
    transaction: str = ""
    """The one by which the server takes it; empty where nothing is sent."""


class SeenServer(Struct, frozen=True):
    """What a server was seen with: its team, by a name that no other team has, and one's own last changes there."""

    team: str = ""
    changes: tuple[str, ...] = ()
    """The newest last."""


class OwnFiles:
    """One's own files on this machine, and as the server had them at the last exchange; all of it blocks.

    What the server had may be older after a loss of power: then the same is merged again.
    """

    def __init__(self, folder: Path) -> None:
        self._own, self._sent, self._counted = folder / "own", folder / "sent", folder / "generation"
        self._step, self._server = folder / "step", folder / "server"
        self._generation: int | None = None
        self._read: dict[Path, dict[str, bytes]] = {}

    def generation(self) -> int:
        """Return how many changes the server had seen at the last exchange; 0 if that is not known."""
        if self._generation is None:
            with contextlib.suppress(OSError, ValueError):
                self._generation = int(self._counted.read_text())
        return self._generation or 0

    def note_generation(self, generation: int) -> None:
        """Note how many changes the server has seen; raises OSError."""
        if generation != self.generation():
            write_private(self._counted, str(generation).encode())
            self._generation = generation

    def see(self, team: str, change: str) -> None:
        """Note with what the server is seen; raises OSError.

        A team of another name that nobody else has is another team, however it is called: nothing of one's own goes
        from one to the other. A change that was seen before the last one is of a server from an older copy: what that
        lacks was not taken back.
        """
        seen = SeenServer()
        with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
            seen = msgspec.json.decode(self._server.read_bytes(), type=SeenServer)
        if seen.team not in ("", team):
            self._start_over()
            seen = SeenServer()
        if change in seen.changes[:-1]:
            self.note({})
        now = SeenServer(team, (*(one for one in seen.changes if one != change), change)[-MAX_CHANGES:])
        if now != seen:
            write_private(self._server, msgspec.json.encode(now))

    def _start_over(self) -> None:
        for folder in (self._own, self._sent):
            shutil.rmtree(folder, ignore_errors=True)
        for file in (self._step, self._counted):
            file.unlink(missing_ok=True)
        self._read, self._generation = {}, None

    def own(self) -> Mapping[str, bytes]:
        """Return the files as they are to be, by their paths."""
        return dict(self._files(self._own))

    def sent(self) -> Mapping[str, bytes]:
        """Return the files as the server had them."""
        return dict(self._files(self._sent))

    def change(self, put: Mapping[str, bytes], remove: Collection[str]) -> None:
        """Change what is to be, durably; raises OSError."""
        self._change(self._own, put, remove, is_durable=True)

    def begin(self, step: BegunExchange) -> None:
        """Note what an exchange is about to change; raises OSError."""
        write_private(self._step, msgspec.json.encode(step))

    def begun(self) -> BegunExchange | None:
        """Return what was begun and neither ended nor given up; raises OSError."""
        with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
            return msgspec.json.decode(self._step.read_bytes(), type=BegunExchange)
        return None

    def planned(self, theirs: Mapping[str, bytes]) -> tuple[dict[str, bytes], BegunExchange]:
        """Return what both sides are to have, by what the server has, and the exchange for it; raises SidecarError.

        Of what is much it is the next part.
        """
        before, ours = self.sent(), self.own()
        wanted = merged(before, ours, theirs)
        files, size = dict[str, tuple[bytes | None, bytes | None]](), 0
        for path in sorted(before.keys() | ours.keys() | wanted.keys()):
            here, made = ours.get(path), wanted.get(path)
            if len({before.get(path), here, made}) == 1:
                continue
            size += len(made or b"")
            if files and size > PART_BYTES:
                break
            files[path] = here, made
        others = {path: data for path, data in theirs.items() if path not in files}
        part = {path: data for path, (_, data) in files.items() if data is not None}
        return others | part, BegunExchange(files)

    def end(self, begun: BegunExchange, *, is_done: bool) -> None:
        """Have the files as an exchange made them, or forget that it began; raises OSError, SidecarError.

        What was changed here meanwhile stays.
        """
        held = self.sent()
        if is_done:
            ours, wanted = [
                {path: data for path, pair in begun.files.items() if (data := pair[at]) is not None} for at in (0, 1)
            ]
            here = {path: data for path, data in self.own().items() if path in begun.files}
            made = merged(ours, here, wanted)
            put = {path: data for path, data in made.items() if here.get(path) != data}
            self.change(put, here.keys() - made.keys())
            held = {path: data for path, data in held.items() if path not in begun.files} | wanted
        self.note(held)

    def note(self, held: Mapping[str, bytes]) -> None:
        """Note what the server has now, which ends what was begun; raises OSError."""
        before = self._files(self._sent)
        put = {path: data for path, data in held.items() if before.get(path) != data}
        self._change(self._sent, put, before.keys() - held.keys(), is_durable=False)
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
        for one in {(folder / path).parent for path in (*put, *remove)} if is_durable else ():
            if one.is_dir():
                sync_folder(one)


def merged(before: Mapping[str, bytes], ours: Mapping[str, bytes], theirs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return one's own files with what was done here and elsewhere; raises SidecarError where nobody can."""
    wanted = dict[str, bytes]()
    for path in sorted(ours.keys() | theirs.keys()):
        was, here, there = before.get(path), ours.get(path), theirs.get(path)
        made = there if was == here else here if was == there else merged_file(path, was, here, there)
        if made is not None:
            wanted[path] = made
    return wanted


def merged_file(path: str, before: bytes | None, ours: bytes | None, theirs: bytes | None) -> bytes | None:
    """Return a file that was changed on both sides, a log memory by memory, None if it goes; raises SidecarError."""
    place = shared_file(path)
    if place is None or not place.is_log:
        return ours
    texts = [(one or b"").decode("utf-8", "replace") for one in (before, ours, theirs)]
    try:
        return merged_log(path, *texts).encode() or None
    except (NoPlaceError, ValueError) as exc:
        raise SidecarError(UNMERGED.format(exc)) from exc


def files_below(folder: Path) -> dict[str, bytes]:
    """Return the notes below a folder by their paths there, links left out; blocks."""
    found = (path for path in folder.rglob("*.md") if path.is_file() and not path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
