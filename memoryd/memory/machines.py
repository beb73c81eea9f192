"""What the ledger alone knows of a workspace, told to the other machines on the same folder, and taken from them.

A journal for each machine lies in `.memory/machines`: how often memories were used, the steps of opinions, what is
forgotten. A machine writes its own alone, so that no program that carries the folder ever sees two versions of one; it
takes what others told by looking. All that is written comes from the ledger: a journal that is gone, cut or from before
is written anew. One's own journal with a line that somebody else wrote is that of another machine with the same id,
whose disk was copied: this one takes a new id, and leaves to the other what was counted until then.
"""

import asyncio
import contextlib
import secrets
import time
from collections.abc import Mapping, Set
from hashlib import sha256
from pathlib import Path

import structlog
from msgspec.structs import replace

from memoryd.domain.counters import grouped
from memoryd.domain.memories.changes.tombstones import Tombstones
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.machines import (
    MACHINES,
    MachineEntry,
    Merged,
    TimedStep,
    counts_elsewhere,
    joined_steps,
    merged,
    owed,
    signed_line,
)
from memoryd.domain.memories.reflect.opinions import Step
from memoryd.errors import MemorydError
from memoryd.files.machine_journals import MachineJournalFile, read_journals, write_journal
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.tombstones import MachineTombstones
from memoryd.retry import happens
from memoryd.store.ledger.forgotten import TombstoneState, WrittenLine
from memoryd.store.ledger.reflect import OpinionSteps

log = structlog.get_logger(__name__)

POLL_SECONDS = 5.0
GRACE_SECONDS = 30.0
"""So long a forgotten line that stands again is only told to nobody: that it was stated again may be on its way."""
MAX_ENTRIES = 20_000
"""That a machine tells; what is forgotten comes first."""
REWRITE_BYTES = 2**20
"""A journal that is larger is written anew when most of it says nothing any more."""


class MachineJournal:
    """Tells the other machines on one workspace, and takes what they tell; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        workspace: Path,
        machines: MachineTombstones,
        forgetting: MemoryForgetting,
        steps: OpinionSteps,
    ) -> None:
        self.trouble = ""
        """Why nothing travels now; empty if it does."""
        self._workspace = workspace
        self._machines = machines
        self._forgetting = forgetting
        self._steps = steps
        self._files: dict[Path, MachineJournalFile] = {}
        self._held: Merged = {}
        self._names: dict[MemoryId, str] = {}
        self._came_back: dict[MemoryId, float] = {}
        """Since when memories stand again that are forgotten, by the monotonic clock."""
        self._has_news = asyncio.Event()
        self._telling = asyncio.Lock()
        machines.on_told = self._tell_now

    def note_change(self) -> None:
        """Take the news that notes changed: what is forgotten elsewhere may have come back with one."""
        self._has_news.set()

    def demand(self) -> None:
        """Take the news that notes became private, or are forgotten."""
        self._has_news.set()

    async def run(self, seconds: float = POLL_SECONDS) -> None:
        """Exchange at the start, at each news and every few seconds."""
        while True:
            self._has_news.clear()
            try:
                await self.exchange()
                self.trouble = ""
            except (MemorydError, OSError) as exc:
                self.trouble = f"nothing travels between the machines of this folder: {exc}"
            await happens(self._has_news.wait(), seconds)

    async def exchange(self) -> None:
        """Tell what the others do not know, and take what they told; raises StoreError, Denied, OSError."""
        machine = await self.tell()
        stones = Tombstones(await self._machines.key())
        await self._name_memories(stones)
        await self._take_tombstones(stones)
        by_name = {name: one for one, name in self._names.items()}
        await self._take_steps(by_name)
        counts = counts_elsewhere(self._held, machine, lambda name: by_name.get(name, ""))
        await self._forgetting.usage.take_elsewhere(counts)

    async def tell(self) -> str:
        """Bring one's own journal up to what the ledger has, and return its machine; raises as `exchange` does."""
        async with self._telling:
            key = await self._machines.key()
            files = await asyncio.to_thread(read_journals, self._workspace, key, self._files)
            if [*map(id, files)] != [*map(id, self._files.values())]:
                self._held = await asyncio.to_thread(lambda: merged(entry for one in files for entry in one.entries))
            self._files = {one.path: one for one in files}
            who = await self._settled_id()
            await self._write_owed(key, who)
            return who.machine

    async def _tell_now(self) -> None:
        """Tell before a note is written; what stands in the way is told of by `run`."""
        with contextlib.suppress(MemorydError, OSError):
            await self.tell()

    async def _settled_id(self) -> WrittenLine:
        """Return which machine this is; it is another one from now on where somebody else writes its journal."""
        last = await self._machines.rows.last()
        present = self._files.get(self._path_of(last.machine))
        written = WrittenLine() if present is None else _last_of(present)
        if last.machine and (written.number < last.number or written in (last, WrittenLine())):
            return last
        fresh = WrittenLine(secrets.token_hex(8))
        await self._machines.rows.claim(fresh, is_new=bool(last.machine))
        if last.machine:
            await self._forgetting.usage.own_nothing()
            log.warning("another machine had the id of this one, which took a new one", machine=last.machine)
        return fresh

    def _path_of(self, machine: str) -> Path:
        return self._workspace / MACHINES / f"{machine}.jsonl"

    async def _name_memories(self, stones: Tombstones) -> None:
        """Know the names of all memories that lines, or rows of the ledger, name."""
        book = (await self._forgetting.planner.book.whole()).own
        ids = {*book.memories, *await self._forgetting.rows.named()}
        fresh = await asyncio.to_thread(lambda: {one: stones.name(one).hex() for one in ids - self._names.keys()})
        self._names = {one: name for one, name in self._names.items() if one in ids} | fresh

    async def _take_tombstones(self, stones: Tombstones) -> None:
        """Forget here what was forgotten elsewhere, and what came back of it; remember what was stated again."""
        rows, forgetting = self._machines.rows, self._forgetting
        known = await rows.tombstones()
        told = {
            bytes.fromhex(one.name): TombstoneState(one.at, one.verb == "forgotten")
            for one in self._held.values()
            if one.verb in ("forgotten", "remembered")
        }
        fresh = {one: state for one, state in told.items() if one not in known or _is_later(state, known[one])}
        states, standing = {**known, **fresh}, (await forgetting.planner.book.whole()).own.memories
        named = {one: states[key] for one, name in self._names.items() if (key := bytes.fromhex(name)) in states}
        # of what is new to this machine the lines that changes keep, too
        copies = (await forgetting.planner.copies()).memories if fresh else {}
        named |= {one: fresh[key] for one in copies if (key := stones.name(one)) in fresh}
        lines = {**copies, **standing}
        texts = {one: lines[one].line.text if one in lines else "" for one in named}
        gone = {one: texts[one] for one, state in named.items() if state.is_forgotten}
        fresh_ids = {one for one in gone if stones.name(one) in fresh}
        due = fresh_ids | self._due(gone.keys() & standing.keys())
        if due:
            await forgetting.take_out_again({one: gone[one] for one in due}, fresh_ids)
        if fresh:
            # only now: after a kill it is fresh once more
            await rows.put(fresh)
        for one in named.keys() - gone.keys():
            if texts[one]:
                await forgetting.tombstones.release(one, texts[one])

    def _due(self, came_back: Set[MemoryId]) -> Set[MemoryId]:
        """Have forgotten memories that stand again told to nobody, and return those that stand for long enough."""
        now = time.monotonic()
        self._came_back = {one: self._came_back.get(one, now) for one in came_back}
        self._forgetting.planner.book.forget(came_back)
        return {one for one, since in self._came_back.items() if now - since >= GRACE_SECONDS}

    async def _take_steps(self, by_name: Mapping[str, MemoryId]) -> None:
        """Take the steps that other machines made of opinions that are known here."""
        own = await self._steps.timed()
        known = {_step_key(one.step): one for one in own}
        steps = (_step_of(one, by_name) for one in self._held.values() if one.verb == "step")
        told = [one for one in steps if one is not None]
        fresh = [one for one in told if (was := known.get(_step_key(one.step))) is None or one.at < was.at]
        by_opinion = grouped((one.step.opinion, one) for one in [*own, *told])
        for opinion in dict.fromkeys(one.step.opinion for one in fresh):
            await self._steps.put_joined(opinion, joined_steps(by_opinion[opinion]))

    async def _write_owed(self, key: bytes, who: WrittenLine) -> None:
        path = self._path_of(who.machine)
        present = self._files.get(path, MachineJournalFile(path))
        state = await self._state(Tombstones(key))
        missing = owed(state, merged(present.entries))
        is_bloated = len(present.entries) > 2 * len(state) and present.size > REWRITE_BYTES
        is_anew = missing.is_anew or is_bloated or present.broken > 0 or _last_of(present) != who
        entries = state if is_anew else missing.entries
        if not entries and not present.size:
            return
        numbered = [replace(one, machine=who.machine, number=who.number + at) for at, one in enumerate(entries, 1)]
        lines = [signed_line(one, key) for one in numbered]
        if lines:
            # before the file: what is behind its row was cut short, what is ahead is somebody else's
            await self._machines.rows.claim(_written(numbered[-1], lines[-1]), is_new=False)
        if lines or is_anew:
            await asyncio.to_thread(write_journal, path, b"".join(lines), is_anew=is_anew)

    async def _state(self, stones: Tombstones) -> list[MachineEntry]:
        """Return all that the others are to know, the most important first."""

        def name_of(one: MemoryId) -> str:
            return self._names.get(one) or stones.name(one).hex()

        tombstones = await self._machines.rows.tombstones()
        state = [
            MachineEntry(verb="forgotten" if one.is_forgotten else "remembered", name=name.hex(), at=one.at)
            for name, one in tombstones.items()
        ]
        state += [
            MachineEntry(
                verb="step",
                name=name_of(one.step.opinion),
                evidence=name_of(one.step.evidence),
                at=one.at,
                label=one.step.label,
                by=one.step.labelled_by,
                day=one.step.day,
                run=one.step.run,
                base=one.step.base,
            )
            for one in await self._steps.timed()
        ]
        counts = await self._forgetting.usage.counted_here()
        state += [
            MachineEntry(verb="used", name=name_of(one), count=has.count, at=has.at) for one, has in counts.items()
        ]
        return state[:MAX_ENTRIES]


def _last_of(journal: MachineJournalFile) -> WrittenLine:
    return _written(journal.entries[-1], journal.last) if journal.entries else WrittenLine()


def _written(entry: MachineEntry, line: bytes) -> WrittenLine:
    return WrittenLine(entry.machine, entry.number, sha256(line).digest())


def _is_later(one: TombstoneState, other: TombstoneState) -> bool:
    return (one.at, one.is_forgotten) > (other.at, other.is_forgotten)


def _step_key(step: Step) -> tuple[object, ...]:
    return step.opinion, step.evidence, step.day, step.label


def _step_of(entry: MachineEntry, by_name: Mapping[str, MemoryId]) -> TimedStep | None:
    opinion, evidence = by_name.get(entry.name), by_name.get(entry.evidence)
    if opinion is None or evidence is None or entry.day is None:
        return None
    head = (opinion, evidence, entry.label, entry.by, entry.day)
    return TimedStep(Step(*head, run=entry.run, base=entry.base, before=entry.base, after=entry.base), entry.at)
