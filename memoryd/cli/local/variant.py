"""Support of `memoryctl eval`: compare a variant of the configuration with the current one, and suggest questions.

A variant is a temporary second daemon with a copy of the index in a scratch folder beside it. The copy has all vectors,
so that only passages that the variant chunks differently, or embeds with another model, are embedded. It reads the
notes and never writes them. A suggestion is a question with a place that may answer it, as the daemon shows that place
to its owner; private memories are never used.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, islice, zip_longest
from pathlib import Path

import json5
from msgspec import Struct

from memoryd.cli.golden import (
    NOTES,
    DocumentTexts,
    Evaluation,
    LocatedQuestion,
    ask,
    golden_set,
    located_questions,
    scratch_folder,
    wait_for_index,
)
from memoryd.cli.invocation import Invocation
from memoryd.cli.terminal import harmless_line, note
from memoryd.client import Client
from memoryd.config.loading.foreign import separate_foreign_keys
from memoryd.config.loading.load import load, load_text
from memoryd.config.loading.overrides import ensure_section
from memoryd.config.loading.raw import Raw, agents_in, read, texts_in, value_at
from memoryd.config.loading.raw import parse as parse_config
from memoryd.config.paths import spending_file
from memoryd.domain.access import folded_id
from memoryd.domain.documents import parse
from memoryd.domain.expressions import expression
from memoryd.domain.ranking.golden import (
    GoldenPlace,
    GoldenQuestion,
    LineSpan,
    RankChange,
    RankingScores,
    changes,
    fold,
    quote_of,
)
from memoryd.domain.sessions.topics import keywords
from memoryd.domain.text.words import query_terms
from memoryd.errors import (
    ConfigError,
    DaemonNotRunning,
    Disabled,
    InvalidRequest,
    MemorydError,
    NotFound,
    NotNow,
    RequestError,
    StoreError,
)
from memoryd.files.roots import roots_and_rules
from memoryd.files.scanner import scan
from memoryd.replies.memories import MemoryDocumentReply
from memoryd.replies.status import AgentStatus
from memoryd.store.examining import copy_index

START_SECONDS = 60.0
STOP_SECONDS = 10.0
INDEX_SECONDS = 24 * 3600.0
"""Long, since the variant may embed all notes; the user sees a progress bar and may stop it."""
VariantKey = tuple[str, ...]
"""A key of the configuration, relative to a section."""
ALONE: Mapping[VariantKey, object] = {
    ("memory", "readOnly"): True,
    ("memory", "backend"): "builtin",
    ("memory", "qa"): {"enabled": False},
    ("memory", "sessions"): {},
    ("memory", "llm"): {},
    ("memory", "machines"): {},
    ("team",): {},
    ("http",): {"enabled": False},
    ("log",): {"level": "ERROR"},
}
"""Settings of every variant: it does not write, store conversations, use a text model, share, open a port, or log."""
DAEMON_VARIABLES = ("MEMORYD_CONFIG", "MEMORYD_WORKSPACE", "MEMORYD_SUPERVISOR", "NOTIFY_SOCKET", "LISTEN_FDS")
"""Environment variables for the regular daemon, which the variant does not get."""


class Comparison(Struct, frozen=True):
    """The results of golden questions now and with a variant, and the problems of questions that cannot be asked."""

    questions: Sequence[LocatedQuestion]
    problems: Sequence[str]
    now: Evaluation
    variant: Evaluation

    @property
    def accepted(self) -> list[str]:
        """The accepted questions, which are scored."""
        return [question.text for question in self.questions if question.is_accepted]

    @property
    def scores(self) -> tuple[RankingScores, RankingScores]:
        """The scores of the accepted questions, now and with the variant."""
        return self.now.scores_of(self.accepted), self.variant.scores_of(self.accepted)

    @property
    def changes(self) -> list[RankChange]:
        """The questions that the variant answers better or worse; the worse ones first."""
        return changes(self.now.results, self.variant.results)


def parse_changes(texts: Sequence[str]) -> dict[VariantKey, object]:
    """Parse `KEY=VALUE` with a key of `memorySearch` and a value in JSON5 or as bare text; raises InvalidRequest."""
    values: dict[VariantKey, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        location = tuple(key.strip().removeprefix("memorySearch.").split("."))
        if not equals or not all(location):
            raise InvalidRequest(f"not KEY=VALUE: {text!r}", hint="such as --with chunking.tokens=200")
        try:
            values[location] = json5.loads(value)
        except ValueError:
            values[location] = value.strip()
    return values


def compare(invocation: Invocation, agent: AgentStatus, wanted: Mapping[VariantKey, object]) -> Comparison:
    """Ask the golden questions of an agent now, and with a variant that has these values of `memorySearch`.

    Raises NotFound if no question can be asked, InvalidRequest for values that the configuration rejects,
    StoreUnavailable if the disk is full, and NotNow if a part of one of the daemons is missing.
    """
    golden = golden_set(agent)
    wait_for_index(invocation, INDEX_SECONDS)
    questions, problems = located_questions(golden.lines, DocumentTexts(invocation.memory, agent["id"]))
    if not questions:
        raise NotFound("there is no golden question that can be asked", hint="memoryctl eval suggest finds some")
    with _variant(invocation, agent, wanted) as variant:
        now = ask(invocation.memory, agent["id"], questions, "as it is")
        then = ask(variant.memory, agent["id"], questions, "the variant")
    return Comparison(questions, [*golden.problems, *problems], now, then)


def refuse_regression(
    invocation: Invocation, wanted: Mapping[VariantKey, object], affected: Collection[str] | None = None
) -> None:
    """Raise NotNow, with the questions, if a variant answers accepted golden questions worse.

    The questions are those of the `affected` agents (None: all). Agents without accepted questions are skipped.
    """
    for agent in invocation.memory.status()["agents"]:
        is_affected = affected is None or agent["id"] in affected
        if not is_affected or agent["backend"] != "builtin" or not golden_set(agent).accepted:
            continue
        note(f"asking the golden questions of {agent['workspace']} before anything changes")
        try:
            comparison = compare(invocation, agent, wanted)
        except NotFound as exc:
            # the notes with the answers were deleted
            note(str(exc))
            continue
        except MemorydError as exc:
            why = f"nothing was changed: the golden questions cannot be asked of the change: {exc}"
            raise NotNow(why, hint=f"{exc.hint}; " * bool(exc.hint) + "--force does it unasked") from exc
        now, then = comparison.scores
        if not then.falls_below(now):
            continue
        accepted = set(comparison.accepted)
        worse = [change.question for change in comparison.changes if change.is_worse and change.question in accepted]
        texts = "; ".join(harmless_line(question) for question in worse)
        raise NotNow(
            f"nothing was changed: {len(worse)} of {now.questions} golden questions would be answered worse: {texts}",
            hint="memoryctl eval compare shows how each is answered; --force does it all the same",
        )


@contextlib.contextmanager
def _variant(invocation: Invocation, agent: AgentStatus, wanted: Mapping[VariantKey, object]) -> Iterator[Invocation]:
    """Start a variant, wait until it has indexed and embedded everything, and yield an invocation for it."""
    index = Path(agent["database"]["path"])
    source = invocation.memory.status()["config"]["source"]
    # the socket is in the temporary folder, since its path must be short
    with scratch_folder(index) as folder, tempfile.TemporaryDirectory(prefix="memoryd-") as runtime:
        state = folder / "state"
        state.mkdir(mode=0o700)
        copy = state / "index.sqlite"
        config = folder / "config.json"
        config.write_text(_config(Path(source) if source else None, agent, wanted, copy))
        try:
            copy_index(index, copy)
        except (StoreError, OSError):
            # an index of another version: the variant builds a new one
            copy.unlink(missing_ok=True)
        with suppress(OSError):
            # the token budget of the day also applies to the variant
            shutil.copyfile(spending_file(), state / spending_file().name)
        asking = Invocation()
        asking.socket, asking.agent = Path(runtime) / "s", agent["id"]
        with _daemon(config, state, asking):
            # the daemon has read it, and it may contain keys of providers
            config.unlink()
            wait_for_index(asking, INDEX_SECONDS)
            try:
                yield asking
            finally:
                asking.close()


def _config(source: Path | None, agent: AgentStatus, wanted: Mapping[VariantKey, object], index: Path) -> str:
    """Return the configuration of a variant: the current file with the wanted values, for one read-only agent."""
    raw: Raw = separate_foreign_keys(parse_config(read(source), source)).ours if source else {}
    _anchor(raw, source)
    entries = [entry for location, entry in agents_in(raw) if location[1] == "list"]
    entry = next((entry for entry in entries if folded_id(str(entry.get("id"))) == agent["id"]), Raw())
    entry |= {"id": agent["id"], "default": True, "workspace": agent["workspace"], "sockets": []}
    own: dict[VariantKey, object] = {
        **wanted,
        ("store", "path"): str(index),
        ("sources",): ["memory"],
        ("experimental", "sessionMemory"): False,
        ("sync", "watch"): False,
    }
    for key, value in own.items():
        _put(entry, ("memorySearch", *key), value)
    if any(root["path"] == agent["workspace"] for root in agent["roots"]):
        # as `memoryd --all` does
        extra = value_at(entry, ("memorySearch", "extraPaths"))
        _put(entry, ("memorySearch", "extraPaths"), [*(extra if isinstance(extra, list) else ()), "."])
    for key, value in ALONE.items():
        _put(raw, key, value)
    _put(raw, ("agents", "list"), [entry])
    text = json.dumps(raw)
    try:
        load_text(text, source or index)
    except ConfigError as exc:
        # caused by the wanted values, since the daemon accepted the file
        problems = "; ".join(problem.removeprefix("agents.list[0].") for problem in exc.problems)
        raise InvalidRequest(f"such a configuration is refused: {problems}") from exc
    return text


def _put(raw: Raw, key: VariantKey, value: object) -> None:
    """Set a value; missing sections are created."""
    ensure_section(raw, key[:-1])[key[-1]] = value


def _anchor(raw: Raw, source: Path | None) -> None:
    """Make relative paths absolute, relative to the folder of `source`."""
    values = load(source).config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for location, _ in list(texts_in(raw)):
        path, holder = value_at(values, location), value_at(raw, location[:-1])
        if isinstance(path, str) and path.startswith("/") and isinstance(holder, dict | list):
            holder[location[-1]] = path  # type: ignore[index]  # the key of a dict, or the index of a list


@contextlib.contextmanager
def _daemon(config: Path, state: Path, asking: Invocation) -> Iterator[None]:
    """Run a daemon that ends with the block, or with this process."""
    environment = {name: value for name, value in os.environ.items() if name not in DAEMON_VARIABLES}
    environment |= {"MEMORYD_STATE_DIR": str(state), "MEMORYD_SOCKET": str(asking.socket)}
    python, errors = [sys.executable, "-P", "-m"], state / "stderr"
    program = [*python, "memoryd.daemon.main", "--config", str(config)]
    with errors.open("wb") as stderr:
        process = subprocess.Popen(
            [*python, "memoryd.sidecar.leash", str(os.getpid()), *program],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # Ctrl-C must reach only this process, which stops the daemon in order
            start_new_session=True,
        )
    try:
        _wait_for_answer(process, asking, errors)
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for_answer(process: "subprocess.Popen[bytes]", asking: Invocation, errors: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        with suppress(DaemonNotRunning, NotNow), asking.client() as client:
            client.health()
            return
        if process.poll() is not None or time.monotonic() > until:
            lines = errors.read_text("utf-8", "replace").strip().splitlines()
            raise MemorydError(f"the variant does not start: {lines[-1] if lines else 'it says nothing'}")
        time.sleep(0.1)


SESSIONS = 20
"""Number of the newest sessions that are searched for questions."""
MEMORIES = 200
QUESTION_CHARS_MAX = 200
"""Longer texts are tasks rather than questions."""
TERMS = 4
"""Number of words of a memory in its question."""
_HEADING = expression(r"#{1,6}\s+(?P<text>.+)")
_CITED = expression(r"[^\s`'\"()\[\]]+\.md#L[0-9]+(?:-L?[0-9]+)?")


def suggestions(invocation: Invocation, agent: AgentStatus, known: Iterable[str], most: int) -> list[GoldenQuestion]:
    """Return at most `most` suggestions without the `known` questions, alternating between the sources."""
    client, seen = invocation.memory, {fold(text) for text in known}
    documents = DocumentTexts(client, agent["id"])
    sources = (
        _of_conversations(client, agent["id"], documents),
        _of_memories(client, agent["id"]),
        _of_headings(client, agent, documents),
    )
    by_turns = (guess for guess in chain.from_iterable(zip_longest(*sources)) if guess is not None)
    return list(islice(_new(by_turns, documents, seen), most))


def _new(guesses: Iterable[GoldenQuestion], documents: DocumentTexts, seen: set[str]) -> Iterator[GoldenQuestion]:
    for guess in guesses:
        key = fold(guess.question)
        if key not in seen and all(documents.spans(place) for place in guess.places):
            seen.add(key)
            yield guess


def _guess(question: str, place: GoldenPlace) -> GoldenQuestion:
    return GoldenQuestion(" ".join(question.split()), (place,), "guess")


def _quoted(span: LineSpan, documents: DocumentTexts) -> GoldenPlace | None:
    """Return the place of these lines, with a quote of their text; None if they have no text to quote."""
    lines = (documents.text(span.path) or "").split("\n")[span.start - 1 : span.end]
    quote = quote_of([line for line in lines if not line.startswith("#")] or lines)
    number = next((span.start + at for at, line in enumerate(lines) if quote and quote in line), span.start)
    return GoldenPlace(path=span.path, quote=quote, lines=f"L{number}") if quote else None


def _of_conversations(client: Client, agent: str, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield questions of conversations, with the note that their answer cites, else with the best hit of a search."""
    for question, answer in _turns(client, agent):
        cited = map(parse, _CITED.findall(answer))
        spans = [LineSpan(citation.path, citation.start_line or 1, citation.end_line or 1) for citation in cited]
        if not spans:
            reply = client.search(question, max_results=1, sources=NOTES, agent=agent)
            hits = reply["results"] if reply["verdict"] == "answerable" else []
            focus = [(hit["path"], hit["focus"] or hit) for hit in hits]
            spans = [LineSpan(path, lines["startLine"], lines["endLine"]) for path, lines in focus]
        places = (_quoted(span, documents) for span in spans)
        if place := next(filter(None, places), None):
            yield _guess(question, place)


def _turns(client: Client, agent: str) -> Iterator[tuple[str, str]]:
    with suppress(Disabled):
        for session in client.qa_sessions(limit=SESSIONS, agent=agent)["sessions"]:
            with suppress(NotFound):
                for turn in client.qa_session(session["session"], agent=agent)["sequence"]:
                    if len(turn["q"]) <= QUESTION_CHARS_MAX and any(mark in turn["q"] for mark in "?？"):
                        yield turn["q"], turn["a"] or ""


def _of_memories(client: Client, agent: str) -> Iterator[GoldenQuestion]:
    with suppress(RequestError):
        for memory in client.memories(limit=MEMORIES, agent=agent)["memories"]:
            if question := _question_of(memory):
                yield _guess(question, GoldenPlace(memory=memory["id"]))


def _question_of(memory: MemoryDocumentReply) -> str:
    words = keywords(memory["text"])[:TERMS]
    about = [name for name in memory["entities"][:1] if fold(name) not in words]
    return " ".join([*about, *words]) if len(words) > 1 else ""


def _of_headings(client: Client, agent: AgentStatus, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield headings of several words, each with the first line of text below it."""
    source = client.status()["config"]["source"]
    config = load(Path(source) if source else None).config
    chosen = next((candidate for candidate in config.resolved_agents() if candidate.id == agent["id"]), None)
    if chosen is None:
        return
    roots, rules = roots_and_rules(chosen, max_file_bytes=config.limits.max_file_bytes, media=None)
    for path in scan(roots, rules).files:
        heading, is_code = "", False
        for number, line in enumerate((documents.text(path) or "").split("\n"), 1):
            is_code ^= line.startswith("```")
            if not is_code and (match := _HEADING.match(line)):
                heading = match["text"].strip()
            elif heading and (quote := quote_of([line])):
                terms = query_terms(heading)
                # a heading that is a date is not a question
                if len(terms) > 1 and not any(map(str.isdecimal, terms)):
                    yield _guess(heading, GoldenPlace(path=path, quote=quote, lines=f"L{number}"))
                heading = ""
