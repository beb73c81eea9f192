"""Tries an embedding model in a worker of its own. Imports numpy and the worker, so only `models verify` does."""

import asyncio
import os
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import click

from memoryd.cli.invocation import Invocation
from memoryd.cli.terminal import styled
from memoryd.config.providers import LocalSection
from memoryd.embed.calibration import Pair, Verification
from memoryd.embed.calibration import verify as embed_known_pairs
from memoryd.embed.local.local_model import LlamaWorker
from memoryd.errors import MemorydError
from memoryd.wire import Exit

REAP_SECONDS = 5.0


def check(model: Path, local: LocalSection) -> Verification:
    """Embed known pairs with `model`. Raises ModelError if the file is no model, EmbeddingError if it fails."""
    worker = LlamaWorker.of(
        model,
        threads=local.threads or max(1, (os.cpu_count() or 1) // 2),
        idle_unload=timedelta(0),
        context=local.context_size,
        query_timeout=timedelta(seconds=120),  # nobody waits for an answer here, and a large model loads slowly
    )
    return asyncio.run(_measure(worker))


def print_check(invocation: Invocation, spec: str, verification: Verification) -> Exit:
    """Print cosines and verdict; return exit code 1 if the model is refused."""
    if invocation.is_json:
        invocation.print_json(
            {
                "spec": spec,
                "ok": verification.ok,
                "reason": verification.reason,
                "pairs": [_as_json(pair) for pair in verification.pairs],
            }
        )
    else:
        click.echo("   own  stranger")
        for pair in verification.pairs:
            click.echo(_line(pair))
        verdict = styled("ok", colour="green") if verification.ok else styled("refused", colour="red")
        click.echo(f"{verdict}: {verification.reason}")
    return Exit.DONE if verification.ok else Exit.ERROR


async def _measure(worker: LlamaWorker) -> Verification:
    outcome: Verification | MemorydError
    async with asyncio.TaskGroup() as group:
        running = group.create_task(worker.run())
        try:
            await worker.warm()
            outcome = await embed_known_pairs(worker)
        except MemorydError as exc:
            outcome = exc  # raised below: the group would wrap it
            await _reaped(worker)
        finally:
            running.cancel()
    if isinstance(outcome, MemorydError):
        raise outcome
    return outcome


async def _reaped(worker: LlamaWorker) -> None:
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
