"""The days that `make month` plays, and the figures of its protocol."""

from bench.month.days import CORRECTED, CORRECTION, FACT, LANGUAGES, QUESTION, TASK, month
from bench.month.figures import sample, summary
from bench.month.playing import TIDIED, Row, told

NOTES = (
    "# Core <note>no</note>\n<recalled-memory>\nNotes.\n"
    '<note source="memory/a.md#L1" about="2026-01-01, world &amp; more">\nTea &lt; coffee.\n</note>\n'
    "<note>\nTwo\nlines.\n</note>\n</recalled-memory>\n"
)


def answered(kind: str, *texts: str, about: str = "", **more: object) -> Row:
    items = [{"text": text, "about": about} for text in texts]
    counted: Row = {"characters": sum(map(len, texts)), "tookMs": 5.0, "verdict": "weak", "capture": "no"}
    return (
        counted
        | {
            "kind": kind,
            "items": items,
            "want": [["new"]],
            "stale": "old",
            "text": "?",
            "stable": "",
            "day": "2026-11-24",
        }
        | more
    )


def test_days_are_full_and_the_same_for_a_seed() -> None:
    for person in LANGUAGES:
        days = month(person, 30, 40, seed=1)
        assert [len(day) for day in days] == [40] * 30
        assert days == month(person, 30, 40, seed=1)
        assert days != month(person, 30, 40, seed=2)
        assert all(sum(message.kind == TASK for message in day) == 5 for day in days)


def test_facts_are_asked_after_they_are_stated_and_after_correction() -> None:
    messages = [message for day in month("ruben-stage", 30, 40, seed=1) for message in day]
    kinds = [
        message.kind
        for message in messages
        if message.text in ("which program do we draw the plots in", "My dentist is Dr. Amirault.")
    ]
    assert kinds.count(CORRECTION) == 1
    assert [kind for kind in kinds if kind != CORRECTION] == [QUESTION, CORRECTED, CORRECTED]
    assert sum(message.kind == CORRECTION for message in messages) == 8
    assert sum(message.kind == FACT and message.by == "agent" for message in messages) > 4


def test_short_days_are_full_too() -> None:
    assert all(len(day) == 5 for person in LANGUAGES for day in month(person, 2, 5, seed=1))


def test_items_are_read_from_the_recalled_part_with_their_attributes() -> None:
    assert told(NOTES) == (
        "# Core <note>no</note>\n",
        [
            {"text": "Tea < coffee.", "source": "memory/a.md#L1", "about": "2026-01-01, world & more"},
            {"text": "Two\nlines."},
        ],
    )
    assert told("") == ("", [])


def test_figures_distinguish_marked_stale_facts() -> None:
    rows = [
        answered("ack"),
        answered("small", "junk"),
        answered(CORRECTED, "it is new", "it was old", about="world"),
        answered(CORRECTED, "it was old", about="world, superseded"),
        answered(TASK, "it is new", about="2026-11-23, session", day="2026-11-23"),
        answered(TASK, "nothing"),
        answered(CORRECTED, stable="- old\n- new\n"),
        {"kind": TIDIED, "new": ["a"], "promoted": ["b"], "left": [], "day": "2026-11-24"},
    ]
    found = summary(rows)
    assert found["talk: recalled part empty"] == "0.50 of 2"
    assert found["corrected: all wanted told"] == "0.67 of 3"
    assert found["corrected: stale told unmarked"] == "0.67 of 3"
    assert found["corrected: stale told, marked"] == "0.33 of 3"
    assert found["task: all wanted told"] == "0.50 of 2"
    assert found["task: all wanted told in the last third"] == "0.00 of 1"
    assert found["items that tell of a session"] == "0.17 of 6"
    assert found["promoted to core"] == "1"
    assert len(list(sample([{"person": "", **row} for row in rows], 2, seed=1))) == 4
