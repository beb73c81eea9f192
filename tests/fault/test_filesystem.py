"""Rows 1 to 34 of the fault catalogue: what a file system and its events do. The number stands in each name."""

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
    """The event queue did overflow; the note written meanwhile is found, and the index equals the disk."""
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


def test_f004_folder_moved_out_is_forgotten_and_a_renamed_one_followed(stage: Stage) -> None:
    """With events alone, renamed notes have their new paths, and moved-out ones are found no more."""
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
    """With events alone, each MEMORY.md that comes is found and each that goes is not."""
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
    """After the unmount old notes are kept and not told; a different disk mounted there replaces them."""
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
    """Under a foreign mount old notes are kept and not told, status says out of sight, and later all is equal."""
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
def test_f009_folder_on_a_disk_of_its_own_loses_notes_at_once(stage: Stage) -> None:
    """A note deleted on a mounted folder that is there is gone with the next sync."""
    (stage.workspace / "bank").mkdir()
    with mounted(stage.workspace / "bank"):
        stage.write("bank/fact.md", "on another disk: poplar")
        stage.start()
        (stage.workspace / "bank" / "fact.md").unlink()
        stage.sync()
        assert not stage.finds("poplar")


def test_f010_no_watches_left_at_the_start_means_scanning(stage: Stage, user_namespace: None) -> None:
    """Out of watches, the watcher's mode is scan, status says so, and a new note is found."""
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
    """Out of inotify instances, status names the watcher and a new note is found."""
    stage.prepare().prefix = limited(max_inotify_instances=0)
    stage.daemon.start()
    eventually(lambda: "watcher" in stage.degraded())
    stage.write("memory/new.md", "found by a scan: willow")
    stage.eventually_finds("willow")
    stage.converges()


def test_f013_name_that_is_not_utf8_stops_nobody(stage: Stage) -> None:
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
    """Each odd name is indexed and found, or, if it is not UTF-8, reported with the reason."""
    for number, name in enumerate(NAMES):
        stage.write(f"memory/{name}", _word(number))
    stage.write("memory/.md", "hidden")
    (stage.memory / "x.md").mkdir()
    stage.write("memory/x.md/inside.md", "a folder with the name of a note: wordinside")
    Path(os.fsdecode(os.fsencode(stage.memory) + b"/caf\xe9.md")).write_text("never mind")
    stage.start()
    found = {f"memory/{name}" for name in NAMES} | {"memory/x.md/inside.md", "memory/first.md", "MEMORY.md"}
    assert stage.paths() == found
    assert stage.skipped() == {"memory/caf\\xe9.md": "its name is not UTF-8"}
    for number, name in enumerate(NAMES):
        assert stage.places(_word(number)) == [f"memory/{name}"]
    stage.converges()


def test_f014_note_of_any_name_is_cited_on_one_line_and_read_by_its_path(stage: Stage) -> None:
    """The citation of each odd name stands on one line, and its path reads the note."""
    for number, name in enumerate(NAMES):
        stage.write(f"memory/{name}", f"first\n{_word(number)}\n")
    stage.start()
    with stage.client as client:
        for number, name in enumerate(NAMES):
            (hit,) = client.search(_word(number))["results"]
            *_, blank, footer = re.split("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", hit["snippet"])
            assert (blank, hit.get("citation")) == ("", f"memory/{name}#L1-L2")
            assert footer.startswith("Source: memory/")
            assert footer.endswith(".md#L1-L2") or name == "a.MD"
            assert client.get(hit["path"])["text"] == f"first\n{_word(number)}\n"


@pytest.mark.sweep
def test_f014_memoryctl_shows_and_reads_a_note_of_any_name(stage: Stage) -> None:
    """The command shows each odd name on one line and reads it; what is not there is nothing found."""
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
    """Both links are reported as skipped, and the number of watches stays as it was."""
    stage.start()
    # the workspace, the folder in it and the watcher's own are armed one after the other
    eventually(lambda: stage.status()["watcher"]["ok"] and stage.watched_folders() >= 3)
    before = stage.watched_folders()
    (stage.memory / "big").symlink_to("/usr")
    (stage.memory / "loop").symlink_to(".")
    stage.sync()
    assert {"memory/big", "memory/loop"} <= stage.skipped().keys()
    assert stage.watched_folders() == before
    stage.converges()


def test_f015_followed_links_end_at_a_loop_and_at_the_border(stage: Stage) -> None:
    """Even where links are followed, a loop and a way out of the workspace are skipped with the reason."""
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
    """Where links are allowed, an edit behind one is found and the old text is not."""
    stage.write("notes/target.md", "behind a link: juniper")
    (stage.memory / "link.md").symlink_to("../notes/target.md")
    stage.start(search={"followSymlinks": True})
    assert stage.places("juniper") == ["memory/link.md"]
    stage.write("notes/target.md", "edited where nobody watches: spruce")
    stage.eventually_finds("spruce")
    assert not stage.finds("juniper")


def test_f017_edit_by_another_hard_link_is_found(stage: Stage) -> None:
    """What was appended by way of another hard link is found."""
    stage.start()
    other = stage.home / "other-name"
    os.link(stage.memory / "first.md", other)
    with other.open("a") as file:
        file.write("\nappended elsewhere: medlar\n")
    stage.eventually_finds("medlar")
    stage.converges()


def test_f018_write_through_a_mapping_is_found(stage: Stage) -> None:
    """What was written through a mapping is found and the old text is not."""
    path = stage.write("memory/mapped.md", "the word is quince")
    stage.start()
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[-6:] = b"lemon!"
        view.flush()
    stage.eventually_finds("lemon")
    assert not stage.finds("quince")
    stage.converges()


@pytest.mark.parametrize("stamp", ["restored", "future", "epoch"])
def test_f019_f021_only_a_difference_of_times_counts(stage: Stage, stamp: str) -> None:
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
    """Have the workspace lie on an ext4 of its own, or skip the test."""
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
def test_f020_second_write_within_the_second_that_a_disk_counts_in_is_found(stage: Stage) -> None:
    """On a disk of small inodes both writes have the same times, and the second one is found all the same."""
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
    """Of two writes in quick succession, the second is found after each of many syncs."""
    path = stage.write("memory/tick.md", "w0000")
    stage.start(SCAN_ONLY)
    for number in range(1, whole_or(8, 60)):
        path.write_text(f"w{number:04d}")
        stage.sync()
        path.write_text(f"v{number:04d}")
        stage.sync()
        assert stage.finds(f"v{number:04d}")


APPENDS = whole_or(2_000, 6_000)
"""One every 2 ms and more: some seconds of it, for a debounce of half a second."""
HOLD_SECONDS = 2.0
"""So long at most do the hints of events wait for a quiet spell."""


class Appender(threading.Thread):
    """Adds one entry after the other to a note, and notes when."""

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
    """Appends all the time: each found within the hold, runs below one per debounce, CPU below one core."""
    stage.start({**EVENTS_ONLY, "watchDebounceMs": 500})
    used, generation, appender = _cpu_seconds(stage), _generation(stage), Appender(stage.memory / "log.md")
    started, staleness = time.monotonic(), []
    appender.start()
    while appender.is_alive():
        if number := len(appender.times):
            stage.eventually_finds(f"e{number - 1:05d}")
            staleness.append(time.monotonic() - appender.times[number - 1])
    seconds, runs = time.monotonic() - started, _generation(stage) - generation
    assert max(staleness) < HOLD_SECONDS + 3
    assert 1 < runs < seconds / 0.5
    assert _cpu_seconds(stage) - used < seconds
    stage.eventually_finds(f"e{APPENDS - 1:05d}")
    stage.converges()


def _cpu_seconds(stage: Stage) -> float:
    used = psutil.Process(stage.daemon.pid).cpu_times()
    return used.user + used.system


def _generation(stage: Stage) -> int:
    with Client(stage.daemon.socket, timeout=20) as client:
        return client.sync(wait="none")["generation"]


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
    """Unreadable notes are kept for a grace, reported, and not told; they are found again when readable."""
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


def test_f024_unreadable_note_is_told_with_the_way_to_read_it(stage: Stage, bound_by_modes: None) -> None:
    """Status and doctor say "permission", the path and chmod; doctor does not have all notes read again for it."""
    (stage.memory / "first.md").chmod(0)
    stage.daemon.start()
    stage.sync()
    eventually(lambda: "no permission to read it: chmod" in stage.skipped().get("memory/first.md", ""))
    told = json.loads(
        subprocess.run(
            [*stage.daemon.prefix, sys.executable, "-m", "memoryd.cli", "doctor", "--fix", "--json"],
            env=stage.daemon.env,
            capture_output=True,
            check=False,
        ).stdout
    )
    (found,) = [one for one in told["checks"] if one["check"] == "permissions.notes"]
    assert "no permission" in found["message"]
    assert found["hint"] == f"chmod u+rX {stage.memory / 'first.md'}"
    assert [one["state"] for one in told["checks"] if one["check"] == "index.disk"] == ["ok"]
    assert told["fixes"] == []


def test_f025_failing_disk_keeps_the_old_text_and_is_tried_again(stage: Stage, strace: None) -> None:
    """While reads fail with EIO the old text is kept, not told, and the reason told; afterwards the new text."""
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
    """Pipe and socket are reported as no regular files, and the next note is indexed."""
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
    """Nest folders by descriptors: their path is longer than the system takes in one call."""
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
def test_f030_disk_of_another_machine_is_scanned_and_status_says_so(stage: Stage) -> None:
    """With NFS in the table of mounts the mode is scan with the reason, and events again without it."""
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
    """On an overlay file system, a note that is copied up is found and a deleted one is not."""
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
def test_f031_disk_without_case_holds_each_note_once(stage: Stage) -> None:
    """Where case is folded, each note is indexed once, and a rename by case is followed."""
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


def test_f032_process_that_was_stopped_catches_up(stage: Stage) -> None:
    """Without watcher and timer, a stopped process finds what was written and deleted meanwhile."""
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


def test_f034_index_inside_the_workspace_disturbs_nobody(stage: Stage) -> None:
    """The index in a notes folder sets off no work in an idle daemon, and is not even skipped."""
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
