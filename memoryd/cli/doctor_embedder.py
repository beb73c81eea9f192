"""The part of `memoryctl doctor` about the provider of embeddings: is it there, how fast, and does it tell texts apart.

Asks the provider itself, with sentences of its own; no note is sent.
"""

import os
import statistics
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from memoryd.cli.doctor import Finding
from memoryd.config.providers import ModelsSection
from memoryd.config.root import Config
from memoryd.embed.choice import EmbedderPlan, plan_for
from memoryd.embed.local.local_embedding import LocalSettings
from memoryd.embed.local.local_model import NO_LLAMA, model_file
from memoryd.embed.protocol import Embedder
from memoryd.embed.remote.api_keys import KeySources
from memoryd.embed.remote.credentials import credentials_of
from memoryd.embed.remote.gate import EndpointGate
from memoryd.embed.remote.remote_settings import RemoteSettings
from memoryd.embed.verify import verify
from memoryd.errors import MemorydError
from memoryd.models.store import ModelStore

QUESTIONS: Final = ("where is the key?", "who was at the meeting?", "what does the cat eat?")
SLOW_MS: Final = 1500.0
"""Half of the time that a question's vector has."""


async def checks(config: Config) -> Sequence[Finding]:
    """Look at the provider of every agent, and at the one that stands in for it; equal ones once."""
    found: list[Finding] = []
    seen = set()
    for agent in config.resolved_agents():
        store = ModelStore.configured(agent.memory_search.local, os.environ)
        plan = plan_for(agent, config.models, store=store, environment=os.environ, home=Path.home())
        if plan not in seen:
            seen.add(plan)
            found.append(Finding("embeddings", "ok" if plan.first else "off", plan.choice.rule))
            found += await _of_plan(plan, config.models, store)
    return found


async def _of_plan(plan: EmbedderPlan, models: ModelsSection, store: ModelStore) -> list[Finding]:
    found: list[Finding] = []
    for part, settings in (("provider", plan.first), ("fallback", plan.second)):
        if isinstance(settings, LocalSettings):
            found.append(_of_local(part, settings, store))
        elif settings is not None:
            found += await _of_remote(part, settings, KeySources(models, os.environ, plan.profiles))
    return found


def _of_local(part: str, settings: LocalSettings, store: ModelStore) -> Finding:
    try:
        path = store.locate(model_file(settings.spec))
    except MemorydError as exc:
        return Finding(part, "wrong", str(exc), exc.hint)
    if find_spec("llama_cpp") is None:
        return Finding(part, "wrong", NO_LLAMA)
    if path is None:
        return Finding(part, "wrong", f"the model {settings.spec} is not here", "fetch it: memoryctl models pull")
    return Finding(part, "ok", f"local model {path}", "try it: memoryctl models verify")


async def _of_remote(part: str, settings: RemoteSettings, keys: KeySources) -> list[Finding]:
    # httpx takes 70 ms to import, and a local model needs none
    from memoryd.embed.remote.opening import open_remote

    name = f"{settings.provider} at {settings.destination}"
    try:
        embedder = await open_remote(settings, credentials_of(settings, keys), EndpointGate())
    except (MemorydError, OSError) as exc:
        advice = exc.hint if isinstance(exc, MemorydError) else ""
        return [Finding(part, "wrong", f"{name}: {exc}", advice or _advice(settings))]
    try:
        return [await _speed(part, name, embedder), await _sense(part, name, embedder)]
    except MemorydError as exc:
        return [Finding(part, "wrong", f"{name}: {exc}", exc.hint or _advice(settings))]
    finally:
        await embedder.aclose()


async def _speed(part: str, name: str, embedder: Embedder) -> Finding:
    took = []
    for question in QUESTIONS:
        began = time.monotonic()
        await embedder.embed_query(question)
        took.append((time.monotonic() - began) * 1000)
    identity, median = embedder.identity, statistics.median(took)
    message = f"{name}: {identity.model}, {identity.dimensions} dimensions, {median:.0f} ms a question"
    if median > SLOW_MS:
        return Finding(
            part, "wrong", message, "too slow to answer in time: choose a nearer endpoint or a smaller model"
        )
    return Finding(part, "ok", message)


async def _sense(part: str, name: str, embedder: Embedder) -> Finding:
    verification = await verify(embedder)
    message = f"{name}: {verification.reason}"
    if verification.ok:
        return Finding(f"{part} sense", "ok", message)
    return Finding(
        f"{part} sense", "wrong", message, "check memorySearch.model and the instructions, or choose another"
    )


def _advice(settings: RemoteSettings) -> str:
    if settings.provider == "ollama":
        return f"start it (ollama serve), and fetch the model (ollama pull {settings.model_name})"
    return "check memorySearch.remote.baseUrl, or choose another provider; keyword search works without one"
