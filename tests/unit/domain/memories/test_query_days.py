"""Days that a question is about; those of plans and commands are ignored, and word boundaries are respected."""

import itertools
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.recall_filters import asks_for_last
from memoryd.domain.memories.times import grammar
from memoryd.domain.memories.times.grammar import Mood, clauses_of
from memoryd.domain.memories.times.parsing import QueryDays, query_days, spans_in
from memoryd.domain.memories.times.spans import DaySpan, single_day
from tests.sweeps import whole_or

MONDAY = date(2026, 11, 23)
WEDNESDAY = date(2025, 11, 26)

PLANS = [
    "What is the wi-fi password? I need it today",
    "where is the wi-fi password, I need it today",
    "Where is the wi-fi password - I have to tell the guests this morning",
    "what's the dentist's name? I must call her this afternoon",
    "what is the code of the bike shed for today's ride",
    "what is the code of the bike shed, for tonight",
    "what's the rent? The landlord comes tomorrow",
    "what's the rent, the landlord comes tomorrow",
    "today I need the wifi password, what is it?",
    "I'm meeting the dentist on Friday. What's her name?",
    "what is the dentist called? I see her on Friday",
    "what's the code I need it tonight",
    "what is the code because the guests arrive this evening",
    "what is the code so I can let the plumber in this afternoon",
    "Guests tonight! What was the wifi password?",
    "please give me the rent, I have to pay it by Friday",
    "what is the rent? it is due tomorrow",
    "how much is the rent? I pay it this week",
    "what is Anna's number? I want to call her before tomorrow",
    "I was asked yesterday and did not know: what is the code?",
    "It's Friday two o'clock, the fix for the parcels is merged - ship it?",
    "getting supplies for Wednesday: shall I buy the box of latex gloves?",
    "cooking for Pavel's lot on Saturday, what should I make?",
    "meeting until five today, who gets the boy?",
    "book the usual table for Friday please",
    "write to Ivy's teacher that she's ill today",
    "2026-11-20 08:14:03 INFO healthcheck ok",
    "车棚密码是多少，我今天要用",
    "车棚密码是多少？今天早上要告诉客人",
    "车棚密码是多少,明天客人来",
    "我今天要用车棚密码是多少",
    "车棚密码多少今晚用",
    "今天要用的车棚密码是多少",
    "给今天的客人的wifi密码是多少",
    "房租多少，这周得交",
    "牙医叫什么名字？我明天要去看牙",
    "星期三要去德阳，能开车去吗",
    "今晚给老公做顿饭，他下夜班，能买点虾吗",
    "明早煮粥，婆婆在，加点冰糖行不行",
    "这周的教案写好了，接下来交给谁",
    "牙医叫什么 今天下午要打电话",
    "昨天忘了问，车棚密码是多少",
    "can you tell me the wifi password? my sister needs it this evening",
    "I'd like to know the dentist's name, as I have to ring her this morning",
    "what is the wifi password? Needed today.",
    "what is the wifi password (for this evening)?",
    "remind me of the bike shed code, heading out this morning",
    "who is our landlord? He calls later today and I want to be ready",
    "告诉我房东的电话，今天下午得打给他",
    "房东电话是多少来着？一会儿今天就要打",
    "帮我查一下牙医的名字，这周三要复诊",
    "客人今晚到，wifi密码放在哪了",
]
HINTS = [
    "what is the wi-fi password today?",
    "can I grind the feet of the pots at six tonight?",
    "which bin goes out this Wednesday?",
    "who is on call with me this week?",
    "女儿这周六上午有没有空去看牙",
    "周四晚上八点约我吃饭的话有空吗",
    "今天wifi密码是多少",
    "努尔明天要去里斯本吗",
    "I talked to Anna yesterday about the roof",
    "am I free on Friday?",
    "today's meeting",
    "which password shall I give the guests this morning?",
]
SUBJECTS = [
    "what happened around Nov 27?",
    "what did I do today?",
    "what did we eat this morning",
    "今天做了什么",
    "今天有什么安排",
    "今天要做什么",
    "what is planned for this Saturday?",
    "what's on today?",
    "where is Peter on November 30?",
    "12月3日有什么安排",
    "五月初努尔在哪里",
    "what got done between October 20 and October 24?",
    "what is new with Heron since last week?",
    "last week, what did we decide about the roof?",
    "what did we decide about the roof last week?",
    "tell me what happened last week",
    "tell me what Anna said today",
    "remind me what I did on Friday",
    "do you know if the plumber came today",
    "do you remember what happened this morning?",
    "who moved over the weekend?",
    "yesterday's meeting",
    "the meeting last Friday",
    "summarise yesterday",
    "what is planned for tomorrow",
    "any plans for Friday?",
    "what do I have to do today?",
    "周五做了什么",
    "周五要做什么",
    "昨天谁来了",
    "昨天的会议说了什么",
    "告诉我上周发生了什么",
    "上周王芳去了哪里",
    "what was decided before May?",
    "the notes of last week",
    "which invoices did I pay last month",
    "Where did Andrew go during the first weekend of August 2023?",
    "How many pets will Andrew have, as of December 2023?",
    "What type of training was the workshop Audrey signed up for in May 2023?",
    "what is Audrey's favorite recipe that she shares with Andrew on 3 July, 2023?",
    "今天来了谁",
    "明天去哪",
    "what has happened this week?",
    "did the plumber call this morning?",
]


@pytest.mark.parametrize("message", PLANS)
def test_days_of_plans_are_ignored(message: str) -> None:
    assert query_days(message, MONDAY) is None


def days_of(question: str, today: date = MONDAY) -> QueryDays:
    found = query_days(question, today)
    assert found is not None
    return found


@pytest.mark.parametrize("message", HINTS)
def test_day_beside_a_question_is_a_hint(message: str) -> None:
    assert not days_of(message).is_matter


@pytest.mark.parametrize("message", SUBJECTS)
def test_day_is_subject_of_question(message: str) -> None:
    assert days_of(message).is_matter


@pytest.mark.parametrize(
    ("question", "is_ahead"),
    [
        ("what's on this week?", True),
        ("is anything planned for Friday?", True),
        ("Was steht heute an?", True),
        ("这周有什么安排？", True),
        ("what did I do today?", False),
        ("what happened this week?", False),
        ("what was planned for today?", False),
        ("今天做了什么", False),
    ],
)
def test_question_about_future_is_recognised(question: str, is_ahead: bool) -> None:
    assert days_of(question, WEDNESDAY).is_ahead is is_ahead


def test_planned_weekend_is_in_the_future() -> None:
    assert days_of("周末有安排吗", WEDNESDAY).span == DaySpan(date(2025, 11, 29), date(2025, 11, 30))


def test_day_in_question_takes_precedence_over_other_days() -> None:
    question = "what did we eat yesterday? I need to write it down today"
    assert days_of(question).span == single_day(date(2026, 11, 22))


def test_weekday_in_present_tense_is_the_next_one() -> None:
    assert query_days("am I free on Friday?", MONDAY) == QueryDays(single_day(date(2026, 11, 27)), is_matter=False)


@pytest.mark.parametrize(
    "text",
    [
        "早上周阿姨来了",
        "晚上周老师打来电话",
        "马上周总就到",
        "叫上周叔叔一起去",
        "楼下周师傅修好了水管",
        "等一下周阿姨会来",
        "这周围有什么好吃的",
        "本周期结束",
        "透明天花板漏水",
        "聪明天才",
        "以前天天跑步",
        "以后天天跑步",
        "至今天气还冷",
        "如今年轻人都不看报",
        "过去年纪小",
        "晚上月亮很圆",
        "《昨日重现》是谁唱的",
        "明天会更好是谁唱的",
        "日本周边游",
    ],
)
def test_time_across_two_words_is_ignored(text: str) -> None:
    assert spans_in(text, WEDNESDAY) == ()
    assert query_days(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("我上周去了杭州", "2025-11-17"),
        ("上周老师说要交作业", "2025-11-17"),
        ("车上周坏了", "2025-11-17"),
        ("上周围棋比赛", "2025-11-17"),
        ("上周年会", "2025-11-17"),
        ("下周期末考试", "2025-12-01"),
        ("上上周", "2025-11-10"),
        ("下周末去爬山", "2025-12-06"),
        ("下下周三", "2025-12-10"),
        ("看一下周五的安排", "2025-11-28"),
        ("早上周三的报纸", "2025-11-26"),
        ("说明天来", "2025-11-27"),
        ("比如今天", "2025-11-26"),
        ("从前天开始", "2025-11-24"),
        ("生日本周过", "2025-11-24"),
        ("明天气温多少", "2025-11-27"),
        ("去年五月去了海边", "2024-05-01"),
        ("去年5月3日", "2024-05-03"),
        ("上月底交了房租", "2025-10-21"),
    ],
)
def test_time_beside_other_words_is_found(text: str, first: str) -> None:
    assert [span.first for span in spans_in(text, WEDNESDAY)] == [date.fromisoformat(first)]


@pytest.mark.parametrize(
    "question",
    [
        "when did I last see the dentist?",
        "what did we decide the last time",
        "when was the boiler last serviced",
        "what is the latest on the roof",
        "who last fed the cat",
        "when was the last weekly meeting",
        "when did the last friend of hers visit",
        "上次去看牙医是什么时候",
        "最后一次换机油花了多少钱",
        "我们上一次见面说了什么",
    ],
)
def test_question_asks_for_last_time(question: str) -> None:
    assert asks_for_last(question)


@pytest.mark.parametrize(
    "question",
    ["what happened last week", "when is Anna's last day", "what is her last name", "晚上次数", "上周三", "马上一起去"],
)
def test_other_uses_of_last_do_not_ask_for_last_time(question: str) -> None:
    assert not asks_for_last(question)


def test_clauses_have_moods() -> None:
    moods = [(one.text, one.mood) for one in clauses_of("Guests tonight! What is the code? I need it, please tell me.")]
    assert moods == [
        ("Guests tonight", Mood.NAMES),
        ("What is the code", Mood.ASKS),
        ("I need it", Mood.STATES),
        ("please tell me", Mood.ASKS),
    ]


@given(
    st.lists(st.sampled_from([*"today need what I 今天要什么 ,.?!;\n- ", "what ", " I ", "today", "今天"]), max_size=40)
)
def test_clauses_cover_the_text_in_order(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = clauses_of(text)
    assert all(one.end <= two.start for one, two in itertools.pairwise(found))
    assert sum(len(one.text) for one in found) <= len(text)
    asked = query_days(text, MONDAY)
    assert asked is None or asked.span == DaySpan(asked.span.first, asked.span.last)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "piece", ["what ", "I ", "need it ", "tell me ", "if ", "要", "今天", "for ", "'", "什么", "(", "- "]
)
def test_hostile_message_is_parsed_in_linear_time(piece: str) -> None:
    text = f"today {piece * whole_or(4_000, 20_000)}"
    assert len(clauses_of(text[:20_000])) <= 20_000
    query_days(text, MONDAY)


@pytest.mark.parametrize("piece", ["I'm ", "don't need ", "what is it I need it ", "和I "])
def test_work_grows_linearly_without_punctuation(monkeypatch: pytest.MonkeyPatch, piece: str) -> None:
    lengths: list[int] = []
    asks = grammar._asks

    def asks_counted(text: str) -> bool:
        lengths.append(len(text))
        return asks(text)

    monkeypatch.setattr(grammar, "_asks", asks_counted)
    work = []
    for length in (4_000, 8_000):
        lengths.clear()
        clauses_of((piece * length)[:length])
        work.append(sum(lengths))
    assert work[1] < 2.5 * work[0]
