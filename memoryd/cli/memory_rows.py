"""How memories are shown one by one."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from memoryd.cli.listing import SHORT_ID
from memoryd.cli.terminal import behind_gutter, count, harmless_line, styled
from memoryd.domain.memories.tiers import FREQUENCY_SHARE, IMPORTANCE_SHARE, OFTEN, RECENCY_SHARE
from memoryd.replies.knowledge import NearCopiesReply
from memoryd.replies.memories import (
    MemoryDecayReply,
    MemoryDocumentReply,
    MemoryStatsReply,
    MemoryWhyReply,
    RelevanceTermsReply,
)

SHOWN = 120
"""Characters of a memory on one line."""
SHOWN_PAIRS = 10


def memory_line(one: MemoryDocumentReply) -> str:
    """Return a memory on one line."""
    told = " · ".join([one["tier"], one["kind"], harmless_line(one["scope"]), *(["pinned"] if one["pinned"] else [])])
    text = harmless_line(" ".join(one["text"].split()))
    names = " ".join(f"@{harmless_line(name)}" for name in one["entities"])
    said = f"{names}: {text}" if names else text
    shown = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    score = [styled(f"{one['score']:.2f}", colour="green")] if one["score"] is not None else []
    return "  ".join([styled(one["id"][:SHORT_ID], bold=True), *score, styled(told, dim=True), shown])


def document_lines(one: MemoryDocumentReply) -> Iterator[str]:
    """Yield all that is known of a memory."""
    yield f"{styled(one['id'], bold=True)}  {harmless_line(one['citation'])}"
    for line in one["text"].split("\n"):
        yield behind_gutter(line, is_marked=False)
    told = {
        "kind": f"{one['kind']} ({one['network']})",
        "scope": harmless_line(one["scope"]),
        "about": ", ".join(map(harmless_line, one["entities"])),
        "tags": ", ".join(map(harmless_line, one["tags"])),
        "tier": one["tier"] + (", pinned" if one["pinned"] else ""),
        "importance": f"{one['importance']:g}",
        "relevance": f"{one['relevance']:.2f}",
        "used": f"{count(one['access_count'], 'time')}, last on {_day(one['accessed_at'])}"
        if one["access_count"]
        else "never",
        "written": _day(one["created_at"]),
        "newer": ", ".join(key[:SHORT_ID] for key in one["superseded_by"]),
        "lines": ", ".join(map(harmless_line, one["sources"])),
    }
    yield from (f"  {name:<10}  {value}" for name, value in told.items() if value)


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at).astimezone():%Y-%m-%d}"


def status_lines(reply: MemoryStatsReply) -> Iterator[str]:
    """Yield how many memories there are."""
    yield f"{count(reply['total'], 'memory', 'memories')}, {reply['pinned']:,} pinned"
    parts = (("tier", reply["by_tier"]), ("kind", reply["by_kind"]), ("scope", reply["by_scope"]))
    for name, counted in parts:
        for key, number in sorted(counted.items(), key=lambda pair: -pair[1]):
            yield f"  {name:<6} {harmless_line(key):<24} {number:>6,}"
    yield from pair_lines(reply["near_copies"], "say nearly the same")
    yield from pair_lines(reply["across_scopes"], "say the same in several scopes")


def pair_lines(pairs: Sequence[NearCopiesReply], what: str) -> Iterator[str]:
    """Yield how many pairs of memories there are of which one may be needless, and the first of them by their ids."""
    if pairs:
        yield f"{count(len(pairs), 'pair')} of memories {what}"
    yield from (f"  {pair['newer'][:8]}  {pair['older'][:8]}" for pair in pairs[:SHOWN_PAIRS])
    if len(pairs) > SHOWN_PAIRS:
        yield f"  … and {len(pairs) - SHOWN_PAIRS} more"


def _term_lines(terms: RelevanceTermsReply) -> Iterator[str]:
    """Yield the terms of a relevance, as its formula has them."""
    yield f"  {terms['tier']}: {terms['reason']}"
    yield (
        f"  recency     {terms['recency']:.3f}  exp(-ln 2 / {terms['half_life_days']:.1f} days"
        f" * {terms['age_days']:.1f} days ^ {terms['beta']:g})"
    )
    yield f"  frequency   {terms['frequency']:.3f}  1 - exp(-{terms['access_count']} / {OFTEN})"
    yield f"  importance  {terms['importance']:.3f}"
    yield (
        f"  composite   {terms['composite']:.3f}  {RECENCY_SHARE:g} * recency + {FREQUENCY_SHARE:g} * frequency"
        f" + {IMPORTANCE_SHARE:g} * importance"
    )
    yield f"  relevance   {terms['relevance']:.3f}  at least {terms['floor']:g} in this tier"


def why_lines(reply: MemoryWhyReply) -> Iterator[str]:
    """Yield a memory, and every term of its relevance."""
    yield memory_line(reply["memory"])
    yield from _term_lines(reply["terms"])


def decay_lines(reply: MemoryDecayReply) -> Iterator[str]:
    """Yield how memories will stand."""
    for one in reply["memories"]:
        now, then = one["memory"], one["terms"]
        moved = f"{now['relevance']:.2f} -> {then['relevance']:.2f}"
        tier = f"  {now['tier']} -> {then['tier']}: {then['reason']}" if now["tier"] != then["tier"] else ""
        yield f"{moved}{tier}  {memory_line(now)}"
    told = count(reply["total"], "memory", "memories")
    yield f"in {reply['days']:g} days, if nobody touches them: {reply['moving']:,} of {told} in another tier"
