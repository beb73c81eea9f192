"""`reference/performance.md`: the recorded figures, their conditions, and how to repeat them."""

from collections.abc import Iterator, Mapping
from typing import Final

from bench.catalogue import MEASUREMENTS
from bench.record import Taken, load
from bench.report import short
from tests.docs.tables import table

HEAD: Final = """# Performance

What memoryd costs, as it was measured. `make bench` in a checkout measures again and prints each figure beside the one
of this page; `make bench-record` keeps what it measures in `bench/recorded.json`, from which `make docs` makes it.
`ARGS="start save"` takes these measurements alone.

- Times depend on the machine and on what else it does, so each measurement tells its yardstick too: the processor
  time of a fixed piece of work in Python, numpy and SQLite. Times of two machines are compared as multiples of it.
  Processor time hardly depends on the load, how many programs wanted a processor when the run began; what is taken by
  the clock does. Times are by the clock unless the figure says that they are processor time, as those of `outside` are.
- `make bench-against OLD=CHECKOUT` measures an older checkout and this one by turns, which is the surest comparison.
- `make check-speed` fails where a question by words costs a tenth more processor time than is recorded here for the
  class of machine that it runs on. It is no part of `make test`: no test depends on time.
- `make bench-scale` takes a million chunks, or as many as `ARGS="--size 100000"` says. A million, 1 GB in 83,333 notes,
  took on 30 November 2026, with a yardstick of 22.6 ms and little beside it: first index 691 s (708 s of processor,
  221 MiB at most), a question by words 76 ms in the median and 188 ms at p95 (100 ms of processor), 252 MiB resident,
  start until it answers .53 s, one line on top of a note .83 s; 2.37 times the text on disk, 5.13 with vectors. What
  was measured with vectors, and of deleting, was beside other work: by both p50 910 ms, 496 MiB resident; 10,000
  notes deleted for 208 s of processor.

"""


def page() -> str:
    """Return the page."""
    abouts = {measurement.name: measurement.about for measurement in MEASUREMENTS}
    return HEAD + "\n".join(
        part
        for machine, taken in sorted(load().classes.items())
        for part in (f"## {machine}\n", *(_section(name, abouts.get(name, ""), taken[name]) for name in _order(taken)))
    )


def _order(taken: Mapping[str, Taken]) -> Iterator[str]:
    """Yield the names in the order of the catalogue, then those no longer in it."""
    known = [measurement.name for measurement in MEASUREMENTS if measurement.name in taken]
    yield from known
    yield from sorted(taken.keys() - set(known))


def _section(name: str, about: str, taken: Taken) -> str:
    rows = [(kept.name, f"{short(kept.value)} {kept.unit}".rstrip()) for kept in taken.figures]
    taken_with = f"with memoryd {taken.version}, Python {taken.python}, effort {taken.effort}, load {taken.load:g}"
    text = f"{about[:1].upper()}{about[1:]}. Taken on {taken.day} {taken_with}; yardstick {taken.yardstick_ms:g} ms."
    return f"### {name}\n\n{text}\n\n{table(('figure', 'value'), rows)}"
