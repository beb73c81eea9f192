"""The steps of opinions in a real ledger: ordered, stored once, separate per workspace, and forgettable."""

from datetime import date

import apsw
import pytest

from memoryd.domain.memories.changes.diffs import Forgotten
from memoryd.domain.memories.kinds import MemoryId
from memoryd.domain.memories.reflect.opinions import Label, LabelledEvidence, Step, replay_steps, run_steps
from memoryd.errors import StoreError
from memoryd.store.ledger.forgotten import ForgottenRows
from memoryd.store.ledger.ledger import Ledger
from memoryd.store.ledger.reflect import OpinionSteps, forget_steps

TEA, COFFEE = MemoryId("tea"), MemoryId("coffee")


def steps_of(opinion: MemoryId, *said: tuple[str, Label, int], base: float = 0.7, run: str = "r1") -> list[Step]:
    evidence = [
        LabelledEvidence(opinion, MemoryId(name), label, "supports", date(2026, 1, day)) for name, label, day in said
    ]
    return list(run_steps(evidence, run, base, base, set()))


async def forget(ledger: Ledger, workspace: str) -> int:
    return await ledger.erase(lambda db: forget_steps(db, workspace, [MemoryId("secret")]))


async def test_steps_are_read_back_exactly_and_in_order(ledger: Ledger) -> None:
    rows = OpinionSteps(ledger, "/ws")
    assert await rows.all() == ()
    assert not ledger.path.exists()
    made = steps_of(TEA, ("z", Label.REINFORCE, 2), ("a", Label.CONTRADICT, 1), base=0.1 + 0.2)
    other = steps_of(COFFEE, ("z", Label.WEAKEN, 2))
    assert await rows.add([*made, *other], 1.0) == 3
    assert list(await rows.all()) == [*made, *other]
    assert list(await rows.of([COFFEE])) == other
    assert await OpinionSteps(ledger, "/other").all() == ()


async def test_repeated_steps_are_stored_once(ledger: Ledger) -> None:
    rows = OpinionSteps(ledger, "/ws")
    made = steps_of(TEA, ("a", Label.REINFORCE, 1))
    assert [await rows.add(made, 1.0), await rows.add(made, 2.0)] == [1, 0]
    again = steps_of(TEA, ("a", Label.REINFORCE, 1), run="r2")
    assert await rows.add(again, 3.0) == 0
    assert list(await rows.all()) == made


async def test_steps_of_a_run_are_stored_atomically(ledger: Ledger) -> None:
    rows = OpinionSteps(ledger, "/ws")
    made = steps_of(TEA, ("a", Label.REINFORCE, 1), ("b", Label.REINFORCE, 2))
    broken = [made[0], Step(TEA, MemoryId("b"), "often", "", date(2026, 1, 2), "r1", 0.7, 0.7, 0.7)]  # type: ignore[arg-type]
    with pytest.raises((StoreError, apsw.ConstraintError)):
        await rows.add(broken, 1.0)
    assert await rows.all() == ()


async def test_forgetting_evidence_recalculates_the_opinion(ledger: Ledger) -> None:
    rows = OpinionSteps(ledger, "/ws")
    said = (("a", Label.REINFORCE, 1), ("secret", Label.CONTRADICT, 2), ("c", Label.REINFORCE, 3))
    await rows.add([*steps_of(TEA, *said), *steps_of(MemoryId("secret"), ("a", Label.REINFORCE, 1))], 1.0)
    await OpinionSteps(ledger, "/other").add(steps_of(TEA, *said), 1.0)
    assert await forget(ledger, "/ws") == 2
    left = await rows.all()
    assert list(left) == steps_of(TEA, said[0], said[2])
    assert replay_steps(0.7, left) == tuple(left)
    assert len(await OpinionSteps(ledger, "/other").all()) == 3
    await forget(ledger, "/other")
    for part in ledger.path.parent.iterdir():
        assert b"secret" not in part.read_bytes()


async def test_purge_leaves_consistent_steps(ledger: Ledger) -> None:
    rows = OpinionSteps(ledger, "/ws")
    said = (("a", Label.CONTRADICT, 1), ("secret", Label.CONTRADICT, 2), ("c", Label.CONTRADICT, 3))
    await rows.add(steps_of(TEA, *said), 1.0)
    assert [step.after for step in await rows.all()] == [0.6, 0.5, 0.4]
    purged = await ForgottenRows(ledger, "/ws").purge({MemoryId("secret")}, Forgotten(lambda text: False))
    assert purged.steps == 1
    left = await rows.all()
    assert list(left) == steps_of(TEA, said[0], said[2])
    assert [step.after for step in left] == [0.6, 0.6], "two memories do not move it as far as three"
