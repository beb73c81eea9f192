"""Reranking by the real daemon with random models: their order has no meaning, but is reproducible."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from memoryd.client import Client
from memoryd.replies.models import RerankerReply, WorkerReply
from memoryd.replies.search import SearchReply
from tests.daemon import RunningDaemon, indexed_daemon
from tests.system.agents import daemon_of_agents
from tests.tiny_rankers import write_bert_ranker, write_qwen_ranker
from tests.waiting import eventually

pytest.importorskip("llama_cpp")

QUESTION = "which roof was mended"
NOTES = 12
LONG = {"deadlineMs": 60_000}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Write notes of different lengths that all have a word of the question, so that words give an order."""
    folder = tmp_path / "workspace" / "memory"
    folder.mkdir(parents=True)
    for number in range(NOTES):
        filler = " ".join(f"word{number}x{count}" for count in range(number * 3))
        (folder / f"note-{number:02}.md").write_text(f"# Note {number}\n\nThe roof of house {number}. {filler}\n")
    return folder.parent


@pytest.fixture
def fast(tmp_path: Path) -> Path:
    return write_bert_ranker(tmp_path / "fast.gguf")


@pytest.fixture
def slow(tmp_path: Path) -> Path:
    """Write a model that takes some tenths of a second for a pair."""
    return write_bert_ranker(tmp_path / "slow.gguf", layers=100)


@contextmanager
def daemon(tmp_path: Path, notes: Path, **rerank: object) -> Iterator[RunningDaemon]:
    """Run the daemon over the notes without a model, with a reranker if any key is given."""
    with indexed_daemon(tmp_path, notes, search={"query": {"maxResults": NOTES, **LONG, "rerank": rerank}}) as running:
        yield running


def ask(running: RunningDaemon, question: str = QUESTION, **options: Any) -> SearchReply:
    with Client(running.socket, timeout=120) as client:
        return client.search(question, explain=True, **options)


def ask_until(running: RunningDaemon, state: str, question: str = QUESTION) -> SearchReply:
    """Ask until the reranker is in this state."""
    replies: list[SearchReply] = []

    def is_in_state() -> bool:
        replies.append(ask(running, question))
        return replies[-1]["health"]["arms"]["rerank"]["state"] == state

    eventually(is_in_state)
    return replies[-1]


def order(reply: SearchReply) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def reranker_of(running: RunningDaemon, number: int = 0) -> RerankerReply:
    found = running.agent(number)["reranker"]
    assert found is not None
    return found


def worker_of(running: RunningDaemon, number: int = 0) -> WorkerReply:
    worker = reranker_of(running, number)["worker"]
    assert worker is not None
    return worker


@pytest.mark.parametrize("write", [write_bert_ranker, write_qwen_ranker])
def test_best_candidates_are_reordered(tmp_path: Path, notes: Path, write: Callable[[Path], Path]) -> None:
    with daemon(tmp_path, notes) as running:
        plain = ask(running)
    assert "rerank" not in plain["health"]["arms"]
    assert all(hit["explain"]["rerankRank"] is None for hit in plain["results"])
    model = write(tmp_path / "model.gguf")
    with daemon(tmp_path, notes, modelPath=str(model), candidates=8, **LONG) as running:
        reply = ask_until(running, "ok")
        assert order(ask(running)) == order(reply)
        state = reranker_of(running)
    assert state["state"] == "ready"
    assert state["family"] in ("bge-reranker", "qwen3-reranker")
    assert reply["health"]["complete"]
    assert order(reply) != order(plain)
    assert set(order(reply)[:8]) == set(order(plain)[:8])
    assert order(reply)[8:] == order(plain)[8:]
    explained = [hit["explain"] for hit in reply["results"]]
    assert [row["rerankRank"] for row in explained] == [*range(1, 9), *[None] * 4]
    assert [row["mergedRank"] for row in explained] == [order(plain).index(path) + 1 for path in order(reply)]
    relevances = [row["rerankScore"] or 0.0 for row in explained[:8]]
    assert relevances == sorted(relevances, reverse=True)
    scores = [hit["score"] for hit in reply["results"]]
    assert scores == [hit["score"] for hit in plain["results"]]
    assert reply["verdict"] == plain["verdict"]
    assert "by reading it beside the question" in explained[0]["because"]


def test_late_reranker_leaves_the_order_and_reports_it(tmp_path: Path, notes: Path, slow: Path) -> None:
    with daemon(tmp_path, notes) as running:
        plain = ask(running)
    with daemon(tmp_path, notes, modelPath=str(slow), candidates=200, deadlineMs=1) as running:
        reply = ask_until(running, "timeout")
        again = ask_until(running, "timeout")
        assert reranker_of(running)["state"] == "ready"
    for late in (reply, again):
        assert order(late) == order(plain)
        assert not late["health"]["complete"]
        assert "of 12 texts within" in str(late["health"]["arms"]["rerank"]["reason"])


def test_deadline_of_the_question_limits_the_reranker(tmp_path: Path, notes: Path, slow: Path) -> None:
    with daemon(tmp_path, notes, modelPath=str(slow), **LONG) as running:
        ask_until(running, "ok")
        reply = ask(running, "whose roof is that", deadline_ms=300)
    assert reply["health"]["arms"]["rerank"]["state"] == "timeout"
    assert len(reply["results"]) == NOTES


def test_first_question_does_not_wait_for_the_model(tmp_path: Path, notes: Path, slow: Path) -> None:
    with daemon(tmp_path, notes, modelPath=str(slow), deadlineMs=1) as running:
        reply = ask(running)
        assert reply["health"]["arms"]["rerank"]["state"] == "waiting"
        assert reply["health"]["arms"]["rerank"]["reason"]
        assert len(reply["results"]) == NOTES
        # loading continues without another question
        eventually(lambda: worker_of(running)["phase"] == "ready")


@pytest.mark.torture
def test_idle_model_is_unloaded_and_loaded_again(tmp_path: Path, notes: Path, fast: Path) -> None:
    with daemon(tmp_path, notes, modelPath=str(fast), idleUnloadMinutes=0.003, **LONG) as running:
        before = ask_until(running, "ok")
        eventually(lambda: worker_of(running)["pid"] is None)
        # asks something else, since the last question's scores are cached
        ask(running, "whose roof is that")
        assert order(ask_until(running, "ok")) == order(before)


@pytest.mark.torture
def test_killed_worker_costs_the_order_of_one_answer(tmp_path: Path, notes: Path, slow: Path) -> None:
    with daemon(tmp_path, notes, modelPath=str(slow), **LONG) as running:
        before = ask_until(running, "ok")
        pid = worker_of(running)["pid"]
        assert pid is not None
        busy = psutil.Process(pid).cpu_times().user
        replies: list[SearchReply] = []
        asking = threading.Thread(target=lambda: replies.append(ask(running, "whose roof is that")))
        asking.start()
        eventually(lambda: psutil.Process(pid).cpu_times().user > busy)
        os.kill(pid, signal.SIGKILL)
        asking.join(60)
        (reply,) = replies
        assert reply["health"]["arms"]["rerank"]["state"] == "failed"
        assert "SIGKILL" in str(reply["health"]["arms"]["rerank"]["reason"])
        assert [hit["explain"]["mergedRank"] for hit in reply["results"]] == list(range(1, NOTES + 1))
        ask_until(running, "ok", "whose roof is that")
        assert order(ask_until(running, "ok")) == order(before)
        assert worker_of(running)["restarts"] == 1


def test_two_agents_share_one_reranker(tmp_path: Path, notes: Path, fast: Path) -> None:
    other = tmp_path / "other" / "memory"
    other.mkdir(parents=True)
    for number in range(3):
        (other / f"else-{number}.md").write_text(f"# Else {number}\n\nWhich roof was mended, {number}?\n")
    search = {"query": {"rerank": {"modelPath": str(fast), **LONG}}}
    agents = [{"id": "one"}, {"id": "two", "workspace": str(other.parent)}]
    with daemon_of_agents(tmp_path, agents, notes, search=search) as running:
        client = running.client()
        for name in ("one", "two"):
            client.sync(agent=name, wait="indexed")

        def is_reranked(name: str) -> bool:
            return client.search(QUESTION, agent=name)["health"]["arms"]["rerank"]["state"] == "ok"

        eventually(lambda: is_reranked("one") and is_reranked("two"))
        answers: dict[str, list[str]] = {}

        def ask_often(name: str) -> None:
            answers[name] = [order(running.client().search(QUESTION, agent=name))[0] for _ in range(5)]

        threads = [threading.Thread(target=ask_often, args=(name,)) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(set(answers["one"])) == len(set(answers["two"])) == 1
        assert answers["one"][0].startswith("memory/note")
        assert answers["two"][0].startswith("memory/else")
        both = [worker_of(running, number)["pid"] for number in range(2)]
        assert both[0] == both[1]
        assert both[0] is not None
        children = psutil.Process(running.pid).children(recursive=True)
        assert [child.pid for child in children if "memoryd.rerank.llama_ranker" in child.cmdline()] == [both[0]]


def doctor(running: RunningDaemon) -> dict[str, str]:
    """Return the check of the reranker in `memoryctl doctor`."""
    checks = json.loads(running.memoryctl("doctor", "--json").stdout)["checks"]
    (found,) = [check for check in checks if check["part"] == "reranker"]
    return dict(found)


def unfit_files(folder: Path, starter: Path) -> Iterator[tuple[Path, str]]:
    """Yield files that are no rerankers, and the reason given for each."""
    yield folder / "missing.gguf", "no model file"
    yield starter, "no head that ranks"
    damaged = folder / "damaged.gguf"
    damaged.write_bytes(write_bert_ranker(folder / "whole.gguf").read_bytes()[:-4000])
    yield damaged, "cut short"
    yield write_qwen_ranker(folder / "writer.gguf", has_head=False), "no head that ranks"


@pytest.mark.parametrize("which", range(4), ids=["missing", "embedding", "damaged", "generation"])
def test_file_that_is_no_reranker_is_reported_with_the_key(
    tmp_path: Path, notes: Path, starter_model: Path, which: int
) -> None:
    path, reason = list(unfit_files(tmp_path, starter_model))[which]
    with daemon(tmp_path, notes, modelPath=str(path)) as running:
        reply = ask_until(running, "failed")
        reason_shown = str(reply["health"]["arms"]["rerank"]["reason"])
        # agents are not shown paths of the host
        assert "query.rerank.modelPath" in reason_shown
        assert str(path.parent) not in reason_shown
        assert len(reply["results"]) == NOTES
        assert not reply["health"]["complete"]
        eventually(lambda: [*running.degraded()] == ["reranker"])
        owner_reason = str(running.agent()["degraded"][0]["reason"])
        assert reason in owner_reason
        assert "query.rerank.modelPath" in owner_reason
        found = doctor(running)
    assert found["state"] == "wrong"
    assert "query.rerank.modelPath" in found["hint"]


def test_doctor_names_the_reranker(tmp_path: Path, notes: Path, fast: Path) -> None:
    with daemon(tmp_path, notes, modelPath=str(fast)) as running:
        found = doctor(running)
    assert found["state"] == "ok"
    assert found["message"] == f"bge-reranker-tiny (bge-reranker), 512 tokens: {fast}"
    with daemon(tmp_path, notes) as running:
        assert doctor(running)["state"] == "off"


def test_repaired_file_is_used_without_a_restart(tmp_path: Path, notes: Path, fast: Path) -> None:
    path = tmp_path / "later.gguf"
    with daemon(tmp_path, notes, modelPath=str(path), **LONG) as running:
        ask_until(running, "failed")
        path.write_bytes(fast.read_bytes())
        assert ask_until(running, "ok")["health"]["complete"]
        eventually(lambda: not running.degraded())
