"""Tries an embedding model in a worker of its own. Imports numpy and the worker, so only `models verify` does."""

import asyncio
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from msgspec import Struct

from memoryd.cli.invocation import Invocation
from memoryd.cli.terminal import count, styled
from memoryd.config.providers import LocalSection
from memoryd.embed.calibration import Pair, Verification, speed_of
from memoryd.embed.calibration import verify as embed_known_pairs
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.errors import MemorydError
from memoryd.wire import Exit

REAP_SECONDS = 5.0


class Trial(Struct, frozen=True):
    """What came of trying a model; `speed` in everyday passages a second, None where it was not measured."""

    verification: Verification
    threads: int
    speed: float | None = None


def check(model: Path, local: LocalSection, *, is_timed: bool = False) -> Trial:
    """Embed known pairs with `model`, and if it is fit others against the clock (a few seconds).

    Raises ModelError if the file is no model, EmbeddingError if it fails.
    """
    threads = local.threads or max(1, (os.cpu_count() or 1) // 2)
    worker = LlamaWorker.of(
        model,
        threads=threads,
        idle_unload=timedelta(0),
        context=local.context_size,
        gpu_layers=local.gpu_layers,
        query_timeout=timedelta(seconds=120),  # nobody waits for an answer here, and a large model loads slowly
    )
    verification, speed = asyncio.run(_measure(worker, is_timed=is_timed))
    return Trial(verification, threads, speed)


def print_check(invocation: Invocation, spec: str, trial: Trial) -> Exit:
    """Print cosines, speed and verdict; return exit code 1 if the model is refused."""
    verification = trial.verification
    is_ok, pairs = verification.ok, verification.pairs
    reply = {"spec": spec, "ok": is_ok, "reason": verification.reason, "pairs": list(map(_as_json, pairs))}
    reply |= {"passagesPerSecond": trial.speed and round(trial.speed, 1), "threads": trial.threads}
    verdict = styled("ok", colour="green") if is_ok else styled("refused", colour="red")
    lines = ["   own  stranger", *map(_line, pairs), f"{verdict}: {verification.reason}"]
    if trial.speed:
        lines.append(f"{trial.speed:.0f} everyday passages a second, with {count(trial.threads, 'thread')}")
    return invocation.show(reply, lines, code=Exit.DONE if is_ok else Exit.ERROR)


async def _measure(worker: LlamaWorker, *, is_timed: bool) -> tuple[Verification, float | None]:
    outcome: tuple[Verification, float | None] | MemorydError
    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        try:
            await worker.warm()
            verification = await embed_known_pairs(worker)
            outcome = verification, await speed_of(worker) if is_timed and verification.ok else None
        except MemorydError as exc:
            outcome = exc  # raised below: the group would wrap it
            await _reap(worker)
        finally:
            running.cancel()
    if isinstance(outcome, MemorydError):
        raise outcome
    return outcome


async def _reap(worker: LlamaWorker) -> None:
    """Wait for the failed child to be gone: cancelled while it is being stopped, it would outlive the loop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(REAP_SECONDS):
            while worker.state().pid is not None:  # noqa: ASYNC110  (the worker has no event to wait for)
                await asyncio.sleep(0.01)


def _line(pair: Pair) -> str:
    mark = " " if pair.is_first else styled("!", colour="red")
    return f"{mark} {pair.cosine:4.2f}      {pair.nearest_stranger:4.2f}  {pair.question} → {pair.answer}"


def _as_json(pair: Pair) -> dict[str, object]:
    return {
        "language": pair.language,
        "question": pair.question,
        "answer": pair.answer,
        "cosine": round(pair.cosine, 4),
        "nearestStranger": round(pair.nearest_stranger, 4),
    }
