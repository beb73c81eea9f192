"""A variant of the configuration tried beside the daemon: a second one over a copy of the index, gone at the end.

The copy has every vector, so that only what the variant cuts otherwise, or embeds by another model, is embedded. The
second daemon reads the notes and writes none; it is in a scratch folder beside the index.
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
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import json5
from msgspec import Struct

from memoryd.cli.golden import (
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
from memoryd.config.loading.foreign import set_foreign_aside
from memoryd.config.loading.load import load, loaded_of
from memoryd.config.loading.raw import ConfigText, Raw, agents_in, parse, read, texts_in, value_at
from memoryd.config.paths import spending_file
from memoryd.domain.access import folded_id
from memoryd.domain.ranking.evaluation import RankChange, RankingScores, changes
from memoryd.errors import (
    ConfigError,
    DaemonNotRunning,
    InvalidRequest,
    MemorydError,
    NotFound,
    NotNow,
    StoreError,
)
from memoryd.replies.status import AgentStatus
from memoryd.store.examining import copy_index

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 10.0
INDEX_SECONDS: Final = 24 * 3600.0
"""It may embed all notes; who waits sees a bar and may leave."""
SECTION: Final = "memorySearch."
VariantKey = tuple[str, ...]
"""Of a configuration, below a section."""
ALONE: Final[Mapping[VariantKey, object]] = {
    ("memory", "readOnly"): True,
    ("memory", "backend"): "builtin",
    ("memory", "qa"): {"enabled": False},
    ("memory", "sessions"): {},
    ("memory", "llm"): {},
    ("http",): {"enabled": False},
    ("log",): {"level": "ERROR"},
}
"""What a variant does not do: write, keep conversations, ask a text model, open a port, or tell what it does."""
OF_ITS_OWN: Final = ("MEMORYD_CONFIG", "MEMORYD_WORKSPACE", "MEMORYD_SUPERVISOR", "NOTIFY_SOCKET", "LISTEN_FDS")
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
    raw: Raw = set_foreign_aside(parse(read(source).text, source)).ours if source else {}
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
        loaded_of(ConfigText(text), source or index)
    except ConfigError as exc:
        # the file alone was taken before
        wrong = "; ".join(problem.removeprefix("agents.list[0].") for problem in exc.problems)
        raise InvalidRequest(f"such a configuration is refused: {wrong}") from exc
    return text


def _put(raw: Raw, key: VariantKey, value: object) -> None:
    """Write a value into sections that are made where they are missing."""
    *above, name = key
    for part in above:
        below = raw.setdefault(part, {})
        raw = below if isinstance(below, dict) else {}
    raw[name] = value


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
