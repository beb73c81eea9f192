"""What `make demo` shows: the real daemon on a copy of the sample notes, three questions, one edit, a clean stop.

Exits 1 with a sentence when an answer is not the expected one, so it serves as an acceptance test too.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from memoryd.client import Client
from memoryd.config.paths import cache_dir
from memoryd.domain.embedding import MULTILINGUAL_STARTER
from memoryd.domain.text.words import query_terms
from memoryd.errors import DaemonNotRunning, NotNow
from memoryd.replies.search import HitReply, SearchReply

SAMPLE = Path(__file__).parents[1] / "examples" / "workspace"
PROGRAMS = Path(sys.executable).parent
START_SECONDS = 20.0
EMBED_SECONDS = 120.0
FIND_SECONDS = 10.0
STOP_SECONDS = 10.0
POLL_SECONDS = 0.02
COLUMNS = 100


class DemoError(Exception):
    """The product did not do what the demo promises."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the note that answers it and words of the line that does."""

    title: str
    text: str
    path: str
    answer: str


IDENTIFIER = Question(
    title="An exact identifier",
    text="what do I do about GW-5003",
    path="memory/projects/gateway.md",
    answer="GW-5003",
)
PARAPHRASE = Question(
    title="Other words: the question shares none with the note that answers it",
    text="Who repaired our heating?",
    path="memory/2026-10-29.md",
    answer="Henrik Solbu",
)
CHINESE = Question(
    title="Chinese, in other words too: where is father-in-law's medicine against high blood pressure kept?",
    text="老丈人治高血压的药搁在哪儿？",
    path="memory/2026-10-18.md",
    answer="厨房左边",
)
NEW_LINE = "- The spare key for the bicycle shed hangs behind the fuse box now.\n"
EDITED = Question(
    title="An edit: a line is added and the note saved, as editors do, by temporary file and rename",
    text="where is the key for the bicycle shed",
    path="memory/2026-11-18.md",
    answer="behind the fuse box",
)


QUESTIONS = IDENTIFIER, PARAPHRASE, CHINESE, EDITED


def main(sample: Path = SAMPLE) -> int:
    try:
        with tempfile.TemporaryDirectory(prefix="memoryd-demo-") as folder:
            _run(Path(folder), sample)
    except DemoError as failure:
        print(f"demo failed: {failure}", file=sys.stderr)
        return 1
    return 0


def _run(folder: Path, sample: Path) -> None:
    workspace = _prepare(folder, sample)
    started = time.monotonic()
    with _daemon(folder / "daemon.log") as daemon, Client() as memory:
        _wait_until_ready(daemon, memory, started)
        _wait_until_embedded(memory, started)
        _ask(memory, IDENTIFIER)
        _show_paraphrase(memory, workspace, PARAPHRASE)
        _show_paraphrase(memory, workspace, CHINESE)
        _show_edit(memory, workspace)
        _show_status()
        _stop(daemon)
    print(f"\n{_bold('Done')} in {time.monotonic() - started:.1f} s; the temporary folder is gone.")


def _prepare(folder: Path, sample: Path) -> Path:
    """Copy the notes, write a configuration and point this process and its children at them alone."""
    workspace = folder / "workspace"
    shutil.copytree(sample, workspace)
    search = {
        "provider": "local",
        "local": {"modelPath": MULTILINGUAL_STARTER},
    }
    defaults = {"workspace": str(workspace), "memorySearch": search}
    config = folder / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults}}, indent=2), encoding="utf-8")
    _isolate(folder, config)
    print(_bold(f"{len(list(workspace.rglob('*.md')))} notes in {workspace}"))
    return workspace


def _isolate(folder: Path, config: Path) -> None:
    shared_cache = cache_dir().parent
    # whoever forbids downloads means the demo too
    ours = [name for name in os.environ if name.startswith(("MEMORYD_", "XDG_")) and name != "MEMORYD_OFFLINE"]
    for name in ours:
        del os.environ[name]
    (folder / "home").mkdir()
    os.environ |= {
        "HOME": str(folder / "home"),
        "MEMORYD_CONFIG": str(config),
        "MEMORYD_STATE_DIR": str(folder / "state"),
        # models are downloaded once for all
        "XDG_CACHE_HOME": str(shared_cache),
    }


@contextmanager
def _daemon(log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        daemon = subprocess.Popen(
            [PROGRAMS / "memoryd"], stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        yield daemon
    except BaseException:
        print("".join(log.read_text(errors="replace").splitlines(keepends=True)[-15:]), file=sys.stderr)
        raise
    finally:
        if daemon.poll() is None:
            daemon.kill()
            daemon.wait()


def _wait_until_ready(daemon: subprocess.Popen[bytes], memory: Client, started: float) -> None:
    def is_ready() -> bool:
        if daemon.poll() is not None:
            raise DemoError(f"the daemon ended with exit code {daemon.returncode}")
        try:
            return memory.health()["ready"]
        except (DaemonNotRunning, NotNow):
            return False

    _wait_for(is_ready, START_SECONDS, "the daemon does not answer")
    memory.sync(wait="indexed")
    print(f"  found by words   {time.monotonic() - started:5.2f} s after the start")


def _wait_until_embedded(memory: Client, started: float) -> None:
    pending = memory.sync(wait="embedded", timeout_ms=int(EMBED_SECONDS * 1000))
    [agent] = memory.status()["agents"]
    if not pending.get("complete") or not agent["embedded"]:
        raise DemoError(f"the notes are not embedded: {agent['embedder']['state']}, {agent['embedder']['reason']}")
    seconds = time.monotonic() - started
    print(f"  found by meaning {seconds:5.2f} s after the start ({agent['passages']} passages, {agent['model']})")


def _ask(memory: Client, question: Question) -> HitReply:
    """Ask, check that the right note comes first with the answer in its snippet, and show it."""
    _title(question)
    reply = memory.search(question.text)
    hit = _first_hit(reply, question)
    _show_hit(hit, question, f"{reply['mode']}, {reply['tookMs']:.0f} ms")
    return hit


def _first_hit(reply: SearchReply, question: Question) -> HitReply:
    if not reply["results"]:
        raise DemoError(f"nothing found for {question.text!r}: {reply.get('reason')}")
    hit = reply["results"][0]
    if hit["path"] != question.path:
        raise DemoError(f"{question.text!r}: expected {question.path} first, got {hit['path']}")
    if question.answer not in hit["snippet"]:
        raise DemoError(f"{question.text!r}: {question.answer!r} is not in the snippet")
    return hit


def _show_paraphrase(memory: Client, workspace: Path, question: Question) -> None:
    hit = _ask(memory, question)
    shared = _stems(question.text) & _stems((workspace / question.path).read_text(encoding="utf-8"))
    if shared or hit.get("textScore"):
        raise DemoError(f"question and answer share words: {sorted(shared)}")
    print(f"    found by meaning: words in common none, cosine similarity {hit.get('vectorScore') or 0:.2f}")


def _stems(text: str) -> set[str]:
    """First four letters of every word but the stop words: coarser than a stemmer, so nothing slips through."""
    return {term[:4] for term in query_terms(text, limit=len(text) + 1)}


def _show_edit(memory: Client, workspace: Path) -> None:
    _title(EDITED)
    note = workspace / EDITED.path
    draft = note.with_name(f".{note.name}.swp")
    draft.write_text(note.read_text(encoding="utf-8") + NEW_LINE, encoding="utf-8")
    draft.replace(note)
    saved = time.monotonic()

    def is_found() -> bool:
        hits = memory.search(EDITED.text)["results"]
        return bool(hits) and EDITED.answer in hits[0]["snippet"]

    _wait_for(is_found, FIND_SECONDS, "the new line is not found")
    seconds = time.monotonic() - saved
    hit = _first_hit(memory.search(EDITED.text), EDITED)
    _show_hit(hit, EDITED, f"{seconds:.2f} s after the save")


def _show_status() -> None:
    print(f"\n{_bold('memoryctl status')}", flush=True)
    code = subprocess.run([PROGRAMS / "memoryctl", "status"], stdin=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        raise DemoError(f"memoryctl status ended with exit code {code}")


def _stop(daemon: subprocess.Popen[bytes]) -> None:
    family = psutil.Process(daemon.pid).children(recursive=True)
    started = time.monotonic()
    daemon.send_signal(signal.SIGTERM)
    try:
        code = daemon.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        raise DemoError(f"the daemon does not stop within {STOP_SECONDS:.0f} s") from None
    if code != 0:
        raise DemoError(f"the daemon ended with exit code {code}")
    if left := [process for process in family if process.is_running()]:
        raise DemoError(f"processes are left over: {left}")
    print(f"\n{_bold('Stopped')} by SIGTERM in {time.monotonic() - started:.2f} s, exit 0, no process left")


def _wait_for(condition: Callable[[], bool], seconds: float, complaint: str) -> None:
    limit = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > limit:
            raise DemoError(f"{complaint} ({seconds:.0f} s)")
        time.sleep(POLL_SECONDS)


def _title(question: Question) -> None:
    print(f"\n{_bold(question.title)}\n  ? {question.text}")


def _show_hit(hit: HitReply, question: Question, note: str) -> None:
    line = next(line for line in hit["snippet"].splitlines() if question.answer in line).strip()
    shown = line if len(line) <= COLUMNS else line[: COLUMNS - 1] + "…"
    print(f"  → {hit.get('citation') or hit['path']}  ({note})\n    {shown}", flush=True)


def _bold(text: str) -> str:
    return f"\x1b[1m{text}\x1b[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
