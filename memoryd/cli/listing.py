"""What commands that list things share: how many at most, how many more there are, and ids that fit on a line."""

from collections.abc import Iterable, Iterator

import click

from memoryd.wire import LISTED_MAX

SHORT_ID = 8
"""Signs of an id that are shown; as many name it in a command."""
limit_option = click.option(
    "-k", "--k", "--limit", "limit", type=click.IntRange(1, LISTED_MAX), metavar="N", help="How many at most."
)


def rest_notes(shown: int, total: int, noun: str, *, option: str = "-k", most: int = LISTED_MAX) -> Iterator[str]:
    """Yield that there is nothing, or how many are not `shown`, and the option that shows up to `most` of them."""
    if not total:
        yield f"there is no {noun}"
    elif shown < total:
        yield f"{total - shown:,} more: {option} {min(total, most)}"


def undo_notes(changes: Iterable[int | None]) -> Iterator[str]:
    """Yield the commands that take back what was written; None: that wrote nothing."""
    for number in changes:
        if number is not None:
            yield f"to take it back: memoryctl undo {number}"
