"""Corrections as people type them: without a subject, in other forms of the value, after what the agent just said."""

import pytest

from memoryd.domain.memories.capture.capture import CaptureVerdict
from tests.unit.domain.memories.books import book_from
from tests.unit.domain.memories.capture.test_revisions import superseded
from tests.unit.domain.memories.capture.test_touching import doubted, told

MEMORY = [
    "W @Nina: Nina is a joiner in Whitby.",
    "W @Nina: Nina swims every Thursday.",
    "W @Nina: Nina volunteers at the lifeboat shop.",
    "preference @Nina: Nina takes two sugars in her coffee.",
    "W @Nina: Nina takes a deposit from every customer.",
    "W @Nina: Nina had surgery on her left wrist.",
    "W: I live in Sleights.",
    "W @Lathe: The lathe is a Record DML.",
    "W @Timber: The oak comes from Barker's yard.",
    "W @Prices: A small stool costs £45.20.",
    "W @Saw: The saw doctor is Ted Moss, he comes on the first Monday of the month and charges £30.",
    "W @Workshop: The workshop opens at 8:00.",
    "W @Workshop: The workshop rent is £410 a month.",
    "W @Shelf: The Harker shelf has five boards and a rim in ash.",
    "W @Pool: The job needs two estimates.",
    "W @Fair: The fair is on 14 June, in Dora's van.",
    "W @Team: The foreman is Anders Kollin.",
    "W @Choir: Choir practice is at First Chapel.",
    "W @Stall: The stall is on Wednesdays.",
    "W @Leo: Leo does judo after school.",
]
HAN_MEMORY = [
    "W @董敏: 董敏每天早上跑步。",
    "W @董敏: 董敏每周三值班。",
    "W @董敏: 董敏每天喝一杯美式咖啡。",
    "W: 我住在城南区。",
    "W @房租: 房租每个月七千二。",
    "W @客房: 民宿一共有九间客房。",
    "W @钢琴课: 女儿的钢琴课周六下午三点，老师姓裴，在文华路。",
    "W @订单: 订单主要来自携程。",
    "W @年会: 年会在二十号，地点是凯悦。",
]
REPLACED = [
    # its author leaves out who: what is theirs, where they live, what they had
    ("Nina swims every Thursday.", "knackered. not doing the thursday swims anymore"),
    ("Nina volunteers at the lifeboat shop.", "quit the lifeboat shop, my back can't take it"),
    ("Nina takes a deposit from every customer.", "I don't take deposits anymore, too much chasing"),
    ("Nina takes two sugars in her coffee.", "doc's orders, no sugar in my coffee from here on"),
    ("I live in Sleights.", "moved to Ruswarp btw"),
    ("The oak comes from Barker's yard.", "ditched Barker's yard for Oakley, the oak's better"),
    ("The lathe is a Record DML.", "finally sold the record, turning on a Jet 1221"),
    # the value in another form: in letters, without its unit, another side
    ("A small stool costs £45.20.", "oak, glue, everything's up, so the small stool is fifty two now"),
    ("The workshop rent is £410 a month.", "workshop rent has gone up again, 450 now"),
    ("The workshop opens at 8:00.", "workshop opens half seven these days"),
    ("The job needs two estimates.", "two was slow so from today a single estimate will do for the job"),
    ("Nina had surgery on her left wrist.", "you got my surgery backwards, it was the right wrist"),
]
PARTLY = [
    (
        "colm's gone, ted wants 38 a visit these days for the saw",
        "The saw doctor is Ted Moss, he comes on the first Monday of the month and charges £38.",
    ),
    ("actually make the workshop half seven, rest stays", "actually make the workshop half seven, rest stays"),
    (
        "harkers changed their mind, walnut rim instead of ash",
        "The Harker shelf has five boards and a rim in walnut.",
    ),
    ("Dora's van is bust so it's Kit's van for the fair", "The fair is on 14 June, in Kit's van."),
]
ANSWERED = [
    ("The stall is on Wednesdays.", "Your stall is on Wednesday.", "thursdays now, council swapped us"),
    ("The lathe is a Record DML.", "The lathe is a Record DML.", "nah the record got switched off, go to the Jet"),
    ("Leo does judo after school.", "Leo does judo after school.", "he packed that in, it's chess"),
    (
        "Choir practice is at First Chapel.",
        "Choir practice is at First Chapel.",
        "not since the flood. we sing in the Barn hall",
    ),
    ("The foreman is Anders Kollin.", "Noted, your foreman is Anders Kollin.", "Kallin, with an a"),
    ("The fair is on 14 June, in Dora's van.", "The fair is on 14 June.", "its the 16th"),
]
HAN_REPLACED = [
    ("我住在城南区。", "", "搬家了，现在住临平"),
    ("房租每个月七千二。", "", "房东又涨，七千八了"),
    ("董敏每天早上跑步。", "", "膝盖不行，早上不跑了"),
    ("董敏每天喝一杯美式咖啡。", "", "咖啡戒了，现在就喝大麦茶"),
    ("民宿一共有九间客房。", "", "哪来的九间，客房就八间，另一间堆布草的"),
    ("女儿的钢琴课周六下午三点，老师姓裴，在文华路。", "", "钢琴课换老师了，姓岑，别的没变"),
    ("订单主要来自携程。", "订单主要来自携程。", "早不是了，大头在小红书"),
    ("年会在二十号，地点是凯悦。", "", "年会不在凯悦了，改希尔顿"),
]
STANDS = [
    # another person's change
    "my friend Saskia's given up swimming, she rides now",
    "my brother Pete sold his Record, he has a Jet now",
    "my sister doesn't take deposits anymore",
    "Leo's mate packed in the judo",
    "Dora gave up driving, eyes are shot",
    # once, planned, asked, wished
    "tomorrow only the workshop opens at 10",
    "no swim this thursday",
    "might quit the lifeboat shop, let's see",
    "should I put the stool up to fifty two?",
    "if I sold the record I'd get a Jet",
    "motion to move the stall to never o'clock 😂",
    # of the moment, or of something else
    "I quit, this glue is impossible",
    "I gave up waiting for Ted",
    "moved to tears by the choir",
    "paid the workshop rent, 410 gone",
    "it's 14 degrees now",
    "room 9 is locked again",
    "the lathe is loud again",
    "got two stools done, three left now",
    "make the list shorter",
    "make the picture of the stool 300 wide",
    "set the heating to 19 now",
    "missed the bus again",
    "I'm on the bus now",
    "the lifeboat shop is shut, so I'm home now",
    "the oak didn't get delivered again",
]
HAN_STANDS = [
    "隔壁老段又喝上酒了，劝不住",
    "我妈年初搬去城西了",
    "今天早上不跑了",
    "咖啡又涨价了，烦",
    "要是涨到七千八我就搬",
    "现在十点了",
    "我现在在地铁上",
    "女儿不想练琴了，再看看",
]
NOT_ANSWERED = [
    ("The stall is on Wednesdays.", "it stopped raining"),
    ("The stall is on Wednesdays.", "I left it at home"),
    ("The stall is on Wednesdays.", "yep, and Leo's there thursdays"),
    ("The lathe is a Record DML.", "it died again, just the fuse"),
    ("The workshop opens at 8:00.", "it's 5 now"),
    ("The workshop opens at 8:00.", "I'm on the bus now"),
]


def replaced(message: str, memory: list[str], answer: str = "") -> tuple[CaptureVerdict, list[str]]:
    verdict, book = told(message, memory, answer=answer)
    assert doubted(verdict, book) == []
    return verdict, superseded(verdict, book)


@pytest.mark.parametrize(("old", "message"), REPLACED)
def test_sloppy_correction_is_kept_as_it_was_said(old: str, message: str) -> None:
    verdict, over = replaced(message, MEMORY)

    assert over == [old]
    assert all(item.text in message for item in verdict.kept)


@pytest.mark.parametrize(("message", "text"), PARTLY)
def test_of_a_part_the_rest_is_told_on(message: str, text: str) -> None:
    verdict, over = replaced(message, MEMORY)

    assert ([item.text for item in verdict.kept], len(over)) == ([text], 1)


@pytest.mark.parametrize(("old", "answer", "message"), ANSWERED)
def test_what_answers_the_agent_is_of_what_it_told(old: str, answer: str, message: str) -> None:
    assert replaced(message, MEMORY, answer)[1] == [old]


@pytest.mark.parametrize(("old", "answer", "message"), HAN_REPLACED)
def test_sloppy_chinese_correction_is_one(old: str, answer: str, message: str) -> None:
    assert replaced(message, HAN_MEMORY, answer)[1] == [old]


@pytest.mark.parametrize("message", [*STANDS, *HAN_STANDS])
def test_what_still_holds_stands(message: str) -> None:
    memory = [*MEMORY, "W @Meeting: The meeting is in room 12."] if message in STANDS else HAN_MEMORY
    assert replaced(message, memory)[1] == []


@pytest.mark.parametrize(("answer", "message"), NOT_ANSWERED)
def test_what_is_said_behind_an_answer_need_not_deny_it(answer: str, message: str) -> None:
    assert replaced(message, MEMORY, answer)[1] == []


def test_of_two_lines_of_the_same_that_were_wrong_both_go() -> None:
    memory = ["W @班费: 班费还剩三百六十块。", "W @班费: 班费算错了，还剩三百二十块。"]
    assert len(replaced("班费又算错了，加上小卖部那笔，是三百四", memory)[1]) == 2

    others = ["W @Loaf: A large loaf costs £4.", "W @Loaf: A small loaf costs £3."]
    assert replaced("the large loaf is five twenty now", others)[1] == ["A large loaf costs £4."]


def test_log_of_another_or_of_its_author_alone_names_no_author() -> None:
    # what is told of Leo is told of him, whoever gave it up: his parent writes in the first person
    memory = [
        "W @Leo: Leo plays the cello.",
        "W @Leo: Leo is seven.",
        "W @Leo: Leo swims.",
        *(f"W: I like {one}." for one in ("tea", "figs", "rain", "jam")),
    ]
    assert replaced("not doing the cello anymore", memory)[1] == []


def test_line_that_is_forgotten_counts_for_no_author() -> None:
    lines = [f"W @Nina: Nina {does}." for does in ("sings", "rows", "paints")]
    assert replaced("I don't paint anymore", lines)[1] == ["Nina paints."]
    assert book_from({"memory/2026-11-01.md": lines[:2]})
    assert replaced("I don't paint anymore", [lines[2]])[1] == []
