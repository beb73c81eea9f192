"""What names a day and is no time of an event: paths and links, and what comes again and again.

`see memory/2025-11-27.md` says where something stands; `every Monday`, `the first Friday of the month` and `每周三`
name no day of the calendar.
"""

import re
from typing import Final

_HIDDEN: Final = "#"
_EXTENSION: Final = "(?:md|markdown|txt|json5?|ya?ml|toml|csv|pdf|png|jpe?g|html?|py|log)"
_PLACE: Final = re.compile(
    r"\]\([^()\s]{1,2000}+\)|\b[a-z][a-z0-9+.-]{1,20}://[^\s()<>]++"
    rf"|(?<![\w.~/-])(?=[A-Za-z~._])[\w.~-]++(?:/[\w.~@:+-]++)++(?:\#[\w-]+)?"
    rf"|(?<![\w.~/-])[\w~-]{{1,200}}+\.{_EXTENSION}\b(?:\#[\w-]+)?",
    re.ASCII | re.IGNORECASE,
)
_DIGIT: Final = re.compile("[0-9]")

_WEEKDAY: Final = "(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?"
_MONTH: Final = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_ORDINAL: Final = "(?:first|second|third|fourth|fifth|last|other|[0-9]{1,2}(?:st|nd|rd|th))"
_TIME: Final = (
    rf"(?:{_ORDINAL}\s)?(?:{_WEEKDAY}|{_MONTH}(?:\s[0-9]{{1,2}}(?:st|nd|rd|th)?)?"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH})\b"
)
_TIMES: Final = (
    rf"{_TIME}(?:(?:,?\s(?:and|or|to|through|until)\s|,\s?|\s?[&/–-]\s?)(?:on\s|the\s){{0,2}}{_TIME}){{0,6}}"
)
_UNIT: Final = "(?:day|week|month|quarter|year|term|season|morning|evening|weekend)"
_ENGLISH: Final = re.compile(
    rf"\b(?:every|each)\s(?:(?:{_ORDINAL}|two|three|four|single|[0-9]{{1,2}})\s)?"
    rf"(?:{_UNIT}s?,?\s(?:(?:on|in|at|the|of)\s){{0,2}})?{_TIMES}"
    rf"|\b(?:the\s)?{_ORDINAL}\s(?:(?:and|or)\s(?:the\s)?{_ORDINAL}\s)?{_WEEKDAY}\s(?:of|in)\s(?:the|each|every|a)\s{_UNIT}\b"
    r"|\b(?:daily|weekly|fortnightly|biweekly|monthly|quarterly|yearly|annually|(?:once|twice|times)\sa\s(?:week|month|year)),?"
    rf"\s(?:(?:on|in|at|the)\s){{0,2}}{_TIMES}"
    rf"|\b(?:on\s)?{_WEEKDAY}\s(?:of\s)?(?:every|each)\s{_UNIT}\b"
    rf"|\b(?:a|an|any|some|no|most|all)\s{_WEEKDAY}\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b",
    re.ASCII | re.IGNORECASE,
)
_WEEK: Final = "(?:周|週|星期|礼拜|禮拜)"
_NUMBER: Final = "[一二两兩三四五六七八九十0-9]"
_EASTERN_TIME: Final = (
    rf"(?:第?{_NUMBER}个|第{_NUMBER}個|最后一?个|最後一?個)?"
    rf"(?:{_WEEK}[一二三四五六日天末]|{_NUMBER}{{1,3}}月份?(?:{_NUMBER}{{1,3}}[日号號])?|{_NUMBER}{{1,3}}[日号號]|[一二三四五六日天])"
)
_EASTERN: Final = re.compile(
    rf"(?:每逢?|逢|隔){_NUMBER}{{0,2}}[个個]?(?:{_WEEK}|月|年|季度)?份?的?"
    rf"{_EASTERN_TIME}(?:(?:[、和与與及或到至,，-]|以及){{0,1}}{_EASTERN_TIME}){{0,6}}"
)


def without_places(plain: str) -> str:
    """Return a text with `#` in the place of paths and links, which may have the names of days."""
    if "/" not in plain and "." not in plain and "](" not in plain:
        return plain
    return _PLACE.sub(lambda match: _HIDDEN * len(match[0]) if _DIGIT.search(match[0]) else match[0], plain)


def without_repeated(plain: str) -> str:
    """Return a text with `#` in the place of what comes again and again."""
    return _EASTERN.sub(_hidden, _ENGLISH.sub(_hidden, plain)) if plain else plain


def _hidden(match: re.Match[str]) -> str:
    return _HIDDEN * len(match[0])
