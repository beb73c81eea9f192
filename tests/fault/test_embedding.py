"""Rows 66 to 80 of the fault catalogue, from outside the daemon: the embedding worker and its model.

Faults of the worker alone are in tests/integration/test_worker_faults.py.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import apsw
import psutil
import pytest

from memoryd.client import Client
from memoryd.domain.vector import unpack_vector
from memoryd.replies.models import EmbedderReply
from memoryd.replies.search import SearchReply
from memoryd.store.connection import checksum_vfs
from memoryd.store.index.schema import FLOAT_VERSION
from tests.fault import check
from tests.fault.faults import change
from tests.fault.stage import QUICK, SCAN_ONLY, Stage
from tests.sweeps import swept, whole_or
from tests.waiting import eventually

NOTES = whole_or(12, 24)
UNFIT = [None, b"", b"GGUF", b"<!DOCTYPE html><html>Not found</html>" * 100, bytes(5000)]
"""Contents of a model file that is no model."""


@pytest.fixture
def embedded(stage: Stage, starter_model: Path) -> Stage:
    """A workspace of a few short notes with the real model."""
    fill(stage, NOTES)
    stage.start(QUICK, model=starter_model)
    return stage


@pytest.fixture
def own_model(stage: Stage, starter_model: Path) -> Path:
    """A copy of the starter model that a test may damage."""
    return Path(shutil.copy(starter_model, stage.home / "model.gguf"))


def fill(stage: Stage, count: int, word: str = "orchard") -> None:
    for number in range(count):
        stage.write(f"bank/{number}.md", f"Note {number} tells of an {word} with {number + 3} trees.\n")


def embedder(stage: Stage) -> EmbedderReply:
    return stage.status()["embedder"]


def worker_pid(stage: Stage) -> int:
    eventually(lambda: _pid(stage))
    pid = _pid(stage)
    assert pid is not None
    return pid


def _pid(stage: Stage) -> int | None:
    worker = embedder(stage)["worker"]
    return None if worker is None else worker["pid"]


def ask(stage: Stage, query: str) -> SearchReply:
    with Client(stage.daemon.socket, timeout=20) as client:
        return client.search(query)


def vectors(stage: Stage) -> set[bytes]:
    with check.snapshot(check.index_of(stage.daemon)) as copy:
        return {row[0] for row in copy.execute("SELECT hash FROM vectors")}


def test_f004_f040_renamed_and_restored_notes_are_not_embedded_again(embedded: Stage) -> None:
    """Renaming a folder, and deleting and restoring notes, do not change the set of vectors."""
    embedded.sync(embedded=True)
    before = vectors(embedded)
    (embedded.workspace / "bank").rename(embedded.memory / "bank")
    embedded.sync(embedded=True)
    assert vectors(embedded) == before
    texts = {path: path.read_text() for path in (embedded.memory / "bank").iterdir()}
    for path in texts:
        path.unlink()
    embedded.sync(embedded=True)
    for path, text in texts.items():
        path.write_text(text)
    embedded.sync(embedded=True)
    assert vectors(embedded) == before
    embedded.converges(is_embedded=True)


@swept("is_killed", [False, True], 1)
def test_f064_vectors_of_an_earlier_version_are_converted_in_place(embedded: Stage, is_killed: bool) -> None:
    """No text is embedded again, and vectors of a note that became private are deleted."""
    embedded.write("bank/secret.md", "The safe opens by four sevens.\n")
    embedded.sync(embedded=True)
    embedded.daemon.stop()
    index = check.index_of(embedded.daemon)
    make_earlier(index)
    before = times_by_hash(index)
    (secret,) = {
        row[0]
        for row in rows_of(
            index,
            "SELECT p.hash FROM passages p JOIN chunks c ON c.id = chunk_id "
            "JOIN files f ON f.id = c.file_id WHERE f.path = 'bank/secret.md'",
        )
    }
    embedded.write("bank/secret.md", "---\nmemory: false\n---\nThe safe opens by four sevens.\n")
    embedded.daemon.start()
    if is_killed:
        embedded.daemon.kill()
        embedded.daemon.start()
    embedded.sync(embedded=True)
    assert not list(index.parent.glob("*.corrupt-*")), "it was not rebuilt"
    assert times_by_hash(index) == {key: used_at for key, used_at in before.items() if key != secret}
    assert ask(embedded, "fruit trees")["mode"] == "hybrid"
    embedded.converges(is_embedded=True)


def make_earlier(index: Path) -> None:
    """Turn an index into one of version 6, which had float32 vectors and no stems."""
    connection = apsw.Connection(str(index), vfs=checksum_vfs())
    dimensions: int = connection.execute("SELECT dimensions FROM spaces").get
    rows: list[Any] = connection.execute("SELECT id, vector FROM vectors").fetchall()
    connection.executemany(
        "UPDATE vectors SET vector = ? WHERE id = ?",
        [(unpack_vector([vector], dimensions)[0].tobytes(), number) for number, vector in rows],
    )
    connection.execute("DROP TABLE languages; DROP TABLE chunk_words")
    connection.execute(
        "CREATE VIRTUAL TABLE chunk_words USING fts5 (body, heading, path, parts, content='', contentless_delete=1)"
    )
    connection.pragma("user_version", connection.pragma("user_version") // 0x10000 * 0x10000 + FLOAT_VERSION)
    connection.close()


def times_by_hash(index: Path) -> dict[bytes, float]:
    """Return when each vector was made; a repeated embedding has another time."""
    return dict(rows_of(index, "SELECT hash, used_at FROM vectors"))


def rows_of(index: Path, sql: str) -> list[tuple[Any, ...]]:
    with check.snapshot(index) as copy:
        return list(copy.execute(sql))


@swept("blob", ["x''", "x'00'", "zeroblob(4096)"], 1)
def test_f065_vector_of_a_wrong_length_is_never_compared(embedded: Stage, blob: str) -> None:
    """Vectors of a wrong length cause a rebuild of the index, and then both arms answer."""
    embedded.sync(embedded=True)
    embedded.daemon.stop()
    change(check.index_of(embedded.daemon), f"UPDATE vectors SET vector = {blob} WHERE id % 4 = 0")
    embedded.daemon.start()
    eventually(lambda: "the index was damaged and is being rebuilt" in embedded.daemon.log.read_text())
    embedded.sync(embedded=True)
    assert ask(embedded, "fruit trees")["mode"] == "hybrid"
    embedded.converges(is_embedded=True)


@pytest.mark.sweep
def test_f066_vectors_of_two_models_are_never_mixed(stage: Stage, own_model: Path) -> None:
    """After a change of the model all vectors in use are of one space; until then the lexical arm answers."""
    fill(stage, NOTES)
    stage.start(SCAN_ONLY, model=own_model)
    stage.sync(embedded=True)
    stage.daemon.stop()
    with own_model.open("ab") as file:
        file.write(bytes(32))
    stage.daemon.start()
    reply = ask(stage, "fruit trees")
    assert reply["health"]["arms"]["vector"]["state"] != "ok" or reply["health"]["pendingEmbeddings"] < NOTES
    stage.sync(embedded=True)
    assert ask(stage, "fruit trees")["mode"] == "hybrid"
    with check.snapshot(check.index_of(stage.daemon)) as copy:
        spaces = list(copy.execute("SELECT space_id, count(*) FROM vectors GROUP BY space_id"))
    assert max(count for _, count in spaces) == NOTES + 2
    stage.converges()


def test_f069_f071_killed_worker_is_restarted_without_losses(embedded: Stage) -> None:
    """While the worker is killed, questions are answered; it is restarted, and the vectors equal a rebuild's."""
    os.kill(worker_pid(embedded), signal.SIGKILL)
    assert ask(embedded, "orchard")["results"]
    embedded.sync(embedded=True)
    worker = embedder(embedded)["worker"]
    assert worker is not None
    assert worker["restarts"] >= 1
    embedded.converges(is_embedded=True)


def test_f070_stopped_worker_delays_no_answer(embedded: Stage) -> None:
    """With a stopped worker the lexical arm answers in time; once it continues, both arms answer."""
    embedded.sync(embedded=True)
    pid = worker_pid(embedded)
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    reply = ask(embedded, "orchard")
    assert time.monotonic() - started < 5.5
    assert reply["results"]
    assert reply["health"]["arms"]["vector"]["state"] != "ok"
    os.kill(pid, signal.SIGCONT)
    eventually(lambda: ask(embedded, "fruit trees")["mode"] == "hybrid", step=0.2)


@swept("content", UNFIT, 1)
def test_f072_unfit_model_means_words_only_until_it_is_replaced(
    stage: Stage, own_model: Path, content: bytes | None
) -> None:
    """With an unfit model the lexical arm answers and the reason is shown; a valid replacement is used."""
    whole = own_model.read_bytes()
    if content is None:
        own_model.unlink()
    else:
        own_model.write_bytes(content)
    stage.start(model=own_model)
    assert stage.finds("alder")
    eventually(lambda: embedder(stage)["state"] == "failed")
    assert embedder(stage)["reason"]
    assert ask(stage, "alder")["mode"] == "lexical"
    beside = own_model.with_name("whole.gguf")
    beside.write_bytes(whole)
    beside.rename(own_model)
    eventually(lambda: embedder(stage)["state"] == "ready", step=0.2)
    stage.converges(is_embedded=True)


def test_f073_truncated_model_affects_only_the_worker(stage: Stage, own_model: Path) -> None:
    """With the model file truncated in use, new notes are found by words and the daemon runs."""
    stage.start(model=own_model)
    stage.sync(embedded=True)
    os.truncate(own_model, 1_000_000)
    fill(stage, 5)
    stage.sync()
    assert stage.finds("orchard")
    assert ask(stage, "fruit trees")["results"] is not None
    assert stage.daemon.is_running()


def test_f076_words_are_found_before_vectors_and_a_kill_loses_none(stage: Stage, starter_model: Path) -> None:
    """A note is found by words while 100 vectors are missing; a kill loses no vector."""
    rnd = random.Random(76)
    for number in range(400):
        words = " ".join(rnd.choices(["apple", "river", "stone", "window", "garden", "letter"], k=60))
        stage.write(f"bank/{number}.md", f"Note number{number:04d}\n\n{words}\n")
    stage.start(model=starter_model)
    eventually(lambda: stage.status()["pendingEmbeddings"] > 100)
    assert stage.finds("number0321")
    assert stage.status()["pendingEmbeddings"] > 100
    eventually(lambda: len(vectors(stage)) > 30, step=0.02)
    stage.daemon.kill()
    done = vectors(stage)
    stage.daemon.start()
    eventually(lambda: len(vectors(stage)) > len(done))
    assert done <= vectors(stage)


def test_f077_question_while_the_model_loads_is_answered_by_words(stage: Stage, starter_model: Path) -> None:
    """A word is found while the model loads, and the model is ready later."""
    stage.prepare(model=starter_model)
    stage.daemon.start()
    eventually(lambda: stage.finds("alder"))
    eventually(lambda: embedder(stage)["state"] == "ready")


def test_f079_nasty_texts_do_not_stop_embedding(embedded: Stage) -> None:
    """Each nasty note is indexed and embedded, and the worker is still ready."""
    nasty = (
        "<|im_start|>system\n<|endoftext|>",
        "🌲" * 20_000,
        "\0\0\0",
        "[CLS] [SEP] [MASK] " * 500,
        " \n\t\n ",
        "́" * 5_000,
    )
    for number, text in enumerate(nasty):
        embedded.write(f"memory/nasty{number}.md", f"nasty{number}\n\n{text}\n")
    embedded.sync(embedded=True)
    assert embedded.finds("nasty0")
    assert embedder(embedded)["state"] == "ready"
    embedded.converges(is_embedded=True)


def test_f080_worker_has_low_priority_and_few_threads(embedded: Stage) -> None:
    """The worker has a lower priority than the daemon, and few threads."""
    embedded.sync(embedded=True)
    process = psutil.Process(worker_pid(embedded))
    assert process.nice() > psutil.Process(embedded.daemon.pid).nice()
    assert process.num_threads() < 12


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="prlimit is missing")
def test_f071_worker_without_memory_is_replaced(embedded: Stage) -> None:
    """A worker that dies of a memory limit is replaced, and all notes get vectors."""
    embedded.sync(embedded=True)
    pid = worker_pid(embedded)
    subprocess.run(["prlimit", f"--pid={pid}", "--data=1000000", "--as=1000000"], check=True)
    text = "many different words follow here " * 300
    for number in range(20):
        embedded.write(f"bank/long{number}.md", f"A long note {number}. {text}")
    embedded.sync()
    assert embedded.finds("orchard")
    embedded.sync(embedded=True)
    embedded.converges(is_embedded=True)
