"""The part of `memoryctl doctor` about the reranker: is its file here, whole, and one that ranks. Loads nothing."""

import os
from collections.abc import Iterator
from typing import Final

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.config.agents import Agent
from memoryd.models.families import RERANKING, Reranker, inspect_reranker
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
    from memoryd.cli.checks.model_here import model_finding

    return model_finding(PART, store, source, inspect_reranker, _told)


def _told(found: Reranker) -> str:
    return f"{found.name} ({found.family}), {found.context} tokens"


LOOKS: Looks = {"reranker.file": reranker}
