"""Rows 1 to 34 of the fault catalogue: file systems and their events. The number is in each name."""

import json
import mmap
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from memoryd.client import Client
from memoryd.daemon.heartbeats import CLOCK_SECONDS
from memoryd.domain.clock import TOLERANCE
from memoryd.wire import Exit
from tests.fault import check
from tests.fault.faults import (
    EventCounter,
    fired,
    injected,
    limited,
    mounted,
    overflow_events,
    unmount,
)
from tests.fault.stage import EVENTS_ONLY, NEITHER, QUICK, SCAN_ONLY, Stage
from tests.sweeps import some, whole_or
from tests.waiting import eventually
from tests.warm.programs import ran


def test_f001_change_lost_in_an_event_overflow_is_found(stage: Stage) -> None:
    """After an overflow of the event queue, a note written meanwhile is found and the index equals the disk."""
    daemon = stage.start()
    eventually(lambda: stage.status()["watcher"]["ok"])
    daemon.pause()
    counter = EventCounter(stage.memory)
    overflow_events(stage.memory)
    stage.write("memory/lost.md", "a note about cedar")
    daemon.resume()
    assert counter.overflowed()
    stage.eventually_finds("cedar")
    stage.converges()


@pytest.mark.sweep
def test_f002_folders_made_and_filled_at_once_are_found(stage: Stage) -> None:
    """With events alone, hundreds of notes in folders made with them are all indexed."""
    stage.start(EVENTS_ONLY)
    for number in range(count := whole_or(150, 400)):
        stage.write(f"memory/a{number}/b/c/note.md", f"burst number n{number}")
    eventually(lambda: stage.status()["files"] == count + 2)
    stage.converges(rebuilt=check.rebuilt_by_daemon)


def test_f003_filled_folder_moved_in_is_found(stage: Stage) -> None:
    """With events alone, the 20 notes of a folder moved in are all indexed."""
    stage.start(EVENTS_ONLY)
    outside = stage.home / "outside" / "deep"
    outside.mkdir(parents=True)
    for number in range(20):
        (outside / f"{number}.md").write_text(f"moved in n{number}")
    outside.parent.rename(stage.memory / "inside")
    eventually(lambda: stage.status()["files"] == 22)
    stage.converges()


def test_f004_renamed_folder_is_followed_and_a_moved_out_one_removed(stage: Stage) -> None:
    """With events alone, renamed notes have their new paths, and moved-out ones are not found."""
    for number in range(20):
        stage.write(f"memory/d/{number}.md", f"travels n{number} hazel")
    stage.start(EVENTS_ONLY)
    (stage.memory / "d").rename(stage.memory / "e")
    eventually(lambda: {"memory/e/3.md"} <= stage.paths() and "memory/d/3.md" not in stage.paths())
    (stage.memory / "e").rename(stage.home / "gone")
    eventually(lambda: stage.status()["files"] == 2)
    assert not stage.finds("hazel")
    stage.converges()


def test_f004_rename_there_and_back_changes_nothing(stage: Stage) -> None:
    """The index is the same, line by line, after a folder was renamed there and back."""
    stage.start(SCAN_ONLY)
    before = check.dump(check.index_of(stage.daemon))
    stage.memory.rename(stage.workspace / "bank")
    stage.sync()
    (stage.workspace / "bank").rename(stage.memory)
    stage.sync()
    assert check.dump(check.index_of(stage.daemon)) == before


def test_f005_replaced_root_is_watched_again(stage: Stage) -> None:
    """With events alone, notes in the new root are found, and a later edit there too."""
    stage.start(EVENTS_ONLY)
    shutil.rmtree(stage.memory)
    stage.write("memory/new.md", "after the flood: larch")
    stage.eventually_finds("larch")
    eventually(lambda: stage.status()["watcher"]["ok"] and not stage.status()["dirty"])
    stage.write("memory/later.md", "a later edit: rowan")
    stage.eventually_finds("rowan")
    stage.converges()


def test_f005_replaced_subfolder_is_watched_again(stage: Stage) -> None:
    """With events alone, a note in the new subfolder is found, and a later edit there too."""
    stage.write("memory/sub/old.md", "old")
    stage.start(EVENTS_ONLY)
    shutil.rmtree(stage.memory / "sub")
    stage.write("memory/sub/old.md", "replaced: larch")
    stage.eventually_finds("larch")
    stage.write("memory/sub/old.md", "a later edit: rowan")
    stage.eventually_finds("rowan")


def test_f006_root_absent_at_the_start_is_picked_up(stage: Stage) -> None:
    """With events alone, the first note of a root made after the start is found."""
    shutil.rmtree(stage.memory)
    stage.start(EVENTS_ONLY)
    stage.write("memory/2026-01-01.md", "first of all: aspen")
    stage.eventually_finds("aspen")
    stage.converges()


def test_f006_workspace_absent_at_the_start_is_reported_and_picked_up(stage: Stage) -> None:
    """Status names the missing workspace until it is there, and then its note is found."""
    shutil.rmtree(stage.workspace)
    stage.start()
    assert "workspace" in stage.degraded()
    stage.write("MEMORY.md", "now it is here: aspen")
    stage.eventually_finds("aspen")
    eventually(lambda: "workspace" not in stage.degraded())


def test_f007_core_file_may_come_and_go(stage: Stage) -> None:
    """With events alone, each new MEMORY.md is found, and a deleted one is not."""
    core = stage.workspace / "MEMORY.md"
    core.unlink()
    stage.start(EVENTS_ONLY)
    for word in ("sorrel", "yarrow"):
        core.write_text(f"core says {word}")
        stage.eventually_finds(word)
        core.unlink()
        eventually(lambda word=word: not stage.finds(word))  # type: ignore[misc]  # mypy cannot infer the default
    stage.converges()


@pytest.mark.root
def test_f008_unmounted_workspace_keeps_its_index(stage: Stage, notes_disk: Path) -> None:
    """After an unmount the notes stay in the index, not shown; another disk mounted there replaces them."""
    stage.start()
    unmount(notes_disk)
    stage.sync()
    assert stage.paths() == {"MEMORY.md", "memory/first.md"}
    assert not stage.finds("alder")
    with mounted(notes_disk):
        stage.write("MEMORY.md", "another disk: maple")
        stage.eventually_finds("maple")
        assert not stage.finds("alder")


@pytest.mark.root
def test_f008_workspace_mounted_again_converges(stage: Stage, notes_disk: Path) -> None:
    """After a remount a new note is found, and the index equals the disk."""
    image = stage.home / "image"
    shutil.copytree(notes_disk, image)
    stage.start({**QUICK, "rootGraceSeconds": 1})
    unmount(notes_disk)
    stage.sync()
    with mounted(notes_disk):
        shutil.copytree(image, notes_disk, dirs_exist_ok=True)
        stage.write("memory/new.md", "after the remount: maple")
        stage.eventually_finds("maple")
        stage.converges()


@pytest.mark.root
def test_f009_mount_over_the_workspace_is_no_deletion(stage: Stage) -> None:
    """Under a foreign mount the notes stay in the index, not shown, and status says so; later all is equal."""
    stage.start()
    with mounted(stage.workspace):
        stage.sync()
        assert stage.paths() == {"MEMORY.md", "memory/first.md"}
        assert not stage.finds("alder")
        assert "out of sight" in stage.degraded()["index"]
    assert stage.finds("alder")
    stage.sync()
    stage.converges()


@pytest.mark.root
def test_f009_note_deleted_on_a_mounted_folder_is_removed_at_once(stage: Stage) -> None:
    """A note deleted in a mounted folder is gone after the next sync."""
    (stage.workspace / "bank").mkdir()
    with mounted(stage.workspace / "bank"):
        stage.write("bank/fact.md", "on another disk: poplar")
        stage.start()
        (stage.workspace / "bank" / "fact.md").unlink()
        stage.sync()
        assert not stage.finds("poplar")


def test_f010_no_watches_left_at_the_start_means_scanning(stage: Stage, user_namespace: None) -> None:
    """Without watches the mode is scan, status says so, and a new note is found."""
    for number in range(8):
        stage.write(f"memory/d{number}/n.md", f"n{number}")
    stage.prepare().prefix = limited(max_inotify_watches=3)
    stage.daemon.start()
    eventually(lambda: "watcher" in stage.degraded())
    assert stage.status()["watcher"]["mode"] == "scan"
    stage.write("memory/d3/new.md", "found by a scan: willow")
    stage.eventually_finds("willow")
    stage.converges()


@pytest.mark.root
def test_f011_no_watches_left_at_run_time_means_scanning(stage: Stage, strace: None) -> None:
    """With inotify_add_watch failing, a note in new folders is found and status names the watcher."""
    stage.start()
    eventually(lambda: stage.status()["watcher"]["ok"])
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "inotify_add_watch:error=ENOSPC"):
        stage.write("memory/new/deep/note.md", "found by a scan: willow")
        stage.eventually_finds("willow")
        eventually(lambda: "watcher" in stage.degraded())
    assert fired(log)
    stage.converges()


def test_f012_no_event_queue_left_means_scanning(stage: Stage, user_namespace: None) -> None:
    """Without inotify instances, status names the watcher and a new note is found."""
    stage.prepare().prefix = limited(max_inotify_instances=0)
    stage.daemon.start()
    eventually(lambda: "watcher" in stage.degraded())
    stage.write("memory/new.md", "found by a scan: willow")
    stage.eventually_finds("willow")
    stage.converges()


def test_f013_name_that_is_not_utf8_is_skipped(stage: Stage) -> None:
    """The bad name is reported; with events alone, the good notes are found before and after it."""
    stage.start(EVENTS_ONLY)
    bad = os.fsencode(stage.memory) + b"/caf\xe9.md"
    Path(os.fsdecode(bad)).write_text("never mind")
    stage.write("memory/good.md", "all others: willow")
    stage.eventually_finds("willow")
    assert stage.skipped()["memory/caf\\xe9.md"] == "its name is not UTF-8"
    stage.write("memory/good.md", "and later: hornbeam")
    stage.eventually_finds("hornbeam")
    stage.converges()


NAMES = sorted(
    {
        *(
            "line\nbreak.md",
            "two\n\nbreaks\n.md",
            "return\rhere.md",
            "tab\there.md",
            "\u2028separator.md",
            "\x1b[31mred.md",
        ),
        *(
            "-rf.md",
            "--help.md",
            "\u202egnp.md",
            "zero\u200bwidth.md",
            "🌲.md",
            "a.MD",
            'it\'s "q".md',
            f"{'x' * 252}.md",
        ),
        *("cafe\u0301.md", "caf\u00e9.md", " .md", "two  spaces .md", "%2e%2e.md", "100%.md", "%0a.md", "+.md"),
        *(
            "a#L1.md",
            "c#.md",
            "what?.md",
            "a?from=2&lines=1.md",
            "&<>.md",
            "back\\slash.md",
            "semi;colon.md",
            "$HOME.md",
        ),
    }
)


def _word(number: int) -> str:
    return f"word{number:04d}z"


def test_f014_every_name_is_indexed_or_reported(stage: Stage) -> None:
    """Each odd name is indexed, found, cited on one line and readable, or, if it is not UTF-8, reported."""
    for number, name in enumerate(NAMES):
        stage.write(f"memory/{name}", f"first\n{_word(number)}\n")
    stage.write("memory/.md", "hidden")
    (stage.memory / "x.md").mkdir()
    stage.write("memory/x.md/inside.md", "a folder with the name of a note: wordinside")
    Path(os.fsdecode(os.fsencode(stage.memory) + b"/caf\xe9.md")).write_text("never mind")
    stage.start()
    found = {f"memory/{name}" for name in NAMES} | {"memory/x.md/inside.md", "memory/first.md", "MEMORY.md"}
    assert stage.paths() == found
    assert stage.skipped() == {"memory/caf\\xe9.md": "its name is not UTF-8"}
    with stage.client as client:
        for number, name in enumerate(NAMES):
            (hit,) = client.search(_word(number))["results"]
            *_, blank, footer = re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", hit["snippet"])
            assert (hit["path"], blank, hit.get("citation")) == (f"memory/{name}", "", f"memory/{name}#L1-L2")
            assert footer.startswith("Source: memory/")
            assert footer.endswith(".md#L1-L2") or name == "a.MD"
            assert client.get(hit["path"])["text"] == f"first\n{_word(number)}\n"
    stage.converges()


@pytest.mark.sweep
def test_f014_memoryctl_shows_and_reads_a_note_of_any_name(stage: Stage) -> None:
    """The command shows each odd name on one line and reads it; an unknown path is nothing found."""
    chosen = [name for name in NAMES if not name.startswith("xxx")]
    for number, name in enumerate(chosen):
        stage.write(f"memory/{name}", f"first\n{_word(number)}\n")
    stage.start()
    for number, name in some([*enumerate(chosen)], 6):
        assert _memoryctl(stage, "get", f"memory/{name}#L2") == (0, f"{_word(number)}\n".encode()), name
        code, shown = _memoryctl(stage, "search", _word(number), "-k", "1")
        head = shown.decode().split("\n")[0]
        assert (code, head.startswith("1. memory/"), "#L1-L2  " in head) == (0, True, True), shown
    assert _memoryctl(stage, "search", _word(chosen.index("two  spaces .md")))[1].startswith(
        b"1. memory/two  spaces .md#L1-L2 "
    )
    assert _memoryctl(stage, "get", "memory/cafe.md")[0] == Exit.NOTHING_FOUND
    assert _memoryctl(stage, "get", b"memory/caf\xe9.md")[0] == Exit.NOTHING_FOUND


def _memoryctl(stage: Stage, *arguments: str | bytes) -> tuple[int, bytes]:
    program = [sys.executable, "-c", "from memoryd.cli.main import main; main()"]
    words = map(os.fsdecode, arguments)
    done = ran([*program, *words], capture_output=True, env=stage.daemon.env, timeout=60, check=False)
    assert b"Traceback" not in done.stderr
    return done.returncode, done.stdout


def test_f015_links_to_big_trees_and_loops_are_not_followed(stage: Stage) -> None:
    """Both links are reported as skipped, and the number of watches does not change."""
    stage.start()
    # the watches of the workspace, its folder and the watcher are added one after the other
    eventually(lambda: stage.status()["watcher"]["ok"] and stage.watched_folders() >= 3)
    before = stage.watched_folders()
    (stage.memory / "big").symlink_to("/usr")
    (stage.memory / "loop").symlink_to(".")
    stage.sync()
    assert {"memory/big", "memory/loop"} <= stage.skipped().keys()
    assert stage.watched_folders() == before
    stage.converges()


def test_f015_followed_links_do_not_loop_or_leave_the_workspace(stage: Stage) -> None:
    """Even if links are followed, a loop and a link out of the workspace are skipped with the reason."""
    (stage.memory / "big").symlink_to("/usr")
    (stage.memory / "loop").symlink_to(".")
    stage.start(search={"followSymlinks": True})
    assert stage.paths() == {"MEMORY.md", "memory/first.md"}
    assert "loop" in stage.skipped()["memory/loop"] or "loop" in str(stage.skipped())
    assert "leads out" in stage.skipped()["memory/big"]


def test_f016_linked_note_is_skipped_unless_allowed(stage: Stage) -> None:
    """The text behind a link is not found, and the link is reported as skipped."""
    stage.write("notes/target.md", "behind a link: juniper")
    (stage.memory / "link.md").symlink_to("../notes/target.md")
    stage.start()
    assert not stage.finds("juniper")
    assert "symlink" in stage.skipped()["memory/link.md"]


def test_f016_edit_behind_an_allowed_link_is_found(stage: Stage) -> None:
    """If links are allowed, an edit behind one is found and the old text is not."""
    stage.write("notes/target.md", "behind a link: juniper")
    (stage.memory / "link.md").symlink_to("../notes/target.md")
    stage.start(search={"followSymlinks": True})
    assert stage.places("juniper") == ["memory/link.md"]
    stage.write("notes/target.md", "edited where nobody watches: spruce")
    stage.eventually_finds("spruce")
    assert not stage.finds("juniper")


def test_f017_edit_by_another_hard_link_is_found(stage: Stage) -> None:
    """Text appended through another hard link is found."""
    stage.start()
    other = stage.home / "other-name"
    os.link(stage.memory / "first.md", other)
    with other.open("a") as file:
        file.write("\nappended elsewhere: medlar\n")
    stage.eventually_finds("medlar")
    stage.converges()


def test_f018_write_through_a_mapping_is_found(stage: Stage) -> None:
    """Text written through a memory mapping is found and the old text is not."""
    path = stage.write("memory/mapped.md", "the word is quince")
    stage.start()
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[-6:] = b"lemon!"
        view.flush()
    stage.eventually_finds("lemon")
    assert not stage.finds("quince")
    stage.converges()


@pytest.mark.parametrize("stamp", ["restored", "future", "epoch"])
def test_f019_f021_change_is_found_with_any_time_stamp(stage: Stage, stamp: str) -> None:
    """A change of the same size is found with its time restored, in the future and at the epoch."""
    path = stage.write("memory/dated.md", "the word is quince")
    before = path.stat()
    stage.start()
    path.write_text("the word is lemons")
    when = {"restored": before.st_mtime_ns, "future": 4_070_908_800 * 10**9, "epoch": 0}[stamp]
    os.utime(path, ns=(when, when))
    stage.sync()
    assert stage.finds("lemons")
    assert not stage.finds("quince")
    stage.converges()


def mount_disk(stage: Stage, *options: str) -> None:
    """Put the workspace on its own ext4 file system, or skip the test."""
    image = stage.home / "disk.img"
    with image.open("wb") as file:
        file.truncate(16 * 2**20)
    commands = (
        ["mkfs.ext4", "-q", *options, str(image)],
        ["mount", "-o", "loop", str(image), str(stage.workspace)],
    )
    for command in commands:
        if shutil.which(command[0]) is None or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip(f"{command[0]} cannot make such a disk here")


@pytest.mark.root
def test_f020_second_write_with_the_same_times_is_found(stage: Stage) -> None:
    """On a disk with times in whole seconds, a second write with the same times is found."""
    mount_disk(stage, "-I", "128")
    try:
        path, same = stage.write("memory/tick.md", "w0000"), 0
        stage.start(SCAN_ONLY)
        for number in range(1, 100):
            path.write_text(f"w{number:04d}")
            stage.sync()
            before = path.stat()
            path.write_text(f"v{number:04d}")
            after = path.stat()
            stage.sync()
            assert stage.finds(f"v{number:04d}")
            same += (before.st_ino, before.st_size, before.st_ctime_ns) == (
                after.st_ino,
                after.st_size,
                after.st_ctime_ns,
            )
            if same == 5:
                break
        assert same == 5
        stage.end()
    finally:
        unmount(stage.workspace)


@pytest.mark.sweep
def test_f020_second_write_within_a_clock_tick_is_found(stage: Stage) -> None:
    """After two quick writes the second is found, in each of many rounds."""
    path = stage.write("memory/tick.md", "w0000")
    stage.start(SCAN_ONLY)
    for number in range(1, whole_or(8, 60)):
        path.write_text(f"w{number:04d}")
        stage.sync()
        path.write_text(f"v{number:04d}")
        stage.sync()
        assert stage.finds(f"v{number:04d}")


APPENDS = whole_or(2_000, 6_000)
"""One every 2 ms or more: some seconds, for a debounce of half a second."""
HOLD_SECONDS = 2.0
"""Longest time that hints of events wait for the debounce."""


class Appender(threading.Thread):
    """Appends entries to a note continuously, and records their times."""

    def __init__(self, path: Path) -> None:
        super().__init__(daemon=True)
        self.times: list[float] = []
        self._path = path

    def run(self) -> None:
        with self._path.open("a", buffering=1) as file:
            for number in range(APPENDS):
                file.write(f"entry e{number:05d}\n\n")
                self.times.append(time.monotonic())
                time.sleep(0.002)


@pytest.mark.sweep
def test_f022_note_that_grows_all_the_time_is_followed(stage: Stage) -> None:
    """Each append is found within the hold, with less than one run per debounce, on less than one core."""
    stage.start({**EVENTS_ONLY, "watchDebounceMs": 500})
    used, generation, appender = stage.cpu_seconds(), stage.generation(), Appender(stage.memory / "log.md")
    started, staleness = time.monotonic(), []
    appender.start()
    while appender.is_alive():
        if number := len(appender.times):
            stage.eventually_finds(f"e{number - 1:05d}")
            staleness.append(time.monotonic() - appender.times[number - 1])
    seconds, runs = time.monotonic() - started, stage.generation() - generation
    assert max(staleness) < HOLD_SECONDS + 3
    assert 1 < runs < seconds / 0.5
    assert stage.cpu_seconds() - used < seconds
    stage.eventually_finds(f"e{APPENDS - 1:05d}")
    stage.converges()


def test_f023_stream_of_new_notes_is_followed(stage: Stage) -> None:
    """While 200 notes come at 10 ms, one that is 1.3 s old is found; in the end all are indexed."""
    stage.start(EVENTS_ONLY)
    for number in range(200):
        stage.write(f"memory/stream/{number}.md", f"new note s{number:05d}")
        time.sleep(0.01)
        if number == 150:
            assert stage.finds("s00020"), "a note stayed invisible for more than 1.3 s"
    eventually(lambda: stage.status()["files"] == 202)
    stage.converges()


@pytest.fixture
def bound_by_modes(stage: Stage) -> None:
    """Run the daemon without root's privilege to read everything."""
    if os.geteuid() != 0:
        stage.prepare({**QUICK, "rootGraceSeconds": 1.5})
        return
    program = shutil.which("setpriv")
    if program is None:
        pytest.skip("setpriv is missing")
    stage.prepare({**QUICK, "rootGraceSeconds": 1.5})
    stage.daemon.prefix = (program, "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")


def test_f024_unreadable_note_and_folder_are_kept_for_a_grace(stage: Stage, bound_by_modes: None) -> None:
    """Unreadable notes stay in the index for a grace, reported and not shown; once readable they are found."""
    stage.write("memory/locked/inner.md", "in a locked folder: rowan")
    stage.daemon.start()
    stage.sync()
    (stage.memory / "first.md").chmod(0)
    (stage.memory / "locked").chmod(0)
    assert not stage.finds("birch")
    assert not stage.finds("rowan")
    stage.sync()
    assert {"memory/first.md", "memory/locked/inner.md"} <= stage.paths()
    eventually(lambda: {"memory/first.md", "memory/locked/"} <= stage.skipped().keys())
    stage.write("memory/other.md", "readable: aspen")
    stage.eventually_finds("aspen")
    eventually(lambda: not {"memory/first.md", "memory/locked/inner.md"} & stage.paths())
    (stage.memory / "first.md").chmod(0o644)
    (stage.memory / "locked").chmod(0o755)
    stage.sync()
    assert stage.finds("birch")
    assert stage.finds("rowan")


def test_f024_unreadable_note_is_reported_with_a_hint(stage: Stage, bound_by_modes: None) -> None:
    """Status and doctor name the permission, the path and chmod; doctor does not reindex for it."""
    (stage.memory / "first.md").chmod(0)
    stage.daemon.start()
    stage.sync()
    eventually(lambda: "no permission to read it: chmod" in stage.skipped().get("memory/first.md", ""))
    report = json.loads(
        subprocess.run(
            [*stage.daemon.prefix, sys.executable, "-m", "memoryd.cli", "doctor", "--fix", "--json"],
            env=stage.daemon.env,
            capture_output=True,
            check=False,
        ).stdout
    )
    (found,) = [check for check in report["checks"] if check["check"] == "permissions.notes"]
    assert "no permission" in found["message"]
    assert found["hint"] == f"chmod u+rX {stage.memory / 'first.md'}"
    assert [check["state"] for check in report["checks"] if check["check"] == "index.disk"] == ["ok"]
    assert report["fixes"] == []


def test_f025_read_error_keeps_the_old_text_and_is_retried(stage: Stage, strace: None) -> None:
    """While reads fail with EIO the old text is kept, not shown, and the reason reported; then the new one is found."""
    path = stage.write("memory/bad.md", "readable once: sorrel")
    stage.start()
    log = stage.home / "strace.log"
    with injected(stage.daemon.pid, log, "read:error=EIO", paths=(path,)):
        path.write_text("written to a bad block: yarrow")
        eventually(lambda: fired(log))
        stage.sync()
        assert not stage.finds("sorrel")
        assert "memory/bad.md" in stage.paths()
        assert "cannot be read" in stage.skipped()["memory/bad.md"]
    stage.eventually_finds("yarrow")
    stage.converges()


def test_f026_pipe_socket_and_device_are_not_read(stage: Stage) -> None:
    """Pipe and socket are reported as not regular files, and the next note is indexed."""
    os.mkfifo(stage.memory / "pipe.md")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(stage.memory / "socket.md"))
        if os.geteuid() == 0:
            os.mknod(stage.memory / "device.md", 0o600 | 0o020000, os.makedev(1, 5))
        stage.start()
        stage.write("memory/other.md", "still alive: aspen")
        stage.sync()
        assert stage.finds("aspen")
        assert stage.skipped()["memory/pipe.md"] == stage.skipped()["memory/socket.md"] == "not a regular file"


def test_f027_huge_sparse_note_is_reported_and_not_read(stage: Stage) -> None:
    """20 GB are skipped by the size limit, and memory grows by less than 20 MB."""
    path = stage.write("memory/huge.md", "")
    os.truncate(path, 20 * 2**30)
    stage.start()
    assert "maxFileBytes" in stage.skipped()["memory/huge.md"]
    before = psutil.Process(stage.daemon.pid).memory_info().rss
    stage.sync()
    assert psutil.Process(stage.daemon.pid).memory_info().rss - before < 20 * 2**20


@pytest.mark.sweep
def test_f028_many_notes_and_deep_folders_do_not_block_answers(stage: Stage) -> None:
    """Start and health are answered in bounded time over thousands of notes, in bounded memory."""
    files = int(os.environ.get("MEMORYD_FAULT_FILES", whole_or(600, 5_000)))
    for number in range(files):
        path = stage.workspace / "bank" / f"d{number % 100}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"note n{number} of many")
    _deep_note(stage.memory, 300)
    stage.prepare(SCAN_ONLY)
    started = time.monotonic()
    stage.daemon.start()
    assert time.monotonic() - started < 5
    slowest = 0.0
    with Client(stage.daemon.socket, timeout=10) as client:
        while not client.health()["ready"]:
            at = time.monotonic()
            client.health()
            slowest = max(slowest, time.monotonic() - at)
            time.sleep(0.01)
    assert slowest < 0.5
    stage.sync()
    assert stage.status()["files"] == files + 2
    assert "folders deep" in str(stage.skipped().values())
    assert psutil.Process(stage.daemon.pid).memory_info().rss < 300 * 2**20


def _deep_note(top: Path, depth: int) -> None:
    """Nest folders by descriptors: their path is longer than a system call accepts."""
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(depth):
        os.mkdir("d" * 20, dir_fd=folder)
        inner = os.open("d" * 20, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = inner
    note = os.open("deep.md", os.O_WRONLY | os.O_CREAT, dir_fd=folder)
    os.write(note, b"too deep: abyss")
    os.close(note)
    os.close(folder)


def test_f029_path_too_long_for_the_system_is_reported(stage: Stage) -> None:
    """The path that is too long is reported as unreadable, and the next note is found."""
    folder = os.open(stage.memory, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=folder)
        inner = os.open("d" * 250, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        stage.start()
        assert any("cannot be read" in reason for reason in stage.skipped().values())
        stage.write("memory/other.md", "all the rest: aspen")
        stage.sync()
        assert stage.finds("aspen")
    finally:
        subprocess.run(["rm", "-rf", str(stage.memory)], check=True)


@pytest.mark.root
def test_f030_network_disk_is_scanned_and_status_says_so(stage: Stage) -> None:
    """With NFS in the mount table the mode is scan with the reason, and events again without it."""
    stage.start({**EVENTS_ONLY, "watch": True})
    eventually(lambda: stage.status()["watcher"]["mode"] == "events")
    real = Path(f"/proc/{stage.daemon.pid}/mountinfo")
    table = stage.home / "mountinfo"
    table.write_text(f"{real.read_text()}999 1 0:99 / {stage.workspace} rw - nfs4 nas:/notes rw,vers=4.2\n")
    if subprocess.run(["mount", "--bind", str(table), str(real)], capture_output=True, check=False).returncode:
        pytest.skip("the table of mounts cannot be replaced here")
    try:
        stage.sync()
        watcher = stage.status()["watcher"]
        assert (watcher["mode"], watcher["ok"]) == ("scan", True)
        assert "nfs4" in str(watcher["reason"])
        assert stage.degraded() == {}
    finally:
        unmount(real)
    stage.sync()
    assert stage.status()["watcher"]["mode"] == "events"


@pytest.mark.root
def test_f030_overlay_file_system_converges(stage: Stage) -> None:
    """On an overlay file system a copied-up note is found and a deleted one is not."""
    lower, upper, work = (stage.home / name for name in ("lower", "upper", "work"))
    stage.workspace.rename(lower)
    for folder in (upper, work, stage.workspace):
        folder.mkdir()
    with mounted(upper):
        for folder in (upper / "up", upper / "work"):
            folder.mkdir()
        options = f"lowerdir={lower},upperdir={upper}/up,workdir={upper}/work"
        command = ["mount", "-t", "overlay", "overlay", "-o", options, str(stage.workspace)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("no overlay file system here")
        try:
            stage.start()
            stage.write("memory/first.md", "copied up: willow")
            stage.eventually_finds("willow")
            (stage.workspace / "MEMORY.md").unlink()
            eventually(lambda: not stage.finds("alder"))
            stage.converges()
            stage.end()
        finally:
            unmount(stage.workspace)


@pytest.mark.root
def test_f031_case_insensitive_disk_has_each_note_once(stage: Stage) -> None:
    """With folded case each note is indexed once, and a rename by case is followed."""
    mount_disk(stage, "-O", "casefold")
    try:
        if subprocess.run(["chattr", "+F", str(stage.workspace)], capture_output=True, check=False).returncode:
            shutil.rmtree(stage.workspace / "lost+found")
        shutil.rmtree(stage.workspace / "lost+found", ignore_errors=True)
        if subprocess.run(["chattr", "+F", str(stage.workspace)], capture_output=True, check=False).returncode:
            pytest.skip("the kernel cannot fold case")
        stage.write("MEMORY.md", "one file, two spellings: alder")
        stage.write("memory/a.md", "renamed by case alone: birch")
        stage.start()
        assert stage.paths() == {"MEMORY.md", "memory/a.md"}
        (stage.memory / "a.md").rename(stage.memory / "A.md")
        stage.sync()
        assert stage.paths() == {"MEMORY.md", "memory/A.md"}
        stage.end()
    finally:
        unmount(stage.workspace)


def test_f032_stopped_process_catches_up(stage: Stage) -> None:
    """Without watcher and timer, a stopped process finds changes made meanwhile."""
    stage.start(NEITHER)
    stage.daemon.pause()
    eventually(lambda: psutil.Process(stage.daemon.pid).status() == psutil.STATUS_STOPPED)
    stopped_at = time.monotonic()
    stage.write("memory/asleep.md", "written meanwhile: willow")
    (stage.memory / "first.md").unlink()
    eventually(lambda: time.monotonic() > stopped_at + CLOCK_SECONDS + 2 * TOLERANCE)
    stage.daemon.resume()
    stage.eventually_finds("willow")
    eventually(lambda: not stage.finds("birch"))
    stage.converges()


def test_f034_index_inside_the_workspace_causes_no_work(stage: Stage) -> None:
    """An index in a notes folder causes no work in an idle daemon, and is not reported as skipped."""
    stage.start(search={"store": {"path": "memory/.idx/index.sqlite"}})
    assert stage.finds("alder")
    eventually(lambda: not stage.status()["dirty"])
    scan = stage.status()["lastScanAt"]
    eventually(lambda: stage.status()["lastScanAt"] != scan)
    used = psutil.Process(stage.daemon.pid).cpu_times().user
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        time.sleep(0.1)
    assert psutil.Process(stage.daemon.pid).cpu_times().user - used < 0.5
    assert not stage.skipped()


def test_f034_state_beside_notes_is_left_out(stage: Stage) -> None:
    """A note put beside the index in its folder is not found; the one next to the folder is."""
    stage.start(search={"store": {"path": "memory/idx/index.sqlite"}})
    stage.write("memory/idx/intruder.md", "in the folder of the index: sumac")
    stage.write("memory/note.md", "beside it: willow")
    stage.sync()
    assert stage.finds("willow")
    assert not stage.finds("sumac")
