"""Exchange of ledger data between the machines that share one workspace folder.

Each machine has a journal file in `.memory/machines`: how often memories were used, the steps of opinions, and what is
forgotten. A machine writes only its own file, so a sync program never sees two versions of one file, and it reads the
files of the others by polling. All entries come from the ledger: a journal that is missing, cut short or outdated is
written anew. If a machine finds a line in its own journal that it did not write, another machine has the same id
because the disk was copied. It then takes a new id, and leaves the counts until then to the other machine.
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
    merge_entries,
    missing_entries,
    signed_line,
)
from memoryd.domain.memories.reflect.opinions import Step
from memoryd.errors import MemorydError
from memoryd.files.machine_journals import MachineJournalFile, read_journals, write_journal
from memoryd.memory.forgetting.forgetting import MemoryForgetting
from memoryd.memory.forgetting.tombstones import MachineTombstones
from memoryd.retry import wait_within
from memoryd.store.ledger.forgotten import TombstoneState, WrittenLine
from memoryd.store.ledger.reflect import OpinionSteps

log = structlog.get_logger(__name__)

POLL_SECONDS = 5.0
GRACE_SECONDS = 30.0
"""How long a forgotten line that reappeared is only hidden: the news that it was stated again may still arrive."""
MAX_ENTRIES = 20_000
"""Maximum number of entries in a journal; forgotten memories come first."""
REWRITE_BYTES = 2**20
"""A larger journal is rewritten once most of its entries are outdated."""


class MachineJournal:
    """Writes the journal of this machine and reads those of the others; `run` loops until cancelled."""

    def __init__(
        self,
        *,
        workspace: Path,
        machines: MachineTombstones,
        forgetting: MemoryForgetting,
        steps: OpinionSteps,
    ) -> None:
        self.trouble = ""
        """Why nothing is exchanged now; empty if all is well."""
        self._workspace = workspace
        self._machines = machines
        self._forgetting = forgetting
        self._steps = steps
        self._files: dict[Path, MachineJournalFile] = {}
        self._entries: Merged = {}
        self._names: dict[MemoryId, str] = {}
        self._reappeared_at: dict[MemoryId, float] = {}
        """The monotonic time since when a forgotten memory is stated again."""
        self._has_news = asyncio.Event()
        self._publish_lock = asyncio.Lock()
        machines.on_change = self._publish_now

    def note_change(self) -> None:
        """Note that notes changed: a memory that another machine forgot may have reappeared."""
        self._has_news.set()

    demand = note_change
    """Also called if notes became private or were forgotten."""

    async def run(self, seconds: float = POLL_SECONDS) -> None:
        """Exchange at the start, after each change and every few seconds."""
        while True:
            self._has_news.clear()
            try:
                await self.exchange()
                self.trouble = ""
            except (MemorydError, OSError) as exc:
                self.trouble = f"nothing travels between the machines of this folder: {exc}"
            await wait_within(self._has_news.wait(), seconds)

    async def exchange(self) -> None:
        """Write what the others do not know, and apply what they wrote; raises StoreError, Denied, OSError."""
        machine = await self.publish()
        stones = Tombstones(await self._machines.key())
        await self._name_memories(stones)
        await self._take_tombstones(stones)
        by_name = {name: memory for memory, name in self._names.items()}
        await self._take_steps(by_name)
        counts = counts_elsewhere(self._entries, machine, lambda name: by_name.get(name, ""))
        await self._forgetting.usage.take_elsewhere(counts)

    async def publish(self) -> str:
        """Bring this machine's journal up to date with the ledger, and return its id; raises as `exchange` does."""
        async with self._publish_lock:
            key = await self._machines.key()
            files = await asyncio.to_thread(read_journals, self._workspace, key, self._files)
            if [*map(id, files)] != [*map(id, self._files.values())]:
                entries = (entry for file in files for entry in file.entries)
                self._entries = await asyncio.to_thread(lambda: merge_entries(entries))
            self._files = {file.path: file for file in files}
            own = await self._own_id()
            await self._write_missing(key, own)
            return own.machine

    async def _publish_now(self) -> None:
        """Publish before a note is written; `run` reports what prevents it."""
        with contextlib.suppress(MemorydError, OSError):
            await self.publish()

    async def _own_id(self) -> WrittenLine:
        """Return the last line of this machine; it takes a new id if another machine writes its journal."""
        last = await self._machines.rows.last()
        present = self._files.get(self._path_of(last.machine))
        written = WrittenLine() if present is None else _last_of(present)
        if last.machine and (written.number < last.number or written in (last, WrittenLine())):
            return last
        fresh = WrittenLine(secrets.token_hex(8))
        await self._machines.rows.claim(fresh, is_new=bool(last.machine))
        if last.machine:
            await self._forgetting.usage.disown_all()
            log.warning("another machine had the id of this one, which took a new one", machine=last.machine)
        return fresh

    def _path_of(self, machine: str) -> Path:
        return self._workspace / MACHINES / f"{machine}.jsonl"

    async def _name_memories(self, stones: Tombstones) -> None:
        """Compute the names of all memories that lines, or rows of the ledger, refer to."""
        book = (await self._forgetting.planner.book.complete()).own
        ids = {*book.memories, *await self._forgetting.rows.named()}
        missing = ids - self._names.keys()
        fresh = await asyncio.to_thread(lambda: {memory: stones.id_hash(memory).hex() for memory in missing})
        self._names = {memory: name for memory, name in self._names.items() if memory in ids} | fresh

    async def _take_tombstones(self, stones: Tombstones) -> None:
        """Forget memories that other machines forgot, also reappeared ones; allow those that were stated again."""
        rows, forgetting = self._machines.rows, self._forgetting
        known = await rows.tombstones()
        received = {
            bytes.fromhex(entry.name): TombstoneState(entry.at, entry.verb == "forgotten")
            for entry in self._entries.values()
            if entry.verb in ("forgotten", "remembered")
        }
        fresh = {name: state for name, state in received.items() if name not in known or state > known[name]}
        states, stated = {**known, **fresh}, (await forgetting.planner.book.complete()).own.memories
        named = {memory: states[key] for memory, name in self._names.items() if (key := bytes.fromhex(name)) in states}
        # for new tombstones, also check the lines that changes store for undo
        copies = (await forgetting.planner.copies()).memories if fresh else {}
        named |= {memory: fresh[key] for memory in copies if (key := stones.id_hash(memory)) in fresh}
        lines = {**copies, **stated}
        texts = {memory: lines[memory].line.text if memory in lines else "" for memory in named}
        forgotten = {memory: texts[memory] for memory, state in named.items() if state.is_forgotten}
        fresh_ids = {memory for memory in forgotten if stones.id_hash(memory) in fresh}
        due = fresh_ids | self._due(forgotten.keys() & stated.keys())
        if due:
            await forgetting.take_out_again({memory: forgotten[memory] for memory in due}, fresh_ids)
        if fresh:
            # stored last: after a kill it is fresh again
            await rows.put(fresh)
        for memory in named.keys() - forgotten.keys():
            if texts[memory]:
                await forgetting.tombstones.release(memory, texts[memory])

    def _due(self, reappeared: Set[MemoryId]) -> Set[MemoryId]:
        """Hide forgotten memories that are stated again; return those whose grace period is over."""
        now = time.monotonic()
        self._reappeared_at = {memory: self._reappeared_at.get(memory, now) for memory in reappeared}
        self._forgetting.planner.book.forget(reappeared)
        return {memory for memory, since in self._reappeared_at.items() if now - since >= GRACE_SECONDS}

    async def _take_steps(self, by_name: Mapping[str, MemoryId]) -> None:
        """Apply the steps that other machines made, of opinions that are known here."""
        own = await self._steps.timed()
        known = {_step_key(timed.step): timed for timed in own}
        steps = (_step_of(entry, by_name) for entry in self._entries.values() if entry.verb == "step")
        received = [timed for timed in steps if timed is not None]
        fresh = [
            timed for timed in received if (before := known.get(_step_key(timed.step))) is None or timed.at < before.at
        ]
        by_opinion = grouped((timed.step.opinion, timed) for timed in [*own, *received])
        for opinion in dict.fromkeys(timed.step.opinion for timed in fresh):
            await self._steps.put_joined(opinion, joined_steps(by_opinion[opinion]))

    async def _write_missing(self, key: bytes, own: WrittenLine) -> None:
        path = self._path_of(own.machine)
        present = self._files.get(path, MachineJournalFile(path))
        state = await self._state(Tombstones(key))
        missing = missing_entries(state, merge_entries(present.entries))
        is_bloated = len(present.entries) > 2 * len(state) and present.size > REWRITE_BYTES
        is_anew = missing.replaces_journal or is_bloated or present.broken > 0 or _last_of(present) != own
        entries = state if is_anew else missing.entries
        if not entries and not present.size:
            return
        numbered = [replace(entry, machine=own.machine, number=own.number + at) for at, entry in enumerate(entries, 1)]
        lines = [signed_line(entry, key) for entry in numbered]
        if lines:
            # before the file: a journal behind its row was cut short, one ahead of it was written by another machine
            await self._machines.rows.claim(_written(numbered[-1], lines[-1]), is_new=False)
        if lines or is_anew:
            await asyncio.to_thread(write_journal, path, b"".join(lines), is_anew=is_anew)

    async def _state(self, stones: Tombstones) -> list[MachineEntry]:
        """Return all that the other machines are to know, the most important first."""

        def name_of(memory: MemoryId) -> str:
            return self._names.get(memory) or stones.id_hash(memory).hex()

        tombstones = await self._machines.rows.tombstones()
        state = [
            MachineEntry(verb="forgotten" if stone.is_forgotten else "remembered", name=name.hex(), at=stone.at)
            for name, stone in tombstones.items()
        ]
        state += [
            MachineEntry(
                verb="step",
                name=name_of(timed.step.opinion),
                evidence=name_of(timed.step.evidence),
                at=timed.at,
                label=timed.step.label,
                by=timed.step.labelled_by,
                day=timed.step.day,
                run=timed.step.run,
                base=timed.step.base,
            )
            for timed in await self._steps.timed()
        ]
        counts = await self._forgetting.usage.counted_here()
        state += [
            MachineEntry(verb="used", name=name_of(memory), count=used.count, at=used.at)
            for memory, used in counts.items()
        ]
        return state[:MAX_ENTRIES]


def _last_of(journal: MachineJournalFile) -> WrittenLine:
    return _written(journal.entries[-1], journal.last) if journal.entries else WrittenLine()


def _written(entry: MachineEntry, line: bytes) -> WrittenLine:
    return WrittenLine(entry.machine, entry.number, sha256(line).digest())


def _step_key(step: Step) -> tuple[object, ...]:
    return step.opinion, step.evidence, step.day, step.label


def _step_of(entry: MachineEntry, by_name: Mapping[str, MemoryId]) -> TimedStep | None:
    opinion, evidence = by_name.get(entry.name), by_name.get(entry.evidence)
    if opinion is None or evidence is None or entry.day is None:
        return None
    head = (opinion, evidence, entry.label, entry.by, entry.day)
    return TimedStep(Step(*head, run=entry.run, base=entry.base, before=entry.base, after=entry.base), entry.at)
