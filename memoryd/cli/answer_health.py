"""What an answer lacks, in words: arms that did not take part, files and vectors that are still to come."""

from collections.abc import Iterator

from memoryd.cli.terminal import count
from memoryd.replies.search import SearchHealth

ARM_STATES = {
    "off": "did not take part",
    "partial": "took part with what it has",
    "timeout": "was too slow",
    "waiting": "was not ready",
    "failed": "failed",
}


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
