"""What an answer is worth, as exit code and in words, and what it lacks: arms, files and vectors still to come."""

from collections.abc import Iterator

import click
from msgspec import Struct

from memoryd.cli.terminal import count
from memoryd.replies.search import SearchHealth
from memoryd.wire import Exit

strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 4 if a configured part did not take part in the answer."
)
WHY = "docs/explanation/why-recalled.md says what each reason means, and what changes it"
"""Stands behind explained answers."""
ARM_STATES = {
    "off": "did not take part",
    "partial": "took part with what it has",
    "timeout": "was too slow",
    "waiting": "was not ready",
    "failed": "failed",
}


class AnswerWorth(Struct, frozen=True):
    """What an answer of the daemon is worth to who asked; the same for notes, memories and conversations.

    `took_part` tells whether any arm did: if none did, and nothing is found, nobody knows what the memory holds.
    """

    verdict: str
    reason: str | None
    health: SearchHealth
    is_found: bool
    took_part: bool

    @property
    def is_unanswered(self) -> bool:
        """Whether the question got no answer, which is another thing than the answer that there is nothing."""
        return not self.took_part and not self.is_found

    def exit_code(self, *, is_strict: bool) -> Exit:
        """Return the exit code; `is_strict` tells that an answer without a configured part is none."""
        if self.is_unanswered:
            return Exit.ERROR
        if is_strict and not self.health["complete"]:
            return Exit.INCOMPLETE
        return Exit.NOTHING_FOUND if self.verdict == "none" else Exit.DONE

    def notes(self, noun: str) -> Iterator[str]:
        """Yield what to think of the answer, unless it holds what was asked; `noun` is what it consists of."""
        if self.is_unanswered:
            yield f"no answer: {self.reason or 'no arm took part'}"
        elif not self.is_found:
            yield f"nothing found: {self.reason or f'no {noun} matches'}"
        elif self.verdict == "none":
            yield f"nothing answers: {self.reason or 'this is only the nearest'}"
        elif self.verdict == "weak":
            yield f"only weak matches: {self.reason or 'the answer may not be among them'}"


def took_part(health: SearchHealth) -> bool:
    """Tell whether any arm took part, wholly or with what it has."""
    return any(arm["state"] in ("ok", "partial") for arm in health["arms"].values())


def lacking(health: SearchHealth) -> Iterator[str]:
    """Yield what an answer lacks."""
    if not health["complete"]:
        yield from _missing_parts(health)
    if health["pendingFiles"]:
        yield f"{count(health['pendingFiles'], 'file')} not yet indexed"
    if health["pendingEmbeddings"] and not _is_told(health):
        yield f"{count(health['pendingEmbeddings'], 'passage')} not yet found by meaning, only by words"


def _missing_parts(health: SearchHealth) -> Iterator[str]:
    missing = [(name, arm) for name, arm in health["arms"].items() if arm["state"] != "ok"]
    for name, arm in missing:
        words = ARM_STATES.get(arm["state"], arm["state"])
        yield f"the {name} arm {words}: {arm.get('reason') or 'no reason given'}"
    if not missing and not health["pendingFiles"]:
        yield "the answer is not complete: see memoryctl status"


def _is_told(health: SearchHealth) -> bool:
    vector = health["arms"].get("vector")
    return vector is not None and vector["state"] != "ok" and not health["complete"]
