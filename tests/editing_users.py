"""Users who edit notes in threads of their own and ask at once, and what each file held at which moment."""

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from memoryd.client import Client
from tests.daemon import RunningDaemon, write_config
from tests.waiting import eventually

EDITS, THREADS, FILES = 230, 3, 6
COMMON = ("harvest", "lantern", "meadow", "orchard", "pebble", "quarry", "ribbon", "saddle")


@dataclass
class State:
    """What a file held: `begun` is before the first moment of it, `over` after the last (monotonic seconds)."""

    text: str | None
    begun: float
    over: float = float("inf")


@dataclass
class History:
    """All that was in each file, written by one thread for each of them."""

    states: dict[str, list[State]] = field(default_factory=dict)

    def begin(self, path: str, text: str | None) -> None:
        """Note that a file is about to hold this, or to go."""
        self.states.setdefault(path, []).append(State(text, time.monotonic()))

    def end(self, path: str) -> None:
        """Note that it does, and nothing else any more."""
        for state in self.states[path][:-1]:
            state.over = min(state.over, time.monotonic())

    def held(self, hit: Any, start: float, end: float) -> bool:
        """Tell whether a file held the lines of a hit at some moment between these."""
        shown = hit["snippet"].partition("\n\nSource: ")[0].rstrip().split("\n")
        lines = slice(hit["snippetStartLine"] - 1, hit["snippetEndLine"])
        return any(
            state.text is not None and state.text.split("\n")[lines] == shown
            for state in self.states.get(hit["path"], ())
            if state.begun <= end and state.over >= start
        )


@dataclass(frozen=True)
class Asked:
    """A question with its answer, after an edit that left `path` with a text that holds `word`, or without it."""

    edit: str
    path: str
    word: str
    is_there: bool
    start: float
    end: float
    reply: Any

    @property
    def is_complete(self) -> bool:
        return bool(self.reply["health"]["complete"])


class EditingUser:
    """Edits its own notes and asks after each edit; what it does is for a thread of its own."""

    def __init__(self, daemon: RunningDaemon, history: History, number: int, seed: int, edits: int) -> None:
        self._daemon = daemon
        self._count = edits // THREADS + (number < edits % THREADS)
        self._history = history
        self._rnd = random.Random(f"{seed}-{number}")
        self._number = number
        self._serial = 0
        self._texts: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._former: list[tuple[str, str, int]] = []
        self.edits: Mapping[str, Callable[[str], None]] = {
            "in place": self._in_place,
            "atomic": self._atomic,
            "append": self._append,
            "delete": self._delete,
            "rename": self._rename,
            "restore": self._restore,
        }

    def fill(self) -> None:
        """Make the first notes."""
        for _ in range(FILES):
            self._atomic(self._new_path())

    def run(self) -> list[Asked]:
        """Do its part of the edits, and return what was answered."""
        with Client(self._daemon.socket, timeout=60) as client:
            return [self._edit_and_ask(client) for _ in range(self._count)]

    def _edit_and_ask(self, client: Client) -> Asked:
        names, weights = list(self.edits), (5, 5, 4, 2, 3, 3)
        name = self._rnd.choices(names, weights=weights)[0]
        path = self._rnd.choice(list(self._texts))
        if name == "delete" and len(self._texts) < 3:
            name = "atomic"
        word = self._words[path]
        self.edits[name](path)
        # of a note that went the question is for what it held, else for what is new in one
        if name != "delete":
            path = list(self._texts)[-1] if name == "rename" else path
            word = self._words[path]
        start = time.monotonic()
        reply = client.search(f"{word} {self._rnd.choice(COMMON)}", max_results=8)
        return Asked(name, path, word, path in self._texts, start, time.monotonic(), reply)

    def ask_for_all(self, client: Client) -> Iterator[Asked]:
        """Ask for each note, now that nobody edits; each must be found by an answer that says it is complete."""
        for path in self._texts:
            replies: list[Any] = []

            def answered(word: str = self._words[path], replies: list[Any] = replies) -> bool:
                replies.append(client.search(word))
                return bool(replies[-1]["health"]["complete"])

            start = time.monotonic()
            eventually(answered)
            yield Asked("all", path, self._words[path], True, start, time.monotonic(), replies[-1])

    def _in_place(self, path: str) -> None:
        self._write(path, self._text(path), lambda target, data: target.write_bytes(data))

    def _atomic(self, path: str) -> None:
        self._write(path, self._text(path), self._replace)

    def _append(self, path: str) -> None:
        added = f"\n{self._line(self._word(path))}\n"

        def append(target: Path, _data: bytes) -> None:
            with target.open("ab") as file:
                file.write(added.encode())

        self._write(path, self._texts[path] + added, append)

    def _delete(self, path: str) -> None:
        self._history.begin(path, None)
        (self._daemon.workspace / path).unlink()
        self._history.end(path)
        del self._texts[path]

    def _rename(self, path: str) -> None:
        new, text = self._new_path(), self._texts.pop(path)
        self._history.begin(new, text)
        self._history.begin(path, None)
        (self._daemon.workspace / path).rename(self._daemon.workspace / new)
        self._history.end(path)
        self._history.end(new)
        self._texts[new], self._words[new] = text, self._words[path]

    def _restore(self, path: str) -> None:
        """Put back what some note held before, with its time, as out of an archive."""
        if not self._former:
            return self._atomic(path)
        text, word, mtime_ns = self._rnd.choice(self._former)
        self._words[path] = word

        def unpack(target: Path, data: bytes) -> None:
            self._replace(target, data, mtime_ns)

        return self._write(path, text, unpack)

    def _write(self, path: str, text: str, write: Callable[[Path, bytes], object]) -> None:
        target = self._daemon.workspace / path
        self._history.begin(path, text)
        write(target, text.encode())
        self._history.end(path)
        self._texts.pop(path, None)
        self._texts[path] = text
        self._former.append((text, self._words[path], target.stat().st_mtime_ns))

    def _replace(self, target: Path, data: bytes, mtime_ns: int | None = None) -> None:
        beside = target.with_name(f".{target.name}.part")
        beside.write_bytes(data)
        if mtime_ns is not None:
            os.utime(beside, ns=(mtime_ns, mtime_ns))
        beside.replace(target)

    def _new_path(self) -> str:
        self._serial += 1
        return f"memory/t{self._number}-{self._serial}.md"

    def _word(self, path: str) -> str:
        """Make a new word that only this version of a note holds."""
        self._serial += 1
        self._words[path] = f"zq{self._number}v{self._serial:04d}"
        return self._words[path]

    def _line(self, word: str) -> str:
        return " ".join([word, *self._rnd.choices(COMMON, k=self._rnd.randint(3, 12))])

    def _text(self, path: str) -> str:
        """Make a text: now the word is near its top, now far below what only moves it."""
        word = self._word(path)
        above = [f"plain {self._rnd.randint(0, 9)}" for _ in range(self._rnd.choice((0, 1, 3, 40)))]
        body = [self._line(word), *(self._line("line") for _ in range(self._rnd.choice((0, 2, 30))))]
        return "\n".join([f"# {self._rnd.choice(COMMON)}", "", *above, "", *body, ""])


def run_edits(folder: Path, seed: int, edits: int = EDITS, **search: object) -> tuple[History, list[Asked]]:
    """Edit and ask in three threads over a daemon of its own; return what was where, and what was told."""
    workspace = folder / "workspace"
    (workspace / "memory").mkdir(parents=True)
    history = History()
    daemon = RunningDaemon(folder, write_config(folder, workspace, None, search=search), workspace)
    users = [EditingUser(daemon, history, number, seed, edits) for number in range(THREADS)]
    for user in users:
        user.fill()
    with daemon, ThreadPoolExecutor(THREADS) as threads:
        daemon.client().sync()
        asked = list(chain.from_iterable(threads.map(EditingUser.run, users)))
        with daemon.client() as client:
            asked += chain.from_iterable(user.ask_for_all(client) for user in users)
    return history, asked


def stale(history: History, asked: list[Asked]) -> Iterator[str]:
    """Yield what was told and was not so."""
    for one in asked:
        for hit in one.reply["results"]:
            if not history.held(hit, one.start, one.end):
                yield f"after {one.edit} of {one.path}, complete {one.is_complete}: {hit}"


def missed(asked: list[Asked]) -> Iterator[str]:
    """Yield what was not found in an answer that says that it is complete."""
    for one in asked:
        # perhaps in another note that holds the same and leads it; its own snippet may show other lines
        found = any(one.word in hit["snippet"] or one.path == hit["path"] for hit in one.reply["results"])
        if one.is_there and not found and one.is_complete:
            yield f"after {one.edit} of {one.path}: {one.word} is not in {one.reply}"
