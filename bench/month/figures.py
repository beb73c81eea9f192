"""What a protocol of a month comes to, and told items of it for a reader to judge."""

import random
import re
from collections.abc import Iterator, Sequence
from statistics import mean, quantiles
from typing import Final

from bench.month.days import CORRECTED, NEEDING, STATING, TASK
from bench.month.playing import TIDIED, Row

MARKED: Final = re.compile("supersed|outdated|earlier|disput|contradict|disagree")
"""What a bundle says of a fact that may no longer hold."""


def summary(rows: Sequence[Row]) -> dict[str, str]:
    """Return the figures, each by its name."""
    told = [row for row in rows if "items" in row]
    talk = [row for row in told if row["kind"] not in (*NEEDING, *STATING)]
    corrected = [row for row in told if row["kind"] == CORRECTED]
    took = quantiles([row["tookMs"] for row in told], n=100)
    days = [row for row in rows if row["kind"] == TIDIED]
    late = [row["day"] for row in days][-len(days) // 3 :]
    stale = [_stale(row) for row in corrected]
    return {
        "messages": str(len(told)),
        "talk: recalled part empty": _share(not row["items"] for row in talk),
        "talk: characters": f"{mean(row['characters'] for row in talk):.0f}",
        "stable block: characters": f"{mean([len(row['stable']) for row in told if 'stable' in row] or [0]):.0f}",
        "items of a bundle": f"{mean(len(row['items']) for row in told):.2f}",
        "items that tell of a session": _share(
            "session" in item.get("about", "").split(", ") for row in told for item in row["items"]
        ),
        "items where there are any": f"{mean([len(row['items']) for row in told if row['items']] or [0]):.2f}",
        **{
            f"{kind}: all wanted told": _share(_has_all(row) for row in told if row["kind"] == kind) for kind in NEEDING
        },
        f"{TASK}: all wanted told in the last third": _share(
            _has_all(row) for row in told if row["kind"] == TASK and row["day"] in late
        ),
        "corrected: stale told unmarked": _share(bool(unmarked) for unmarked, _ in stale),
        "corrected: stale told, marked": _share(bool(marked) for _, marked in stale),
        "stated or corrected: queued for capture": _share(
            row["capture"] == "queued" for row in told if row["kind"] in STATING
        ),
        "memories new": str(sum(len(row["new"]) for row in days)),
        "promoted to core": str(sum(len(row["promoted"]) for row in days)),
        "left core": str(sum(len(row["left"]) for row in days)),
        "ms p50, p95": f"{took[49]:.0f}, {took[94]:.0f}",
    }


def _share(claims: Iterator[bool]) -> str:
    known = list(claims)
    return f"{mean(known):.2f} of {len(known)}" if known else "of 0"


def _has_all(row: Row) -> bool:
    texts = [row["stable"].lower(), *(item["text"].lower() for item in row["items"])]
    return all(any(text.lower() in one for one in texts for text in group) for group in row["want"])


def _stale(row: Row) -> tuple[list[str], list[str]]:
    """Return what has the value of before and not the one of now: what is told unmarked, and what is marked."""
    unmarked, marked = list[str](), list[str]()
    for item in [*row["items"], *({"text": line} for line in row["stable"].splitlines())]:
        text = item["text"].lower()
        if row["stale"].lower() in text and not any(one.lower() in text for group in row["want"] for one in group):
            said = " ".join(value for name, value in item.items() if name != "source")
            (marked if MARKED.search(said) else unmarked).append(text)
    return unmarked, marked


def sample(rows: Sequence[Row], count: int, seed: int) -> Iterator[str]:
    """Yield told items with their messages, drawn from all that were told, for a reader to judge line by line."""
    told = [(row, item) for row in rows for item in row.get("items", ())]
    drawn = random.Random(seed).sample(told, k=min(count, len(told)))
    for at, (row, item) in enumerate(drawn, 1):
        said = "; ".join(f"{name}: {value}" for name, value in item.items() if name not in ("text", "source"))
        yield f"{at}. {row['day']} {row['person']} {row['kind']}, {row['verdict']}: {row['text']!r}"
        yield f"   told: {item['text']!r} ({said})"
