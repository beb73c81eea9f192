"""What the real daemon answers: how hits are ranked, folded, filtered, judged and explained."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.system.over_socket import send
from tests.waiting import eventually

FILLER = {
    f"memory/topic-{number:02}.md": f"# Topic {number}\n\nNotes on subject{number}: {words}.\n"
    for number, words in enumerate(
        [
            *("paint the fence green", "order flour and yeast", "tickets for the opera", "a walk by the river"),
            *("new tyres for the car", "the choir meets on Monday", "call the bank about fees", "plant garlic in rows"),
            *("the printer needs toner", "a recipe with lentils", "return the library books", "swim on Thursday"),
        ]
    )
}
Start = Callable[..., "Place"]
DECAY: Mapping[str, object] = {"temporalDecay": {"enabled": True, "halfLifeDays": 30}}
KINDS: Mapping[str, tuple[int, Mapping[str, object]]] = {
    "words": (24, {}),
    "model": (8, {}),
    "decay": (2, DECAY),
    "mmr": (1, {"mmr": {"enabled": True, "lambda": 0.3}}),
    "relative": (1, {"fusion": "relative"}),
    "weighted": (1, {"fusion": "weighted"}),
}
"""How many agents of each kind there are, and their settings of `query.hybrid`."""
QUICK = {"watchDebounceMs": 30, "settleMs": 20, "deleteGraceMs": 100}


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace and its agent, one of many of a daemon."""

    agent: str
    workspace: Path
    daemon: RunningDaemon

    def write(self, notes: Mapping[str, str], wait: Literal["indexed", "embedded"] = "indexed") -> None:
        """Write notes and wait until they are found."""
        for name, text in notes.items():
            (self.workspace / name).parent.mkdir(parents=True, exist_ok=True)
            (self.workspace / name).write_text(text)
        assert self.daemon.client().sync(wait=wait, agent=self.agent, timeout_ms=60_000)["complete"]


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory, starter_model: Path) -> Iterator[dict[str, list[Place]]]:
    """Workspaces without notes under one daemon, by kind."""
    home = tmp_path_factory.mktemp("answers")
    local = {"provider": "local", "local": {"modelPath": str(starter_model), "threads": 1}}
    listed = []
    for kind, (count, hybrid) in KINDS.items():
        search = {"query": {"hybrid": hybrid}, **(local if kind == "model" else {})}
        for number in range(count):
            agent = f"{kind}-{number}"
            (home / agent / "memory").mkdir(parents=True)
            listed.append({"id": agent, "workspace": str(home / agent), "memorySearch": search})
    defaults = {"memorySearch": {"provider": "none", "sync": QUICK}}
    config = home / "config.json5"
    config.write_text(json.dumps({"agents": {"defaults": defaults, "list": listed}}))
    with RunningDaemon(home, config, home) as daemon:
        yield {
            kind: [Place(f"{kind}-{at}", home / f"{kind}-{at}", daemon) for at in range(KINDS[kind][0])]
            for kind in KINDS
        }


@pytest.fixture
def start(places: dict[str, list[Place]]) -> Start:
    """Return what takes a workspace of a kind that no test had before, and writes notes into it."""

    def run(notes: Mapping[str, str], kind: str = "words") -> Place:
        place = places[kind].pop()
        place.write(notes, "embedded" if kind == "model" else "indexed")
        return place

    return run


@pytest.fixture(scope="module")
def diary(places: dict[str, list[Place]]) -> Place:
    """Return a place with a diary, found by words."""
    place = places["words"].pop()
    place.write(DIARY | FILLER)
    return place


def ask(place: Place, query: str, **more: object) -> Any:
    answer = send(place.daemon.socket, "POST", "/v1/search", {"query": query, "agent": place.agent, **more})
    assert answer.status == 200, answer.json
    return answer.json


def paths(reply: Any) -> list[str]:
    return [hit["path"] for hit in reply["results"]]


def dated(days: int, folder: str = "memory") -> str:
    return f"{folder}/{date.today() - timedelta(days=days)}.md"  # noqa: DTZ011 the daemon's own day


DIARY = {
    f"memory/{day}.md": f"# {title}\n\n{text}\n"
    for day, title, text in [
        ("2022-05-07", "Saturday", "Sorted the attic with Ida; the old sledge goes to the neighbours."),
        ("2023-05-06", "Saturday", "The dentist filled a tooth. We may go to the lake in 7 days, said Ida."),
        ("2023-05-07", "Sunday", "Rowed across the lake and burnt the soup on the gas stove."),
        ("2023-05-08", "Monday", "Back at work: 7 of 12 tickets closed, 2023 budget sent."),
        ("2023-07-05", "Wednesday", "Bought 7 tomato plants; they may bear by August."),
        ("2023-11-19", "Sunday", "At 05:07 the alarm rang, at 05:07 sharp, for nothing."),
    ]
}


@pytest.mark.parametrize(
    "question",
    [
        "What did I do on 7 May 2023?",
        "What did I do on May 7th, 2023?",
        "what did i do on the 7th of may 2023",
        "What did I do on 2023-05-07?",
        "2023年5月7日我做了什么？",
        "７ May ２０２３",
    ],
)
def test_question_about_a_day_finds_the_note_of_that_day(diary: Place, question: str) -> None:
    reply = ask(diary, question)
    assert paths(reply)[0] == "memory/2023-05-07.md"
    assert reply["verdict"] == "answerable"


@pytest.mark.parametrize("question", ["What did I do on May 7?", "5月7号我做了什么？"])
def test_day_without_a_year_is_that_of_each_year_and_no_time_of_day(diary: Place, question: str) -> None:
    assert set(paths(ask(diary, question))[:2]) == {"memory/2022-05-07.md", "memory/2023-05-07.md"}


def test_month_and_a_word_find_the_day(diary: Place) -> None:
    assert paths(ask(diary, "Which tooth was filled in May 2023?"))[0] == "memory/2023-05-06.md"
    assert paths(ask(diary, "What may bear in July 2023?"))[0] == "memory/2023-07-05.md"


def test_day_of_a_filter_is_no_word(diary: Place) -> None:
    assert paths(ask(diary, "lake since:2023-05-07 until:2023-05-07")) == ["memory/2023-05-07.md"]
    assert paths(ask(diary, "dentist lake until:2023-05-07"))[0] == "memory/2023-05-06.md"


def test_years_tell_paragraphs_apart(start: Start) -> None:
    """Each paragraph has the words of the question, the right one once and with its year."""
    notes = {
        f"memory/club-{year}.md": f"# Club\n\nThe trainer of the rowing club in {year} was {name}.{more}\n"
        for year, name, more in [
            (2017, "Oda", " The trainer praised the club, and the club the trainer: rowing, rowing, rowing."),
            (2018, "Per", ""),
            (2019, "Ebba", " In the winter she left for the coast, where a boat was built for her sister Siv."),
        ]
    }
    place = start(notes | FILLER)
    for year, path in ((2018, "memory/club-2018.md"), (2019, "memory/club-2019.md")):
        assert paths(ask(place, f"Who was the trainer of the rowing club from 1990 to {year}?"))[0] == path


def test_decay_puts_yesterday_before_last_year(start: Start) -> None:
    old, new = dated(300), dated(1)
    notes = {
        old: "# Work\n\nRod's standup is at ten: standup, standup schedule of Rod.\n",
        new: "# Work\n\nMoved today: the standup of Rod is at a quarter past two now, says the schedule.\n",
        dated(400, "bank"): "# Rod\n\nRod leads the standup schedule.\n",
        **FILLER,
    }
    place = start(notes, "decay")
    reply = ask(place, "Rod standup schedule", explain=True)
    found = {hit["path"]: hit["explain"] for hit in reply["results"]}
    assert paths(reply).index(new) < paths(reply).index(old)
    assert found[old]["decay"] == pytest.approx(0.5 ** (300 / 30), abs=1e-3)
    assert (found[old]["ageDays"], found[new]["ageDays"]) == (300, 1)
    assert found[dated(400, "bank")]["decay"] == 1.0
    assert found[old]["baseScore"] > found[new]["baseScore"]


def test_decay_never_hides_the_note_that_holds_the_words(start: Start) -> None:
    """Five of six words stand in one note of two years ago, one word in each of many notes of this month."""
    match = dated(760)
    notes = {
        match: "# Audit\n\nThe quarterly saffron audit in Lisbon: Marta signs it.\n",
        **{
            dated(day): f"# Day {day}\n\nThe router was restarted {day} times, said note {day * 7}.\n"
            for day in range(40)
        },
    }
    place = start(notes, "decay")
    for limit in (2, 6):
        assert match in paths(ask(place, "router quarterly saffron audit Lisbon Marta", maxResults=limit))
    assert match in paths(ask(place, "router quarterly saffron audit Lisbon Marta", minScore=0.9))


def test_mmr_prefers_what_is_new(start: Start) -> None:
    notes = {
        "memory/a.md": "# Router\n\nConfigured Omada router, set VLAN 10 for IoT devices in the network.\n",
        "memory/b.md": "# Router\n\nConfigured Omada router, moved IoT devices to VLAN 10 in the network.\n",
        "memory/c.md": "# DNS\n\nThe AdGuard box filters names for the whole network of the house.\n",
        **FILLER,
    }
    question = "configured router network"
    place = start(notes, "mmr")
    assert set(paths(ask(place, question, maxResults=2))) in (
        {"memory/a.md", "memory/c.md"},
        {"memory/b.md", "memory/c.md"},
    )


def test_many_copies_fold_into_one_with_a_count(start: Start) -> None:
    copy = "The admin says that the recovery phrase of the main vault is kept in the blue binder.\n"
    notes = {f"memory/copies/{number:03}.md": copy for number in range(300)}
    notes["memory/real.md"] = "# Vault\n\nThe recovery key was moved to the bank on Friday.\n"
    reply = ask(start(notes | FILLER), "recovery vault", explain=True)
    assert len(reply["results"]) == 2
    counts = {hit["path"]: hit["duplicates"] for hit in reply["results"]}
    assert counts.pop("memory/real.md") == 0
    assert list(counts.values()) == [299]


THE_SAME = """\
The rest of the page was copied from last month: the hedge is cut twice a year, the chimney swept in autumn, and whoever
borrows the wheelbarrow brings it back before dark. The neighbours lend us their ladder when the gutter must be cleaned.

其余的内容和上个月一样：院子里的树每年修剪两次，烟囱秋天打扫，谁借了手推车谁就在天黑之前还回来。清理屋檐的时候，邻居会把梯子借给我们用。
大家轮流打扫楼梯，垃圾放在后门旁边的绿色箱子里，收到的包裹先放在门房，晚上回家以后再去拿。
"""


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "The alarm code of the cellar door is 4711.",
            "The alarm code of the cellar door is 8832.",
            "alarm code cellar",
        ),
        ("Grandmother takes 10 mg of the pill at night.", "Grandmother takes 20 mg of the pill at night.", "pill"),
        ("Nils may eat nuts at school again.", "Nils may not eat nuts at school again.", "nuts school"),
        ("The dentist sees Ida on Friday at nine sharp.", "The dentist sees Ida on Monday at nine sharp.", "dentist"),
        (
            "地下室的报警密码是四七一一，请大家不要告诉别人。",
            "地下室的报警密码是八八三二，请大家不要告诉别人。",
            "报警密码",
        ),
        ("奶奶每天晚上睡觉前吃药十毫克。", "奶奶每天晚上睡觉前吃药二十毫克。", "奶奶吃药"),
        ("医生说他周五上午可以来复查。", "医生说他周一上午不可以来复查。", "医生复查"),
    ],
)
def test_newer_fact_does_not_vanish_into_an_older_one(start: Start, older: str, newer: str, question: str) -> None:
    place = start({"memory/older.md": f"# Note\n\n{older}\n\n{THE_SAME}", **FILLER})
    place.write({"memory/newer.md": f"# Note\n\n{newer}\n\n{THE_SAME}"})
    for limit in (2, 6):
        reply = ask(place, question, maxResults=limit)
        assert {"memory/older.md", "memory/newer.md"} <= set(paths(reply))
        assert not any(hit["duplicates"] for hit in reply["results"])


def test_copies_fold_into_the_newest_which_cites_them(start: Start) -> None:
    told = "# Cellar\n\nThe cellar key hangs behind the grey fuse box in the hall.\n"
    dates = {dated(30): told, dated(2): told.replace("#", "##"), dated(60): f"{told}\nSent from my iPhone\n"}
    place = start(dates | FILLER)
    reply = ask(place, "cellar key", explain=True)
    assert paths(reply) == [dated(2)]
    assert cited_copies(reply) == {dated(30), dated(60)}
    quoted = "> # Cellar\n>\n> The **cellar key** hangs behind the grey\n> fuse box in the hall.\n"
    place.write({"bank/quoted.md": quoted})
    reply = ask(place, "cellar key", explain=True)
    assert paths(reply) == ["bank/quoted.md"], "written today"
    assert cited_copies(reply) == set(dates)


def test_newest_of_many_copies_leads_among_many_other_hits(start: Start) -> None:
    told = "# Cellar\n\nA key of the cellar hangs behind the grey fuse box.\n"
    others = {
        f"memory/key-{part}.md": f"# Cellar key\n\nCellar key: {part}.\n" for part in ("oak", "tin", "ash", "elm")
    }
    place = start({f"bank/copy-{number:02}.md": told for number in range(60)} | others | FILLER)
    place.write({"bank/copy-60.md": told})
    reply = ask(place, "cellar key", maxResults=5)
    assert set(paths(reply)) == {*others, "bank/copy-60.md"}


def cited_copies(reply: Any) -> set[str]:
    (hit,) = reply["results"]
    assert hit["duplicates"] == len(hit["explain"]["copies"])
    return {copy.partition("#")[0] for copy in hit["explain"]["copies"]}


def test_one_document_does_not_fill_the_answer(start: Start) -> None:
    parts = [
        f"## Part {part}\n\n" + f"The boiler boiler boiler matter {part} of heat{part}. " * 60 for part in range(12)
    ]
    notes = {"MEMORY.md": "\n\n".join(parts), "memory/other.md": "# Cellar\n\nA boiler stands in the cellar.\n"}
    found = paths(ask(start(notes), "boiler"))
    assert len(found) == 6
    assert "memory/other.md" in found


@pytest.mark.parametrize("fusion", ["relative", "weighted"])
def test_note_with_all_words_stands_before_those_with_some(start: Start, fusion: str) -> None:
    """Of each word there are more notes that say it again and again than an arm has candidates."""
    words = ("boiler", "warranty", "Lisbon")
    notes = {
        f"memory/{word}/{number:03}.md": f"# {word} {number}\n\n{word} {word} {word} of kind{number}.\n"
        for word in words
        for number in range(130)
    }
    filling = " ".join(f"Then came matter{number} of that long year." for number in range(30))
    notes["memory/all.md"] = f"# Year\n\n{filling} The warranty is from Lisbon, for the boiler. {filling}\n"
    place = start(notes, fusion)
    for question in ("boiler warranty Lisbon", "where is the warranty of the boiler from Lisbon?"):
        reply = ask(place, question, maxResults=200, explain=True)
        assert len(paths(reply)) == 200, "the others are behind it, not left out"
        assert paths(reply)[0] == "memory/all.md"
        assert reply["results"][0]["score"] > reply["results"][1]["score"]
        assert reply["results"][0]["explain"]["wordsRank"] == 1


def test_minus_binds_in_keywords_and_is_text_in_a_sentence(start: Start) -> None:
    notes = {
        "memory/rsync.md": "# Copies\n\nrsync -archive keeps times and owners of what it copies.\n",
        "memory/other.md": "# Home\n\nrsync runs at night.\n",
    }
    place = start(notes | FILLER)
    for sentence in ("what does rsync -archive do?", "rsync -archive?", "the owners after rsync -archive"):
        asked = ask(place, sentence, explain=True)
        assert paths(asked)[0] == "memory/rsync.md"
        assert asked["explain"]["question"]["excluded"] == []
    assert paths(ask(place, "rsync -archive")) == ["memory/other.md"]


def test_phrase_behind_a_minus_leaves_out_what_holds_it(start: Start) -> None:
    notes = {
        "memory/saturday.md": "# 会议\n\n会议在星期六上午，在老地方。\n",
        "memory/monday.md": "# 会议\n\n会议在星期一上午，在老地方。\n",
        "memory/together.md": "# Ferry\n\nThe ferry sails from pier one two times a day.\n",
        "memory/apart.md": "# Ferry\n\nThe ferry has two decks and one mast.\n",
    }
    place = start(notes | FILLER)
    assert paths(ask(place, '会议 -"星期六"')) == ["memory/monday.md"]
    assert paths(ask(place, 'ferry -"one two"')) == ["memory/apart.md"]
    assert set(paths(ask(place, 'what about the ferry -"one two"?'))) >= {"memory/together.md", "memory/apart.md"}


def test_beginning_of_an_identifier_finds_it_behind_the_whole(start: Start) -> None:
    notes: dict[str, str] = {}
    numbers = {"12345": "12345678", "202610": "20261018", "deadb": "deadbeefcafe"}
    text = " ".join(f"Then came matter{matter} of that long year." for matter in range(30))
    for number, (part, whole) in enumerate(numbers.items()):
        notes[f"memory/longer{number}.md"] = f"# Number\n\n{whole} {whole} {whole} {whole}\n"
        notes[f"bank/whole{number}.md"] = f"# Year\n\n{text} It was {part}.\n"
    place = start(notes | FILLER)
    for number, part in enumerate(numbers):
        assert paths(ask(place, part)) == [f"bank/whole{number}.md", f"memory/longer{number}.md"]
        assert paths(ask(place, f"{part} path:memory")) == [f"memory/longer{number}.md"]
    assert not paths(ask(place, "1234")), "the beginning of a year would find every day of it"


@pytest.mark.parametrize("question", ["zzzxqv", "qwxjk vvbz", "zzzxqv flimbicates quandrously"])
def test_nonsense_is_told_as_noise(start: Start, question: str) -> None:
    place = start(FILLER, "model")
    reply = ask(place, question, explain=True)
    assert reply["mode"] == "hybrid"
    assert (len(reply["results"]), reply["verdict"]) == (6, "none")
    assert "noise" in reply["reason"]
    assert {hit["verdict"] for hit in [*reply["results"], *reply["misses"]]} == {"none"}
    assert all("noise" in hit["explain"]["because"] for hit in reply["results"])
    cosines = [hit["vectorScore"] for hit in [*reply["results"], *reply["misses"]]]
    assert cosines == sorted(cosines, reverse=True)
    assert len(reply["misses"]) == 6
    assert all("beyond maxResults" in miss["explain"]["because"] for miss in reply["misses"])
    assert ask(place, question)["misses"] is None


def test_paraphrase_is_found_and_literal_match_is_answerable(start: Start) -> None:
    notes = {"memory/boiler.md": "# Boiler\n\nThe boiler was serviced by Quentin Aldebaran.\n", **FILLER}
    place = start(notes, "model")
    other_words = ask(place, "who fixed our central heating furnace?")
    assert paths(other_words)[0] == "memory/boiler.md"
    assert other_words["verdict"] in ("weak", "answerable")
    assert ask(place, "boiler Aldebaran")["verdict"] == "answerable"


def test_word_of_a_question_full_of_unknown_ones_is_weak(start: Start) -> None:
    reply = ask(start(FILLER), "zzzxqv qwpoei bnmrt printer")
    assert paths(reply) == ["memory/topic-08.md"]
    assert reply["verdict"] == "weak"
    assert "%" in reply["reason"]


def test_filters_inside_the_question(start: Start) -> None:
    notes = {
        dated(3): "# Lease\n\nA second process holds the lease of the gateway.\n",
        dated(90): "# Lease\n\nAnother second process held the lease, a backup did.\n",
        "bank/lease.md": "# Lease\n\nThe lease process: second to none.\n",
    }
    place = start(notes | FILLER)
    assert set(paths(ask(place, "lease"))) == {dated(3), dated(90), "bank/lease.md"}
    assert paths(ask(place, "lease since:30d path:memory")) == [dated(3)]
    assert paths(ask(place, "lease until:60d path:memory/2*")) == [dated(90)]
    assert set(paths(ask(place, 'lease "second process"'))) == {dated(3), dated(90)}
    assert paths(ask(place, '"second process" -backup')) == [dated(3)]
    asked = ask(place, 'path:memory since:30d "second process" lease -backup', explain=True)
    assert paths(asked) == [dated(3)]
    understood = asked["explain"]["question"]
    assert (understood["phrases"], understood["excluded"]) == (["second process"], ["backup"])
    assert understood["paths"] == ["memory"]
    assert understood["since"]
    nothing = ask(place, '"process second"')
    assert (nothing["results"], nothing["verdict"]) == ([], "none")
    # the watcher, told of the notes, reads them once more: until then an answer without hits speaks of that
    eventually(lambda: "phrases" in ask(place, '"process second"')["reason"])


def test_filters_hold_for_vectors_too(start: Start) -> None:
    """Equal passages share one vector; a filter must not let the one show the other."""
    same = "# Heat\n\nThe plumber repaired the boiler.\n"
    place = start({"memory/in.md": same, "bank/out.md": same, **FILLER}, "model")
    queries = "who mended the heating path:memory/in.md", "mended heating -cellar path:memory/in.md"
    # the first model of a daemon is measured meanwhile
    eventually(lambda: ask(place, queries[0])["health"]["arms"]["vector"]["state"] == "ok")
    for query in queries:
        reply = ask(place, query, explain=True)
        assert reply["health"]["arms"]["vector"]["state"] == "ok"
        assert {hit["path"] for hit in [*reply["results"], *reply["misses"]]} == {"memory/in.md"}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("GW-4172", "memory/codes.md"),
        ("4172", "memory/codes.md"),
        ("a828e60", "memory/codes.md"),
        ("sqlite-vec unavailable", "memory/codes.md"),
        ("candidateMultiplier", "memory/codes.md"),
        ("multiplier", "memory/codes.md"),
        ("2026-10-18", "memory/codes.md"),
        ("2026-10", "memory/codes.md"),
        ("/etc/memoryd/config.json5", "memory/codes.md"),
        ("codes.md", "memory/codes.md"),
        ("屋", "memory/zh.md"),
        ("排水沟", "memory/zh.md"),
        ("デプロイ", "memory/ja.md"),
        ("배포", "memory/ko.md"),
        ("ห้องสมุด", "memory/th.md"),
        ("ຫ້ອງສະໝຸດ", "memory/lo.md"),
        ("បណ្ណាល័យ", "memory/km.md"),
        ("resume", "memory/accents.md"),
        ("re\u0301sume\u0301", "memory/accents.md"),
        ("Angstrom", "memory/accents.md"),
    ],
)
def test_whole_and_part_of_what_is_written(scripts: Place, question: str, answer: str) -> None:
    reply = ask(scripts, question)
    assert paths(reply)[0] == answer
    assert reply["verdict"] == "answerable"


@pytest.fixture(scope="module")
def scripts(places: dict[str, list[Place]]) -> Place:
    """Notes in many scripts."""
    place = places["words"].pop()
    notes = {
        "memory/codes.md": "# Codes\n\nError GW-4172, fixed in a828e60b3f91c on 2026-10-18: `candidateMultiplier` in "
        '/etc/memoryd/config.json5 was wrong; "sqlite-vec unavailable" came of it.\n',
        "memory/zh.md": "# 星期日\n\n今天和文一起去海边的木屋，修好了屋顶的排水沟。\n",
        "memory/ja.md": "# 金曜日\n\n本番環境へのデプロイは金曜日にしない。\n",
        "memory/ko.md": "# 금요일\n\n금요일에는 배포하지 않는다.\n",
        "memory/th.md": "# วัน\n\nวันนี้ฉันไปห้องสมุดกับเพื่อนและยืมหนังสือ\n",
        "memory/lo.md": "# ມື້\n\nມື້ນີ້ຂ້ອຍໄປຫ້ອງສະໝຸດກັບໝູ່\n",
        "memory/km.md": "# ថ្ងៃ\n\nថ្ងៃនេះខ្ញុំទៅបណ្ណាល័យជាមួយមិត្ត\n",
        "memory/accents.md": "# Papers\n\nHer résumé names the A\u030angstro\u0308m laboratory.\n",
        **FILLER,
    }
    place.write(notes)
    return place


def test_snippet_shows_the_match_in_its_own_lines(start: Start) -> None:
    lines = [f"- line {number} about nothing much at all, as on most days of that year" for number in range(40)]
    lines[31] = "- the Zürich safe opens with 4711"
    place = start({"memory/long.md": "\n".join(lines) + "\n", **FILLER})
    hit = ask(place, "zurich safe", maxResults=1)["results"][0]
    assert "Zürich safe" in hit["snippet"]
    body = hit["snippet"].split("\n\nSource: ")[0]
    assert body == "\n".join(lines[hit["snippetStartLine"] - 1 : hit["snippetEndLine"]])
    assert len(body) <= 700


def test_snippet_shows_what_stands_around_the_match_and_below_a_heading(start: Start) -> None:
    lines = [f"- line {number} about nothing much at all, as on most days of that year" for number in range(18)]
    section = ["", "## Boiler warranty", "", "It ends in May, says the plumber.", "", *lines[:4]]
    middle = [*lines[:9], "- the safe opens with 4711", *lines[9:]]
    notes = {"memory/heading.md": "\n".join([*lines, *section]), "memory/middle.md": "\n".join(middle)}
    place = start(notes | FILLER)
    below = ask(place, "boiler warranty", maxResults=1)["results"][0]["snippet"]
    assert "## Boiler warranty\n\nIt ends in May, says the plumber." in below
    around = ask(place, "safe 4711", maxResults=1)["results"][0]["snippet"].split("\n\nSource: ")[0].split("\n")
    at = next(at for at, line in enumerate(around) if "4711" in line)
    assert 3 <= at <= len(around) - 4


def test_explanation_adds_up(start: Start) -> None:
    place = start({"memory/boiler.md": "# Boiler\n\nThe boiler was serviced by Quentin.\n", **FILLER}, "model")
    reply = ask(place, "boiler service", explain=True)
    best = reply["results"][0]["explain"]
    assert (best["wordsRank"], best["mergedRank"], best["decay"]) == (1, 1, 1.0)
    assert best["baseScore"] == reply["results"][0]["score"]
    assert best["terms"] == ["boiler", "service"]
    assert best["bm25"] > 0
    assert best["because"]
    floors = reply["explain"]["floors"]
    assert floors["share"] == 1.0
    assert floors["vectors"] >= len(FILLER)
    assert floors["vectorFloor"] <= floors["clearFloor"]
    plain = ask(place, "boiler service")
    assert "explain" not in plain
    assert "explain" not in plain["results"][0]


def test_vectors_that_memory_may_not_hold_answer_all_the_same(
    tmp_path: Path, workspace: Path, starter_model: Path
) -> None:
    config = write_config(tmp_path, workspace, starter_model, limits={"maxVectorBytes": 0})
    with RunningDaemon(tmp_path, config, workspace) as running, running.client() as client:
        client.sync(wait="embedded", timeout_ms=120_000)
        reply = client.search("GW-4172 lease", deadline_ms=60_000)
        assert (reply["mode"], bool(reply["results"])) == ("hybrid", True)
        assert running.agent()["vector"]["engine"] == "signs"
