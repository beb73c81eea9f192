"""What the machines on one folder tell each other of its memories: entries of journals, and how these are merged.

Each machine has a journal that it alone writes, and reads all. An entry says how something stands, not what was done,
so that it may come late, twice or in any order: of a count the last entry of each machine holds, and counts of machines
are added; of what is forgotten, or remembered again, the latest, and of two at once what forgets; of a step of an
opinion the earliest (registers and counters of Shapiro et al., "A comprehensive study of Convergent and Commutative
Replicated Data Types", 2011).

A memory is named by the keyed hash that is its tombstone, and each line is signed: without the secret of the machines a
copy of the folder neither tells what a hash is of, nor takes an entry that somebody else wrote.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from hashlib import scrypt, sha256
from typing import Annotated, Literal

from msgspec import Meta, Struct, ValidationError, json
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.memories.reflect.opinions import Label, Step, chained

MACHINES = ".memory/machines"
"""The folder of the journals in a workspace."""
MIN_SECRET = 16
_SIGN_BYTES = 16
_MARK = b',"sign":"'
_JOURNAL = expression(r"[^/]+\.jsonl\Z")
MachineVerb = Literal["used", "forgotten", "remembered", "step"]


_LAST_SECOND = 7_258_118_400.0
"""The year 2200: a later word could never be answered by another one."""
_HEX = "^(?:[0-9a-f]{2})*$"


class MachineEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How something stands, as a machine told it. `at` is since when, in seconds since 1970: of a use, the last one.

    `number` counts the entries of a machine; those of a state that nobody told yet have neither.
    """

    machine: str = ""
    number: int = 0
    at: Annotated[float, Meta(ge=0, le=_LAST_SECOND)]
    verb: MachineVerb
    name: Annotated[str, Meta(pattern=_HEX)]
    """Of a memory: the keyed hash of its id; of what is forgotten any of its hashes."""
    count: Annotated[int, Meta(ge=0)] = 0
    evidence: Annotated[str, Meta(pattern=_HEX)] = ""
    """Of a step: the name of the memory that speaks for or against the opinion."""
    label: Label = Label.NEUTRAL
    by: str = ""
    day: date | None = None
    run: str = ""
    base: float = 0.0

    @property
    def key(self) -> tuple[object, ...]:
        """What it is about: of several with the same one holds."""
        if self.verb == "used":
            return "used", self.machine, self.name
        return ("step", self.name, self.evidence, self.day, self.label) if self.verb == "step" else ("stone", self.name)

    @property
    def told(self) -> "MachineEntry":
        """What it says, whoever said it."""
        return replace(self, machine="", number=0)


Merged = Mapping[tuple[object, ...], MachineEntry]
_DECODER = json.Decoder(MachineEntry)


def machine_key(secret: str) -> bytes:
    """Return what hashes and signs of these machines are made with; slow, so that a weak secret is not soon guessed."""
    return scrypt(secret.encode("utf-8", "surrogatepass"), salt=b"memoryd machines", n=2**14, r=8, p=1, dklen=32)


def is_machine_journal(path: str) -> bool:
    """Tell whether a path below a workspace is a journal of a machine, or a copy that a program made of one."""
    return path.startswith(f"{MACHINES}/") and _JOURNAL.match(path, len(MACHINES) + 1) is not None


def signed_line(entry: MachineEntry, key: bytes) -> bytes:
    """Return the line of an entry."""
    body = json.encode(entry)
    return body[:-1] + _MARK + _sign(body, key) + b'"}\n'


def entry_of(line: bytes, key: bytes) -> MachineEntry | None:
    """Return the entry of a line; None for one that is cut, damaged, or was written with another secret."""
    head, _, tail = line.rstrip(b"\r\n").rpartition(_MARK)
    body = head + b"}"
    if not hmac.compare_digest(tail, _sign(body, key) + b'"}'):
        return None
    try:
        return _DECODER.decode(body)
    except (ValidationError, ValueError):
        # of a newer version
        return None


def _sign(body: bytes, key: bytes) -> bytes:
    return hmac.new(key, b"entry\0" + body, sha256).digest()[:_SIGN_BYTES].hex().encode()


def merged(entries: Iterable[MachineEntry]) -> Merged:
    """Return the entries that hold, by what they are about; in whatever order, and however often, they come."""
    held = dict[tuple[object, ...], MachineEntry]()
    for entry in entries:
        other = held.get(entry.key)
        held[entry.key] = entry if other is None or _rank(entry) > _rank(other) else other
    return held


def _rank(entry: MachineEntry) -> tuple[object, ...]:
    """Return by what one of several entries holds: the greatest. It leaves no two that say different things."""
    if entry.verb == "used":
        return entry.number, entry.count, entry.at
    if entry.verb == "step":
        return -entry.at, entry.run, entry.by, entry.base, entry.machine, entry.number
    return entry.at, entry.verb == "forgotten", entry.machine, entry.number


class CountElsewhere(Struct, frozen=True):
    """How often other machines used a memory, and when last."""

    count: int = 0
    at: float = 0.0


def counts_elsewhere(held: Merged, machine: str, name_of: Callable[[str], str]) -> dict[str, CountElsewhere]:
    """Return what all machines but one counted, by what `name_of` makes of a name; what it leaves empty is not here."""
    counts = dict[str, CountElsewhere]()
    for entry in held.values():
        if entry.verb == "used" and entry.machine != machine and (name := name_of(entry.name)):
            was = counts.get(name, CountElsewhere())
            counts[name] = CountElsewhere(was.count + max(0, entry.count), max(was.at, entry.at))
    return counts


class TimedStep(Struct, frozen=True):
    """A step of an opinion, and when it was made, in seconds since 1970."""

    step: Step
    at: float


def joined_steps(steps: Iterable[TimedStep]) -> Sequence[TimedStep]:
    """Return the steps of one opinion that several machines made: each once, in one order, computed anew."""
    once = dict[tuple[object, ...], TimedStep]()
    for one in sorted(steps, key=_step_order):
        once.setdefault((one.step.evidence, one.step.day, one.step.label), one)
    anew = chained(one.step for one in once.values())
    return [TimedStep(step, one.at) for step, one in zip(anew, once.values(), strict=True)]


def _step_order(one: TimedStep) -> tuple[object, ...]:
    step = one.step
    return one.at, step.run, step.day, step.evidence, step.label, step.labelled_by, step.base


class OwedLines(Struct, frozen=True):
    """What one's own journal lacks: entries behind its last, or, where it says too much, all of it anew."""

    entries: Sequence[MachineEntry]
    is_anew: bool


def owed(state: Iterable[MachineEntry], stated: Merged) -> OwedLines:
    """Return what brings a journal, as it is read, up to a state; of a use the time alone is not worth an entry."""
    wanted = {entry.key: entry for entry in state}
    told = {entry.key: entry for one in stated.values() if (entry := one.told)}
    if told.keys() - wanted.keys():
        return OwedLines(list(wanted.values()), is_anew=True)
    return OwedLines([one for key, one in wanted.items() if not _says_same(one, told.get(key))], is_anew=False)


def _says_same(wanted: MachineEntry, told: MachineEntry | None) -> bool:
    if told is None or wanted.verb != "used":
        return wanted == told
    return wanted.count == told.count
