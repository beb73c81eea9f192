"""Single events, and events of other people, supersede no line."""

import pytest

from tests.unit.domain.memories.capture.test_passing_corrections import captured, contradicted
from tests.unit.domain.memories.capture.test_revisions import superseded

MEMORY = [
    "W @Felix: Felix plays the violin.",
    "W @Nora: Nora's ballet teacher is Ms Aldous.",
    "W @Nora: Nora has ballet on Tuesdays at 17:00.",
    "W @Car: The car is a Skoda Octavia.",
    "W @Car: The car is insured with Aviva.",
    "W @Phone: My phone is a Nokia X30.",
    "W @Orion: Orion is written in Go.",
    "W @Orion: Orion is hosted at Hetzner.",
    "W @Canteen: The canteen closes at 14:00.",
    "W @Parking: I park on level 2 of the Queen Street car park.",
    "W @Running: I run 10 km on Sundays.",
    "W @Bread: We buy bread at Moss bakery.",
    "W @Rent: The rent is 1,450 pounds a month.",
    "W @Choir: Choir is in St Mark's hall.",
    "W @食堂: 食堂下午两点关门。",
    "W @星图: 星图用的是PostgreSQL。",
    "W @星图: 星图周三发版。",
    "W @芭蕾: 芭蕾老师是林老师。",
]


@pytest.mark.parametrize(
    "message",
    [
        "Hetzner had an outage again",
        "Orion had an outage at Hetzner again",
        "Hetzner raised its prices again",
        "The Skoda wouldn't start again, took the bus instead",
        "The canteen was shut, so I went to Greggs instead",
        "Queen Street is closed because of a burst pipe, so I parked at the station instead",
        "Level 2 was full, so I went up to level 5",
        "I ran 12 km instead of 10 last Sunday",
        "Nora's ballet was cancelled, so we went for ice cream instead",
        "Felix left his violin on the bus again",
        "Dad's Nokia died, he has a Samsung now",
        "Helena's Skoda broke, she drives a Kia now",
        "we bought bread at Aldi because Moss was closed",
        "The rent in Munich went up to 1,600",
        "the car park went up to 3 pounds an hour",
        "Ines brought a parrot to the Monday lecture",
        "we go to the cottage from tuesday to thursday",
        "hab ich die fahrstunde jetzt am samstag",
        "The Skoda is in the garage now",
        "I said Friday, not Tuesday",
        "I don't get it anymore, I get errors",
        "we don't know anymore, we know nothing",
        "i don't want tea, i want coffee",
        "食堂换了新椅子",
        "食堂关门了，我去吃了沙县",
        "星图换了新logo",
    ],
)
def test_single_event_is_not_captured(message: str) -> None:
    assert captured(message, MEMORY)[0].items == ()


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("The car is insured with Aviva.", "Aviva was too slow, the car is insured with Admiral now"),
        ("Orion is hosted at Hetzner.", "Hetzner was down all the time, Orion is hosted at OVH now"),
        ("Felix plays the violin.", "Felix gave up his violin, he plays the drums now"),
        ("We buy bread at Moss bakery.", "Moss was shut for good, so we buy bread at Gail's now"),
        ("Choir is in St Mark's hall.", "St Mark's was full of damp, choir is in the school now"),
        ("The rent is 1,450 pounds a month.", "the rent went up to 1,600 pounds"),
        ("芭蕾老师是林老师。", "林老师退休了，芭蕾老师现在是沈老师"),
        ("I run 10 km on Sundays.", "I run 12 km on Sundays instead now"),
    ],
)
def test_lasting_change_supersedes(old: str, message: str) -> None:
    verdict, book = captured(message, MEMORY)
    assert [*superseded(verdict, book), *contradicted(verdict, book)] == [old]


def test_dropped_object_is_not_given_up() -> None:
    verdict, book = captured("I dropped my Nokia, the screen is cracked now", MEMORY)
    assert superseded(verdict, book) == []


def test_returning_value_supersedes_the_other_named_one() -> None:
    memory = ["W @Bruno: Bruno edits in Lightroom.", "W @Bruno: Bruno edits in Capture One."]
    verdict, book = captured("I'm back in Lightroom since Monday, Capture One kept crashing on me.", memory)
    assert "Bruno edits in Capture One." in superseded(verdict, book)
