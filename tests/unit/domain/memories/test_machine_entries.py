"""Journals of machines: merging does not depend on order or repetition."""

from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.machines import (
    MachineEntry,
    TimedStep,
    counts_elsewhere,
    entry_of,
    is_machine_journal,
    joined_steps,
    machine_key,
    merge_entries,
    missing_entries,
    signed_line,
)
from memoryd.domain.memories.reflect.opinions import Label, Step

KEY = bytes(range(32))
NAMES = ("0" * 32, "1" * 32)
DAY = date(2026, 11, 2)
common = {
    "machine": st.sampled_from(["a", "b"]),
    "number": st.integers(1, 4),
    "at": st.sampled_from([1.0, 2.0, 3.0, 1e12]),
    "name": st.sampled_from(NAMES),
}
of_step = {
    "evidence": st.sampled_from(NAMES),
    "label": st.sampled_from(list(Label)),
    "day": st.just(DAY),
    "run": st.sampled_from(["r", "s"]),
}
entries = (
    st.builds(MachineEntry, verb=st.just("used"), count=st.integers(0, 3), **common)
    | st.builds(MachineEntry, verb=st.sampled_from(["forgotten", "remembered"]), **common)
    | st.builds(MachineEntry, verb=st.just("step"), **common, **of_step)
)


def used(machine: str, number: int, count: int, at: float = 1.0) -> MachineEntry:
    return MachineEntry(machine=machine, number=number, at=at, verb="used", name=NAMES[0], count=count)


def mark(verb: str, at: float, machine: str = "a") -> MachineEntry:
    return MachineEntry(machine=machine, number=1, at=at, verb=verb, name=NAMES[0])  # type: ignore[arg-type]


@given(st.lists(entries, max_size=12), st.randoms())
def test_merging_ignores_order_and_repetition(journal: list[MachineEntry], chance: st.DrawFn) -> None:
    whole = merge_entries(journal)
    shuffled = [*journal, *journal]
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert merge_entries(shuffled) == whole
    assert merge_entries([*merge_entries(journal[:5]).values(), *merge_entries(journal[5:]).values()]) == whole


@given(st.lists(entries, max_size=12))
def test_current_journal_has_no_missing_entries(journal: list[MachineEntry]) -> None:
    state = [one.unattributed for one in merge_entries(one for one in journal if one.machine == "a").values()]
    stated = merge_entries(replace(one, machine="a", number=at) for at, one in enumerate(state, 1))
    assert missing_entries(state, stated) == missing_entries([], {})
    missing = missing_entries(state, {})
    assert (list(missing.entries), missing.replaces_journal) == (state, False)


def test_forgotten_entry_replaces_journal() -> None:
    stated = merge_entries([used("a", 1, 3), mark("forgotten", 2.0)])
    state = [mark("forgotten", 2.0).unattributed]
    assert missing_entries(state, stated).replaces_journal
    assert list(missing_entries(state, stated).entries) == state


def test_last_counts_of_other_machines_are_added() -> None:
    merged = merge_entries([used("a", 1, 3), used("a", 2, 5), used("b", 9, 2, at=7.0), used("c", 1, 4)])
    counts = counts_elsewhere(merged, "c", {NAMES[0]: "id"}.get)  # type: ignore[arg-type]
    assert (counts["id"].count, counts["id"].at) == (7, 7.0)
    assert counts_elsewhere(merged, "c", lambda _name: "") == {}


@pytest.mark.parametrize(
    ("journal", "verb"),
    [
        ([mark("forgotten", 1.0), mark("remembered", 2.0, "b")], "remembered"),
        ([mark("remembered", 1.0), mark("forgotten", 2.0, "b")], "forgotten"),
        ([mark("remembered", 2.0, "b"), mark("forgotten", 2.0)], "forgotten"),
    ],
)
def test_latest_entry_wins_and_forgetting_wins_a_tie(journal: Sequence[MachineEntry], verb: str) -> None:
    (merged,) = merge_entries(journal).values()
    assert merged.verb == verb


def test_only_correctly_signed_lines_are_read() -> None:
    entry = used("a", 7, 3, at=0.1 + 0.2)
    line = signed_line(entry, KEY)
    assert entry_of(line, KEY) == entry
    assert entry_of(line.rstrip(b"\n") + b"\r\n", KEY) == entry
    assert entry_of(line, bytes(32)) is None
    for at in range(len(line) - 1):
        assert entry_of(line[:at], KEY) is None
        assert entry_of(line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :], KEY) is None
    for odd in (replace(entry, name="zz"), replace(entry, at=1e308), replace(entry, at=-1.0), replace(entry, count=-1)):
        assert entry_of(signed_line(odd, KEY), KEY) is None, "no version of memoryd writes it"
    newer = b'{"at":1.0,"verb":"dreamt","name":""}'
    assert entry_of(newer, KEY) is None


def test_key_is_derived_from_secret() -> None:
    first, again, other = map(machine_key, ["three herons over the weir"] * 2 + ["three herons over the weir."])
    assert first == again != other


def test_journal_name_is_recognised() -> None:
    assert is_machine_journal(".memory/machines/0a.jsonl")
    assert is_machine_journal(".memory/machines/0a.sync-conflict-20261128-080001-ABCDEFG.jsonl")
    assert not any(
        map(is_machine_journal, (".memory/eval.jsonl", ".memory/machines/0a.jsonl.part", ".memory/machines/x/0a.jsonl"))
    )


def step(evidence: str, label: Label, at: float, run: str) -> TimedStep:
    made = Step(MemoryId("o"), MemoryId(evidence), label, "supports", DAY, run=run, base=0.6, before=0.6, after=0.6)
    return TimedStep(made, at)


def test_steps_of_two_machines_are_joined_in_one_order() -> None:
    here = [step("e1", Label.REINFORCE, 1.0, "r"), step("e2", Label.CONTRADICT, 1.0, "r")]
    there = [step("e1", Label.REINFORCE, 2.0, "s"), step("e3", Label.WEAKEN, 2.0, "s")]
    joined = joined_steps([*here, *there])
    assert joined == joined_steps([*there, *here, *joined])
    assert [(one.step.evidence, one.at, one.step.after) for one in joined] == [
        ("e1", 1.0, 0.65),
        ("e2", 1.0, 0.55),
        ("e3", 2.0, 0.5),
    ]
