"""A day mentioned in passing does not change what is recalled, however much was retained on that day."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.daemon import RunningDaemon, indexed_daemon, write_config

FACTS = {
    "what is the password of the wi-fi": ("2", "W @Home: The wi-fi password of the house is tulip-harbour-58."),
    "what is the name of our dentist": ("9", "W @Dentist: Our dentist is called Margit Oyelaran."),
    "what is the code of the bike shed": ("16", "W @Shed: The code of the bike shed is 7302."),
    "how much is the rent of the flat": ("23", "W @Flat: The rent of the flat is 1,140 euros, paid to Mr Halloran."),
    "where is the spare key": ("30", "W @Home: The spare key hangs behind the water meter."),
    "which plumber do we call": ("37", "W @Plumber: The plumber we call is Ines Dufresne, 0411 22 90."),
    "what size are the curtains of the study": ("44", "W @Study: The curtains of the study have the size 135 by 210."),
    "车棚的密码是多少": ("51", "W @车棚: 车棚的密码是五三八八。"),
    "房东姓什么": ("58", "W @房东: 房东姓欧阳，住在三楼。"),
    "女儿的班主任叫什么名字": ("65", "W @女儿: 女儿的班主任叫罗文静。"),
}
"""Per question: how many days ago its answer was retained, and the line."""
ENGLISH = [
    "{}? I need it today",
    "{}, I have to tell the guests this morning",
    "{} - it is for tonight",
    "{}? The neighbours come tomorrow and I want to be ready",
    "{} because somebody arrives this afternoon",
    "{} I need it this evening",
    "{}? It must be handed in by Friday",
    "This morning I am in a hurry: {}?",
    "{} tell the guests this morning",
    "{} today",
]
CHINESE = [
    "{}，我今天要用",
    "{}？今天早上要告诉客人",
    "{}，明天客人来",
    "{} 今晚得用",
    "我今天下午要出门，{}",
    "{}，这周必须交上去",
    "今天{}",
]
RETAINED = [
    "B The guests praised the soup this morning.",
    "W The blue bicycle needs a new chain today.",
    "W 今天客人喜欢排骨汤。",
    "B 我今天下午把自行车送去修了。",
    "W The library closes at six tonight.",
    "B The cat slept in the study all morning.",
    "B I told the neighbours about the street party.",
    "W 明天的展览在图书馆三楼。",
    "B Somebody left a red umbrella in the hall this afternoon.",
    "W The parcel for the neighbours has to be fetched by Friday.",
]


def write_logs(folder: Path, retained: int) -> Path:
    """Write each fact into an older log, and this many lines about other things into today's."""
    logs = folder / "memory"
    logs.mkdir(parents=True)
    today = datetime.now().astimezone().date()
    for ago, line in FACTS.values():
        (logs / f"{today - timedelta(days=int(ago))}.md").write_text(f"## Retain\n\n- {line}\n", encoding="utf-8")
    lines = [f"- {RETAINED[at % 10][:-1]}, number {at}." for at in range(retained)]
    (logs / f"{today}.md").write_text("\n".join(["## Retain", "", *lines, ""]), encoding="utf-8")
    return folder


@pytest.fixture(params=[5, 50])
def daemon(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RunningDaemon]:
    workspace = write_logs(tmp_path / "ws", request.param)
    with indexed_daemon(tmp_path, workspace) as running:
        yield running


def test_day_of_a_plan_does_not_change_the_first_answer(daemon: RunningDaemon) -> None:
    missed = []
    for question, (_, line) in FACTS.items():
        for way in ENGLISH if question.isascii() else CHINESE:
            query = way.format(question)
            reply = daemon.client().call("POST", "/recall", {"query": query, "k": 5, "touch": False})
            texts = [item["content"] for item in reply["results"]]
            if not texts or texts[0] not in line:
                missed.append((query, texts[:2]))
    assert not missed


def test_day_that_is_asked_about_comes_first(daemon: RunningDaemon) -> None:
    for query in ("what did the guests praise this morning?", "今天客人喜欢什么", "what happened today?"):
        reply = daemon.client().call("POST", "/recall", {"query": query, "k": 5, "touch": False})
        assert str(datetime.now().astimezone().date()) in reply["results"][0]["source"]


def test_plans_of_a_day_exclude_moved_and_outdated_ones(tmp_path: Path) -> None:
    today = datetime.now().astimezone().date()
    logs, (next_day, later) = tmp_path / "ws" / "memory", (today + timedelta(days=ahead) for ahead in (1, 4))
    logs.mkdir(parents=True)
    (logs / f"{today - timedelta(days=1)}.md").write_text("## Retain\n\n- W: The viewing of the house is tomorrow.\n")
    with RunningDaemon(tmp_path, write_config(tmp_path, tmp_path / "ws", None), tmp_path / "ws") as running:
        client = running.client()
        client.retain(f"W: The parents' evening is on {next_day} at 19:00.")
        client.retain(f"W: The plumber comes on {next_day} at 8:00.")
        client.retain(f"W: The parents' evening is on {later} at 19:00.", replaces="parents' evening")
        client.sync()
        bundle = str(client.turn("what do I have planned for tomorrow?", session_key="agent:main:main")["bundle"])
        best = client.recall("what do I have planned for tomorrow?", touch=False)["results"]

    assert "plumber" in bundle
    assert "viewing" not in bundle
    assert "evening" not in bundle
    assert [item["content"] for item in best if item["verdict"] == "answerable"] == [
        f"The plumber comes on {next_day} at 8:00."
    ]


def test_message_about_a_date_recalls_only_memories_without_other_topic(tmp_path: Path) -> None:
    day = datetime.now().astimezone().date() - timedelta(days=20)
    logs = tmp_path / "ws" / "memory"
    logs.mkdir(parents=True)
    (logs / f"{day}.md").write_text("## Retain\n\n- W: The boiler was serviced by Ines Dufresne.\n")
    with RunningDaemon(tmp_path, write_config(tmp_path, tmp_path / "ws", None), tmp_path / "ws") as running:
        client = running.client()
        client.sync()
        messages = (f"what was on {day:%d %B %Y}?", f"was war am {day:%d.%m.%Y}?")
        bundles = [
            str(client.turn(message, session_key=f"agent:main:{number}")["bundle"])
            for number, message in enumerate(messages)
        ]
        other = str(client.turn(f"who won the election on {day:%d %B %Y}?", session_key="agent:main:x")["bundle"])

    assert ["boiler" in bundle for bundle in bundles] == [True, True]
    assert "boiler" not in other
