"""What a form of a statement is, and the forms of both languages as one list."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memoryd.domain.memories.kinds import Kind

NO_VALUE = "nothing lasting is said in this form"


@dataclass(frozen=True, slots=True)
class StatementForm:
    """A closed form: how it begins, what kind it states, and whether what follows makes it one.

    `holds` takes the match of `head`, and the text behind it; it returns whether it is a lasting statement.
    """

    name: str
    kind: Kind
    head: re.Pattern[str]
    holds: Callable[[re.Match[str], str], bool]
    is_pinned: bool = False


@dataclass(frozen=True, slots=True)
class FoundForm:
    """A form that a sentence has; `reason` says why it states nothing, empty if it does."""

    form: StatementForm
    is_first: bool
    """Whether it opens the sentence."""
    reason: str = ""


def found_form(text: str, plain: str, starts: Sequence[int], forms: Sequence[StatementForm]) -> FoundForm | None:
    """Return the first form that holds at one of these places, else the first that is there at all."""
    refused: FoundForm | None = None
    for place, start in enumerate(starts):
        for form in forms:
            head = form.head.match(plain, start)
            if head is None:
                continue
            found = FoundForm(form, place == 0)
            if form.holds(head, text[head.end() :]):
                return found
            refused = refused or FoundForm(form, place == 0, NO_VALUE)
    return refused
