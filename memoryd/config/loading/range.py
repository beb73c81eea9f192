"""Numbers out of their range: where OpenClaw takes another number, so does memoryd, with a notice.

It takes none where another number would send or delete what its owner did not mean to: a budget of tokens, how much
is kept and for how long, how large a file may be, how long a vector is. Keys that OpenClaw does not have are a mistake
of whoever wrote them, and are told as one.
"""

import json
from typing import Final

from pydantic_core import ErrorDetails

from memoryd.config.loading.key_names import dotted
from memoryd.config.loading.raw import KeyPath, Raw, of_agent, value_at

NEAREST: Final = frozenset(
    {
        *("memory.qmd.update.debounceMs", "memory.qmd.update.startupDelayMs"),
        *("memorySearch.query.minScore", "memorySearch.query.maxResults"),
        *("memorySearch.query.hybrid.vectorWeight", "memorySearch.query.hybrid.textWeight"),
        *("memorySearch.query.hybrid.candidateMultiplier", "memorySearch.query.hybrid.mmr.lambda"),
        *("memorySearch.query.hybrid.temporalDecay.halfLifeDays", "memorySearch.local.contextSize"),
        *("memorySearch.chunking.tokens", "memorySearch.chunking.overlap"),
        *("memorySearch.sync.watchDebounceMs", "memorySearch.sync.intervalMinutes"),
        *("memorySearch.sync.sessions.deltaBytes", "memorySearch.sync.sessions.deltaMessages"),
        *("memorySearch.sync.embeddingBatchTimeoutSeconds", "memorySearch.remote.nonBatchConcurrency"),
        *("memorySearch.remote.batch.concurrency", "memorySearch.remote.batch.pollIntervalMs"),
        "memorySearch.remote.batch.timeoutMinutes",
    }
)
"""`memorySearch` stands for the defaults and for every agent of the list."""
USUAL_IF_LESS: Final = frozenset(
    {
        *("memory.qmd.limits.maxResults", "memory.qmd.limits.maxSnippetChars"),
        *("memory.qmd.limits.maxInjectedChars", "memory.qmd.limits.timeoutMs"),
        *("memory.qmd.update.commandTimeoutMs", "memory.qmd.update.updateTimeoutMs"),
        "memory.qmd.update.embedTimeoutMs",
    }
)
"""Here 0 and less mean the default; the least that is allowed would tell nothing, or always be late."""
BOUNDS: Final = {"greater_than_equal": "ge", "less_than_equal": "le", "greater_than": "gt"}


def brought_into_range(details: ErrorDetails, location: KeyPath, raw: Raw) -> str | None:
    """Change a number in the file that may be another one, and return the notice of it; None if it may not be."""
    name = ".".join(map(str, of_agent(location) or location))
    holder, value, kind = value_at(raw, location[:-1]), details["input"], details["type"]
    if name not in NEAREST | USUAL_IF_LESS or not isinstance(holder, dict) or not isinstance(value, int | float):
        return None
    key, where = str(location[-1]), f"{dotted(location)}: {json.dumps(value)}"
    if kind == "finite_number" or kind == "greater_than" or (kind == "greater_than_equal" and name in USUAL_IF_LESS):
        del holder[key]
        return f"{where} is out of range, the default is used"
    if kind not in BOUNDS:
        return None
    bound = details["ctx"][BOUNDS[kind]]
    holder[key] = int(bound) if bound == int(bound) else bound
    return f"{where} is out of range, {holder[key]} is used"
