"""Checks of doctor for models: the provider of embeddings, the reranker, the text model, and qmd.

Providers of embeddings are tested with fixed sentences, never with notes; a provider on another machine may cost money,
and is asked only with `--ask-providers`. For the reranker and the text model only the file or the key is checked.
"""

import asyncio
import os
import re
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from memoryd.cli.checks.finding import CheckContext, Finding, Findings, Remedy, check, with_part
from memoryd.config.loading.exposure import is_this_machine
from memoryd.config.providers import LlmSection
from memoryd.config.root import Config
from memoryd.domain.embedding import PROVIDERS
from memoryd.embed.calibration import Verification, verify
from memoryd.embed.choice import EmbedderPlan, plan_for
from memoryd.embed.local.local_model import NO_LLAMA, LocalSettings, model_file
from memoryd.embed.protocol import Embedder
from memoryd.embed.remote.breaker import EndpointBreaker
from memoryd.embed.remote.settings import KeySources, RemoteSettings, credentials_of, open_credentials
from memoryd.errors import ConfigError, MemorydError, ModelError, SidecarError
from memoryd.llm.writing import OWN_KEY, PROVIDER, access_of, why_unopened
from memoryd.models.families import (
    RERANKING,
    WRITING,
    inspect,
    inspect_chat_model,
    inspect_reranker,
)
from memoryd.models.gguf import content_hash, hash_file
from memoryd.models.source import UrlSource, parse
from memoryd.models.store import ModelStore
from memoryd.qmd.program import QmdHome, QmdInstallation
from memoryd.qmd.query import first_error

QUESTIONS = ("where is the key?", "who was at the meeting?", "what does the cat eat?")
FETCH_AGAIN = "fetch it again: memoryctl models remove, then memoryctl models pull"
BAD_SENSE = "check memorySearch.model and the instructions, or choose another"
SLOW_MS = 1500.0
"""Half of the time limit for the vector of a question."""


@check(
    "embedder.provider",
    "embeddings",
    advice="fetch the model (`memoryctl models pull`), or correct `memorySearch.remote` and the key",
    seconds=90,
)
def provider(examination: CheckContext) -> Findings:
    """Check the provider of vectors: the file of a local model, or the answers of a provider to fixed sentences, never
    notes. A provider on another machine is asked only with `--ask-providers`, because that may cost some tokens."""
    checked = set()
    for plan, store in _plans(examination.config):
        if plan not in checked:
            checked.add(plan)
            yield Finding("ok" if plan.first else "off", plan.choice.rule)
            yield from _plan_findings(plan, examination, store)


@check(
    "embedder.file",
    "model",
    advice="fetch it again: `memoryctl models remove`, `memoryctl models pull`; `--fix` does, after asking",
)
def model_files(examination: CheckContext) -> Findings:
    """Check the file of the local embedding model: its header, and whether it is complete; `--deep`: its hash, and
    whether its vectors distinguish texts."""
    local = {
        (settings.spec, store.folder): (settings, store)
        for plan, store in _plans(examination.config)
        for settings in (plan.first, plan.second)
        if isinstance(settings, LocalSettings)
    }
    if not local:
        yield Finding("off", "no local model makes vectors")
    for settings, store in local.values():
        yield from _model_file_findings(settings, store, examination)


def _plans(config: Config) -> Iterator[tuple[EmbedderPlan, ModelStore]]:
    for agent in config.resolved_agents():
        store = ModelStore.from_config(agent.memory_search.local, os.environ)
        yield plan_for(agent, config.models, store=store, environment=os.environ, home=Path.home()), store


def _plan_findings(plan: EmbedderPlan, examination: CheckContext, store: ModelStore) -> Findings:
    for part, settings in (("provider", plan.first), ("fallback", plan.second)):
        if isinstance(settings, LocalSettings):
            finding = model_finding(store, settings.spec, "local model {}".format, "try it: memoryctl models verify")
            yield from with_part(part, finding)
        elif settings is not None:
            keys = KeySources(examination.config.models, os.environ, plan.profiles)
            if examination.asks_providers or is_this_machine(urlsplit(settings.base_url).hostname or ""):
                yield from with_part(part, *asyncio.run(_remote_findings(part, settings, keys)))
            else:
                yield from with_part(part, _unasked_finding(settings, keys))


def _unasked_finding(settings: RemoteSettings, keys: KeySources) -> Finding:
    try:
        credentials_of(settings, keys)
    except (MemorydError, OSError) as exc:
        return _refusal_finding(settings, exc)
    hint = "send a few fixed sentences, which may cost some tokens: memoryctl doctor --ask-providers"
    return Finding("off", f"{_name(settings)}: not asked, because it is not on this machine", hint)


def _model_file_findings(settings: LocalSettings, store: ModelStore, examination: CheckContext) -> Findings:
    try:
        path = store.locate(model_file(settings.spec))
        if path is None:
            yield Finding("off", f"the model {settings.spec} is not here")
            return
        model = inspect(path)
        changed = _why_changed(path, settings, store) if examination.is_deep else ""
    except MemorydError as exc:
        yield Finding("wrong", str(exc), exc.hint or FETCH_AGAIN, _refetch(settings, store))
        return
    if changed:
        yield Finding("wrong", f"{path} {changed}", FETCH_AGAIN, _refetch(settings, store))
        return
    yield Finding("ok", f"{model.name or path.name} ({model.architecture}), {model.dimensions} dimensions")
    if examination.is_deep and find_spec("llama_cpp") is not None:
        yield _try_model(path, examination)


def _why_changed(path: Path, settings: LocalSettings, store: ModelStore) -> str:
    """Return which known hash of a model file differs from its content, in words; empty if none does."""
    real, source = path.resolve(), parse(model_file(settings.spec))
    digest = hash_file(real)
    if isinstance(source, UrlSource) and source.sha256 and digest != source.sha256:
        return f"has the hash {digest}, not the one in {store.key}"
    # the names of blobs in the shared cache of Hugging Face are their hashes
    if re.fullmatch("[0-9a-f]{64}", real.name) and digest != real.name:
        return f"has the hash {digest}, not that of its name"
    if digest != content_hash(real, cache_dir=store.folder):
        return "differs from when it was first used, though its time did not change: the disk is at fault"
    return ""


def _try_model(path: Path, examination: CheckContext) -> Finding:
    # imported here: it loads numpy and the worker
    from memoryd.cli.local.models import check as check_model

    trial = check_model(path, examination.agents[0].memory_search.local)
    return _sense_finding(trial.verification, "", "model sense", "choose another model: docs/how-to/models.md")


def _refetch(settings: LocalSettings, store: ModelStore) -> Remedy | None:
    spec = model_file(settings.spec)
    if not any(model.spec == spec for model in store.list()):
        return None

    def act() -> str:
        store.remove(spec)
        return f"fetched {asyncio.run(store.fetch(spec, lambda _progress: None))}"

    return Remedy(f"delete the model {spec} and fetch it again", act, needs_consent=True)


async def _remote_findings(part: str, settings: RemoteSettings, keys: KeySources) -> list[Finding]:
    # imported here: httpx takes 70 ms to import, and a local model does not need it
    from memoryd.embed.remote.embedder import open_remote

    try:
        embedder = await open_remote(settings, credentials_of(settings, keys), EndpointBreaker())
    except (MemorydError, OSError) as exc:
        return [_refusal_finding(settings, exc)]
    try:
        speed, verification = await _speed_finding(_name(settings), embedder), await verify(embedder)
        return [speed, _sense_finding(verification, f"{_name(settings)}: ", f"{part} sense", BAD_SENSE)]
    except MemorydError as exc:
        return [_refusal_finding(settings, exc)]
    finally:
        await embedder.aclose()


async def _speed_finding(name: str, embedder: Embedder) -> Finding:
    took = []
    for question in QUESTIONS:
        began = time.monotonic()
        await embedder.embed_query(question)
        took.append((time.monotonic() - began) * 1000)
    identity, median = embedder.identity, statistics.median(took)
    message = f"{name}: {identity.model}, {identity.dimensions} dimensions, {median:.0f} ms a question"
    if median > SLOW_MS:
        return Finding("wrong", message, "too slow to answer in time: choose a nearer endpoint or a smaller model")
    return Finding("ok", message)


def _sense_finding(result: Verification, name: str, part: str, advice: str) -> Finding:
    return Finding("ok" if result.ok else "wrong", f"{name}{result.reason}", "" if result.ok else advice, part=part)


def _name(settings: RemoteSettings) -> str:
    return f"{settings.provider} at {settings.destination}"


def _refusal_finding(settings: RemoteSettings, error: MemorydError | OSError) -> Finding:
    hint = error.hint if isinstance(error, MemorydError) else ""
    advice = PROVIDERS[settings.provider].advice.format(model=settings.model_name)
    return Finding("wrong", f"{_name(settings)}: {error}", hint or advice)


@check(
    "llm.access",
    "text model",
    advice="correct `memory.llm`; everything else works without it",
)
def text_model(examination: CheckContext) -> Findings:
    """Check the file of the text model, or the key of its endpoint, to which nothing is sent."""
    llm = examination.config.memory.llm
    if llm.provider == "none":
        yield Finding("off", "memory.llm names no provider")
        return
    if llm.provider == "local":
        # all agents share the model, which is in the model folder of the first agent
        store = ModelStore.from_config(examination.agents[0].memory_search.local, os.environ, use=WRITING)
        yield model_finding(store, llm.model or "", _describe_chat_model)
    else:
        yield _endpoint_finding(llm, examination.config)


def _describe_chat_model(path: Path) -> str:
    model = inspect_chat_model(path)
    form = "" if model.has_template else ", without a chat template"
    return f"{model.name} ({model.architecture}), {model.context} tokens{form}: {path}"


def _endpoint_finding(llm: LlmSection, config: Config) -> Finding:
    access = access_of(llm, config.models)
    try:
        has_key = bool(open_credentials(PROVIDER, access, KeySources(config.models, os.environ), OWN_KEY).api_key)
    except (ConfigError, ModelError) as exc:
        return Finding("wrong", why_unopened(exc), f"correct {OWN_KEY}")
    key = "with a key" if has_key else "without a key"
    return Finding("ok", f"{llm.model} at {access.destination}, {key}: memories and messages are sent there")


def model_finding(store: ModelStore, source: str, describe: Callable[[Path], str], hint: str = "") -> Finding:
    """Return the finding about the model file that `source` names; `describe` may raise MemorydError if it is wrong."""
    try:
        spec = model_file(source, key=store.key)
        path = store.locate(spec)
        if find_spec("llama_cpp") is None:
            return Finding("wrong", NO_LLAMA)
        if path is None:
            return Finding("wrong", f"the model {source} is not here", store.remedy(spec))
        return Finding("ok", describe(path), hint)
    except MemorydError as exc:
        return Finding("wrong", str(exc), exc.hint)


@check(
    "qmd.usable",
    "qmd",
    advice="`npm install -g @tobilu/qmd`, with the Node that runs it; until then the builtin index answers",
    seconds=90,
)
def qmd(examination: CheckContext) -> Sequence[Finding]:
    """Check whether qmd, if it is the backend, is installed, recent enough, and opens its database."""
    memory = examination.config.memory
    if memory.backend != "qmd":
        return [Finding("off", "memory.backend is builtin")]
    with tempfile.TemporaryDirectory(prefix="memoryd-doctor-") as folder:
        installation = QmdInstallation(command=memory.qmd.command, home=QmdHome(Path(folder)), query_seconds=4)
        return asyncio.run(_qmd_findings(installation))


async def _qmd_findings(installation: QmdInstallation) -> list[Finding]:
    try:
        program = await installation.resolve()
    except SidecarError as exc:
        return [Finding("wrong", str(exc), exc.hint)]
    installation.home.prepare()
    try:
        outcome = await installation.run("status", seconds=30.0)
    except SidecarError as exc:
        database = Finding("wrong", str(exc))
    else:
        database = Finding("ok", "can be made and opened")
        if outcome.code:
            why = first_error(outcome.stderr) or outcome.ending
            hint = f"a Node that is too old crashes here: {os.environ.get('PATH', '')} is searched for node"
            database = Finding("wrong", f"qmd status failed: {why}", hint)
    message = f"{program.version} at {program.path}, run as {' '.join(program.command)}"
    return [Finding("ok", message), *with_part("qmd database", database)]


@check(
    "reranker.file",
    "reranker",
    advice="correct the key, or fetch the model: `memoryctl models pull`",
)
def reranker(examination: CheckContext) -> Findings:
    """Check the file of the reranker that `query.rerank.modelPath` names."""
    sources = {
        agent.memory_search.query.rerank.model_path: agent
        for agent in examination.agents
        if agent.memory_search.query.rerank.model_path is not None and agent.memory_search.enabled
    }
    if not sources:
        yield Finding("off", "query.rerank.modelPath names no model")
    for source, agent in sources.items():
        store = ModelStore.from_config(agent.memory_search.local, os.environ, use=RERANKING)
        yield model_finding(store, str(source), _describe_reranker)


def _describe_reranker(path: Path) -> str:
    model = inspect_reranker(path)
    return f"{model.name} ({model.family}), {model.context} tokens: {path}"
