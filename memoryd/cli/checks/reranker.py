"""The part of `memoryctl doctor` about the reranker: is its file here, whole, and one that ranks. Loads nothing."""

import os
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.config.resolved import Agent
from memoryd.embed.local.local_model import NO_LLAMA, model_file
from memoryd.errors import MemorydError
from memoryd.models.model_use import RERANKING
from memoryd.models.rerankers import inspect_reranker
from memoryd.models.store import ModelStore

PART: Final = "reranker"


def reranker(examination: Examination) -> Iterator[Finding]:
    """Look at the file of every reranker that is configured; equal ones once."""
    wanted = {
        agent.memory_search.query.rerank.model_path: agent
        for agent in examination.config.resolved_agents()
        if agent.memory_search.query.rerank.model_path is not None and agent.memory_search.enabled
    }
    if not wanted:
        yield Finding(PART, "off", "query.rerank.modelPath names no model")
    for source, agent in wanted.items():
        yield _of(str(source), agent)


def _of(source: str, agent: Agent) -> Finding:
    store = ModelStore.configured(agent.memory_search.local, os.environ, use=RERANKING)
    try:
        path = store.locate(model_file(source, key=store.key))
        if path is None:
            hint = f"correct {store.key}, or fetch the model: memoryctl models pull"
            return Finding(PART, "wrong", f"the model {source} is not here", hint)
        found = inspect_reranker(path)
    except MemorydError as exc:
        return Finding(PART, "wrong", str(exc), exc.hint)
    if find_spec("llama_cpp") is None:
        return Finding(PART, "wrong", NO_LLAMA)
    return Finding(PART, "ok", f"{found.name} ({found.family}), {found.context} tokens: {path}")


LOOKS: Looks = {"reranker.file": reranker}
