"""The figures as the tables of `docs/explanation/conversations.md`."""

from collections.abc import Iterator, Mapping

from bench.followups.gold_found import GoldFound

WAYS = {
    "sequence": "sequence",
    "words": "by words alone",
    "single": "single turns",
    "BM25": "BM25",
    "BM25 and answers": "BM25 and answers",
    "latest": "latest turns",
}
KINDS = {
    "here": "goes on",
    "return": "days later",
    "near": "near miss",
    "shift": "other subject",
    "paraphrase en": "other words, English",
    "paraphrase zh": "other words, Chinese",
    "filler": "fillers",
    "stranger": "nothing to do with any",
    "en": "English",
    "zh": "Chinese",
    "odd": "tuned on",
    "even": "not tuned on",
}


def tables(figures: Mapping[str, Mapping[str, GoldFound]]) -> str:
    """Return two tables: all figures of all questions, and what is right by kind, language and half."""
    return "\n".join([*_whole(figures["all"]), "", *_by_kind(figures)]) + "\n"


def _whole(ways: Mapping[str, GoldFound]) -> Iterator[str]:
    yield "| all questions | right | recall | whole gold | precision | right session |"
    yield "|---|--:|--:|--:|--:|--:|"
    for way, name in WAYS.items():
        one = ways[way]
        shares = (one.right, one.recall, one.whole, one.precision, one.session)
        yield f"| {name} | {' | '.join(f'{share:.2f}' for share in shares)} |"


def _by_kind(figures: Mapping[str, Mapping[str, GoldFound]]) -> Iterator[str]:
    yield f"| right | questions | {' | '.join(WAYS.values())} |"
    yield f"|---|--:|{'--:|' * len(WAYS)}"
    for group, name in KINDS.items():
        ways = figures[group]
        shares = " | ".join(f"{ways[way].right:.2f}" for way in WAYS)
        yield f"| {name} | {ways['sequence'].questions} | {shares} |"
