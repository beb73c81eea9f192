"""A year of 1,000 conversations: looking up, adding a turn against a bare write of the same bytes, and starting.

All but the last month is in the archive, as after a year of use, and its sessions are looked up like the others. Starts
are measured in a process of their own, which `python -m bench.conversations WORKSPACE` is.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from msgspec.structs import replace

from bench.followups.followup_set import followups, said
from bench.measurement import Aim, Bench, Row
from bench.timing import Stopwatch, median, percentile
from memoryd.domain.documents import SessionId
from memoryd.domain.sessions.documents import AnswerRetention, render_session
from memoryd.domain.sessions.making_turns import RawTurn, make_turn
from memoryd.domain.sessions.turns import Session
from memoryd.files import reading
from memoryd.files.writing import sync_folder
from memoryd.search.ranking import commonness
from memoryd.sessions.qa_store import QaStore
from memoryd.sessions.workspace_sessions import ARCHIVE, SESSIONS

AGENT = "main"
BEGUN = datetime(2025, 1, 1, 8, tzinfo=UTC)
YEAR = timedelta(days=365)
TURNS = 10
UPDATED_EVERY = 5
"""Turns between updates of the main file, which are not measured: in use a second passes before one."""
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Start:
    """What opening a store took: milliseconds, and files of sessions that were opened.

    `learning_ms` is what the archive took, which is read beside all calls; `mib` more than before are used after that.
    """

    ms: float
    opened: int
    mib: float
    learning_ms: float


def rows(bench: Bench) -> Iterator[Row]:
    """Look up, add, and start over a synthetic year."""
    workspace = bench.folder / "workspace"
    count = bench.pick(1000, 200)
    write_year(workspace, count)
    store = _opened(workspace)
    store.sessions.flush()
    store.learn()
    yield from _lookups(store, count, bench.pick(600, 200))
    yield from _starts(workspace, count)
    yield from _appends(store, workspace, bench.pick(400, 100))


def write_year(workspace: Path, count: int) -> None:
    """Write the files of a year's sessions: turns of the follow-up set, mixed, each with words of its own."""
    for folder in (SESSIONS, ARCHIVE):
        (workspace / folder).mkdir(parents=True)
    chance = random.Random(7)
    texts = [raw for _, raw in said()]
    for number in range(count):
        session = Session(SessionId(f"s{number:04}"), BEGUN + YEAR * number / count, agent=AGENT)
        for raw in chance.sample(texts, TURNS):
            at = session.created + timedelta(minutes=2 * len(session.turns))
            own = RawTurn(f"{raw.question} {_word(chance)}", f"{raw.answer} {_word(chance)}", at, chance.random())
            made = make_turn(own, session, answer_retention=AnswerRetention(), commonness=commonness)
            session = replace(session, turns=(*session.turns, made.turn))
        folder = ARCHIVE if AnswerRetention().is_old(session.last_activity, BEGUN + YEAR) else SESSIONS
        (workspace / folder / f"{session.id}.json").write_text(f"{render_session(session)}\n", encoding="utf-8")


def _word(chance: random.Random) -> str:
    return "".join(chance.choices("bdgklmnprst", k=2) + chance.choices("aeiou", k=2) + chance.choices("bdgk", k=3))


def _opened(workspace: Path) -> QaStore:
    store = QaStore(workspace, commonness=commonness)
    store.sessions.open()
    return store


def _lookups(store: QaStore, count: int, times: int) -> Iterator[Row]:
    chance = random.Random(8)
    asked = [one.message for one in followups()] + [raw.question for _, raw in said()]
    took = []
    for _ in range(times):
        current = chance.choice([None, f"s{chance.randrange(count):04}"])
        message = chance.choice(asked)
        watch = Stopwatch()
        store.find_turns(message, agent=AGENT, current=current)
        took.append(watch.ms)
    put_away = len(store.archive.stubs(AGENT))
    note = (
        f"{count:,} sessions of {TURNS} turns, {put_away} in the archive; {times} messages, half of them in a session"
    )
    yield Row("context, p50", median(took), "ms", note=note)
    yield Row("context, p95", percentile(took, 95), "ms", Aim(10))


def _appends(store: QaStore, workspace: Path, times: int) -> Iterator[Row]:
    """Add turns to new sessions, each beside a bare write of what the file of the session then holds."""
    bare_folder = workspace / "bare"
    bare_folder.mkdir()
    texts = [raw for _, raw in said()]
    added, bare, made = [], [], []
    for number in range(times):
        name, raw = f"new-{number // TURNS}", texts[number % len(texts)]
        # neither is to pay for names that the other has changed
        sync_folder(bare_folder)
        watch = Stopwatch()
        store.turns.append(name, replace(raw, timestamp=BEGUN + timedelta(days=400, minutes=number)), agent=AGENT)
        added.append(watch.ms)
        data = (workspace / SESSIONS / f"{name}.json").read_bytes()
        sync_folder(bare_folder)
        bare.append(_bare_write(bare_folder / f"{number}", data))
        made.append(_making(store.sessions.read(SessionId(name), agent=AGENT), raw))
        if number % UPDATED_EVERY == 0:
            store.sessions.flush()
    note = f"p50 of {times}, files of {TURNS} turns at most; the main file is not among it"
    yield Row("append of a turn", median(added), "ms", note=note)
    yield Row("bare write and fsync of the same bytes", median(bare), "ms", note="a new file in the same file system")
    yield Row("append ÷ bare write and fsync", median(added) / median(bare), "", Aim(2))
    yield Row("of an append, making the turn", median(made), "ms", note="keywords, hash, topics, significance, secrets")


def _bare_write(path: Path, data: bytes) -> float:
    watch = Stopwatch()
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return watch.ms


def _making(session: Session, raw: RawTurn) -> float:
    before = replace(session, turns=session.turns[:-1])
    watch = Stopwatch()
    make_turn(raw, before, answer_retention=AnswerRetention(), commonness=commonness)
    return watch.ms


def _starts(workspace: Path, count: int) -> Iterator[Row]:
    starts = [_started(workspace) for _ in range(3)]
    yield Row("start after a clean stop: session files opened", starts[0].opened, f"of {count}", Aim(0))
    yield Row("start after a clean stop", median([one.ms for one in starts]), "ms", note="median of 3 processes")
    learning = median([one.learning_ms for one in starts])
    yield Row("learning the archive after a start", learning, "ms", note="in the background")
    yield Row("memory of the open store", median([one.mib for one in starts]), "MiB", note="the archive is learned")
    changed = workspace / SESSIONS / f"s{count - 1:04}.json"
    changed.write_bytes(changed.read_bytes() + b"\n")
    opened = _started(workspace).opened
    if not opened:
        raise RuntimeError("the audit hook sees nothing")
    yield Row("start after one file changed: session files opened", opened, f"of {count}", Aim(1))


def _started(workspace: Path) -> Start:
    command = [sys.executable, "-m", "bench.conversations", str(workspace)]
    done = subprocess.run(command, check=True, capture_output=True, cwd=Path(__file__).parents[1], timeout=120)
    return Start(**json.loads(done.stdout))


def start(workspace: Path) -> Start:
    """Open a store and tell what it took; what it opens is counted by an audit hook, which this process keeps.

    Files are opened as where the kernel has no `openat2`: that call comes from C, and no hook sees it.
    """
    reading.has_openat2 = lambda: False  # type: ignore[assignment]  # whatever it was asked before
    commonness("warm")
    opened: list[str] = []

    def note(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and isinstance(args[0], str):
            opened.append(Path(args[0]).name)

    process = psutil.Process()
    live, archived = ({path.name for path in (workspace / at).glob("[!.]*.json")} for at in (SESSIONS, ARCHIVE))
    before = process.memory_info().rss
    sys.addaudithook(note)
    begun = time.perf_counter()
    store = _opened(workspace)
    ms = (time.perf_counter() - begun) * 1000
    read = sum(name in live | archived for name in opened)
    begun = time.perf_counter()
    store.learn()
    learning_ms = (time.perf_counter() - begun) * 1000
    used = (process.memory_info().rss - before) / MIB
    if (len(store.sessions.of(AGENT)), len(store.archive.stubs(AGENT))) != (len(live), len(archived)):
        raise RuntimeError("the store does not know all sessions")
    return Start(ms, read, used, learning_ms)


if __name__ == "__main__":
    print(json.dumps(asdict(start(Path(sys.argv[1])))))
