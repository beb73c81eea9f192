"""The part of `memoryctl doctor` about the ledger: is it sound, ours, and of a version that this memoryd knows."""

from collections.abc import Iterator
from pathlib import Path

from memoryd.cli.checks.examination import Examination
from memoryd.cli.checks.finding import Finding, Looks
from memoryd.cli.terminal import size
from memoryd.errors import ForeignDatabase, StoreError
from memoryd.store.examining import ledger_state

LARGE_BYTES = 256 * 2**20
"""What is held has bounds of its own; so much is never needed."""


def ledger(examination: Examination) -> Iterator[Finding]:
    """Look at the ledger of each agent, shared ones once."""
    for agent in {agent.ledger_path: agent for agent in examination.config.resolved_agents()}.values():
        part = f"ledger of {agent.id}"
        if agent.ledger_path.exists():
            yield from _of(agent.ledger_path, part, is_used=examination.is_in_use)
        else:
            yield Finding(
                part,
                "off",
                f"{agent.ledger_path} is not made yet",
                "memoryd makes it when something is first kept in it",
            )


def _of(path: Path, part: str, *, is_used: bool) -> Iterator[Finding]:
    try:
        state = ledger_state(path, is_used=is_used)
    except ForeignDatabase as exc:
        yield Finding(part, "wrong", str(exc), exc.hint)
        return
    except StoreError as exc:
        hint = "keep a copy of it, then restart memoryd: it is set aside, never deleted, and a new one is begun"
        yield Finding(part, "wrong", f"{path}: {exc}", hint)
        return
    if state.problems:
        hint = "keep a copy of it, then restart memoryd: it is set aside, never deleted, and a new one is begun"
        yield Finding(part, "wrong", f"{path} is damaged: {'; '.join(state.problems)}", hint)
    elif state.version > state.newest:
        message = f"{path} is of a newer memoryd (version {state.version}; this one knows {state.newest})"
        yield Finding(part, "wrong", message, "run the memoryd that wrote it, or a newer one; nothing was changed")
    elif state.version < state.newest:
        message = f"{path} is of version {state.version}, of {state.newest}"
        yield Finding(part, "look", message, "the next start brings it up to date, and keeps a copy")
    elif state.bytes > LARGE_BYTES:
        yield Finding(part, "look", f"{path} takes {size(state.bytes)}", "see what it holds: memoryctl status")
    else:
        yield Finding(part, "ok", f"version {state.version}, {size(state.bytes)}: {path}")
    for old in state.set_aside:
        yield Finding(part, "look", f"a damaged ledger lies at {old}", "look at it, then delete it")


LOOKS: Looks = {"ledger.sound": ledger}
