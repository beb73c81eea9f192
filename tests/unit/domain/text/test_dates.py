"""Dates in questions: parsing, and their spellings in file names."""

from collections.abc import Iterable, Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryd.domain.text.dates import MAX_DATES, WrittenDate, dates_in
from memoryd.domain.text.words import index_text, phrase_words, query_terms
from tests.sweeps import whole_or
from tests.unit.domain.text.test_words import finds
from tests.waiting import soon

DateParts = tuple[int | None, int, int | None]
MONTHS = [date(2000, number, 1).strftime("%B") for number in range(1, 13)]
PIECES = [
    *(
        "7",
        "31",
        "2023",
        "may",
        "May",
        "Sept.",
        "march",
        " of ",
        ",",
        "-",
        "/",
        "th",
        "年",
        "月",
        "日",
        "号",
        "十",
        "廿",
    ),
    *("五", "〇", " ", "?", "T", "v", ".", "２０２３", "on ", "の", "\u0301", "\ud800", "\x00"),
]


def parsed(text: str) -> list[DateParts]:
    return [(day.year, day.month, day.day) for day in dates_in(text)]


def contains_any(words: Sequence[str], spellings: Iterable[Sequence[str]]) -> bool:
    return any(tuple(words[at : at + len(spelling)]) == spelling for spelling in spellings for at in range(len(words)))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what did I do on 7 May 2023?", (2023, 5, 7)),
        ("what did I do on May 7, 2023?", (2023, 5, 7)),
        ("May 7th 2023", (2023, 5, 7)),
        ("the 7th of May, 2023", (2023, 5, 7)),
        ("Sunday, 7 may 2023 lunch", (2023, 5, 7)),
        ("MAY 7 2023", (2023, 5, 7)),
        ("may 7, 2023 dentist", (2023, 5, 7)),
        ("07-May-2023", (2023, 5, 7)),
        ("May-7-2023", (2023, 5, 7)),
        ("7 May, 2023: what was it?", (2023, 5, 7)),
        ("May 7 in 2023", (2023, 5, 7)),
        ("2023-05-07", (2023, 5, 7)),
        ("what is in memory/2023-05-07.md", (2023, 5, 7)),
        ("at 2023-05-07T10:15", (2023, 5, 7)),
        ("2023/5/7 dentist", (2023, 5, 7)),
        ("13/5/2023", (2023, 5, 13)),
        ("5/13/2023", (2023, 5, 13)),
        ("5/5/2023", (2023, 5, 5)),
        ("2023年5月7日我做了什么", (2023, 5, 7)),
        ("在2023-05-07我做了什么", (2023, 5, 7)),
        ("２０２３年５月７日", (2023, 5, 7)),
        ("2023 年 5 月 7 号", (2023, 5, 7)),
        ("2023年的5月7號", (2023, 5, 7)),
        ("二〇二三年五月七日", (2023, 5, 7)),
        ("2023년 5월 7일에 뭐 했어", (2023, 5, 7)),
        ("我曾经在5月4日这天分享", (None, 5, 4)),
        ("5月4号的天气怎么样？", (None, 5, 4)),
        ("五月四号", (None, 5, 4)),
        ("十二月三十一日", (None, 12, 31)),
        ("十月廿一号", (None, 10, 21)),
        ("二月二十九日", (None, 2, 29)),
        ("May 7th", (None, 5, 7)),
        ("what did i do on may 7", (None, 5, 7)),
        ("what happened may 7th at work", (None, 5, 7)),
        ("the 7th of may walk", (None, 5, 7)),
        ("notes of May 7 about Rex", (None, 5, 7)),
        ("May 7 dentist", (None, 5, 7)),
        ("dentist may 7", (None, 5, 7)),
        ("my plans for Oct 3rd", (None, 10, 3)),
        ("Sept. 5 call", (None, 9, 5)),
        ("on 29 February", (None, 2, 29)),
        ("29 February 2024", (2024, 2, 29)),
        ("Did Andrew have a pet dog during March 2023?", (2023, 3, None)),
        ("in may 2023 we", (2023, 5, None)),
        ("march 2023 budget review", (2023, 3, None)),
        ("mid-May 2023", (2023, 5, None)),
        ("Sept. 2023", (2023, 9, None)),
        ("from Jul 2019", (2019, 7, None)),
        ("May of 2023", (2023, 5, None)),
        ("3-5 May 2023", (2023, 5, None)),
        ("2023年5月", (2023, 5, None)),
        ("2023年12月份的账单", (2023, 12, None)),
    ],
)
def test_date_is_parsed(text: str, found: DateParts) -> None:
    assert parsed(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        "v2023.5.7",
        "upgrade to 2023.5.7",
        "port 2023",
        "airport 2023",
        "Newport 2023-05",
        "CVE-2023-05-0712",
        "release-2023-05-07",
        "x2023-05-07",
        "12023-05-07",
        "2023-05-07-11",
        "10.2023/05/07",
        "7/5/2023",
        "a/13/5/2023",
        "31 February 2023",
        "29 February 2023",
        "32 May",
        "May 0",
        "2023-13-01",
        "2023年13月",
        "2023年2月30日",
        "十三月四日",
        "三十五月四日",
        "5个月",
        "5月",
        "in May",
        "the month of March",
        "2023",
        "it may 5 times",
        "how many may 7 people invite?",
        "May 5 people join the call?",
        "what may 2023 bring us",
        "we march 10 miles",
        "the 5th may be wrong",
        "do 7 march on",
        "dismay 2023",
        "Mayfair 12",
        "Maya 7",
        "junebug 5",
        "May 10:30",
        "May 10,000 people",
        "Apr 20%",
        "May 3-5",
        "",
    ],
)
def test_text_that_resembles_a_date_is_none(text: str) -> None:
    assert parsed(text) == []


def test_dates_are_distinct_and_limited() -> None:
    assert parsed("between 7 May 2023 and 2023-06-01, above all May 7, 2023") == [(2023, 6, 1), (2023, 5, 7)]
    assert len(dates_in(" ".join(f"{day} May 2023" for day in range(1, 31)))) == MAX_DATES


def test_date_has_its_words() -> None:
    assert dates_in("what did I do on the 7th of May, 2023?")[0].words == ("7th", "may", "2023")
    assert dates_in("在5月4号这天")[0].words == ("5", "月", "4", "号")
    assert dates_in("在5月4号这天")[0].written == ("5", "月", "4")
    assert [day.weak_words for day in dates_in("7th May 2023 or 5月4号")] == [{"5", "月", "4", "号"}, {"7th"}]


@pytest.mark.parametrize(
    ("found", "names"),
    [
        (WrittenDate(5, 7, 2023), ["memory/2023-05-07.md", "2023-5-7-trip.md", "20230507.md", "2023/05/07.md"]),
        (WrittenDate(5, 7), ["memory/2023-05-07.md", "2023_05_07.md"]),
        (WrittenDate(5, year=2023), ["memory/2023-05-07.md", "2023-05.md", "2023/05/trip.md"]),
    ],
)
def test_spellings_match_tokens_of_file_names(found: WrittenDate, names: list[str]) -> None:
    for name in names:
        assert contains_any(query_terms(index_text(name)), found.file_name_spellings), name


@pytest.mark.parametrize("asked", ["2023-05-07", "7 May 2023", "May 7th, 2023", "2023年5月7号"])
@pytest.mark.parametrize(
    "text", ["rowed on May 7, 2023, at noon", "7 May 2023: rowed", "2023年5月7日去划船", "Log of 2023-05-07"]
)
def test_date_matches_other_notations_in_text(asked: str, text: str) -> None:
    (day,) = dates_in(asked)
    assert contains_any(phrase_words(text), {*day.file_name_spellings, *day.text_spellings})


def test_month_has_full_and_short_spellings() -> None:
    (month,) = dates_in("from Jul 2019")
    assert month.text_spellings == (("july", "2019"), ("jul", "2019"), ("2019", "年", "7", "月"))
    (day,) = dates_in("on 5月4号")
    assert set(day.text_spellings) == {("may", "4"), ("4", "may"), ("5", "月", "4")}


@given(st.dates(date(1600, 1, 1), date(2099, 12, 31)))
def test_every_date_is_parsed_in_every_notation(day: date) -> None:
    name = MONTHS[day.month - 1]
    notations = [
        *(day.isoformat(), f"{day.year}/{day.month}/{day.day}", f"{day.year}年{day.month}月{day.day}日"),
        *(f"{day.day} {name} {day.year}", f"{name} {day.day}, {day.year}", f"{name[:3].lower()} {day.day} {day.year}"),
    ]
    assert {tuple(parsed(text)) for text in notations} == {((day.year, day.month, day.day),)}
    assert all(
        finds(day.isoformat(), " ".join(spelling)) for spelling in dates_in(day.isoformat())[0].file_name_spellings[:1]
    )


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_gives_only_existing_dates(text: str) -> None:
    for year, month, day in parsed(text):
        assert date(2024 if year is None else year, month, 1 if day is None else day)
        assert year is not None or day is not None


@pytest.mark.sweep
@pytest.mark.parametrize("piece", [*PIECES, "7 of ", "May 7-", "may ", "1/", "2023-", "五十", "年的", "7 may?"])
def test_long_hostile_text_is_parsed_in_linear_time(piece: str) -> None:
    """An exponential or quadratic pattern would take too long."""
    with soon():
        assert len(dates_in(piece * (whole_or(50_000, 200_000) // len(piece)))) <= MAX_DATES
