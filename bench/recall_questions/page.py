"""The figures as the tables of `docs/explanation/recall.md`."""

from collections.abc import Iterator, Mapping

from bench.recall_questions.judged import RecallFigures
from bench.recall_questions.question_set import STRANGER

Measured = Mapping[str, Mapping[str, RecallFigures]]
"""Mode → group → figures."""

TYPES = {
    "exact": "exact terms, names, commands",
    "entity": "entities",
    "temporal": "days and spans of days",
    "opinion": "opinions and preferences",
    "changed": "facts that changed",
    "scope": "lines of other agents",
    STRANGER: "strangers",
}


MODES = {
    "search": "search alone",
    "words": "recall, words alone",
    "hybrid": "recall, with the starter model",
}


def tables(measured: Measured) -> str:
    """Return tables of the places of right citations, of verdicts, and about the facts that changed."""
    return "\n".join([*_places(measured), "", *_verdicts(measured), "", *_changed(measured)]) + "\n"


def beside(own: Measured, held_out: Measured) -> str:
    """Return a table of the questions on which the rules were adjusted beside those held out, in the modes of these."""
    return "\n".join([*_places_beside(own, held_out), *_counts_beside(own, held_out)]) + "\n"


def _places_beside(own: Measured, held_out: Measured) -> Iterator[str]:
    yield f"| first / in three | questions | {' | '.join(f'{MODES[mode]} | the same, held out' for mode in held_out)} |"
    yield f"|---|--:|{'--:|' * (2 * len(held_out))}"
    for type_, name in TYPES.items():
        if type_ != STRANGER and all(type_ in groups for groups in held_out.values()):
            found = _both(own, held_out, type_)
            shares = " | ".join(f"{one.first:.2f} / {one.three:.2f}" for one in found)
            yield f"| {name} | {found[0].questions} and {found[1].questions} | {shares} |"


def _counts_beside(own: Measured, held_out: Measured) -> Iterator[str]:
    found = _both(own, held_out, "changed")
    shares = " | ".join(f"{one.old or 0:.2f}" for one in found)
    yield f"| the old value first, on its day | {found[0].questions} and {found[1].questions} | {shares} |"
    found = _both(own, held_out, STRANGER)
    counts = " | ".join(str(one.answerable) for one in found)
    yield f"| strangers said to be answerable | {found[0].questions} and {found[1].questions} | {counts} |"


def _both(own: Measured, held_out: Measured, type_: str) -> list[RecallFigures]:
    return [measured[mode][type_] for mode in held_out for measured in (own, held_out)]


def _places(measured: Measured) -> Iterator[str]:
    yield f"| first / in three | questions | {' | '.join(MODES.values())} |"
    yield f"|---|--:|{'--:|' * len(MODES)}"
    for type_, name in TYPES.items():
        if type_ != STRANGER:
            found = [measured[mode][type_] for mode in MODES]
            shares = " | ".join(f"{one.first:.2f} / {one.three:.2f}" for one in found)
            yield f"| {name} | {found[0].questions} | {shares} |"


def _verdicts(measured: Measured) -> Iterator[str]:
    yield f"| answerable / weak / none | questions | {' | '.join(MODES.values())} |"
    yield f"|---|--:|{'--:|' * len(MODES)}"
    for type_, name in TYPES.items():
        found = [measured[mode][type_] for mode in MODES]
        counts = " | ".join(f"{one.answerable} / {one.weak} / {one.none}" for one in found)
        yield f"| {name} | {found[0].questions} | {counts} |"


def _changed(measured: Measured) -> Iterator[str]:
    yield f"| current first / old first on its day | questions | {' | '.join(MODES.values())} |"
    yield f"|---|--:|{'--:|' * len(MODES)}"
    for lang, name in (("en", "English"), ("zh", "Chinese")):
        found = [measured[mode][f"changed {lang}"] for mode in MODES]
        # search knows no day of the past
        old = ["–", *(f"{one.old or 0:.2f}" for one in found[1:])]
        shares = " | ".join(f"{one.first:.2f} / {then}" for one, then in zip(found, old, strict=True))
        yield f"| {name} | {found[0].questions} | {shares} |"
