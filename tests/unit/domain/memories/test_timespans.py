"""Absolute and relative times in English and Chinese texts and questions."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Attributes, RetainedLine
from memoryd.domain.memories.times.parsing import MAX_SPANS, event_span, query_days, spans_in
from memoryd.domain.memories.times.spans import DaySpan

WEDNESDAY = date(2025, 11, 26)


def query_span(question: str, today: date) -> DaySpan | None:
    found = query_days(question, today)
    return found.span if found else None


def span(first: str, last: str = "") -> DaySpan:
    return DaySpan(date.fromisoformat(first), date.fromisoformat(last or first))


def since(first: str) -> DaySpan:
    return DaySpan(date.fromisoformat(first), date.max)


def until(last: str) -> DaySpan:
    return DaySpan(date.min, date.fromisoformat(last))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Currently in Marrakech (Nov 27–Dec 1, 2025) for Andy's birthday.", span("2025-11-27", "2025-12-01")),
        ("Nov 27 to Dec 1", span("2025-11-27", "2025-12-01")),
        ("27-30 November", span("2025-11-27", "2025-11-30")),
        ("November 27 to 30, 2024", span("2024-11-27", "2024-11-30")),
        ("away 2025-11-27..2025-12-01", span("2025-11-27", "2025-12-01")),
        ("Dec 28 to Jan 3", span("2025-12-28", "2026-01-03")),
        ("between Nov 3 and Nov 9", span("2025-11-03", "2025-11-09")),
        ("from Monday to Wednesday", span("2025-11-24", "2025-11-26")),
        ("between May and July 2024", span("2024-05-01", "2024-07-31")),
        ("went to the dentist yesterday", span("2025-11-25")),
        ("the day before yesterday", span("2025-11-24")),
        ("the day after tomorrow", span("2025-11-28")),
        ("last night", span("2025-11-25")),
        ("this morning", span("2025-11-26")),
        ("last week", span("2025-11-17", "2025-11-23")),
        ("this week", span("2025-11-24", "2025-11-30")),
        ("next month", span("2025-12-01", "2025-12-31")),
        ("last year", span("2024-01-01", "2024-12-31")),
        ("last weekend", span("2025-11-22", "2025-11-23")),
        ("The weekend was wet", span("2025-11-22", "2025-11-23")),
        ("the weekend before last", span("2025-11-15", "2025-11-16")),
        ("paid the rent on the 27th", span("2025-10-27")),
        ("the boat is due on the 27th", span("2025-11-27")),
        ("around the 24th we met", span("2025-11-24")),
        ("was away from the 3rd to the 7th", span("2025-11-03", "2025-11-07")),
        ("last summer", span("2025-06-01", "2025-08-31")),
        ("last winter", span("2024-12-01", "2025-02-28")),
        ("the summer before last", span("2024-06-01", "2024-08-31")),
        ("next spring", span("2026-03-01", "2026-05-31")),
        ("this autumn", span("2025-09-01", "2025-11-30")),
        ("winter 2023", span("2023-12-01", "2024-02-29")),
        ("in the spring of 2024", span("2024-03-01", "2024-05-31")),
        ("去年夏天去了海边", span("2024-06-01", "2024-08-31")),
        ("前年冬天", span("2023-12-01", "2024-02-29")),
        ("2024年秋天", span("2024-09-01", "2024-11-30")),
        ("上个夏天", span("2025-06-01", "2025-08-31")),
        ("上周末下雨了", span("2025-11-22", "2025-11-23")),
        ("上个周末", span("2025-11-22", "2025-11-23")),
        ("上上周末", span("2025-11-15", "2025-11-16")),
        ("27号上午交了房租", span("2025-10-27")),
        ("3号到7号去了杭州", span("2025-11-03", "2025-11-07")),
        ("we painted over the weekend", span("2025-11-22", "2025-11-23")),
        ("the week before last", span("2025-11-10", "2025-11-16")),
        ("last 7 days", span("2025-11-19", "2025-11-26")),
        ("周末去爬山了", span("2025-11-22", "2025-11-23")),
        ("last Wednesday", span("2025-11-19")),
        ("on Friday we met", span("2025-11-21")),
        ("dentist on Friday", span("2025-11-28")),
        ("Friday, Nov 28, 2025", span("2025-11-28")),
        ("3 days ago", span("2025-11-23")),
        ("two weeks ago", span("2025-11-10", "2025-11-16")),
        ("in 3 days", span("2025-11-29")),
        ("over the past 10 days", span("2025-11-16", "2025-11-26")),
        ("three days before Nov 27", span("2025-11-24")),
        ("since 2019 he works there", span("2019-01-01", "2025-11-26")),
        ("since May he works there", span("2025-05-01", "2025-11-26")),
        ("in May", span("2026-05-01", "2026-05-31")),
        ("last May", span("2025-05-01", "2025-05-31")),
        ("the budget of 2025-11", span("2025-11-01", "2025-11-30")),
        ("今天", span("2025-11-26")),
        ("昨天去看了牙医", span("2025-11-25")),
        ("前天", span("2025-11-24")),
        ("大前天", span("2025-11-23")),
        ("后天", span("2025-11-28")),
        ("上周", span("2025-11-17", "2025-11-23")),
        ("上周三", span("2025-11-19")),
        ("上个星期天", span("2025-11-23")),
        ("下周", span("2025-12-01", "2025-12-07")),
        ("本周", span("2025-11-24", "2025-11-30")),
        ("上个月", span("2025-10-01", "2025-10-31")),
        ("这个月", span("2025-11-01", "2025-11-30")),
        ("上个月27号", span("2025-10-27")),
        ("去年", span("2024-01-01", "2024-12-31")),
        ("去年五月", span("2024-05-01", "2024-05-31")),
        ("三天前", span("2025-11-23")),
        ("两周前", span("2025-11-10", "2025-11-16")),
        ("三个月后", span("2026-02-01", "2026-02-28")),
        ("最近三天", span("2025-11-23", "2025-11-26")),
        ("11月27日", span("2025-11-27")),
        ("11月27日到12月1日", span("2025-11-27", "2025-12-01")),
        ("11月27-30日", span("2025-11-27", "2025-11-30")),
        ("２０２４年", span("2024-01-01", "2024-12-31")),
        ("两三天前去了医院", span("2025-11-23", "2025-11-24")),
        ("三五个月前", span("2025-06-01", "2025-08-31")),
        ("七八年前搬到上海", span("2017-01-01", "2018-12-31")),
        ("最近两三天", span("2025-11-23", "2025-11-26")),
        ("2020年后搬到上海", span("2020-01-01", "2020-12-31")),
        ("2023年以前", span("2023-01-01", "2023-12-31")),
        ("三個月前買了琴", span("2025-08-01", "2025-08-31")),
        ("上個月去了日本", span("2025-10-01", "2025-10-31")),
        ("兩個禮拜前", span("2025-11-10", "2025-11-16")),
        ("上個禮拜三", span("2025-11-19")),
        ("後年", span("2027-01-01", "2027-12-31")),
        ("the party two days ago", span("2025-11-24")),
        ("twenty days ago", span("2025-11-06")),
        ("twenty-one days ago", span("2025-11-05")),
        ("Fifteen days ago", span("2025-11-11")),
        ("thirty two years ago", span("1993-01-01", "1993-12-31")),
        ("in twenty-two days", span("2025-12-18")),
        ("in May last year", span("2024-05-01", "2024-05-31")),
        ("last year in May we moved", span("2024-05-01", "2024-05-31")),
        ("from May to June last year", span("2024-05-01", "2024-06-30")),
        ("We may next year move to Ghent", span("2026-01-01", "2026-12-31")),
        ("订单号12345，3天前下单", span("2025-11-23")),
        ("房租3500,两天前交了", span("2025-11-24")),
        ("on May 5th this year", span("2025-05-05")),
        ("5 May of last year", span("2024-05-05")),
        ("the day after Nov 27", span("2025-11-28")),
        ("from the 3rd to the 5th of May", span("2026-05-03", "2026-05-05")),
        ("下周一到周三出差", span("2025-12-01", "2025-12-03")),
        ("from last Monday to Wednesday", span("2025-11-24", "2025-11-26")),
    ],
)
def test_text_has_expected_span(text: str, expected: DaySpan) -> None:
    assert spans_in(text, WEDNESDAY) == (expected,)


def test_month_does_not_take_the_year_of_next_sentence() -> None:
    assert span("2024-01-01", "2024-12-31") in spans_in("The trip was in June. Last year we stayed home.", WEDNESDAY)
    assert spans_in("She was born in Nov. last year", WEDNESDAY) == (span("2024-11-01", "2024-11-30"),)


@pytest.mark.parametrize(
    "text",
    [
        "the code is 2025",
        "in 2000 words",
        "it may 5 times",
        "who may come",
        "on the 5th floor",
        "the 27th time",
        "by the 3rd quarter",
        "the 1st and the 2nd",
        "the weekend edition",
        "the weekend house of Anna",
        "her last fall",
        "in summer the hut is hot",
        "last spring-clean",
        "工作室在青石巷27号",
        "3号线换乘",
        "27号楼",
        "房间号：12号",
        "夏天很热",
        "2025-02-30",
        "30 February",
        "every Friday",
        "sat in the sun",
        "9999 years ago",
        "每周三",
        "两周三次",
        "13月40日",
        "2.5 years ago",
        "1,500 years ago",
        "half a year ago",
        "hundred and twenty days ago",
        "a hundred and two days ago",
        "2.5年前",
        "2,000年前",
        "十二三天前",
        "1990年代",
        "今后天天锻炼",
        "雨后天晴",
        "午后天气很好",
        "",
        "Q1: how does it work?",
        "last quarter finals",
        "in the first quarter of the game",
        "每年年底体检",
        "青年初中",
    ],
)
def test_text_that_resembles_a_time_has_no_span(text: str) -> None:
    assert spans_in(text, WEDNESDAY) == ()
    assert query_span(text, WEDNESDAY) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what happened around Nov 27?", span("2025-11-24", "2025-11-30")),
        ("11月27日前后发生了什么", span("2025-11-24", "2025-11-30")),
        ("11月27日左右", span("2025-11-24", "2025-11-30")),
        ("2020年以后我住过哪里", since("2021-01-01")),
        ("what did I do in May last year?", span("2024-05-01", "2024-05-31")),
        ("what happened the day after Nov 20?", span("2025-11-21")),
        ("這個月我做了什麼", span("2025-11-01", "2025-11-30")),
        ("2024年前我在哪里工作", until("2023-12-31")),
        ("what did I do twenty-one days before Nov 27", until("2025-11-26")),
        ("what is new since last week", since("2025-11-17")),
        ("自上周以来有什么进展", since("2025-11-17")),
        ("11月之后", since("2025-12-01")),
        ("what was decided before May?", until("2025-04-30")),
        ("11月27日之前", until("2025-11-26")),
        ("after Nov 3", since("2025-11-04")),
        ("since Nov 3 but before Nov 10", span("2025-11-03", "2025-11-09")),
        ("between Nov 20 and Nov 25?", span("2025-11-20", "2025-11-25")),
        ("in the week of Nov 3", span("2025-11-03", "2025-11-09")),
        ("what did I do on Friday?", span("2025-11-21")),
        ("what will I do on Friday?", span("2025-11-28")),
        ("上周发生了什么", span("2025-11-17", "2025-11-23")),
        ("what did we talk about yesterday?", span("2025-11-25")),
        ("what happened around the 24th?", span("2025-11-21", "2025-11-27")),
        ("what happened around the 27th?", span("2025-10-24", "2025-10-30")),
        ("what is planned around the 27th?", span("2025-11-24", "2025-11-30")),
        ("what was said on the 20th", span("2025-11-20")),
        ("what has happened since the 20th?", since("2025-11-20")),
        ("what was done between the 20th and the 24th?", span("2025-11-20", "2025-11-24")),
        ("what happened in the week of the 5th", span("2025-11-03", "2025-11-09")),
        ("how was the weekend?", span("2025-11-22", "2025-11-23")),
        ("what did we do last weekend", span("2025-11-22", "2025-11-23")),
        ("what will we do at the weekend", span("2025-11-29", "2025-11-30")),
        ("what happened before the weekend?", until("2025-11-21")),
        ("the weekend of November 15", span("2025-11-15", "2025-11-16")),
        ("where were we last summer?", span("2025-06-01", "2025-08-31")),
        ("what has changed since last summer?", since("2025-06-01")),
        ("24号左右发生了什么", span("2025-11-21", "2025-11-27")),
        ("27号前后发生了什么", span("2025-10-24", "2025-10-30")),
        ("24号发生了什么", span("2025-11-24")),
        ("20号以后做了什么", since("2025-11-21")),
        ("周末做了什么", span("2025-11-22", "2025-11-23")),
        ("上周末做了什么", span("2025-11-22", "2025-11-23")),
        ("去年夏天我们在哪里", span("2024-06-01", "2024-08-31")),
    ],
)
def test_question_has_expected_days(question: str, expected: DaySpan) -> None:
    assert query_span(question, WEDNESDAY) == expected


def test_event_time_is_taken_from_attribute_first() -> None:
    line = RetainedLine(Kind.WORLD, "went there yesterday", (), Attributes(at="2025-05"))
    assert event_span(line, WEDNESDAY) == span("2025-05-01", "2025-05-31")
    assert event_span(RetainedLine(Kind.WORLD, "went there yesterday"), WEDNESDAY) == span("2025-11-25")
    assert event_span(RetainedLine(Kind.WORLD, "went there yesterday"), None) is None


def test_first_of_distant_times_is_the_event() -> None:
    line = RetainedLine(Kind.WORLD, "On Nov 3, 2025 she booked the flight of June 8, 2026")
    assert event_span(line, WEDNESDAY) == span("2025-11-03")


@given(
    st.dates(),
    st.sampled_from(["29 February", "Nov 27", "last week", "next year", "三天前", "去年五月", "on the 31st."]),
)
def test_spans_are_ordered_on_any_day(day: date, text: str) -> None:
    for found in spans_in(text, day):
        assert found.first <= found.last
    query_span(text, day)


@given(st.dates(date(1700, 1, 1), date(2200, 1, 1)), st.dates(date(1700, 1, 1), date(2200, 1, 1)))
def test_missing_year_is_the_nearest(day: date, near: date) -> None:
    (found,) = spans_in(f"{day.day} {day:%B}", near)
    if (day.month, day.day) != (2, 29):
        assert abs((found.first - near).days) <= 183
    assert (found.first.month, found.first.day) == (day.month, day.day)


@given(st.dates(date(1950, 1, 1), date(2090, 1, 1)), st.integers(0, 400))
def test_days_ago_are_counted(day: date, count: int) -> None:
    expected = (DaySpan(day - timedelta(days=count), day - timedelta(days=count)),)
    assert spans_in(f"{count} days ago", day) == expected


PIECES = [
    "May ",
    "Nov 27",
    "-",
    "–",
    " to ",
    "between ",
    " and ",
    "last ",
    "3 ",
    "days ",
    "ago",
    "2025",
    "on the ",
    "上",
    "周",
    "三",
]
PIECES += [
    "月",
    "日",
    "前",
    "后",
    "到",
    "自",
    "以来",
    "去年",
    "两",
    "年",
    "29 Feb",
    "\ud800",
    "\x00",
    "\u0301",
    "Friday",
    ", ",
]


def test_number_of_days_is_no_day_of_month() -> None:
    assert query_span("两日我做了什么", WEDNESDAY) is None
    assert spans_in("到两日", WEDNESDAY) == ()


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.dates())
def test_any_text_gives_ordered_spans(text: str, day: date) -> None:
    query = query_span(text, day)
    assert all(found.first <= found.last for found in (*spans_in(text, day), *([query] if query else [])))


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "1",
        "一",
        "上",
        "月",
        "May ",
        "Nov 27-",
        "27-",
        "the last ",
        "in ",
        "1 ",
        "周",
        " ",
        "\n",
        "between ",
        "三天",
        "前",
    ],
)
def test_hostile_text_is_parsed_in_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    assert len(spans_in(text, WEDNESDAY)) <= MAX_SPANS
    assert (query_span(text, WEDNESDAY) is None) == (not spans_in(text, WEDNESDAY))


FRIDAY = date(2025, 11, 28)


@pytest.mark.parametrize(
    "text",
    [
        "The co-op meets on the first Friday of the month.",
        "Never deploy on a Friday afternoon",
        "any Monday will do, and Fridays are free",
        "choir every Monday and Thursday",
        "every other Friday",
        "every second Tuesday of the month",
        "each week on Tuesday",
        "The bins go out weekly on Monday",
        "twice a week, on Monday and Thursday",
        "on the last Sunday of every month",
        "on Tuesday of each week",
        "every year on May 4 and June 5",
        "his birthday is every 4th of May",
        "每周三开会",
        "每周一、三、五跑步",
        "每周三和周五游泳",
        "每个星期三",
        "每逢周日休息",
        "每两周的周三",
        "每月第一个周五聚会",
        "每月5号交房租",
        "每年5月4日体检",
        "隔周周三",
        "(see memory/2025-11-27.md)",
        "see [the log](memory/2025-11-27.md#L4) and https://example.org/2024/05/06/post",
        "kept in notes/2024-03-01-plan.txt",
        "in 2025-11-27.md",
    ],
)
def test_recurring_time_and_path_are_no_event(text: str) -> None:
    assert spans_in(text, FRIDAY) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We were in Delft from Monday to Wednesday", span("2025-11-24", "2025-11-26")),
        ("from Monday to Wednesday", span("2025-11-24", "2025-11-26")),
        ("She will be away from Monday to Wednesday", span("2025-12-01", "2025-12-03")),
        ("周一到周三去了杭州", span("2025-11-24", "2025-11-26")),
        ("moved the choir from every Monday, yesterday", span("2025-11-27")),
        ("on the first Friday of the month; this time yesterday", span("2025-11-27")),
        ("see memory/2025-10-01.md; fixed on 2025-11-03", span("2025-11-03")),
        ("[Nov 3](notes/2024-01-01.md)", span("2025-11-03")),
        ("paid on 27/11/2025", span("2025-11-27")),
        ("we were last week in Delft", span("2025-11-17", "2025-11-23")),
        ("pay it by the end of the month", span("2025-11-21", "2025-11-30")),
        ("年底交房", span("2025-09-01", "2025-12-31")),
        ("月初要交房租", span("2025-11-01", "2025-11-10")),
        ("the gym is free in Q1", span("2026-01-01", "2026-03-31")),
    ],
)
def test_span_in_other_contexts(text: str, expected: DaySpan) -> None:
    assert spans_in(text, FRIDAY) == (expected,)


def test_range_from_saturday_to_monday_crosses_the_week() -> None:
    assert spans_in("camping from Saturday to Monday", date(2025, 11, 25)) == (span("2025-11-22", "2025-11-24"),)


def test_question_about_recurring_time_has_no_days() -> None:
    assert query_span("what do we do every Monday?", FRIDAY) is None


@pytest.mark.parametrize(
    "piece", ["every Monday and ", "a/", "a.", "](", "http://", "每周一、", "每", "first ", "~-", "9/"]
)
def test_hostile_repetition_is_parsed_in_linear_time(piece: str) -> None:
    assert len(spans_in(piece * (100_000 // len(piece)), FRIDAY)) <= MAX_SPANS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in early November", span("2025-11-01", "2025-11-10")),
        ("mid-November", span("2025-11-11", "2025-11-20")),
        ("late October 2025", span("2025-10-21", "2025-10-31")),
        ("at the end of last month", span("2025-10-21", "2025-10-31")),
        ("the first week of October", span("2025-10-01", "2025-10-07")),
        ("the last week of October", span("2025-10-25", "2025-10-31")),
        ("11月初", span("2025-11-01", "2025-11-10")),
        ("十月中旬", span("2025-10-11", "2025-10-20")),
        ("上个月底", span("2025-10-21", "2025-10-31")),
        ("2025年10月下旬", span("2025-10-21", "2025-10-31")),
        ("in November", span("2025-11-01", "2025-11-30")),
        ("in early 2024", span("2024-01-01", "2024-04-30")),
        ("in the middle of 2024", span("2024-05-01", "2024-08-31")),
        ("late last year", span("2024-09-01", "2024-12-31")),
        ("at the end of 2024", span("2024-09-01", "2024-12-31")),
        ("去年年底", span("2024-09-01", "2024-12-31")),
        ("2024年初", span("2024-01-01", "2024-04-30")),
        ("in Q1 2025", span("2025-01-01", "2025-03-31")),
        ("in the third quarter", span("2025-07-01", "2025-09-30")),
        ("in the fourth quarter of last year", span("2024-10-01", "2024-12-31")),
        ("2025年第一季度", span("2025-01-01", "2025-03-31")),
        ("去年四季度", span("2024-10-01", "2024-12-31")),
    ],
)
def test_part_of_month_or_year(text: str, expected: DaySpan) -> None:
    assert spans_in(text, FRIDAY) == (expected,)
    assert query_span(f"what happened {text}?" if text.isascii() else f"{text}发生了什么", FRIDAY) == expected


def test_question_refers_to_past_quarter() -> None:
    assert query_span("what happened in the second quarter?", FRIDAY) == span("2025-04-01", "2025-06-30")
    assert spans_in("free in the second quarter", FRIDAY) == (span("2026-04-01", "2026-06-30"),)


def test_late_february_ends_with_its_last_day() -> None:
    assert query_span("late February 2024", FRIDAY) == span("2024-02-21", "2024-02-29")


def test_since_and_before_part_of_month() -> None:
    assert query_span("what was done since the end of October?", FRIDAY) == since("2025-10-21")
    assert query_span("what was done before early October?", FRIDAY) == until("2025-09-30")
    assert query_span("10月底以来做了什么", FRIDAY) == since("2025-10-21")
