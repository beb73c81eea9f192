"""What `memoryctl eval` needs of rooms of the daemon: a variant of the configuration beside it, and guesses to ask.

A variant is a second daemon over a copy of the index, gone at the end. The copy has every vector, so that only what the
variant cuts otherwise, or embeds by another model, is embedded. It reads the notes and writes none, in a scratch folder
beside the index. A guess is a question with the place that may answer it, as the daemon shows that place to its owner;
what is private is in none of them.
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
from memoryd.config.loading.foreign import set_foreign_aside
from memoryd.config.loading.load import load, loaded_of
from memoryd.config.loading.overrides import made_section
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
    folded,
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
"""It may embed all notes; who waits sees a bar and may leave."""
SECTION = "memorySearch."
VariantKey = tuple[str, ...]
"""Of a configuration, below a section."""
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
"""What a variant does not do: write, keep conversations, ask a text model, share, open a port, or say what it does."""
OF_ITS_OWN = ("MEMORYD_CONFIG", "MEMORYD_WORKSPACE", "MEMORYD_SUPERVISOR", "NOTIFY_SOCKET", "LISTEN_FDS")
"""Variables that are about the daemon beside which the variant runs."""


class Comparison(Struct, frozen=True):
    """The golden questions as they are answered now and by a variant, and what is wrong with the others."""

    questions: Sequence[LocatedQuestion]
    problems: Sequence[str]
    now: Evaluation
    variant: Evaluation

    @property
    def accepted(self) -> list[str]:
        """The questions that count."""
        return [question.text for question in self.questions if question.is_accepted]

    @property
    def scores(self) -> tuple[RankingScores, RankingScores]:
        """The scores of the accepted questions, now and by the variant."""
        return self.now.scores_of(self.accepted), self.variant.scores_of(self.accepted)

    @property
    def changes(self) -> list[RankChange]:
        """The questions that the variant answers better or worse; the worse first."""
        return changes(self.now.results, self.variant.results)


def parse_changes(texts: Sequence[str]) -> dict[VariantKey, object]:
    """Read `KEY=VALUE`, a key of `memorySearch` and a value of JSON5 or a bare text; raises InvalidRequest."""
    found: dict[VariantKey, object] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        location = tuple(key.strip().removeprefix(SECTION).split("."))
        if not equals or not all(location):
            raise InvalidRequest(f"not KEY=VALUE: {text!r}", hint="such as --with chunking.tokens=200")
        try:
            found[location] = json5.loads(value)
        except ValueError:
            found[location] = value.strip()
    return found


def compare(invocation: Invocation, agent: AgentStatus, wanted: Mapping[VariantKey, object]) -> Comparison:
    """Ask the golden questions of an agent now, and of a variant with these keys of `memorySearch`.

    Raises NotFound where no question can be asked, InvalidRequest for keys that the configuration refuses,
    StoreUnavailable where the disk has no room, NotNow where one of both lacks a part.
    """
    found = golden_set(agent)
    wait_for_index(invocation, INDEX_SECONDS)
    questions, wrong = located_questions(found.lines, DocumentTexts(invocation.memory, agent["id"]))
    if not questions:
        raise NotFound("there is no golden question that can be asked", hint="memoryctl eval suggest finds some")
    with _variant(invocation, agent, wanted) as variant:
        now = ask(invocation.memory, agent["id"], questions, "as it is")
        then = ask(variant.memory, agent["id"], questions, "the variant")
    return Comparison(questions, [*found.problems, *wrong], now, then)


def refuse_regression(
    invocation: Invocation, wanted: Mapping[VariantKey, object], affected: Collection[str] | None = None
) -> None:
    """Raise NotNow, which names the questions, if a variant answers accepted golden questions worse.

    They are those of the `affected` agents, None for all. Where there are none nothing is asked.
    """
    for agent in invocation.memory.status()["agents"]:
        is_affected = affected is None or agent["id"] in affected
        if not is_affected or agent["backend"] != "builtin" or not golden_set(agent).accepted:
            continue
        note(f"asking the golden questions of {agent['workspace']} before anything changes")
        try:
            found = compare(invocation, agent, wanted)
        except NotFound as exc:
            # the notes that answered are gone
            note(str(exc))
            continue
        except MemorydError as exc:
            why = f"nothing was changed: the golden questions cannot be asked of the change: {exc}"
            raise NotNow(why, hint=f"{exc.hint}; " * bool(exc.hint) + "--force does it unasked") from exc
        now, then = found.scores
        if not then.falls_below(now):
            continue
        accepted = set(found.accepted)
        lost = [change.question for change in found.changes if change.is_worse and change.question in accepted]
        named = "; ".join(harmless_line(question) for question in lost)
        raise NotNow(
            f"nothing was changed: {len(lost)} of {now.questions} golden questions would be answered worse: {named}",
            hint="memoryctl eval compare shows how each is answered; --force does it all the same",
        )


@contextlib.contextmanager
def _variant(invocation: Invocation, agent: AgentStatus, wanted: Mapping[VariantKey, object]) -> Iterator[Invocation]:
    """Give an invocation that asks the variant, which has indexed and embedded everything."""
    index = Path(agent["database"]["path"])
    source = invocation.memory.status()["config"]["source"]
    # the path of a socket must be short
    with scratch_folder(index) as folder, tempfile.TemporaryDirectory(prefix="memoryd-") as runtime:
        state = folder / "state"
        state.mkdir(mode=0o700)
        copy = state / "index.sqlite"
        config = folder / "config.json"
        config.write_text(_config(Path(source) if source else None, agent, wanted, copy))
        _copy_index(index, copy)
        with contextlib.suppress(OSError):
            # the budget of the day holds for the variant, too
            shutil.copyfile(spending_file(), state / spending_file().name)
        asking = Invocation()
        asking.socket, asking.agent = Path(runtime) / "s", agent["id"]
        with _daemon(config, state, asking):
            # it is read by now, and may hold keys of providers
            config.unlink()
            wait_for_index(asking, INDEX_SECONDS)
            try:
                yield asking
            finally:
                asking.close()


def _copy_index(index: Path, copy: Path) -> None:
    try:
        copy_index(index, copy)
    except (StoreError, OSError):
        # an index of another version: the variant makes its own
        copy.unlink(missing_ok=True)


def _config(source: Path | None, agent: AgentStatus, wanted: Mapping[VariantKey, object], index: Path) -> str:
    """Return the configuration of a variant: the file as it is now, for one agent that writes nothing."""
    raw: Raw = set_foreign_aside(parse_config(read(source), source)).ours if source else {}
    _anchor(raw, source)
    entries = [entry for location, entry in agents_in(raw) if location[1] == "list"]
    entry = next((one for one in entries if folded_id(str(one.get("id"))) == agent["id"]), Raw())
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
        # as by `memoryd --all`
        extra = value_at(entry, ("memorySearch", "extraPaths"))
        _put(entry, ("memorySearch", "extraPaths"), [*(extra if isinstance(extra, list) else ()), "."])
    for key, value in ALONE.items():
        _put(raw, key, value)
    _put(raw, ("agents", "list"), [entry])
    text = json.dumps(raw)
    try:
        loaded_of(text, source or index)
    except ConfigError as exc:
        # the file alone was taken before
        wrong = "; ".join(problem.removeprefix("agents.list[0].") for problem in exc.problems)
        raise InvalidRequest(f"such a configuration is refused: {wrong}") from exc
    return text


def _put(raw: Raw, key: VariantKey, value: object) -> None:
    """Write a value into sections that are made where they are missing."""
    made_section(raw, key[:-1])[key[-1]] = value


def _anchor(raw: Raw, source: Path | None) -> None:
    """Write relative paths as they are from the folder of the file."""
    values = load(source).config.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for location, _ in list(texts_in(raw)):
        path, holder = value_at(values, location), value_at(raw, location[:-1])
        if isinstance(path, str) and path.startswith("/") and isinstance(holder, dict | list):
            holder[location[-1]] = path  # type: ignore[index]  # a key of a dict, or a number in a list


@contextlib.contextmanager
def _daemon(config: Path, state: Path, asking: Invocation) -> Iterator[None]:
    """Run a daemon that ends with the block, and with this process."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_ITS_OWN}
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
            # Ctrl-C is for us, who end it in order
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
        with contextlib.suppress(DaemonNotRunning, NotNow), asking.client() as client:
            client.health()
            return
        if process.poll() is not None or time.monotonic() > until:
            said = errors.read_text("utf-8", "replace").strip().splitlines()
            raise MemorydError(f"the variant does not start: {said[-1] if said else 'it says nothing'}")
        time.sleep(0.1)


SESSIONS = 20
"""The newest, whose questions are looked through."""
MEMORIES = 200
ASKED_CHARS = 200
"""What is longer is a task rather than a question."""
TERMS = 4
"""Words of a memory that its question is made of."""
_HEADING = expression(r"#{1,6}\s+(?P<text>.+)")
_CITED = expression(r"[^\s`'\"()\[\]]+\.md#L[0-9]+(?:-L?[0-9]+)?")


def suggestions(invocation: Invocation, agent: AgentStatus, known: Iterable[str], most: int) -> list[GoldenQuestion]:
    """Return at most so many guesses, none of a question that is known, from each source by turns."""
    client, seen = invocation.memory, {folded(text) for text in known}
    documents = DocumentTexts(client, agent["id"])
    sources = (
        _asked(client, agent["id"], documents),
        _of_memories(client, agent["id"]),
        _of_headings(client, agent, documents),
    )
    by_turns = (guess for guess in chain.from_iterable(zip_longest(*sources)) if guess is not None)
    return list(islice(_new(by_turns, documents, seen), most))


def _new(guesses: Iterable[GoldenQuestion], documents: DocumentTexts, seen: set[str]) -> Iterator[GoldenQuestion]:
    for guess in guesses:
        key = folded(guess.question)
        if key not in seen and all(documents.spans(place) for place in guess.places):
            seen.add(key)
            yield guess


def _guess(question: str, place: GoldenPlace) -> GoldenQuestion:
    return GoldenQuestion(" ".join(question.split()), (place,), "guess")


def _quoted(span: LineSpan, documents: DocumentTexts) -> GoldenPlace | None:
    """Return the place of these lines by their text, with the lines beside it; None where they say nothing."""
    lines = (documents.text(span.path) or "").split("\n")[span.start - 1 : span.end]
    quote = quote_of([line for line in lines if not line.startswith("#")] or lines)
    number = next((span.start + at for at, line in enumerate(lines) if quote and quote in line), span.start)
    return GoldenPlace(path=span.path, quote=quote, lines=f"L{number}") if quote else None


def _asked(client: Client, agent: str, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield questions of conversations with the note that the answer cites, else with the one that answers now."""
    for question, answer in _turns(client, agent):
        cited = [parse(found) for found in _CITED.findall(answer)]
        spans = [LineSpan(one.path, one.start_line or 1, one.end_line or 1) for one in cited]
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
                    if len(turn["q"]) <= ASKED_CHARS and any(mark in turn["q"] for mark in "?？"):
                        yield turn["q"], turn["a"] or ""


def _of_memories(client: Client, agent: str) -> Iterator[GoldenQuestion]:
    with suppress(RequestError):
        for memory in client.memories(limit=MEMORIES, agent=agent)["memories"]:
            if question := _question_of(memory):
                yield _guess(question, GoldenPlace(memory=memory["id"]))


def _question_of(memory: MemoryDocumentReply) -> str:
    words = keywords(memory["text"])[:TERMS]
    about = [name for name in memory["entities"][:1] if folded(name) not in words]
    return " ".join([*about, *words]) if len(words) > 1 else ""


def _of_headings(client: Client, agent: AgentStatus, documents: DocumentTexts) -> Iterator[GoldenQuestion]:
    """Yield headings of several words, each with the first line below it that says something."""
    source = client.status()["config"]["source"]
    config = load(Path(source) if source else None).config
    chosen = next((one for one in config.resolved_agents() if one.id == agent["id"]), None)
    if chosen is None:
        return
    roots, rules = roots_and_rules(chosen, max_file_bytes=config.limits.max_file_bytes, media=None)
    for path in scan(roots, rules).files:
        heading, is_code = "", False
        for number, line in enumerate((documents.text(path) or "").split("\n"), 1):
            is_code ^= line.startswith("```")
            if not is_code and (found := _HEADING.match(line)):
                heading = found["text"].strip()
            elif heading and (quote := quote_of([line])):
                terms = query_terms(heading)
                # the heading of a day is no question
                if len(terms) > 1 and not any(map(str.isdecimal, terms)):
                    yield _guess(heading, GoldenPlace(path=path, quote=quote, lines=f"L{number}"))
                heading = ""
