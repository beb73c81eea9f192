"""What an answer is worth, as exit code and in words, and what it lacks: arms, files and vectors still to come."""

from collections.abc import Iterable, Iterator

import click

from memoryd.cli.invocation import argument, found
from memoryd.cli.terminal import count
from memoryd.replies.memories import MemorySearchReply
from memoryd.replies.recall import RecallReply
from memoryd.replies.search import SearchHealth, SearchReply
from memoryd.wire import DEADLINE_MS_MAX, Exit

question_argument = argument(
    "words",
    nargs=-1,
    metavar="QUERY…",
    help='The question, in one word or several; "-": read it from standard input.',
)
deadline_option = click.option(
    "--deadline-ms",
    type=click.IntRange(1, DEADLINE_MS_MAX),
    help="Milliseconds for the answer, which comes by then with what is there (else query.deadlineMs).",
)
strict_option = click.option(
    "--strict", is_flag=True, help="Exit with 4 if a configured part did not take part in the answer."
)
WHY = "docs/explanation/why-recalled.md says what each reason means, and what changes it"
"""Follows explained answers."""
ARM_STATES = {
    "off": "did not take part",
    "partial": "took part with what it has",
    "timeout": "was too slow",
    "waiting": "was not ready",
    "failed": "failed",
}
JudgedReply = SearchReply | RecallReply | MemorySearchReply


def required_question(text: str, example: str) -> str:
    """Return the question of a command line; raises UsageError, with an example, where there is none."""
    if not text.strip():
        raise click.UsageError(f"no question: {example}")
    return text.strip()


def worth(
    answer: JudgedReply, noun: str, *, is_found: bool, is_strict: bool, by: Iterable[str] = ()
) -> tuple[Exit, list[str]]:
    """Return the exit code of an answer, and in words what to think of it, who gave it, and what it lacks.

    `noun` is what it consists of; `is_strict` tells that an answer without a configured part is none. If no arm took
    part and nothing is found, the answer is an error.
    """
    health, verdict, reason = answer["health"], answer["verdict"], answer.get("reason")
    remarks: list[str] = []
    code = Exit.INCOMPLETE if is_strict and not health["complete"] else found(verdict != "none")
    if not is_found and not _took_part(answer):
        code = Exit.ERROR
        remarks = [f"no answer: {reason or 'no arm took part'}"]
    elif not is_found:
        remarks = [f"nothing found: {reason or f'no {noun} matches'}"]
    elif verdict == "none":
        remarks = [f"nothing answers: {reason or 'this is only the nearest'}"]
    elif verdict == "weak":
        remarks = [f"only weak matches: {reason or 'the answer may not be among them'}"]
    return code, [*remarks, *by, *_lacking(health)]


def _took_part(answer: JudgedReply) -> bool:
    """Tell whether any arm took part, wholly or with what it has."""
    if mode := answer.get("mode"):
        return mode != "none"
    return any(arm["state"] in ("ok", "partial") for arm in answer["health"]["arms"].values())


def _lacking(health: SearchHealth) -> Iterator[str]:
    if not health["complete"]:
        missing = [(name, arm) for name, arm in health["arms"].items() if arm["state"] != "ok"]
        for name, arm in missing:
            words = ARM_STATES.get(arm["state"], arm["state"])
            yield f"the {name} arm {words}: {arm.get('reason') or 'no reason given'}"
        if not missing and not health["pendingFiles"]:
            yield "the answer is not complete: see memoryctl status"
    if health["pendingFiles"]:
        yield f"{count(health['pendingFiles'], 'file')} not yet indexed"
    vector = health["arms"].get("vector")
    is_told = vector is not None and vector["state"] != "ok" and not health["complete"]
    if health["pendingEmbeddings"] and not is_told:
        yield f"{count(health['pendingEmbeddings'], 'passage')} not yet found by meaning, only by words"
