"""The questions put to the real daemon: by plain search, and by recall without a model and with one."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.recall_questions.dated_daemon import DAY
from bench.recall_questions.judged import DEPTH, Answered, Cited, Judged, Told
from bench.recall_questions.question_set import RecallQuestion
from memoryd.client import Client
from tests.daemon import RunningDaemon, bring_strangers

MODES = ("search", "words", "hybrid")
"""Plain search by words, for comparison; recall by words alone, and by words and vectors."""
REFLECTED = "reflected"
"""Recall by words alone in a copy of the workspace, after reflect has written its pages and moved opinions."""
DEADLINE_MS = 60_000
FIRST_DAY = "2025-09-01"
PROGRAM = ("-m", "bench.recall_questions.dated_daemon")
Way = Callable[[Client, RecallQuestion, Mapping[str, str]], Answered]
WHOLE = 1_000_000
"""Lines of a page that is cited as a whole."""


def ask(questions: Sequence[RecallQuestion], mode: str, model: Path | None = None) -> list[Judged]:
    """Return the questions, by workspace and day, with their answers in one mode; hybrid needs a model."""
    found: list[Judged] = []
    # what reflect makes of the notes is of that day alone; else one daemon sees one day after another
    together: Callable[[RecallQuestion], object] = _asked_of if mode == REFLECTED else _asked_in
    for _, asked in groupby(sorted(questions, key=_asked_of), key=together):
        found += _of_one_daemon(list(asked), mode, model)
    return found


def _asked_in(question: RecallQuestion) -> Path:
    return question.workspace


def _asked_of(question: RecallQuestion) -> tuple[Path, date]:
    return question.workspace, question.now


def _of_one_daemon(questions: Sequence[RecallQuestion], mode: str, model: Path | None) -> Iterator[Judged]:
    answered = _searched if mode == "search" else _recalled
    # the socket lies below the folder of the daemon, and no path to a socket may be long
    with tempfile.TemporaryDirectory(prefix="memories-") as name:
        folder = Path(name)
        today = folder / "today"
        _turn_to(today, questions[0].now)
        with _daemon(folder, questions[0].workspace, today, model, is_reflected=mode == REFLECTED) as client:
            for day, asked in groupby(questions, key=lambda one: one.now):
                _turn_to(today, day)
                yield from (_judged(client, one, answered) for one in asked)


def _turn_to(today: Path, day: date) -> None:
    """Have it be another day, at no moment none."""
    beside = today.with_suffix(".next")
    beside.write_text(day.isoformat())
    beside.replace(today)


@contextmanager
def _daemon(folder: Path, workspace: Path, today: Path, model: Path | None, *, is_reflected: bool) -> Iterator[Client]:
    environment = {"MEMORYD_LOG_LEVEL": "WARNING", DAY: str(today)}
    config = _config(folder, workspace, model, is_reflected=is_reflected)
    if model:
        bring_strangers(folder / "cache")
    with RunningDaemon(folder, config, folder, environment=environment, program=PROGRAM) as daemon:
        client = daemon.client(timeout=600)
        if is_reflected:
            client.call("POST", "/reflect", {"since": FIRST_DAY})
        client.sync(wait="embedded" if model else "indexed", timeout_ms=600_000)
        yield client


def _config(folder: Path, own: Path, model: Path | None, *, is_reflected: bool) -> Path:
    workspace = shutil.copytree(own, folder / "ws") if is_reflected else own.resolve()
    search: dict[str, object] = {"sync": {"watch": False, "reconcileSeconds": 0, "onSearch": False}}
    search |= {"local": {"modelPath": str(model), "threads": 1}} if model else {"provider": "none"}
    memory = {"readOnly": not is_reflected}
    path = folder / "config.json5"
    defaults = {"workspace": str(workspace), "memorySearch": search}
    path.write_text(json.dumps({"agents": {"defaults": defaults}, "memory": memory}))
    return path


def _judged(client: Client, question: RecallQuestion, answered: Way) -> Judged:
    change = question.change
    then = answered(client, question, {"asOf": change.as_of.isoformat()}) if change else None
    return Judged(question, answered(client, question, {}), then)


def _recalled(client: Client, question: RecallQuestion, more: Mapping[str, str]) -> Answered:
    body = {"query": question.text, "k": DEPTH, "deadlineMs": DEADLINE_MS, "touch": False, **question.options, **more}
    reply: Any = client.call("POST", "/recall", body)
    return Answered(tuple(_told(item) for item in reply["results"]), reply["verdict"])


def _searched(client: Client, question: RecallQuestion, more: Mapping[str, str]) -> Answered:
    """Search, which knows no day of the past and no entity."""
    reply = client.search(question.text, max_results=DEPTH, deadline_ms=DEADLINE_MS)
    hits = ((Cited(hit["path"], hit["startLine"], hit["endLine"]), hit["snippet"]) for hit in reply["results"])
    return Answered(tuple(Told((cited,), text) for cited, text in hits), reply["verdict"])


def _told(item: Mapping[str, Any]) -> Told:
    evidence = item.get("evidence") or {}
    return Told(
        sources=tuple(_sources(item)),
        content=item["content"],
        is_page=item["is"] == "entity",
        confidence=item.get("confidence"),
        evidence=sum(map(len, evidence.values())),
    )


def _sources(item: Mapping[str, Any]) -> Iterator[Cited]:
    """Yield where an item stands; of a memory first the line that is cited."""
    if item["is"] == "passage":
        yield Cited(item["path"], item["startLine"], item["endLine"])
    elif item["is"] == "entity":
        yield Cited(item["path"], 1, WHOLE)
    else:
        for source in dict.fromkeys([item["source"], *(one["source"] for one in item["sources"])]):
            path, _, lines = source.partition("#L")
            first, _, last = lines.partition("-L")
            yield Cited(path, int(first), int(last or first))
