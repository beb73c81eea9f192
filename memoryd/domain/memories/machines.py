"""Synchronisation of memory state between machines that share a folder: journal entries, and how they are merged.

Each machine writes a journal of its own, and reads all journals. An entry has a state, not an operation, so it may
arrive late, twice or in any order. Of a count the last entry of each machine is valid, and the counts of machines are
added. Of forgotten and remembered, the latest is valid, and forgotten if both are at the same time. Of a step of an
opinion the earliest is valid. (Registers and counters of Shapiro et al., "A comprehensive study of Convergent and
Commutative Replicated Data Types", 2011.)

A memory is identified by the keyed hash of its tombstone, and each line is signed: without the secret of the machines,
a copy of the folder neither reveals what a hash is of, nor are entries of others accepted.
"""

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from hashlib import scrypt, sha256
from typing import Annotated, Literal

from msgspec import Meta, Struct, ValidationError, json
from msgspec.structs import replace

from memoryd.domain.expressions import expression
from memoryd.domain.memories.reflect.opinions import Label, Step, replay_by_base

MACHINES = ".memory/machines"
"""The folder of the journals in a workspace."""
MIN_SECRET = 16
_SIGN_BYTES = 16
_MARK = b',"sign":"'
_JOURNAL = expression(r"[^/]+\.jsonl\Z")
MachineVerb = Literal["used", "forgotten", "remembered", "step"]


_LAST_SECOND = 7_258_118_400.0
"""The year 2200: a later time could never be superseded."""
_HEX = "^(?:[0-9a-f]{2})*$"


class MachineEntry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A state as reported by a machine. `at` is its time in seconds since 1970; of a use, that of the last one.

    `number` counts the entries of a machine; both are unset in a state that is not yet reported.
    """

    machine: str = ""
    number: int = 0
    at: Annotated[float, Meta(ge=0, le=_LAST_SECOND)]
    verb: MachineVerb
    name: Annotated[str, Meta(pattern=_HEX)]
    """The keyed hash of a memory's id; for forgotten memories any of their hashes."""
    count: Annotated[int, Meta(ge=0)] = 0
    evidence: Annotated[str, Meta(pattern=_HEX)] = ""
    """Of a step: the hash of the memory that is evidence for or against the opinion."""
    label: Label = Label.NEUTRAL
    by: str = ""
    day: date | None = None
    run: str = ""
    base: float = 0.0

    @property
    def key(self) -> tuple[object, ...]:
        """The subject of the entry: of several entries with the same key one is valid."""
        if self.verb == "used":
            return "used", self.machine, self.name
        return ("step", self.name, self.evidence, self.day, self.label) if self.verb == "step" else ("stone", self.name)

    @property
    def unattributed(self) -> "MachineEntry":
        """The entry without machine and number."""
        return replace(self, machine="", number=0)


Merged = Mapping[tuple[object, ...], MachineEntry]
_DECODER = json.Decoder(MachineEntry)


def machine_key(secret: str) -> bytes:
    """Return the key for hashes and signatures of these machines; slow, to make guessing a weak secret expensive."""
    return scrypt(secret.encode("utf-8", "surrogatepass"), salt=b"memoryd machines", n=2**14, r=8, p=1, dklen=32)


def is_machine_journal(path: str) -> bool:
    """Return whether a path in a workspace is a machine's journal, or a copy made by a synchronising program."""
    return path.startswith(f"{MACHINES}/") and _JOURNAL.match(path, len(MACHINES) + 1) is not None


def signed_line(entry: MachineEntry, key: bytes) -> bytes:
    """Return the signed line of an entry."""
    body = json.encode(entry)
    return body[:-1] + _MARK + _sign(body, key) + b'"}\n'


def entry_of(line: bytes, key: bytes) -> MachineEntry | None:
    """Return the entry of a line; None if it is truncated, damaged, or signed with another secret."""
    head, _, tail = line.rstrip(b"\r\n").rpartition(_MARK)
    body = head + b"}"
    if not hmac.compare_digest(tail, _sign(body, key) + b'"}'):
        return None
    try:
        return _DECODER.decode(body)
    except (ValidationError, ValueError):
        # written by a newer version
        return None


def _sign(body: bytes, key: bytes) -> bytes:
    return hmac.new(key, b"entry\0" + body, sha256).digest()[:_SIGN_BYTES].hex().encode()


def merge_entries(entries: Iterable[MachineEntry]) -> Merged:
    """Return the valid entries by their keys; order and repetitions do not matter."""
    valid = dict[tuple[object, ...], MachineEntry]()
    for entry in entries:
        other = valid.get(entry.key)
        valid[entry.key] = entry if other is None or _rank(entry) > _rank(other) else other
    return valid


def _rank(entry: MachineEntry) -> tuple[object, ...]:
    """Return the rank of an entry among those with its key: the greatest is valid. Equal ranks have equal content."""
    if entry.verb == "used":
        return entry.number, entry.count, entry.at
    if entry.verb == "step":
        return -entry.at, entry.run, entry.by, entry.base, entry.machine, entry.number
    return entry.at, entry.verb == "forgotten", entry.machine, entry.number


class CountElsewhere(Struct, frozen=True):
    """The number of uses of a memory on other machines, and the last time."""

    count: int = 0
    at: float = 0.0


def counts_elsewhere(entries: Merged, machine: str, name_of: Callable[[str], str]) -> dict[str, CountElsewhere]:
    """Return the uses counted by other machines; `name_of` maps hashes to ids, and returns "" for unknown ones."""
    counts = dict[str, CountElsewhere]()
    for entry in entries.values():
        if entry.verb == "used" and entry.machine != machine and (name := name_of(entry.name)):
            previous = counts.get(name, CountElsewhere())
            counts[name] = CountElsewhere(previous.count + max(0, entry.count), max(previous.at, entry.at))
    return counts


class TimedStep(Struct, frozen=True):
    """A step of an opinion, and when it was made, in seconds since 1970."""

    step: Step
    at: float


def joined_steps(steps: Iterable[TimedStep]) -> Sequence[TimedStep]:
    """Return the distinct steps of one opinion by several machines, in one order, with confidences recomputed."""
    distinct = dict[tuple[object, ...], TimedStep]()
    for timed in sorted(steps, key=_step_order):
        distinct.setdefault((timed.step.evidence, timed.step.day, timed.step.label), timed)
    steps_again = replay_by_base(timed.step for timed in distinct.values())
    return [TimedStep(step, timed.at) for step, timed in zip(steps_again, distinct.values(), strict=True)]


def _step_order(timed: TimedStep) -> tuple[object, ...]:
    step = timed.step
    return timed.at, step.run, step.day, step.evidence, step.label, step.labelled_by, step.base


class MissingEntries(Struct, frozen=True):
    """The entries missing from a machine's own journal, or all of them if it must be rewritten (`replaces_journal`)."""

    entries: Sequence[MachineEntry]
    replaces_journal: bool


def missing_entries(state: Iterable[MachineEntry], stated: Merged) -> MissingEntries:
    """Return what a journal lacks of a state; a change of only the time of a use is not worth an entry."""
    wanted = {entry.key: entry for entry in state}
    reported = {entry.key: entry for entry in (valid.unattributed for valid in stated.values())}
    if reported.keys() - wanted.keys():
        return MissingEntries(list(wanted.values()), replaces_journal=True)
    missing = [entry for key, entry in wanted.items() if not _is_reported(entry, reported.get(key))]
    return MissingEntries(missing, replaces_journal=False)


def _is_reported(wanted: MachineEntry, reported: MachineEntry | None) -> bool:
    if reported is None or wanted.verb != "used":
        return wanted == reported
    return wanted.count == reported.count
