"""Rows 35 to 44 of the fault catalogue: how programs save a file. The number is in each name."""

import hashlib
import os
import pty
import random
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memoryd.client import Client
from tests.embedding_endpoint import Endpoint
from tests.fault import check, editors
from tests.fault.stage import EVENTS_ONLY, QUICK, SCAN_ONLY, Stage
from tests.sweeps import swept, whole_or
from tests.waiting import SECONDS, eventually

PATIENT = {**QUICK, "deleteGraceMs": 2000}


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    """One daemon for all editors, outside the temporary directory."""
    folder = Path(tempfile.mkdtemp(prefix="memoryd-", dir="/var/tmp"))
    stage = Stage(folder)
    stage.start(PATIENT)
    yield stage
    stage.end()
    shutil.rmtree(folder)


class Witness(threading.Thread):
    """Searches a word 50 times a second; `missed` counts complete answers without it while the note had it."""

    def __init__(self, stage: Stage, path: Path, word: str) -> None:
        super().__init__(daemon=True)
        self.asked = 0
        self.missed = 0
        self.error: Exception | None = None
        self._socket = stage.daemon.socket
        self._path = path
        self._word = word
        self._is_over = threading.Event()

    def __enter__(self) -> "Witness":
        self.start()
        eventually(lambda: self.asked or self.error)
        return self

    def __exit__(self, *_: object) -> None:
        asked = self.asked
        eventually(lambda: self.asked > asked or self.error)
        self._is_over.set()
        self.join(60)
        if self.error is not None:
            raise self.error

    def run(self) -> None:
        try:
            with Client(self._socket, timeout=20) as client:
                while not self._is_over.wait(0.02):
                    before = self._held()
                    reply = client.search(self._word)
                    is_found = any(self._word in hit["snippet"] for hit in reply["results"])
                    # excused: the word was gone for a moment, or the answer says that it is incomplete
                    is_excused = before is None or self._held() != before or not reply["health"]["complete"]
                    self.missed += not (is_found or is_excused)
                    self.asked += 1
        except Exception as exc:
            self.error = exc

    def _held(self) -> tuple[int, int] | None:
        """Return the state of the note that contains the word, or None."""
        try:
            info, text = self._path.stat(), self._path.read_text()
        except FileNotFoundError:
            return None
        return (info.st_ino, info.st_ctime_ns) if self._word in text else None


def slowly(seed: object) -> editors.Pause:
    """Return pauses of up to 60 ms between system calls."""
    rnd = random.Random(str(seed))
    return lambda: time.sleep(rnd.choice((0.0, 0.01, 0.06)))


def prepared(stage: Stage, name: str) -> tuple[Path, str]:
    """Index a note for an editor; return its path and the word that it always contains."""
    path = stage.write(f"memory/{name}.md", f"# Kept\n\nkeep{name}\n")
    stage.sync()
    return path, f"keep{name}"


@pytest.mark.parametrize("name", editors.SAVES)
def test_f035_replayed_save_never_loses_the_note(shared: Stage, name: str) -> None:
    """During every replayed save a search finds the kept words or is incomplete; then it finds the new text."""
    word = name.replace("_", "")
    path, kept = prepared(shared, word)
    pause = slowly(name)
    with Witness(shared, path, kept) as witness:
        for version in ("alpha", "beta"):
            filler = "filling " * 400
            text = f"# Kept\n\n{kept}\n\n{filler}\n\nversion{version}{word}\n"
            editors.SAVES[name](path, text.encode(), pause)
            shared.eventually_finds(f"version{version}{word}")
    assert not witness.missed, f"{witness.missed} of {witness.asked}"
    assert not shared.finds(f"versionalpha{word}")


def vim(path: Path, line: str, *options: str) -> None:
    settings = [part for option in options for part in ("-c", f"set {option}")]
    command = ["vim", "-u", "NONE", "-N", "-es", *settings, "-c", f"normal Go{line}", "-c", "wq", str(path)]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False, timeout=30)


def vim_copying(path: Path, line: str) -> None:
    vim(path, line, "backupcopy=yes")


def emacs(path: Path, line: str, before: str = "") -> None:
    save = f'(progn {before} (goto-char (point-max)) (insert "{line}\\n") (save-buffer))'
    command = ["emacs", "-Q", "--batch", str(path), "--eval", save]
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60)


def emacs_twice(path: Path, line: str) -> None:
    emacs(path, line, '(goto-char (point-max)) (insert "first\\n") (save-buffer)')


def emacs_precious(path: Path, line: str) -> None:
    emacs(path, line, "(setq file-precious-flag t)")


def nano(path: Path, line: str) -> None:
    command = ["nano", "--ignorercfiles", str(path)]
    process, terminal = _on_terminal(command, path.parent)
    try:
        _await_screen(terminal)
        os.write(terminal, f"{line}\r\x0f\r".encode())
        eventually(lambda: line in path.read_text())
        os.write(terminal, b"\x18")
        _drain(terminal, process)
    finally:
        process.kill()
        process.wait()
        os.close(terminal)


def sed(path: Path, line: str) -> None:
    subprocess.run(["sed", "-i", f"$ a {line}", str(path)], check=True)


def rsync(path: Path, line: str, *options: str) -> None:
    source = path.with_name(f".{path.name}.from")
    source.write_text(path.read_text() + line + "\n")
    subprocess.run(["rsync", "-a", "--ignore-times", *options, str(source), str(path)], check=True)
    source.unlink()


def rsync_inplace(path: Path, line: str) -> None:
    rsync(path, line, "--inplace")


def tar(path: Path, line: str) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        copy = Path(folder, path.name)
        copy.write_text(path.read_text() + line + "\n")
        subprocess.run(["tar", "cf", f"{folder}/a.tar", "-C", folder, path.name], check=True)
        subprocess.run(["tar", "xf", f"{folder}/a.tar", "-C", str(path.parent)], check=True)


def cp(path: Path, line: str) -> None:
    source = path.with_name(f".{path.name}.from")
    source.write_text(path.read_text() + line + "\n")
    subprocess.run(["cp", str(source), str(path)], check=True)
    source.unlink()


def shell(path: Path, line: str) -> None:
    subprocess.run(["sh", "-c", f"echo {line} >> {path}"], check=True)


def git(path: Path, line: str) -> None:
    _git(path.parent, "init", "-q", "-b", "old")
    _git(path.parent, "add", path.name)
    _git(path.parent, "commit", "-qm", "old")
    _git(path.parent, "checkout", "-q", "-b", "new")
    path.write_text(path.read_text() + line + "\n")
    _git(path.parent, "commit", "-qam", "new")
    _git(path.parent, "checkout", "-q", "old")
    _git(path.parent, "checkout", "-q", "new")


PROGRAMS: dict[str, tuple[str, Callable[[Path, str], None]]] = {
    "vim": ("vim", vim),
    "vim_copying": ("vim", vim_copying),
    "emacs": ("emacs", emacs),
    "emacs_twice": ("emacs", emacs_twice),
    "emacs_precious": ("emacs", emacs_precious),
    "nano": ("nano", nano),
    "git": ("git", git),
    "sed": ("sed", sed),
    "rsync": ("rsync", rsync),
    "rsync_inplace": ("rsync", rsync_inplace),
    "tar": ("tar", tar),
    "cp": ("cp", cp),
    "shell": ("sh", shell),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_f035_real_program_never_loses_the_note(shared: Stage, name: str) -> None:
    """While the real program saves, a search finds the kept words or is incomplete; no temporary file is indexed."""
    program, save = PROGRAMS[name]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    word = name.replace("_", "")
    path, kept = prepared(shared, f"real{word}/{word}")
    kept = kept.replace("/", "")
    path.write_text(f"# Kept\n\n{kept}\n")
    shared.sync()
    with Witness(shared, path, kept) as witness:
        save(path, f"saved{word}")
        shared.eventually_finds(f"saved{word}")
    assert not witness.missed, f"{witness.missed} of {witness.asked}"
    shared.sync()
    names = {line.path for line in check.dump(check.index_of(shared.daemon)) if f"real{word}/" in line.path}
    assert names == {f"memory/real{word}/{word}.md"}


def test_f035_all_saves_together_converge(shared: Stage) -> None:
    """After all kinds of saves the index equals the disk."""
    shared.converges(rebuilt=check.rebuilt_by_daemon)


class LeftHalfDoneError(Exception):
    """The editor crashed here."""


def crash_after(calls: int) -> editors.Pause:
    """Return a pause that ends the save at its n-th call."""
    counter = iter(range(calls))

    def pause() -> None:
        if next(counter, None) is None:
            raise LeftHalfDoneError

    return pause


def test_f036_file_emptied_by_a_crash_is_kept_for_the_grace(stage: Stage) -> None:
    """The text of a truncated file stays in the index for the grace, not shown; then the file counts as empty."""
    stage.start({**QUICK, "deleteGraceMs": 1500})
    path = stage.memory / "first.md"
    with pytest.raises(LeftHalfDoneError):
        editors.vscode(path, b"never written", crash_after(0))
    assert path.stat().st_size == 0
    with stage.client as client:
        reply = client.search("birch")
        assert "birch" not in str(reply["results"])
        assert reply["health"]["complete"] is False
    kept = check.dump(check.index_of(stage.daemon))
    assert [line.ordinal for line in kept if line.path == "memory/first.md" and line.text] == [0]
    eventually(lambda: check.dump(check.index_of(stage.daemon)) != kept)
    stage.converges()


def test_f036_backup_left_by_a_crash_is_not_indexed(stage: Stage) -> None:
    """A backup that a crash left is not indexed."""
    stage.start()
    path = stage.memory / "first.md"
    with pytest.raises(LeftHalfDoneError):
        editors.vim_rename(path, b"never written", crash_after(4))
    assert path.with_name("first.md~").exists()
    stage.sync()
    assert stage.paths() == {"MEMORY.md"} | ({"memory/first.md"} if path.exists() else set())
    stage.converges()


def test_f037_slow_save_converges(stage: Stage) -> None:
    """A file that stays empty counts as empty; text written later is found."""
    stage.start()
    path = stage.memory / "first.md"
    with path.open("w") as file:
        stage.sync()
        assert not stage.finds("birch")
        file.write("written at long last: hawthorn\n")
    stage.eventually_finds("hawthorn")
    stage.converges()


def test_f038_half_written_file_is_never_indexed(stage: Stage) -> None:
    """Each version seen in the index is one of the two complete texts, or empty."""
    path = stage.memory / "toggled.md"
    texts = [(f"{letter} " * 20 + "\n\n").encode() * 5_000 for letter in ("alpha", "betas")]
    path.write_bytes(texts[0])
    # far above the time of one scan on a busy machine: a file unchanged for longer counts as saved
    stage.start({**QUICK, "settleMs": 1500, "deleteGraceMs": 3000})
    legal = {hashlib.sha256(text).hexdigest().upper() for text in (*texts, b"")}
    seen: set[str] = set()
    with Client(stage.daemon.socket, timeout=20) as client:

        def look() -> None:
            client.sync(wait="none")
            time.sleep(0.03)
            seen.update(line.sha256 for line in check.dump(check.index_of(stage.daemon)) if "toggled" in line.path)

        for version in range(1, 13):
            _toggle(path, texts[version % 2], look)
            look()
    stage.sync()
    assert seen <= legal
    stage.converges()


def _toggle(path: Path, text: bytes, look: Callable[[], None]) -> None:
    """Write in four parts, with a look after each."""
    with path.open("r+b", buffering=0) as file:
        file.truncate(0)
        for at in range(0, len(text), len(text) // 4):
            file.write(text[at : at + len(text) // 4])
            look()


def test_f039_temporary_files_of_editors_are_not_indexed(stage: Stage) -> None:
    """No temporary file of an editor is found; a copy of a conflict is."""
    stage.start()
    for name in (
        ".x.md.swp",
        "4913",
        "x.md~",
        "#x.md#",
        ".syncthing.x.md.tmp",
        ".x.md.AbC123",
        "x.md.tmp",
        "x.md.orig",
    ):
        stage.write(f"memory/{name}", "litter: hemlock")
    (stage.memory / ".#x.md").symlink_to("user@host.1234")
    copies = {
        "memory/x.sync-conflict-20260101-120000-ABCDEFG.md": "hornbeam",
        "memory/x (ann's conflicted copy 2026-01-01).md": "whitebeam",
    }
    for name, word in copies.items():
        stage.write(name, f"a second opinion: {word}")
    stage.sync()
    assert not stage.finds("hemlock")
    for name, word in copies.items():
        (hit,) = stage.client.search(word)["results"]
        assert (hit["path"], hit["flags"]) == (name, ["conflict-copy"])
    (first,) = stage.client.search("birch")["results"]
    assert not first.get("flags")
    stage.converges()


@pytest.fixture
def repository(stage: Stage) -> Path:
    """A workspace under git with two branches, of which more than half of 200 notes differ."""
    for number in range(200):
        stage.write(f"bank/{number}.md", f"common note {number}\n")
    _git(stage.workspace, "init", "-q", "-b", "one")
    _git(stage.workspace, "add", ".")
    _git(stage.workspace, "commit", "-qm", "one")
    _git(stage.workspace, "checkout", "-q", "-b", "two")
    for number in range(100):
        stage.write(f"bank/{number}.md", f"another note {number} of branch two\n")
    for number in range(180, 200):
        (stage.workspace / "bank" / f"{number}.md").unlink()
        stage.write(f"bank/new/{number}.md", f"moved note {number}\n")
    _git(stage.workspace, "add", ".")
    _git(stage.workspace, "commit", "-qm", "two")
    return stage.workspace


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_f040_branches_switched_again_and_again_converge(stage: Stage, repository: Path) -> None:
    """After many switches every note is indexed, and no text of either branch was embedded twice."""
    with Endpoint(stage.home) as endpoint:
        access = {"baseUrl": endpoint.url, "apiKey": "sk-of-the-test"}
        stage.start(search={"provider": "openai", "model": "test-model", "remote": access})
        for turn in range(whole_or(4, 20)):
            _git(repository, "checkout", "-q", "one" if turn % 2 == 0 else "two")
            seen = len(endpoint.texts())
            # most branches are embedded in part, and some not at all
            if turn < 6:
                eventually(lambda seen=seen: len(endpoint.texts()) > seen or _has_all(stage))  # type: ignore[misc]
        stage.sync(embedded=True)
        stage.converges()
        assert stage.status()["files"] == 202
        notes = Counter(text for text in endpoint.texts() if " note " in text)
        assert [text for text, count in notes.items() if count > 1] == []
        assert 200 < len(notes) <= 320
        stage.end()


def _has_all(stage: Stage) -> bool:
    status = stage.status()
    return not status["pendingFiles"] and status["embedded"] == status["passages"]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_f041_mass_deletion_is_followed_after_the_grace(stage: Stage, repository: Path) -> None:
    """Deleted notes stay in the index for the grace, not shown, and are removed afterwards."""
    for number in range(600):
        stage.write(f"memory/untracked/{number}.md", f"untracked note {number}: hemlock\n")
    stage.start({**QUICK, "deleteGraceMs": 15_000})
    # all in one scan, however long git takes: half of the notes would be no mass removal
    os.kill(stage.daemon.pid, signal.SIGSTOP)
    _git(repository, "clean", "-fdxq")
    os.kill(stage.daemon.pid, signal.SIGCONT)
    assert not stage.finds("hemlock")
    assert len(stage.paths()) == 802
    stage.sync()
    assert not stage.finds("hemlock")
    # a busy machine may take longer than a sync waits
    eventually(lambda: stage.status().get("massRemoval") is not None)
    removal = stage.status()["massRemoval"]
    assert removal is not None
    # a scan during the deletion may find some gone, which are removed earlier
    assert removal["files"] > 202
    assert removal["files"] + removal["left"] == 802
    stage.converges()


STORM_SECONDS = whole_or(4, 10)
DEBOUNCE_SECONDS = 1.5


@pytest.mark.sweep
def test_f042_storm_of_saves_is_one_index_run_in_a_debounce(stage: Stage) -> None:
    """During seconds of saves there is at most one run per debounce on less than one core; the last text is found."""
    stage.start({**EVENTS_ONLY, "watchDebounceMs": int(DEBOUNCE_SECONDS * 1000)})
    used, generation = stage.cpu_seconds(), stage.generation()
    started, number = time.monotonic(), 0
    while time.monotonic() - started < STORM_SECONDS:
        number += 1
        stage.write("memory/stormy.md", f"# Storm\n\nsave number s{number:05d}\n")
        time.sleep(0.005)
    seconds = time.monotonic() - started
    runs = stage.generation() - generation
    assert 1 <= runs <= seconds / DEBOUNCE_SECONDS
    assert stage.cpu_seconds() - used < seconds
    stage.eventually_finds(f"s{number:05d}")
    stage.converges()


ENCODED: dict[str, tuple[bytes, int]] = {
    "crlf": (b"first\r\nsecond\r\nword{0}\r\n", 3),
    "lone_cr": (b"first\rword{0}\r", 1),
    "bom": (b"\xef\xbb\xbffirst\nword{0}\n", 2),
    "utf16": ("\ufefffirst\nword{0}\n".encode("utf-16-le"), 2),
    "latin1": (b"caf\xe9\nword{0}\n", 2),
    "nul": (b"before\0after\nword{0}\0x\n", 2),
    "no_newline": (b"first\nword{0}", 2),
    "only_newlines": (b"\n\n\n\nword{0}\n\n\n", 5),
    "separators": ("first\u2028still first\x0b\x0c\x1c\nword{0}\n".encode(), 2),
    "surrogates": (b"\xed\xa0\x80\nword{0}\n", 2),
}


def test_f043_every_encoding_is_read_and_cited_by_lines_on_disk(stage: Stage) -> None:
    """A note in each encoding is found, and the cited line is that of a read from the disk."""
    for name, (data, _) in ENCODED.items():
        encoding = "utf-16-le" if name == "utf16" else "ascii"
        mark = "{0}".encode(encoding)
        stage.write(f"memory/{name}.md", data.replace(mark, name.replace("_", "").encode(encoding)))
    stage.start()
    with Client(stage.daemon.socket, timeout=20) as client:
        for name, (_, line) in ENCODED.items():
            word = f"word{name.replace('_', '')}"
            (hit, *_) = client.search(word)["results"]
            assert hit["path"] == f"memory/{name}.md", name
            assert hit["startLine"] <= line <= hit["endLine"], name
            assert word in client.get(hit["path"], start=line, lines=1)["text"], name
    stage.converges()


MONSTERS: dict[str, Callable[[int], str]] = {
    "one_line": lambda size: "word " * (size // 5),
    "one_word": lambda size: "x" * size,
    "headings": lambda size: "# h\n" * (size // 4),
    "quotes": lambda size: ">" * (size // 2) + " deep\n" + ">" * (size // 2),
    "lists": lambda size: "".join(f"{' ' * min(depth, 300)}- item\n" for depth in range(size // 160)),
    "fence": lambda size: "```\n" + "code line\n" * (size // 10),
    "table": lambda size: "|" + " cell |" * (size // 14) + "\n|" + "---|" * (size // 8) + "\n",
    "emphasis": lambda size: "*_" * (size // 2),
    "brackets": lambda size: "[" * size,
    "front_matter": lambda size: "---\na: &a [x]\n" + "".join(f"k{n}: *a\n" for n in range(size // 12)) + "---\n",
}


@swept("name", [*MONSTERS], 3)
def test_f044_monstrous_text_takes_linear_time(stage: Stage, name: str) -> None:
    """Ten times the text takes less than fifteen times as long, and its end is found."""
    stage.start(SCAN_ONLY)
    times = []
    for size in (50_000, 500_000):
        stage.write("memory/monster.md", MONSTERS[name](size) + f"\n\nendof{size}\n")
        started = stage.cpu_seconds()
        stage.sync()
        times.append(stage.cpu_seconds() - started)
    assert stage.finds("endof500000")
    assert times[1] < 15 * max(times[0], 0.15)


@pytest.mark.sweep
def test_f044_megabytes_in_one_line_do_not_block_health(stage: Stage) -> None:
    """Health is answered within 0.6 s while megabytes in one line are indexed, and they are found."""
    stage.start(SCAN_ONLY)
    stage.write("memory/monster.md", "many words in one line " * whole_or(50_000, 220_000))
    slowest = 0.0
    with Client(stage.daemon.socket, timeout=60) as client:
        client.sync(wait="none")
        while stage.daemon.agent()["dirty"]:
            started = time.monotonic()
            client.health()
            slowest = max(slowest, time.monotonic() - started)
            time.sleep(0.01)
    assert slowest < 0.6
    stage.sync()
    stage.eventually_finds("many")


def _on_terminal(command: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "LINES": "24", "COLUMNS": "80"}
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, cwd=folder, env=environment)
    os.close(slave)
    return process, master


def _await_screen(terminal: int) -> None:
    ready, _, _ = select.select([terminal], [], [], SECONDS)
    assert ready, "nothing on the screen"
    while select.select([terminal], [], [], 0.3)[0]:
        os.read(terminal, 65_536)


def _drain(terminal: int, process: subprocess.Popen[bytes]) -> None:
    def is_over() -> bool:
        if select.select([terminal], [], [], 0)[0]:
            try:
                os.read(terminal, 65_536)
            except OSError:
                return True
        return process.poll() is not None

    eventually(is_over)
