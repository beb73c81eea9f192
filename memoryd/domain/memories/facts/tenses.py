"""Whether a statement tells of what happened: by tense and aspect of its verb group, as grammar has them.

In English the first finite verb decides: a simple past (the ending -ed, or one of the irregular forms, which are a
closed class), or a perfect, unless it leads to what holds now (`has moved to`). In Chinese it is 了 or 过 behind the
verb, but for 了 at the end of what a change led to (改到…了, 不再…了). In doubt it happened: then nothing is a version
of it.
"""

from typing import Final

from memoryd.domain.expressions import caseless, expression

_IRREGULAR: Final = (
    "arose|ate|awoke|became|began|bent|bit|bled|blew|bore|born|bought|bound|bred|broke|brought|built|burnt|came|caught"
    "|chose|clung|crept|dealt|did|drank|drew|dreamt|drove|dug|fed|fell|felt|fled|flew|flung|forbade|forgot|forgave"
    "|fought|found|froze|gave|got|grew|ground|had|heard|hid|held|hung|kept|knelt|knew|laid|lay|leapt|learnt|led|left"
    "|lent|lit|lost|made|meant|met|overcame|overslept|paid|ran|rang|rode|rose|said|sang|sank|sat|saw|sent|shone|shook"
    "|shot|shrank|slept|slid|smelt|sold|sought|spelt|spent|spilt|spoilt|spoke|sprang|spun|stank|stole|stood|struck|stuck"
    "|stung|strode|strove|swam|swept|swore|swung|taught|thought|threw|told|took|tore|understood|undid|was|went|wept"
    "|were|withdrew|woke|won|wore|wound|wove|wrote"
)
"""The simple pasts that differ from the verb's own form."""
PARTICIPLE: Final = (
    r"(?:[a-z]{2,}ed|been|begun|bitten|blown|broken|chosen|come|cut|done|drawn|driven|drunk|eaten|fallen|flown|forgotten"
    r"|frozen|given|gone|grown|hidden|hit|known|put|ridden|risen|run|rung|seen|set|shaken|shown|shut|spoken|stolen|sung"
    r"|sunk|swum|sworn|taken|thrown|torn|woken|won|worn|written|"
    rf"{_IRREGULAR})"
)
_BASE_ALIKE: Final = "beat|bet|cast|cost|cut|hit|hurt|let|put|quit|read|set|shut|split|spread"
"""Pasts that only the lacking -s of a third person tells from the present."""
PRESENT: Final = (
    "is|are|am|be|has|have|will|would|can|could|(?-i:may)|might|must|should|shall|does|do|costs|takes|gets|needs|weighs|measures"
    "|lasts|pays|starts|begins|ends|opens|closes|leaves|arrives|departs|goes|comes|meets|wakes|eats|drinks|sleeps|works"
    "|lives|moves|changes|becomes|runs|uses|listens|wants|prefers|owns|owes|earns|charges|holds|keeps|stands|stays|sits"
    "|hangs|lies|reads|sends|receives|expires|renews|happens|publishes|ships|delivers|allows|accepts|returns|contains"
    "|equals|says|expects|asks|answers"
)
_NO_FINITE_BEHIND: Final = (
    r"(?<!\bthe\s)(?<!\ba\s)(?<!\ban\s)(?<!\bmy\s)(?<!\bour\s)(?<!\bhis\s)(?<!\bher\s)(?<!\bits\s)(?<!\btheir\s)"
    r"(?<!\byour\s)(?<!\bthis\s)(?<!\bthat\s)(?<!\bas\s)(?<!\bof\s)(?<!\bin\s)(?<!\bwith\s)(?<!\bfor\s)(?<!['’]s\s)"
    r"(?<!\bno\s)(?<!\bthan\s)(?<!\bif\s)"
)
"""Behind these a form in -ed is an adjective: `the limited edition`, `my left monitor`, `as planned`."""
_FINITE: Final = caseless(
    rf"\b(?P<perfect>(?:has|have|['’]ve)\s(?:(?:not|just|already|never|also|ever|now)\s)*{PARTICIPLE}\b)(?:\s\w+ed)?"
    rf"(?P<to>\s(?:back\s)?to\b)?|\b(?:{PRESENT})\b"
    rf"|(?P<past>{_NO_FINITE_BEHIND}\b(?:{_IRREGULAR}|[a-z]{{2,}}(?<!e)ed(?<!\bbed)(?<!\bred))\b)"
    rf"|\b(?:he|she|it)\s(?P<bare>{_BASE_ALIKE})\b"
)
"""In the order of the text."""
_NAME_BEFORE: Final = expression(rf"\b[A-Z][a-z]+\s(?:{_BASE_ALIKE})\b")
LONG_AGO: Final = caseless(
    r"(?<!since )\b(?:yesterday|last\s(?:night|week|month|year|spring|summer|autumn|winter"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|ago|used\sto|born)\b|昨[天晚日]|前天|上(?:周|个?星期|个?月)|去年|前年"
)
_HAN_ASPECT: Final = expression(
    "(?<![为除罢到成至回])了(?![解不])(?!\\s*[，。！；,.!;]*\\s*\\Z)"
    "|(?<=[\u4e00-\u9fff])(?<![不通超经越路])过(?![敏期年程去来于度滤节世户道错])"
)
_HAN_END: Final = expression("了\\s*[，。！；,.!;]*\\s*\\Z")
_HAN_HOLDS: Final = expression("[到成为至回给是不没别叫归]")
"""What leads to a state, or denies one: with 了 at its end, it holds from now on."""


def tells_what_happened(text: str) -> bool:
    """Tell whether a statement is about something past, which holds of its day whatever is said of another one."""
    if LONG_AGO.search(text):
        return True
    if not text.isascii() and (_HAN_ASPECT.search(text) or (_HAN_END.search(text) and not _HAN_HOLDS.search(text))):
        return True
    finite = _FINITE.search(text)
    if finite is None:
        return _NAME_BEFORE.search(text) is not None
    if finite["perfect"]:
        return not finite["to"]
    return bool(finite["past"] or finite["bare"])
