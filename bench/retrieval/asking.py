"""The questions of a set put to the real daemon: for each mode a daemon, or some, with an agent for each workspace."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click

from bench.retrieval.figures import Answer, Judged, judge
from bench.retrieval.scores import Shown, recall_any
from bench.retrieval.sets import Question, QuestionSet
from memoryd.client import Client
from memoryd.domain.ranking.golden import DEPTH, LineSpan
from memoryd.replies.search import HitReply
from tests.daemon import RunningDaemon, bring_strangers
from tests.waiting import eventually

MODES: dict[str, dict[str, object]] = {
    "hybrid": {},
    "lexical": {"provider": "none"},
    "vector": {"query": {"hybrid": {"enabled": False}}},
}
"""What each mode lays over memorySearch."""

HOUR_MS = 3_600_000
DEADLINE_MS = 60_000
STRANGERS_SECONDS = 60.0
MODEL_SECONDS = 60.0
AGENTS = 50
"""Of one daemon."""
DOCUMENTS_DEPTH = 50
"""So many hits are asked for where ten are of fewer documents, and none of the first five holds evidence."""

Watch = Callable[[Sequence[Question], str], Iterable[Question]]
"""Follows questions as they are asked; the text says which they are."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a set is asked: in a home whose state is kept, with a model, if any, which may use so many threads.

    `anew` reads every note once more, because the code that read them was another.
    """

    home: Path
    model: Path | None
    threads: int = 1
    anew: bool = False
    depth: int = DEPTH


def ask(questions: QuestionSet, mode: str, how: Asking, watch: Watch) -> list[Judged]:
    """Return all answers of one mode held against the evidence."""
    names = questions.workspaces
    return [
        judged
        for begin in range(0, len(names), AGENTS)
        for judged in _ask(questions, names[begin : begin + AGENTS], mode, how, watch)
    ]


def _ask(questions: QuestionSet, names: Sequence[str], mode: str, how: Asking, watch: Watch) -> list[Judged]:
    asked = [question for question in questions.questions if question.workspace in names]
    with _daemon(questions, names, mode, how) as client:
        return [
            judge(question, _answer(client, questions, question, mode, how.depth), questions.sizes(question.workspace))
            for question in watch(asked, f"{questions.name} {mode}")
        ]


@contextmanager
def _daemon(questions: QuestionSet, names: Sequence[str], mode: str, how: Asking) -> Iterator[Client]:
    """Yield a connection to a daemon that has read, and but for words embedded, these workspaces of the set."""
    # the socket lies below the folder of the daemon, and no path to a socket may be long
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = _config(folder, questions, names, mode, how)
        kept = {"XDG_STATE_HOME": str(how.home / "state"), "XDG_CACHE_HOME": str(how.home / "cache")}
        environment = {"MEMORYD_LOG_LEVEL": "WARNING", **kept}
        bring_strangers(how.home / "cache")
        with RunningDaemon(folder, config, folder, environment=environment) as daemon:
            client = daemon.client(timeout=HOUR_MS / 1000)
            if mode != "lexical":
                _wait_for_strangers(how.home)
            _settle(client, questions, names, mode, anew=how.anew)
            _wait_for_model(client, _agent(questions, names[0]), mode)
            yield client
            shutil.copy(daemon.log, how.home / f"{mode}.log")


def _config(folder: Path, questions: QuestionSet, names: Sequence[str], mode: str, how: Asking) -> Path:
    listed = [{"id": _agent(questions, name), "workspace": str(questions.workspace(name).resolve())} for name in names]
    search: dict[str, object] = {
        "sync": {"watch": False, "reconcileSeconds": 0, "onSearch": False},
        # the notes of a set lie wherever its data had them
        "extraPaths": ["."],
        **({} if mode == "lexical" else {"local": {"modelPath": str(how.model), "threads": how.threads}}),
        **MODES[mode],
    }
    path = folder / "config.json5"
    path.write_text(json.dumps({"agents": {"defaults": {"memorySearch": search}, "list": listed}}))
    return path


def _agent(questions: QuestionSet, workspace: str) -> str:
    """Return the id of the agent of a workspace, whose own name may be no id."""
    return f"w{questions.workspaces.index(workspace)}"


def _wait_for_strangers(home: Path) -> None:
    """Wait until the daemon knows how near strangers come under its model, which verdicts go by; not for ever.

    It measures that when it starts with a model that it does not know, while it answers already.
    """
    with suppress(AssertionError):
        eventually(lambda: any((home / "cache" / "memoryd" / "strangers").glob("*")), seconds=STRANGERS_SECONDS)


def _wait_for_model(client: Client, agent: str, mode: str) -> None:
    """Wait until the model answers, which it need not where an index has all its vectors already; not for ever."""
    with suppress(AssertionError):
        eventually(lambda: client.search("model", agent=agent)["mode"] == mode, seconds=MODEL_SECONDS)


def _settle(client: Client, questions: QuestionSet, names: Sequence[str], mode: str, *, anew: bool) -> None:
    agents = [_agent(questions, name) for name in names]
    for agent in agents if anew else []:
        client.reindex(force=True, agent=agent)
    for agent in agents:
        reply = client.sync(wait="indexed" if mode == "lexical" else "embedded", timeout_ms=HOUR_MS, agent=agent)
        if not reply["complete"]:
            raise click.ClickException(f"{questions.name} was not indexed within an hour: {reply['reason']}")


def _answer(client: Client, questions: QuestionSet, question: Question, mode: str, depth: int) -> Answer:
    """Ask for so many hits, and for more behind them where these do not tell whether ten documents have evidence."""
    agent = _agent(questions, question.workspace)
    answer = _answer_within(client, question.text, mode, agent=agent, depth=depth)
    chunks = [hit.chunk for hit in answer.hits]
    is_told = question.is_stranger or len({chunk.path for chunk in chunks}) >= DEPTH or recall_any(question, chunks, 5)
    if is_told or len(chunks) < depth:
        return answer
    more = _answer_within(client, question.text, mode, agent=agent, depth=DOCUMENTS_DEPTH)
    return Answer((*answer.hits, *more.hits[depth:]), answer.verdict)


def _answer_within(client: Client, text: str, mode: str, *, agent: str, depth: int) -> Answer:
    reply = client.search(text, agent=agent, max_results=depth, deadline_ms=DEADLINE_MS)
    if reply["mode"] != mode:
        raise click.ClickException(f"asked for {mode}, answered {reply['mode']}: {reply['health']}")
    return Answer(tuple(_shown(hit) for hit in reply["results"]), reply["verdict"])


def _shown(hit: HitReply) -> Shown:
    """Read a hit; a picture has no focus, and is put forward as a whole."""
    path = hit["path"]
    focus = hit["focus"] or {"startLine": hit["snippetStartLine"], "endLine": hit["snippetEndLine"]}
    return Shown(LineSpan(path, hit["startLine"], hit["endLine"]), LineSpan(path, focus["startLine"], focus["endLine"]))
