"""The main file and `topics.txt`: generated from the sessions, to be read with `jq` and `grep`.

A foreign file in their place is reported and left alone. A damaged main file is kept next to the new one. A hidden file
has size and times of each session's file when the main file was made: a start reads only files that changed since.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from memoryd.domain.documents import FileStat, SessionId
from memoryd.domain.sessions.documents import (
    Entry,
    QaDocument,
    entry_of,
    parse_document,
    render_document,
    render_session,
    topic_places,
)
from memoryd.domain.sessions.json_values import DamagedDocumentError, ForeignDocumentError, dumps
from memoryd.domain.sessions.turns import Session
from memoryd.files.reading import FileSnapshot, NotReadableError, TornReadError, read_stable
from memoryd.files.writing import FileChangedError, remove_drafts, remove_file, replace_file

MAIN = "memory/qa-index.json"
TOPICS = "memory/topics.txt"
STAMPS = "memory/sessions/.stamps.json"
TOPICS_HEAD = "# Topics of questions and answers; memoryd writes this file.\n"
_MAX_BYTES = 256 << 20
_TRIES = 20
_COPIES_MAX = 3
"""The number of damaged main files that are kept, the newest. They do not count for the bound of all files."""
_SIGNIFICANT_CHARS = 12
"""A question of this length occurs in few sessions only."""
_UNREADABLE = (OSError, TornReadError, NotReadableError)

FileStamp = tuple[int, int, int]
"""Size, modification and change time of a file."""


def stamp_of(stat: FileStat) -> FileStamp:
    """Return the stamp by which a change of a session's file is detected."""
    return stat.size, stat.mtime_ns, stat.ctime_ns


class MainFile:
    """The main file of a workspace; one thread at a time."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._rendered: dict[SessionId, tuple[Entry, str]] = {}
        self._written: tuple[FileStat, QaDocument] | None = None
        self._topics = ""
        self.problems: list[str] = []
        """Foreign files in the place of ours, and damaged ones, as of the last check."""

    def load(self) -> tuple[QaDocument, Mapping[SessionId, FileStamp]]:
        """Return the document of the main file, and the stamps of the files that it was made from.

        A file that cannot be read raises nothing and is not changed; it is added to `problems`.
        """
        self.problems = []
        try:
            content = self._read(MAIN)
            if content is not None:
                document = parse_document(content.data)
                self._written = content.stat, replace(document, entries=())
                return document, self._stamps(content.sha256.hex())
        except (ForeignDocumentError, DamagedDocumentError, *_UNREADABLE) as exc:
            self.problems = [f"{MAIN}: {exc}"]
        return QaDocument(), {}

    def write(self, entries: Sequence[Entry], stamps: Mapping[SessionId, FileStamp]) -> None:
        """Write the main file, `topics.txt` and the stamps; `problems` has the files that could not be written.

        Raises OSError for disk errors.
        """
        ordered = sorted(entries, key=lambda entry: (entry.head.created, entry.head.id))
        problems = []
        steps: Mapping[str, Callable[[Sequence[Entry]], None]]
        steps = {MAIN: partial(self._write_main, stamps=stamps), TOPICS: self._write_topics}
        for name, write in steps.items():
            try:
                write(ordered)
            except (ForeignDocumentError, TornReadError, NotReadableError, FileChangedError) as exc:
                problems.append(f"{name}: {exc}")
        self.problems = problems

    def forget(self, session: Session) -> int:
        """Remove drafts and the copies of damaged main files that have a session. Return the number of removed files.

        Call it after the main file was written without the session, since that may set another damaged file aside. A
        copy is recognised by the name of the session or by one of its questions, as damage may have removed either.
        """
        removed = self.sweep()
        signs = [sign.encode() for sign in _signs(session)]
        for path in self._damaged():
            with contextlib.suppress(*_UNREADABLE, FileChangedError):
                content = read_stable(self._workspace, str(path.relative_to(self._workspace)), max_bytes=_MAX_BYTES)
                if any(sign in content.data for sign in signs):
                    remove_file(path, content.stat)
                    removed += 1
        return removed

    def sweep(self) -> int:
        """Remove drafts of the main file and of topics that a kill left, and return their number."""
        return remove_drafts((self._workspace / MAIN).parent)

    def size(self) -> int:
        """Return the bytes of all files that are made from the sessions.

        Copies of damaged files do not count: pruning does not make them smaller.
        """
        total = 0
        for name in (MAIN, TOPICS, STAMPS):
            with contextlib.suppress(OSError):
                total += (self._workspace / name).lstat().st_size
        return total

    def _damaged(self) -> list[Path]:
        return list((self._workspace / MAIN).parent.glob(f"{Path(MAIN).name}.damaged-*"))

    def _drop_old_copies(self) -> None:
        copies = sorted((path.lstat().st_mtime_ns, path) for path in self._damaged())
        for _, path in copies[:-_COPIES_MAX]:
            path.unlink(missing_ok=True)

    def _write_main(self, entries: Sequence[Entry], stamps: Mapping[SessionId, FileStamp]) -> None:
        # after the main file: stamps are only valid for the main file whose hash they have
        data = json.dumps({"main": self._swap(entries), "sessions": stamps}).encode()
        # raises if the path leads through a link: the folder may have become one since the main file was written
        self._read(STAMPS)
        if (self._workspace / STAMPS).parent.is_dir():
            replace_file(self._workspace / STAMPS, data)

    def _swap(self, entries: Sequence[Entry]) -> str:
        for _ in range(_TRIES):
            content = self._read(MAIN)
            if content is None and not entries:
                return ""
            others = self._others(content)
            document = replace(others, entries=tuple(map(entry_of, entries)))
            data = render_document(document, self._texts(entries)).encode()
            if content is None or content.data != data:
                try:
                    replace_file(self._workspace / MAIN, data, expected=content.stat if content else "absent")
                except FileChangedError:
                    # another daemon or a person wrote it: read that first
                    continue
                content = self._read(MAIN)
            if content is not None:
                # if another writer was faster, its extra keys are read the next time
                self._written = (content.stat, others) if content.data == data else None
            return sha256(data).hexdigest()
        raise FileChangedError("others write to it all the time")

    def _others(self, content: FileSnapshot | None) -> QaDocument:
        """Return the document with the extra keys to preserve. Set a damaged file aside; raise for a foreign one."""
        if content is None:
            return QaDocument()
        if self._written is not None and self._written[0] == content.stat:
            return self._written[1]
        try:
            document = parse_document(content.data)
        except DamagedDocumentError:
            if content.data.strip():
                # a person may be able to recover the damaged file
                path = self._workspace / f"{MAIN}.damaged-{content.sha256.hex()[:8]}"
                with contextlib.suppress(FileChangedError):
                    replace_file(path, content.data, expected="absent", is_durable=True)
                    self._drop_old_copies()
            return QaDocument()
        return replace(document, entries=())

    def _texts(self, entries: Iterable[Entry]) -> Mapping[SessionId, str]:
        """Return the text of each session; only changed sessions are rendered again."""
        known, self._rendered = self._rendered, {}
        for entry in entries:
            session = entry_of(entry)
            if isinstance(session, Session):
                before = known.get(session.id)
                text = before[1] if before is not None and before[0] is entry else render_session(session)
                self._rendered[session.id] = entry, text
        return {name: text for name, (_, text) in self._rendered.items()}

    def _write_topics(self, entries: Sequence[Entry]) -> None:
        lines = (f"{topic}\t{' '.join(places)}\n" for topic, places in sorted(topic_places(entries).items()))
        text = TOPICS_HEAD + "".join(lines)
        if text == self._topics:
            return
        content = self._read(TOPICS)
        if content is None and not entries:
            return
        if content is not None and not content.data.startswith(TOPICS_HEAD.encode()):
            raise ForeignDocumentError("another file is in its place")
        if content is None or content.data != text.encode():
            replace_file(self._workspace / TOPICS, text.encode(), expected=content.stat if content else "absent")
        self._topics = text

    def _stamps(self, digest: str) -> Mapping[SessionId, FileStamp]:
        """Return the stamps, none if they belong to another main file than the one with this hash."""
        with contextlib.suppress(ValueError, TypeError, AttributeError, *_UNREADABLE):
            content = self._read(STAMPS)
            value = json.loads(content.data) if content else {}
            if value.get("main") == digest:
                return {SessionId(name): (int(a), int(b), int(c)) for name, (a, b, c) in value["sessions"].items()}
        return {}

    def _read(self, relative: str) -> FileSnapshot | None:
        try:
            return read_stable(self._workspace, relative, max_bytes=_MAX_BYTES)
        except FileNotFoundError:
            return None


def _signs(session: Session) -> Iterator[str]:
    """Yield strings that show that a text contains a session, in the JSON of our writers and of others."""
    questions = [turn.question for turn in session.turns if len(turn.question) >= _SIGNIFICANT_CHARS]
    for write in (dumps, json.dumps):
        yield write(session.id)
        # without the quotes: the ends of a string may be cut off
        yield from (write(question)[1:-1] for question in questions)
