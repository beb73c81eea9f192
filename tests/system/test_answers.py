"""Search by the real daemon: ranking, folding of copies, filters, verdicts and explanations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.daemon import RunningDaemon, write_config
from tests.system.agents import daemon_of_agents
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
Start = Callable[..., "SearchedWorkspace"]
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
class SearchedWorkspace:
    """One of many workspaces of a daemon, with its agent."""

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
def workspaces(
    tmp_path_factory: pytest.TempPathFactory, starter_model: Path
) -> Iterator[dict[str, list[SearchedWorkspace]]]:
    """Return empty workspaces of one daemon, by kind."""
    home = tmp_path_factory.mktemp("answers")
    local = {"provider": "local", "local": {"modelPath": str(starter_model), "threads": 1}}
    listed = []
    for kind, (count, hybrid) in KINDS.items():
        search = {"query": {"hybrid": hybrid}, **(local if kind == "model" else {})}
        for number in range(count):
            agent = f"{kind}-{number}"
            (home / agent / "memory").mkdir(parents=True)
            listed.append({"id": agent, "workspace": str(home / agent), "memorySearch": search})
    with daemon_of_agents(home, listed, search={"sync": QUICK}) as daemon:
        yield {
            kind: [SearchedWorkspace(f"{kind}-{at}", home / f"{kind}-{at}", daemon) for at in range(KINDS[kind][0])]
            for kind in KINDS
        }


@pytest.fixture
def start(workspaces: dict[str, list[SearchedWorkspace]]) -> Start:
    """Return a function that takes an unused workspace of a kind and writes notes into it."""

    def run(notes: Mapping[str, str], kind: str = "words") -> SearchedWorkspace:
        workspace = workspaces[kind].pop()
        workspace.write(notes, "embedded" if kind == "model" else "indexed")
        return workspace

    return run


@pytest.fixture(scope="module")
def diary(workspaces: dict[str, list[SearchedWorkspace]]) -> SearchedWorkspace:
    """Return a workspace with a diary, searched by words."""
    workspace = workspaces["words"].pop()
    workspace.write(DIARY | FILLER)
    return workspace


def ask(workspace: SearchedWorkspace, query: str, **more: object) -> Any:
    answer = send(workspace.daemon.socket, "POST", "/v1/search", {"query": query, "agent": workspace.agent, **more})
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
def test_question_about_a_day_finds_its_note(diary: SearchedWorkspace, question: str) -> None:
    reply = ask(diary, question)
    assert paths(reply)[0] == "memory/2023-05-07.md"
    assert reply["verdict"] == "answerable"


@pytest.mark.parametrize("question", ["What did I do on May 7?", "5月7号我做了什么？"])
def test_day_without_year_matches_every_year_but_no_time_of_day(diary: SearchedWorkspace, question: str) -> None:
    assert set(paths(ask(diary, question))[:2]) == {"memory/2022-05-07.md", "memory/2023-05-07.md"}


def test_month_and_word_find_the_day(diary: SearchedWorkspace) -> None:
    assert paths(ask(diary, "Which tooth was filled in May 2023?"))[0] == "memory/2023-05-06.md"
    assert paths(ask(diary, "What may bear in July 2023?"))[0] == "memory/2023-07-05.md"


def test_date_of_a_filter_is_no_search_word(diary: SearchedWorkspace) -> None:
    assert paths(ask(diary, "lake since:2023-05-07 until:2023-05-07")) == ["memory/2023-05-07.md"]
    assert paths(ask(diary, "dentist lake until:2023-05-07"))[0] == "memory/2023-05-06.md"


def test_year_distinguishes_similar_paragraphs(start: Start) -> None:
    """Each paragraph has the words of the question; the right one has them once, with its year."""
    notes = {
        f"memory/club-{year}.md": f"# Club\n\nThe trainer of the rowing club in {year} was {name}.{more}\n"
        for year, name, more in [
            (2017, "Oda", " The trainer praised the club, and the club the trainer: rowing, rowing, rowing."),
            (2018, "Per", ""),
            (2019, "Ebba", " In the winter she left for the coast, where a boat was built for her sister Siv."),
        ]
    }
    workspace = start(notes | FILLER)
    for year, path in ((2018, "memory/club-2018.md"), (2019, "memory/club-2019.md")):
        assert paths(ask(workspace, f"Who was the trainer of the rowing club from 1990 to {year}?"))[0] == path


def test_decay_ranks_yesterday_before_last_year(start: Start) -> None:
    old, new = dated(300), dated(1)
    notes = {
        old: "# Work\n\nRod's standup is at ten: standup, standup schedule of Rod.\n",
        new: "# Work\n\nMoved today: the standup of Rod is at a quarter past two now, says the schedule.\n",
        dated(400, "bank"): "# Rod\n\nRod leads the standup schedule.\n",
        **FILLER,
    }
    workspace = start(notes, "decay")
    reply = ask(workspace, "Rod standup schedule", explain=True)
    found = {hit["path"]: hit["explain"] for hit in reply["results"]}
    assert paths(reply).index(new) < paths(reply).index(old)
    assert found[old]["decay"] == pytest.approx(0.5 ** (300 / 30), abs=1e-3)
    assert (found[old]["ageDays"], found[new]["ageDays"]) == (300, 1)
    assert found[dated(400, "bank")]["decay"] == 1.0
    assert found[old]["baseScore"] > found[new]["baseScore"]


def test_decay_never_hides_the_note_with_the_words(start: Start) -> None:
    """One note of two years ago has five of the six words, and many notes of this month have one."""
    match = dated(760)
    notes = {
        match: "# Audit\n\nThe quarterly saffron audit in Lisbon: Marta signs it.\n",
        **{
            dated(day): f"# Day {day}\n\nThe router was restarted {day} times, said note {day * 7}.\n"
            for day in range(40)
        },
    }
    workspace = start(notes, "decay")
    for limit in (2, 6):
        assert match in paths(ask(workspace, "router quarterly saffron audit Lisbon Marta", maxResults=limit))
    assert match in paths(ask(workspace, "router quarterly saffron audit Lisbon Marta", minScore=0.9))


def test_mmr_prefers_new_content(start: Start) -> None:
    notes = {
        "memory/a.md": "# Router\n\nConfigured Omada router, set VLAN 10 for IoT devices in the network.\n",
        "memory/b.md": "# Router\n\nConfigured Omada router, moved IoT devices to VLAN 10 in the network.\n",
        "memory/c.md": "# DNS\n\nThe AdGuard box filters names for the whole network of the house.\n",
        **FILLER,
    }
    question = "configured router network"
    workspace = start(notes, "mmr")
    assert set(paths(ask(workspace, question, maxResults=2))) in (
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


SHARED_TEXT = """\
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
def test_newer_fact_is_not_folded_into_an_older_one(start: Start, older: str, newer: str, question: str) -> None:
    workspace = start({"memory/older.md": f"# Note\n\n{older}\n\n{SHARED_TEXT}", **FILLER})
    workspace.write({"memory/newer.md": f"# Note\n\n{newer}\n\n{SHARED_TEXT}"})
    for limit in (2, 6):
        reply = ask(workspace, question, maxResults=limit)
        assert {"memory/older.md", "memory/newer.md"} <= set(paths(reply))
        assert not any(hit["duplicates"] for hit in reply["results"])


def test_copies_fold_into_the_newest_which_cites_them(start: Start) -> None:
    note = "# Cellar\n\nThe cellar key hangs behind the grey fuse box in the hall.\n"
    dates = {dated(30): note, dated(2): note.replace("#", "##"), dated(60): f"{note}\nSent from my iPhone\n"}
    workspace = start(dates | FILLER)
    reply = ask(workspace, "cellar key", explain=True)
    assert paths(reply) == [dated(2)]
    assert cited_copies(reply) == {dated(30), dated(60)}
    quoted = "> # Cellar\n>\n> The **cellar key** hangs behind the grey\n> fuse box in the hall.\n"
    workspace.write({"bank/quoted.md": quoted})
    reply = ask(workspace, "cellar key", explain=True)
    assert paths(reply) == ["bank/quoted.md"], "written today"
    assert cited_copies(reply) == set(dates)


def test_newest_of_many_copies_is_shown_among_many_hits(start: Start) -> None:
    note = "# Cellar\n\nA key of the cellar hangs behind the grey fuse box.\n"
    others = {
        f"memory/key-{part}.md": f"# Cellar key\n\nCellar key: {part}.\n" for part in ("oak", "tin", "ash", "elm")
    }
    workspace = start({f"bank/copy-{number:02}.md": note for number in range(60)} | others | FILLER)
    workspace.write({"bank/copy-60.md": note})
    reply = ask(workspace, "cellar key", maxResults=5)
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
def test_note_with_all_words_ranks_before_notes_with_some(start: Start, fusion: str) -> None:
    """For each word, more notes repeat it than an arm has candidates."""
    words = ("boiler", "warranty", "Lisbon")
    notes = {
        f"memory/{word}/{number:03}.md": f"# {word} {number}\n\n{word} {word} {word} of kind{number}.\n"
        for word in words
        for number in range(130)
    }
    filling = " ".join(f"Then came matter{number} of that long year." for number in range(30))
    notes["memory/all.md"] = f"# Year\n\n{filling} The warranty is from Lisbon, for the boiler. {filling}\n"
    workspace = start(notes, fusion)
    for question in ("boiler warranty Lisbon", "where is the warranty of the boiler from Lisbon?"):
        reply = ask(workspace, question, maxResults=200, explain=True)
        assert len(paths(reply)) == 200, "the others are behind it, not left out"
        assert paths(reply)[0] == "memory/all.md"
        assert reply["results"][0]["score"] > reply["results"][1]["score"]
        assert reply["results"][0]["explain"]["wordsRank"] == 1


def test_minus_excludes_in_keywords_and_is_text_in_a_sentence(start: Start) -> None:
    notes = {
        "memory/rsync.md": "# Copies\n\nrsync -archive keeps times and owners of what it copies.\n",
        "memory/other.md": "# Home\n\nrsync runs at night.\n",
    }
    workspace = start(notes | FILLER)
    for sentence in ("what does rsync -archive do?", "rsync -archive?", "the owners after rsync -archive"):
        reply = ask(workspace, sentence, explain=True)
        assert paths(reply)[0] == "memory/rsync.md"
        assert reply["explain"]["question"]["excluded"] == []
    assert paths(ask(workspace, "rsync -archive")) == ["memory/other.md"]


def test_phrase_after_minus_excludes_notes_with_it(start: Start) -> None:
    notes = {
        "memory/saturday.md": "# 会议\n\n会议在星期六上午，在老地方。\n",
        "memory/monday.md": "# 会议\n\n会议在星期一上午，在老地方。\n",
        "memory/together.md": "# Ferry\n\nThe ferry sails from pier one two times a day.\n",
        "memory/apart.md": "# Ferry\n\nThe ferry has two decks and one mast.\n",
    }
    workspace = start(notes | FILLER)
    assert paths(ask(workspace, '会议 -"星期六"')) == ["memory/monday.md"]
    assert paths(ask(workspace, 'ferry -"one two"')) == ["memory/apart.md"]
    assert set(paths(ask(workspace, 'what about the ferry -"one two"?'))) >= {"memory/together.md", "memory/apart.md"}


def test_prefix_of_identifier_finds_it_after_whole_matches(start: Start) -> None:
    notes: dict[str, str] = {}
    numbers = {"12345": "12345678", "202610": "20261018", "deadb": "deadbeefcafe"}
    text = " ".join(f"Then came matter{matter} of that long year." for matter in range(30))
    for number, (part, whole) in enumerate(numbers.items()):
        notes[f"memory/longer{number}.md"] = f"# Number\n\n{whole} {whole} {whole} {whole}\n"
        notes[f"bank/whole{number}.md"] = f"# Year\n\n{text} It was {part}.\n"
    workspace = start(notes | FILLER)
    for number, part in enumerate(numbers):
        assert paths(ask(workspace, part)) == [f"bank/whole{number}.md", f"memory/longer{number}.md"]
        assert paths(ask(workspace, f"{part} path:memory")) == [f"memory/longer{number}.md"]
    assert not paths(ask(workspace, "1234")), "else the prefix of a year would match all its days"


@pytest.mark.parametrize("question", ["zzzxqv", "qwxjk vvbz", "zzzxqv flimbicates quandrously"])
def test_nonsense_is_reported_as_noise(start: Start, question: str) -> None:
    workspace = start(FILLER, "model")
    reply = ask(workspace, question, explain=True)
    assert reply["mode"] == "hybrid"
    assert (len(reply["results"]), reply["verdict"]) == (6, "none")
    assert "noise" in reply["reason"]
    assert {hit["verdict"] for hit in [*reply["results"], *reply["misses"]]} == {"none"}
    assert all("noise" in hit["explain"]["because"] for hit in reply["results"])
    cosines = [hit["vectorScore"] for hit in [*reply["results"], *reply["misses"]]]
    assert cosines == sorted(cosines, reverse=True)
    assert len(reply["misses"]) == 6
    assert all("beyond maxResults" in miss["explain"]["because"] for miss in reply["misses"])
    assert ask(workspace, question)["misses"] is None


def test_paraphrase_is_found_and_literal_match_is_answerable(start: Start) -> None:
    notes = {"memory/boiler.md": "# Boiler\n\nThe boiler was serviced by Quentin Aldebaran.\n", **FILLER}
    workspace = start(notes, "model")
    other_words = ask(workspace, "who fixed our central heating furnace?")
    assert paths(other_words)[0] == "memory/boiler.md"
    assert other_words["verdict"] in ("weak", "answerable")
    assert ask(workspace, "boiler Aldebaran")["verdict"] == "answerable"


def test_one_known_word_among_unknown_ones_is_weak(start: Start) -> None:
    reply = ask(start(FILLER), "zzzxqv qwpoei bnmrt printer")
    assert paths(reply) == ["memory/topic-08.md"]
    assert reply["verdict"] == "weak"
    assert "%" in reply["reason"]


def test_filters_in_the_question(start: Start) -> None:
    notes = {
        dated(3): "# Lease\n\nA second process holds the lease of the gateway.\n",
        dated(90): "# Lease\n\nAnother second process held the lease, a backup did.\n",
        "bank/lease.md": "# Lease\n\nThe lease process: second to none.\n",
    }
    workspace = start(notes | FILLER)
    assert set(paths(ask(workspace, "lease"))) == {dated(3), dated(90), "bank/lease.md"}
    assert paths(ask(workspace, "lease since:30d path:memory")) == [dated(3)]
    assert paths(ask(workspace, "lease until:60d path:memory/2*")) == [dated(90)]
    assert set(paths(ask(workspace, 'lease "second process"'))) == {dated(3), dated(90)}
    assert paths(ask(workspace, '"second process" -backup')) == [dated(3)]
    reply = ask(workspace, 'path:memory since:30d "second process" lease -backup', explain=True)
    assert paths(reply) == [dated(3)]
    understood = reply["explain"]["question"]
    assert (understood["phrases"], understood["excluded"]) == (["second process"], ["backup"])
    assert understood["paths"] == ["memory"]
    assert understood["since"]
    nothing = ask(workspace, '"process second"')
    assert (nothing["results"], nothing["verdict"]) == ([], "none")
    # the watcher reads the new notes once more: until then, an empty answer reports that instead
    eventually(lambda: "phrases" in ask(workspace, '"process second"')["reason"])


def test_filters_apply_to_vectors(start: Start) -> None:
    """Equal passages share one vector; a filter must not let one show the other."""
    same = "# Heat\n\nThe plumber repaired the boiler.\n"
    workspace = start({"memory/in.md": same, "bank/out.md": same, **FILLER}, "model")
    queries = "who mended the heating path:memory/in.md", "mended heating -cellar path:memory/in.md"
    # the calibration of the daemon's first model still runs
    eventually(lambda: ask(workspace, queries[0])["health"]["arms"]["vector"]["state"] == "ok")
    for query in queries:
        reply = ask(workspace, query, explain=True)
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
def test_whole_and_partial_words_are_found_in_all_scripts(
    scripts: SearchedWorkspace, question: str, answer: str
) -> None:
    reply = ask(scripts, question)
    assert paths(reply)[0] == answer
    assert reply["verdict"] == "answerable"


@pytest.fixture(scope="module")
def scripts(workspaces: dict[str, list[SearchedWorkspace]]) -> SearchedWorkspace:
    """Return a workspace with notes in many scripts."""
    workspace = workspaces["words"].pop()
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
    workspace.write(notes)
    return workspace


def test_snippet_shows_the_match_in_its_own_lines(start: Start) -> None:
    lines = [f"- line {number} about nothing much at all, as on most days of that year" for number in range(40)]
    lines[31] = "- the Zürich safe opens with 4711"
    workspace = start({"memory/long.md": "\n".join(lines) + "\n", **FILLER})
    hit = ask(workspace, "zurich safe", maxResults=1)["results"][0]
    assert "Zürich safe" in hit["snippet"]
    body = hit["snippet"].split("\n\nSource: ")[0]
    assert body == "\n".join(lines[hit["snippetStartLine"] - 1 : hit["snippetEndLine"]])
    assert len(body) <= 700


def test_snippet_shows_context_and_the_heading(start: Start) -> None:
    lines = [f"- line {number} about nothing much at all, as on most days of that year" for number in range(18)]
    section = ["", "## Boiler warranty", "", "It ends in May, says the plumber.", "", *lines[:4]]
    middle = [*lines[:9], "- the safe opens with 4711", *lines[9:]]
    notes = {"memory/heading.md": "\n".join([*lines, *section]), "memory/middle.md": "\n".join(middle)}
    workspace = start(notes | FILLER)
    below = ask(workspace, "boiler warranty", maxResults=1)["results"][0]["snippet"]
    assert "## Boiler warranty\n\nIt ends in May, says the plumber." in below
    around = ask(workspace, "safe 4711", maxResults=1)["results"][0]["snippet"].split("\n\nSource: ")[0].split("\n")
    at = next(at for at, line in enumerate(around) if "4711" in line)
    assert 3 <= at <= len(around) - 4


def test_explanation_adds_up(start: Start) -> None:
    workspace = start({"memory/boiler.md": "# Boiler\n\nThe boiler was serviced by Quentin.\n", **FILLER}, "model")
    reply = ask(workspace, "boiler service", explain=True)
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
    plain = ask(workspace, "boiler service")
    assert "explain" not in plain
    assert "explain" not in plain["results"][0]


def test_vectors_beyond_the_memory_limit_still_answer(tmp_path: Path, workspace: Path, starter_model: Path) -> None:
    config = write_config(tmp_path, workspace, starter_model, limits={"maxVectorBytes": 0})
    with RunningDaemon(tmp_path, config, workspace) as running, running.client() as client:
        client.sync(wait="embedded", timeout_ms=120_000)
        reply = client.search("GW-4172 lease", deadline_ms=60_000)
        assert (reply["mode"], bool(reply["results"])) == ("hybrid", True)
        assert running.agent()["vector"]["engine"] == "signs"
