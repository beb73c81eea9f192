"""The figures as the tables of `docs/explanation/conversations.md`."""

from collections.abc import Iterator, Mapping

from bench.followups.gold_found import GoldFound

WAYS = {
    "sequence": "sequence",
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
    "en": "English",
    "zh": "Chinese",
    "odd": "tuned on",
    "even": "not tuned on",
}


def tables(figures: Mapping[str, Mapping[str, GoldFound]]) -> str:
    """Return two tables: all figures of all questions, and recall by kind, language and half."""
    return "\n".join([*_whole(figures["all"]), "", *_by_kind(figures)]) + "\n"


def _whole(ways: Mapping[str, GoldFound]) -> Iterator[str]:
    yield "| all questions | recall | whole gold | precision | right session |"
    yield "|---|--:|--:|--:|--:|"
    for way, name in WAYS.items():
        one = ways[way]
        yield f"| {name} | {one.recall:.2f} | {one.whole:.2f} | {one.precision:.2f} | {one.session:.2f} |"


def _by_kind(figures: Mapping[str, Mapping[str, GoldFound]]) -> Iterator[str]:
    yield f"| recall | questions | {' | '.join(WAYS.values())} |"
    yield f"|---|--:|{'--:|' * len(WAYS)}"
    for group, name in KINDS.items():
        ways = figures[group]
        recalls = " | ".join(f"{ways[way].recall:.2f}" for way in WAYS)
        yield f"| {name} | {ways['sequence'].questions} | {recalls} |"
