"""Chinese times relative to a day (`昨天`, `上周三`, `三天前`, `上个月27号`), and German ones (`vorgestern`, `letzten
Dienstag`, `vor drei Wochen`, `bis Ende März`).

German times are translated to English and then parsed by the English rules, so that both languages mean the same days.
German texts are normalised, without umlauts. Dates and names of months are in `domain/text/dates.py`.
"""

import re
from collections.abc import Callable, Iterator

from memoryd.domain.expressions import TextMatch, caseless, expression
from memoryd.domain.memories.times.spans import (
    AWAY,
    CHINESE_SEASON,
    YEARS_AWAY,
    Calendar,
    DaySpan,
    Direction,
    TimeMention,
    Unit,
    apply_rules,
    chinese_season,
    days_of_month,
    in_year,
    last_units,
    month_of,
    shift_day,
    single_day,
    unit_away,
    week_of,
    weekend_of,
    year_of,
    yearless_mention,
)
from memoryd.domain.text.dates import MONTH, eastern_number

_SMALL = "[一二两兩三四五六七八九十廿]{1,3}"
_NUMBER = rf"(?:[0-9]{{1,4}}|{_SMALL})"
_NO_NUMBER = r"(?<![0-9]\.(?=[0-9]))(?!(?<=[0-9],)[0-9]{3}(?![0-9]))(?<![0-9一二两兩三四五六七八九十百千万半几多第])"
"""Before a number: it is not the end of another number, as in `2.5` or `1,500`; any other comma separates clauses."""
_UNITS = {
    "天": Unit.DAY,
    "日": Unit.DAY,
    "周": Unit.WEEK,
    "週": Unit.WEEK,
    "星期": Unit.WEEK,
    "礼拜": Unit.WEEK,
    "禮拜": Unit.WEEK,
    "月": Unit.MONTH,
    "年": Unit.YEAR,
}
_UNIT = "(?P<unit>天|周|週|[个個]?(?:星期|礼拜|禮拜)|[个個]月|年)"
_WEEK = "(?:周|週|星期|礼拜|禮拜)"
_WEEKDAYS = "一二三四五六日天"

_NAMED_DAY = expression("大前[天日]|前[天日]|昨[天日晚夜]|今[天日晚早晨]|明[天日晚早晨]|大后天|后天|大後天|後天")
_DAYS_AWAY = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "後": 2, "大后": 3, "大後": 3}
_BOUND = {
    "上": "早晚",
    "下": "一以",
    "本": "基根资資",
    "前": "以之目",
    "后": "以之然最",
    "後": "以之然最",
    "明": "透",
}
"""For the first character of a time, characters before it that form a word with it: `早上周阿姨来了` has no `上周`."""
_AFTER_WHAT = "今午饭飯餐课課雨雪病婚产產"
_LOOSE = {
    "上": "马馬网網线線楼樓路街墙牆桌床船车車身头頭山海地天会會班叫约約喊带帶跟遇碰赶趕爱愛看加关關穿",
    "下": "楼樓底乡鄉手脚腳地私天留剩记記写寫放",
    "今": "至如而迄当當",
    "明": "聪聰文照黎鲜鮮光说說证證声聲发發表",
    "前": "从從日提面眼",
    "后": _AFTER_WHAT,
    "後": _AFTER_WHAT,
    "本": "日",
}
"""Characters that may form a word with the first character of a time; it is no time if `_BEHIND` matches, too."""
_BEHIND = {
    "周": expression(
        "阿姨|叔|伯|奶奶|爷爷|老师|老師|先生|小姐|女士|太太|总|經理|经理|医生|醫生|大夫|师傅|師傅|主任|教授|同学|同學|哥|姐"
        "|律师|律師|警官|老板|老闆|大爷|大妈|婶|嫂|家"
    ),
    "天": expression("气(?!温)|氣(?!溫)|才|线|線|花板|空|使|窗|桥|橋|然|文学|文學|天|晴"),
    "月": expression("亮|饼|餅|季(?!度)|球|光"),
}
"""For the last character of a time, text after it that forms a word with it."""
_NEVER = expression(
    "围(?!棋)|圍(?!棋)|边(?![境疆防])|邊(?![境疆防])|遭|岁|歲|期(?![末中待])|年(?![会會级級底终終末初货貨假夜])"
)
"""Text after `周` that forms a word with it, whatever precedes."""
_YOUNG = "(?![轻輕纪紀龄齡迈邁幼])"
"""Not after `年`: characters that form another word with it, as in `如今年轻人`."""
_WEEK_DAY = expression(
    rf"(?<![每隔])(?:(?P<which>上上|下下|上|下|这|這|本)一?[个個]?)?{_WEEK}(?P<day>[{_WEEKDAYS}]|末)(?![次个篇回顿趟场遍次])"
)
_UNIT_NEXT_TO = expression(
    rf"(?P<which>上上|下下|上|下|这|這|本)一?[个個]?(?:(?P<week>{_WEEK})|(?P<month>月)(?:的?(?P<day>[0-9]{{1,2}}|{_SMALL})[日号號])?)"
    rf"|(?P<year>大前年|前年|去年|今年|明年|[后後]年){_YOUNG}"
    "(?:的?(?P<in_month>[0-9]{1,2}|十[一二]?|[一二三四五六七八九])月份?"
    rf"(?:(?P<in_day>[0-9]{{1,2}}|{_SMALL})[日号號])?)?"
)
_UNITS_AGO = expression(
    rf"{_NO_NUMBER}(?!(?:19|20)[0-9]{{2}}年)(?P<count>{_NUMBER}|半){_UNIT}(?:之|以)?(?P<sense>前|后|後)(?!天|面|后|後|左|台)"
)
_PAST_UNITS = expression(rf"(?:最近|过去|過去|近|这|這)(?:的|这|這)?(?P<count>{_NUMBER}){_UNIT}(?!前|后|後)")
_BARE_MONTH = expression(
    "(?<![0-9年个個的月〇零○一二三四五六七八九十廿.])(?P<month>[0-9]{1,2}|十[一二]?|[一二三四五六七八九])月"
    f"(?:份|(?![0-9{_WEEKDAYS}十亮饼球光票供]))(?![0-9])"
)
_BARE_YEAR = expression(r"(?<![0-9.])(?P<year>(?:19|20)[0-9]{2})\s?年(?!代|\s?的?\s?[0-9一二三四五六七八九十])")
_QUARTERS = expression(
    r"(?:(?<![0-9])(?P<year>(?:19|20)[0-9]{2})\s?年|(?P<near>去年|今年|明年))?的?(?<![上下每])第?(?P<number>[一二三四1-4])季度"
)
_END_OF_IT = expression(
    r"(?<![0-9一二三四五六七八九十几半多每个個年月青少老童成中])(?P<unit>[年月])(?=[初底末])(?![初底末][0-9一二三四五六七八九十])"
)
"""`年底`, `月初`: this year or month, reduced to a part by `narrow_to_part`."""
_DAYS_OF_MONTH = expression(
    r"(?:(?<![0-9])(?P<year>(?:19|20)[0-9]{2})\s?年\s?)?(?<![0-9])(?P<month>[0-9]{1,2}|十[一二]?|[一二三四五六七八九])\s?月\s?"
    rf"(?P<first>[0-9]{{1,2}}|{_SMALL})\s?[日号號]?\s?(?:-|–|—|~|〜|到|至)\s?(?P<last>[0-9]{{1,2}}|{_SMALL})\s?(?:[日号號]|(?![0-9\s月年]))"
)
_BARE_DAY = expression(
    rf"(?<![0-9月个個第一二三四五六七八九十廿])(?P<day>[0-9]{{1,2}}|{_SMALL})[号號日]"
    "(?P<shown>(?=的?(?:左右|前[后後]|那[一几]?天|[之以][前后後]|以来|以來|起|早上|上午|中午|下午|晚上|凌晨|[-–—~〜到至])))?"
    "(?P<asked>(?=发生|發生|有什么|有什麼|有没有|是什么|做|干|去|来|我|你|他|她|大家|要|会|會))?(?![楼樓线線院门門房店馆館室])"
)
"""`27号` without a month, which may be a house number: the text around it must show that it is a day."""
_OPENS_DAY = expression("(?:\\A|[，。？！；、,.?!;\\s从從自到至约約概])\\Z")
_FUTURE = expression("会|會|要|将|將|打算|计划|准备|明天|下周|下个")
_PAST = expression("了|过|過|昨|去了|来过")
_HAN = expression("[\u4e00-\u9fff]")


def holds_chinese(text: str) -> bool:
    """Return whether a text contains Chinese characters."""
    return not text.isascii() and _HAN.search(text) is not None


def chinese_direction(text: str) -> Direction:
    """Return whether a text is about the past or the future, by its particles."""
    if _PAST.search(text):
        return Direction.PAST
    return Direction.FUTURE if _FUTURE.search(text) else Direction.NEAREST


def chinese_times(text: str, calendar: Calendar) -> Iterator[TimeMention]:
    """Yield the times that a text names relative to a day, without a year, or by a month or year alone."""
    return apply_rules(_RULES, text, calendar)


def _is_cut(match: TextMatch) -> bool:
    """Return whether the match is not a time, but the end of one word and the beginning of another."""
    text, start, end = match.string, match.start(), match.end()
    before, first, last = text[max(0, start - 1) : start], text[start], text[end - 1]
    if before and before in _BOUND.get(first, ""):
        return True
    if last in "周週" and _NEVER.match(text, end):
        return True
    if not before or before not in _LOOSE.get(first, ""):
        return False
    # the 日本 in 生日本周 is not Japan
    is_birthday = first == "本" and text[max(0, start - 2) : start - 1] in "生节節假"
    behind = _BEHIND.get("周" if last == "週" else last)
    return not is_birthday and behind is not None and behind.match(text, end) is not None


def _named_day(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    return None if _is_cut(match) else single_day(shift_day(calendar.day, _DAYS_AWAY[match[0][:-1]]))


def _week_day(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    which, day = match["which"], match["day"]
    begins = match.start()
    if which and match.string[max(0, begins - 1) : begins] in (*_BOUND.get(which, ""),):
        # 早上周三 is Wednesday; 马上周三 may be last Wednesday or the next
        begins += len(which)
        which = None
    if which is None and _COUNTED.match(match.string[max(0, begins - 1) : begins]):
        return None
    week = week_of(shift_day(calendar.day, 7 * AWAY[which or "本"]))
    if day == "末":
        return TimeMention(begins, match.end(), weekend_of(week.first) if which else calendar.weekend())
    number = min(_WEEKDAYS.index(day), 6)
    weekday = shift_day(week.first, number) if which else calendar.weekday(number, calendar.direction)
    return TimeMention(begins, match.end(), single_day(weekday), is_weekday=True)


def _unit_next_to(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    if match["year"]:
        return _in_near_year(match, calendar)
    if _is_cut(match):
        return None
    away = AWAY[match["which"]]
    if match["week"]:
        return unit_away(calendar.day, away, Unit.WEEK)
    month = month_of(calendar.day.year, calendar.day.month + away)
    return month and in_year(month.first.year, month.first.month, _number(match["day"]))


def _in_near_year(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    year = calendar.day.year + YEARS_AWAY[match["year"]]
    month = _number(match["in_month"])
    if month is None:
        return year_of(year)
    return in_year(year, month, _number(match["in_day"])) if 1 <= month <= 12 else None


def _units_ago(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    unit, sense = _unit(match), -1 if match["sense"] == "前" else 1
    if match["count"] == "半":
        return unit_away(calendar.day, 6 * sense, Unit.MONTH) if unit is Unit.YEAR else None
    ends = list(filter(None, (unit_away(calendar.day, sense * count, unit) for count in _counts(match))))
    return DaySpan(min(span.first for span in ends), max(span.last for span in ends)) if ends else None


def _past_units(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    counts = _counts(match)
    return last_units(calendar.day, max(counts), _unit(match)) if counts else None


def _bare_month(match: TextMatch, calendar: Calendar) -> TimeMention | None:
    month = eastern_number(match["month"])
    return yearless_mention(match.span(), calendar, month, None) if 1 <= month <= 12 else None


def _bare_day(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    before = match.string[max(0, match.start() - 1) : match.start()]
    is_question = match["asked"] is not None and _OPENS_DAY.match(before)
    if match["shown"] is None and before not in ("到", "至") and not is_question:
        return None
    is_past = chinese_direction(match.string) is Direction.PAST
    return calendar.day_of_month(eastern_number(match["day"]), is_past=is_past)


def _bare_year(match: TextMatch, _calendar: Calendar) -> DaySpan | None:
    return year_of(int(match["year"]))


def _quarters(match: TextMatch, calendar: Calendar) -> DaySpan:
    year = int(match["year"]) if match["year"] else None
    year = calendar.day.year + YEARS_AWAY[match["near"]] if match["near"] else year
    return calendar.quarter(eastern_number(match["number"]), year)


def _end_of_it(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    return unit_away(calendar.day, 0, _UNITS[match["unit"]])


def _days_of_month(match: TextMatch, calendar: Calendar) -> DaySpan | None:
    month, first, last = (eastern_number(match[name]) for name in ("month", "first", "last"))
    return days_of_month(calendar, match["year"], month, first, last) if 1 <= month <= 12 else None


def _unit(match: TextMatch) -> Unit:
    return _UNITS[match["unit"].lstrip("个個")]


def _counts(match: TextMatch) -> list[int]:
    """Return the number in a match, two numbers for an approximate one (两三天), or none if it is not a number."""
    text = match["count"].replace("两", "二").replace("兩", "二")
    number = eastern_number(text)
    if number or text.isdecimal():
        return [number]
    return [eastern_number(digit) for digit in text] if len(text) == 2 and "十" not in text else []


def _number(text: str | None) -> int | None:
    return None if text is None else eastern_number(text)


_COUNTED = expression("[0-9一二两兩三四五六七八九十半几]")
"""Before `周三`: a number of weeks, not a weekday, as in 两周三次."""
_RULES = (
    (_NAMED_DAY, _named_day),
    (_WEEK_DAY, _week_day),
    (_UNIT_NEXT_TO, _unit_next_to),
    (_UNITS_AGO, _units_ago),
    (_PAST_UNITS, _past_units),
    (_DAYS_OF_MONTH, _days_of_month),
    (_BARE_MONTH, _bare_month),
    (_BARE_YEAR, _bare_year),
    (_BARE_DAY, _bare_day),
    (_QUARTERS, _quarters),
    (_END_OF_IT, _end_of_it),
    (CHINESE_SEASON, chinese_season),
)


_GERMAN_UNITS = {
    "tag": "day",
    "woche": "week",
    "wochenende": "weekend",
    "monat": "month",
    "jahr": "year",
    "fruhling": "spring",
    "fruhjahr": "spring",
    "sommer": "summer",
    "herbst": "autumn",
    "winter": "winter",
}
_GERMAN_DAYS = {
    "montag": "Monday",
    "dienstag": "Tuesday",
    "mittwoch": "Wednesday",
    "donnerstag": "Thursday",
    "freitag": "Friday",
    "samstag": "Saturday",
    "sonnabend": "Saturday",
    "sonntag": "Sunday",
}
_NAMES = _GERMAN_UNITS | _GERMAN_DAYS
_NUMBERS = ("ein", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwolf")
_WHICH = {"letzt": "last", "vorig": "last", "vergangen": "last", "dies": "this", "nachst": "next", "kommend": "next"}
_WORDS = {
    "anfang": "early",
    "mitte": "mid",
    "ende": "late",
    "seit": "since",
    "bis": "until",
    "ab": "from",
    "von": "from",
    "vom": "from",
    "vor": "before",
    "nach": "after",
    "zwischen": "between",
    "im": "in",
    "am": "on",
}
_COUNT = f"(?P<count>[0-9]{{1,4}}|ein(?:e[mnrs]?)?|{'|'.join(_NUMBERS[1:])})"
_GERMAN_UNIT = "(?P<unit>tag|woche|monat|jahr)(?:e?n|e?s|e)?"
_PART = r"(?:\s?(?:fruh|morgens?|vormittags?|mittags?|nachmittags?|abends?|nachts?)\b)?"
_NAME = rf"(?P<name>{'|'.join(sorted(_NAMES, key=len, reverse=True))})(?:s|es|en|n)?{_PART}"
_WEEKDAY = "|".join(_GERMAN_DAYS)
_DAY = "[0-9]{1,2}"
_TO = r"\s?(?:-|–|bis(?:\szum)?|und(?:\sdem)?)\s?"
_TIME = (
    rf"(?:the\s)?(?:{_DAY}(?:\.|\sto\s)|(?:19|20)[0-9]{{2}}\b|[0-9]{{4}}-[0-9]|{MONTH}\b|(?:yesterday|today|tomorrow|day)\b"
    r"|Q[1-4]\b|(?:early|mid|late|last|this|next|since|until)\s|(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"
)


def _count(match: TextMatch) -> str:
    text = match["count"].lower()
    return text if text.isdecimal() else str(next(at for at, word in enumerate(_NUMBERS, 1) if text.startswith(word)))


def _units(match: TextMatch) -> str:
    return f"{_count(match)} {_GERMAN_UNITS[match['unit'].lower()]}s"


def _named(match: TextMatch) -> str:
    return _NAMES[match["name"].lower()]


def _word(match: TextMatch) -> str:
    return f"{_WORDS[match['word'].lower()]} "


_TRANSLATIONS: tuple[tuple[re.Pattern[str], str | Callable[[TextMatch], str]], ...] = (
    (caseless(rf"\bvorgestern\b{_PART}"), "the day before yesterday"),
    (caseless(rf"\bgestern\b{_PART}"), "yesterday"),
    (caseless(r"\b(?:letzte|vergangene|heute)\snacht\b"), "last night"),
    (caseless(rf"\bheute\b(?!-|\sjournal\b){_PART}"), "today"),
    (caseless(rf"\bue?bermorgen\b{_PART}"), "the day after tomorrow"),
    (caseless(r"\bdiese[nr]?\s(?:morgen|vormittag|nachmittag|abend)\b"), "this morning"),
    # with a capital it is "the morning", except at the beginning of a sentence; a greeting is neither
    (
        expression(
            r"(?<!uten\s)(?<!chonen\s)(?<!\bam\s)(?<!eden\s)\bmorgen\b(?!\s(?:zusammen|allerseits|ihr|alle)\b)" + _PART
        ),
        "tomorrow",
    ),
    (expression(r"(?:(?<=[.!?]\s)|\A)Morgen(?=\s[a-z])(?!\s(?:zusammen|allerseits|ihr|alle)\b)" + _PART), "tomorrow"),
    (
        caseless(r"\bvorletzte[nrsm]?\s(?P<name>wochenende|woche|monat|jahr)(?:e?s)?\b"),
        lambda match: f"the {_named(match)} before last",
    ),
    (caseless(rf"\bvor\s{_COUNT}\s{_GERMAN_UNIT}\b"), lambda match: f"{_units(match)} ago"),
    (caseless(rf"\bin\s{_COUNT}\s{_GERMAN_UNIT}\b"), lambda match: f"in {_units(match)}"),
    (
        caseless(rf"\b(?:seit|(?:in\s)?de[nr]\sletzten|die\sletzten)\s{_COUNT}\s{_GERMAN_UNIT}\b"),
        lambda match: f"the last {_units(match)}",
    ),
    (caseless(r"\banfang\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"beginning of the {_named(match)}"),
    (caseless(r"\bmitte\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"middle of the {_named(match)}"),
    (caseless(r"\bende\sdes\s(?P<name>monat|jahr)e?s\b"), lambda match: f"end of the {_named(match)}"),
    (caseless(r"\bam\swochenende\b"), "at the weekend"),
    (caseless(r"\bkommendes\swochenende\b"), "this weekend"),
    (
        caseless(rf"\b(?P<which>{'|'.join(_WHICH)})e[nrsm]?\s{_NAME}\b"),
        lambda match: f"{_WHICH[match['which'].lower()]} {_named(match)}",
    ),
    (caseless(rf"\bjede[nrsm]?\s(?P<name>{_WEEKDAY})\b"), lambda match: f"every {_named(match)}"),
    (caseless(rf"\b(?P<name>{_WEEKDAY})s\b"), lambda match: f"every {_named(match)}"),
    (caseless(rf"\b(?P<name>{_WEEKDAY}){_PART}\b"), _named),
    (caseless(r"\b(?P<name>fruhling|fruhjahr|sommer|herbst|winter)(?=\s(?:19|20)[0-9]{2}\b)"), _named),
    (caseless(r"\b([1-4])\.\squartal\b"), r"Q\1"),
    (caseless(rf"\b({_DAY})\.?{_TO}({_DAY})\.\s(?={MONTH}\b)"), r"\1 to \2 "),
    # chapters and versions look the same; two numbers of one month are days
    (
        caseless(
            rf"(?:\bvom\s({_DAY}\.{_DAY}\.)|(?<![0-9.])(?<!el\s)(?<!tt\s)({_DAY}\.(?P<month>{_DAY})\.)"
            rf"(?=\s?(?:-|–|bis)\s?{_DAY}\.(?P=month)\.))\s?(?:-|–|bis)\s?(?={_DAY}\.{_DAY}\.)"
        ),
        lambda match: f"from {match[1] or match[2]} to ",
    ),
    (caseless(rf"(?<![0-9.])({_DAY}\.{_DAY}\.){_TO}(?={_DAY}\.{_DAY}\.)"), r"\1 to "),
    (caseless(rf"(?<![0-9.])({_DAY})\.{_TO}(?={_DAY}\.\s?({_DAY}\.(?:\s?(?:19|20)[0-9]{{2}})?))"), r"\1.\2 to "),
    (caseless(r"(?<=day)\sbis\s(?=(?:mon|tues|wednes|thurs|fri|satur|sun)day\b)"), " to "),
    (caseless(r"\bim\sjahre?\s(?=(?:19|20)[0-9]{2}\b)"), "in "),
    (caseless(rf"\b(?P<word>anfang|mitte|ende)\s(?:de[rs]\s)?(?={_TIME})"), _word),
    (caseless(rf"\b(?P<word>seit|bis|ab|vo[mnr]|nach|zwischen|im|am)(?:\sde[mn]|\szu[mr])?\s(?={_TIME})"), _word),
)
"""German times and their English translations, applied in this order."""
_GRAMMAR_WORDS = (
    (caseless(r"\btermine?\b"), "appointments"),
    (caseless(r"\b(?:steht|stehen)(?=[^.!?]{0,60}\ban\b)"), "is planned"),
    (caseless(r"\bhaben?(?=[^.!?]{0,60}\bvor\W*\Z)|\bgeplant\b"), "planned"),
    (caseless(r"\bwas\b"), "what"),
    (caseless(r"\bwann\b"), "when"),
    (caseless(r"\bwer\b"), "who"),
    (caseless(r"\bwo\b"), "where"),
    (caseless(r"\bwelche[nrsm]?\b"), "which"),
    # not after a verb, where they would begin a clause of their own
    (caseless(r"(?:\A|(?<=[.,;!?]\s))(?:ich|wir|er|sie|es)\b"), "we"),
    (caseless(r"\b(?:ware?n?|hatten?|wurden?|ging(?:en)?|kam(?:en)?)\b"), "was"),
    (caseless(r"\b(?:habe?n?|hat|ist|sind|bin)\b(?=[^.!?]{0,120}?\b\w{0,5}(?:ge|be|ver|er)\w{1,20}(?:t|en)\b)"), "did"),
    (caseless(r"\b(?:ist|sind)\b"), "is"),
    (
        caseless(r"\b(?:wird|werden?|muss|mussen|soll(?:en)?|kommt|kommen|habe?n?|hat|machen?|macht|gehe?n?|geht)\b"),
        "will",
    ),
)
"""Translations for texts with a German time: words that show question or statement, and past or future."""
_SIGNS = (
    *("gestern", "heute", "morgen", "nacht", "tag", "woch", "abend", "monat", "jahr", "quartal", "sommer", "herbst"),
    *(" fruh", " winter ", " seit ", " bis ", " vo", " nach ", " zwischen ", " im ", " anfang ", " mitte ", " ende "),
    *(".-", ".–"),
)
"""Strings, one of which occurs in every text with a German time; a much faster check than the patterns."""


def translate_german_times(plain: str) -> str:
    """Return a text with its German times translated to English; any other text unchanged."""
    lower = f" {plain.lower()}"
    if not any(sign in lower for sign in _SIGNS):
        return plain
    total = 0
    for pattern, translation in _TRANSLATIONS:
        plain, count = pattern.subn(translation, plain)
        total += count
    for pattern, word in _GRAMMAR_WORDS if total else ():
        plain = pattern.sub(word, plain)
    return plain
