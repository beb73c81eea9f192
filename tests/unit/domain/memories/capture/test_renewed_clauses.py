"""Corrections that replace a clause of a line, and similar sentences that do not."""

import pytest

from memoryd.domain.memories.capture.capture import capture_message
from memoryd.domain.memories.capture.cues import MAX_CLAUSES, cues_in
from memoryd.domain.memories.capture.rejections import DroppedItem
from memoryd.domain.memories.capture.revisions import revisions_of
from tests.unit.domain.memories.capture.test_revisions import revise, superseded

RENEWED = [
    (
        "W @Leo: Leo's recital is on 9 May in the town hall.",
        "Leo's recital slipped to 16 May.",
        "Leo's recital is on 16 May in the town hall.",
    ),
    (
        "W: The electrician is Mr Vance, 0161 555 0111.",
        "The electrician has a new number: 0161 555 0122.",
        "The electrician is Mr Vance, 0161 555 0122.",
    ),
    (
        "W: Swimming is on Wednesdays, Tara brings the keys.",
        "Swimming has been shifted to Thursdays.",
        "Swimming is on Thursdays, Tara brings the keys.",
    ),
    (
        "W: The label printer takes rolls of 57 mm, it hangs at the wall by a hook.",
        "The label printer takes rolls of 80 mm, and it hangs by a screw instead of the hook.",
        "The label printer takes rolls of 80 mm, and it hangs by a screw instead of the hook.",
    ),
    (
        "W: My car is a Renault Clio.",
        "Sold the Clio, I've got a Dacia Spring now.",
        "Sold the Clio, I've got a Dacia Spring now.",
    ),
    (
        "W: We use Asana for the shop floor plan.",
        "The floor plan has moved from Asana to Planka.",
        "The floor plan has moved from Asana to Planka.",
    ),
    (
        "W: The boiler service is on 2 October, Vic has the key.",
        "The boiler service has been brought forward to 29 September.",
        "The boiler service is on 29 September, Vic has the key.",
    ),
    (
        "W: The rehearsal room costs 18 pounds an hour, Lou books it.",
        "They raised the price: the rehearsal room costs 21 pounds now.",
        "The rehearsal room costs 21 pounds an hour, Lou books it.",
    ),
    (
        "W: Zoe's tutor comes on Mondays at 16:00.",
        "Zoe's tutor comes on Mondays at 16:30 from this week on.",
        "Zoe's tutor comes on Mondays at 16:30.",
    ),
    (
        "W: The tiler's number is 0117 555 0140, he starts in May.",
        "The tiler's got a new number: 0117 555 0141.",
        "The tiler's number is 0117 555 0141, he starts in May.",
    ),
    (
        "W: The shipping limit is 20 kilos, Pat signs for it.",
        "The shipping limit went up to 25 kilos.",
        "The shipping limit is 25 kilos, Pat signs for it.",
    ),
    (
        "W: My lesson with Ines is on Fridays at 15:00.",
        "The lesson with Ines moved to 15:45.",
        "My lesson with Ines is on Fridays at 15:45.",
    ),
    (
        "W @年会: 年会的场地是鼎园，押金五千。",
        "年会场地的押金不是五千，鼎园又改了，六千。",
        "年会场地的押金不是五千，鼎园又改了，六千。",
    ),
    ("W: 送牛奶的是老周，月底结账。", "老周不干了，现在送牛奶的是小顾。", "送牛奶的是小顾，月底结账。"),
    ("W: 体检在五月六号，要空腹。", "体检延期到五月十三号了。", "体检在五月十三号，要空腹。"),
    ("W: 孩子的画画课在周六，自己带颜料。", "画画课挪到周日了。", "孩子的画画课在周日，自己带颜料。"),
    ("W: 接豆豆的是王姨，下午四点半到。", "接豆豆改成五点到了。", "接豆豆的是王姨，五点到。"),
    ("W: 开水房在二楼，钥匙在老马那儿。", "开水房搬到三楼了。", "开水房在三楼，钥匙在老马那儿。"),
    ("W: 修车的是老钱，工时费八十块。", "老钱不做了，现在修车的是阿伟。", "修车的是阿伟，工时费八十块。"),
    ("W: 小雨的裙子是一百二十码。", "小雨又高了，裙子要一百三十码。", "小雨又高了，裙子要一百三十码。"),
    (
        "W: 合同的尾款是三万二，老范收。",
        "合同的尾款不是三万二，老范重新报了，三万五。",
        "合同的尾款不是三万二，老范重新报了，三万五。",
    ),
    ("W: 演出在十一月二号，票在前台取。", "演出顺延到十一月九号。", "演出在十一月九号，票在前台取。"),
    ("W: 送报的是小秦，早上六点半到。", "送报的时间推迟到七点了。", "送报的是小秦，七点到。"),
    ("W: 奶茶店的会员日是周三，第二杯半价。", "奶茶店的会员日改成周五了。", "奶茶店的会员日是周五，第二杯半价。"),
    ("W: 物业上班时间是八点半，周日休息。", "物业上班时间改到九点了。", "物业上班时间是九点，周日休息。"),
]
"""A memory, the message, and the new text."""
MEMORIES = [
    "W @Dad: Dad takes his co-careldopa at 7, 11, 3 and 7, half an hour before food.",
    "W @Bethan: Bethan is getting married on 14 February in Otley.",
    "W @Tempest: The Tempest opens on 4 December, dress rehearsal on the 2nd.",
    "W: The plumber is Mr Lacey, 0113 555 0190.",
    "W @Pharmacy: The wholesaler is Alliance, orders have to be in by 17:45 for the morning van.",
    "W: My truck is a Toyota Tacoma.",
    "W: My therapist is in Wolfville, Thursdays at 18:00.",
    "W: We use Trello for the pharmacy rota.",
    "W @Leo: Leo's recital is on 9 May in the town hall.",
    "W: Swimming is on Wednesdays, Tara brings the keys.",
    "W: The shop opens at nine and the café closes at five.",
    "W: The team meeting is at 10:00, Bo takes notes.",
    "W: The boiler service is on 2 October, Vic has the key.",
    "W: My parking space at work is number 41.",
    "W: Rent is 850 euros a month.",
    "W @Zain: Zain's chess club is on Fridays at four in room 12.",
    "W: 小石头的校服是一百四十码。",
    "W @分店: 分店的装修队是老鲁的人，报价九万六。",
    "W: 送面粉的是小武，货款月结，每月三号付。",
    "W @涨价: 油泼面从十四涨到十六，元旦起。",
    "W: 体检在五月六号，要空腹。",
    "W: 孩子的画画课在周六，自己带颜料。",
    "W: 停车费每小时五块，晚上免费。",
    "W: 奶茶店的会员日是周三，第二杯半价。",
    "W: 物业上班时间是八点半，周日休息。",
    "W: 老聂的电话是138 5550 0142。",
    "W: 暖气费是两千一百块。",
]
SIMILAR = [
    "Somebody from the church is checking on Dad at noon, tell her how she gets the key.",
    "The meeting slipped into chaos.",
    "I'm free from 5 on.",
    "The two plumbers came at 9:00.",
    "Ben's wedding has been put back to 28 March.",
    "Bethan's party has been put back to 28 March.",
    "The opening of the shop slipped to 6 December.",
    "The Leeds opening of the Tempest slipped to 6 December.",
    "Has the Tempest slipped to 6 December?",
    "If the opening of the Tempest slips to 6 December, I can't come.",
    "The opening of the Tempest may slip to 6 December.",
    "The opening of the Tempest hasn't slipped to 6 December.",
    "Vic wrote: the opening of the Tempest slipped to 6 December.",
    '"The opening of the Tempest slipped to 6 December."',
    "The electrician's got a new van: it is red.",
    "My sister's therapy is at 17:00 on Thursdays now.",
    "Therapy's at 17:00 today.",
    "Therapy's at 17:00 this Thursday.",
    "My massage is at 17:00 on Thursdays now.",
    "Sold the sofa, I've got more room now.",
    "Sold my bike.",
    "The rota has moved from the hall to the kitchen.",
    "The office rota might move from Trello to Rotageek.",
    "Boots moved the cut-off: orders have to be in by 17:15 now.",
    "Bo: orders have to be in by 17:15 now.",
    "Leo's school concert slipped to 16 May.",
    "Leo's recital went well, the party's on 16 May now.",
    "Tuesday's team meeting is at 11:00 now.",
    "The team meeting is at 11:00 today.",
    "We are going to move the team meeting to 11:00.",
    "The team meeting lasts 11 minutes now.",
    "The gym closes at six from now on.",
    "The boiler broke on 29 September, now it runs.",
    "The boiler repair was on 29 September.",
    "My rent in London was 910 euros.",
    "Cue 47 slipped to 50.",
    "The price slipped to 20 dollars.",
    "I've switched off the lamp, it's at 21:00 now.",
    "Bethan has been put up at my place for 3 days now.",
    "The Tempest was put off for a while.",
    "Delayed until 14 November again, the parcel.",
    "Bethan is back on 28 March.",
    "The van comes at 17:15 now.",
    "The morning van has to be in by 8:00 now.",
    "小石头下课了，书包要一百五十块。",
    "小虎长个了，校服要一百五十码。",
    "小石头长个了，裤子要一百五十码。",
    "小石头长个了，校服要一百五十块。",
    "小石头的校服会不会要一百五十码？",
    "如果小石头长个了，校服要一百五十码。",
    "总店装修的报价不是九万六，是十万。",
    "分店装修的报价是不是九万六？",
    "小武不干净了，洗了三次。",
    "小武说不干了，现在送面粉的是大宝。",
    "小武不干了的话，送面粉的是大宝。",
    "牛肉面先不涨到十六了，定的是十五。",
    "我想把油泼面涨到十八。",
    "他的体检推迟到五月十三号了。",
    "老婆的体检推迟到五月十三号了。",
    "体检报告推迟到五月十三号了。",
    "孩子的钢琴课挪到周日了。",
    "下周的画画课挪到周日。",
    "停车费涨到六块怎么办？",
    "隔壁停车费涨到六块了。",
    "物业上班了，我要九点去。",
    "我吃饱了，花了一百五十块。",
    "老聂换号了吗？",
    "老聂换车了，车牌是138。",
    "暖气费交了，一共是两千二百块。",
    "暖气修好了，工钱是三百块。",
    "“小石头长个了，校服要一百五十码。”",
    "故事里小石头长个了，校服要一百五十码。",
    "小武不管账了，现在管账的是大宝。",
    "小武不做饭了，现在做饭的是大宝。",
    "打算把会员日改成周五。",
    "今天的画画课改到下午了。",
    "咖啡店的会员日改成周五了。",
    "会议室空了，一共要三把椅子。",
    "校服洗了，一共要三十块。",
    "雨停了，路程要三十分钟。",
    "小石头发烧了，体温是三十九度。",
]
"""Other people and things, other days, plans, questions and words of others, with `MEMORIES` in the book."""


@pytest.mark.parametrize(("memory", "message", "expected"), RENEWED)
def test_clause_with_the_value_is_replaced(memory: str, message: str, expected: str) -> None:
    verdict, book = revise(message, memory)

    assert [one.text for one in verdict.items] == [expected]
    assert [f": {one}" for one in superseded(verdict, book)] == [memory[memory.index(": ") :]]


@pytest.mark.parametrize("message", SIMILAR)
def test_similar_sentence_revises_nothing(message: str) -> None:
    verdict, _ = revise(message, *MEMORIES)

    assert [(item.text, item.note) for item in verdict.items] in ([], [(message, "")])


def test_ambiguous_correction_supersedes_nothing() -> None:
    lines = ("W: Leo's recital is on 9 May in the hall.", "W: The recital of Leo is on 10 May, Kim drives.")
    verdict, book = revise("Leo's recital slipped to 16 May.", *lines)

    assert superseded(verdict, book) == []


@pytest.mark.parametrize(
    "message",
    [
        "The rota has moved from Trello to Rotageek.",
        "Sold the Tacoma, I've got a Ford Maverick now.",
        "The plumber's got a new number: 0113 555 0123.",
        "choir moved to 10:15",
        "we moved the kestrel release from monday to wednesday",
        "we don't use redux anymore, we use zustand",
        "judo ist jetzt um 18 uhr",
        "der müll wird jetzt mittwochs abgeholt",
        "Chess is on Wednesdays now.",
        "we deploy on Wednesdays now, not Tuesdays",
        "node was bumped to 22 in storefront",
        "Elternabend wurde auf den 10. Dezember verschoben",
        "羽毛球训练改到周四了",
        "Mehmet owns the on-call rota now",
    ],
)
def test_change_with_both_values_is_captured_without_older_line(message: str) -> None:
    verdict, _ = revise(message)

    assert [(one.text, one.supersedes) for one in verdict.items] == [(message, ())]


def test_only_first_clauses_of_a_long_sentence_are_searched() -> None:
    """Searching the rest of the sentence from each clause on would take quadratic time."""
    assert len(list(cues_in("we no longer use it, " * 200))) == MAX_CLAUSES + 1


@pytest.mark.parametrize(
    "part", ["has slipped to ", "了，校服要一", "moved the x: ", "now at 5:30, ", "先不涨到十六了，", "x,"]
)
def test_long_message_is_processed_in_linear_time(part: str) -> None:
    """A message beyond the limit is ignored; for a shorter one, quadratic time would exceed the limit of the test."""
    assert capture_message(part * (20_000 // len(part))).items == ()
    text = part * (3_900 // len(part))

    assert all(isinstance(one, DroppedItem) for one in revisions_of(text))
    assert capture_message(text).items == ()
