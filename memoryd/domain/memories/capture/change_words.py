"""The words by which somebody says that something is otherwise now, in English, German and Chinese: one table.

They do not say of what. A word of change makes a sentence worth holding against what is remembered; where one stands
in a clause with the value that a memory gives, that value *ended*; behind one of *again* stands what held before.
"""

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.facts.values import tells_what_happened

_NOW = (
    r"now(?! that\b)|instead|these days|nowadays|from now on|as of|onwards?|since (?:the|last|this|\w+ing|[A-Z]\w+)|new"
    r"|jetzt|neuerdings|ab sofort|inzwischen|stattdessen"
)
_MOVED = (
    r"up to|down to|(?:went|gone|going|put|goes) (?:\w+ ){0,4}?(?:up|down)|rose|raised|upped|doubled|halved|bumped"
    r"|lowered|increased|switched|swapped|changed|moved|signed (?:on|up|over)|took over|taken over|bought"
)
_WRONG = (
    r"turn(?:s|ed) out|mixed? (?:\w+ ){0,3}?up|muddled|(?:got|had|read|wrote|said|told) (?:\w+ ){0,4}?(?:wrong|crossed)"
    r"|wrong|mistaken|mistake|misread|confus(?:ed|ing)|correction|verwechselt"
)
_GONE = (
    r"no longer|no more|any ?more|any longer|used to|gone|left|retired|quit|resigned|(?:gave|given|giving) (?:it )?up"
    r"|stopped|cancel+ed|dropped|ditched|scrapped|abandoned|sold(?! out\b)|died|dead|folded|expired|history"
    r"|(?<!was )(?<!were )(?:shut|closed)|moved (?:on|out|away)|handed|sent back|returned|replaced|cut|axed"
    r"|finished with|done with|fell through|got rid of|traded|binned|bust|stepped down|packed (?:up|in)|went off"
    r"|threw (?:out|away)|parted|fired|passed away|out of business|nicht mehr|gekündigt|abgeschafft"
)
_HAN_NOW = r"现在|目前|如今|以后(?!再)|今后|往后|已经"
_HAN_MOVED = r"改|换|挪|涨|降[到成为了]|调[到成整为]|[提加减升]到|变[成为]|搬|转[到给]|交给"
_HAN_WRONG = r"[搞弄记说写看听讲]错|[搞弄记]混|[说写记][成反]"
_HAN_GONE = (
    r"不再|再也不|不用再|(?<!受)[不没](?![过错])(?=[^，,；;。]{1,10}了)|没了|坏了|退休|跳槽|关门|关张|离职|辞职|调走|走了|倒闭|停[了办用产业]|取消"
    r"|摘[掉了]|拆[掉了]|卖[掉了]|退[掉了]|搬走|转走|回(?=[^，,；;。]{1,6}去了)|换[掉了]"
)
_CHANGED = (
    caseless(rf"\b(?:{_NOW}|{_MOVED}|{_WRONG}|{_GONE}|again|once more|gone back|went back)(?![\w'’])"),
    expression(rf"{_HAN_NOW}|{_HAN_MOVED}|{_HAN_WRONG}|{_HAN_GONE}|又[^，,；;。]{{0,4}}回|恢复|重新"),
)
_NOT = (
    caseless(r"\b(?:not|never|instead of|rather than|in place of|nicht|kein\w*)\b|n['’]t\b"),
    expression(r"不是|不在|并非|而不"),
)
_INSTEAD = caseless(r"\binstead\b|\bstattdessen\b")
_THE_OLD = (caseless(r"\bthe old\b"), expression(r"太[^，,；;。]{1,2}|[喝吃用]不惯"))
_SENT_BACK = caseless(r"\b(?:went|gone|going|goes|sent|is|are|['’]s) back\b")
"""Of what stands before it: who goes back to a thing has it again."""
_GONE_WORDS = (caseless(rf"\b(?:{_GONE}|(?:went|gone) back)\b"), expression(_HAN_GONE))
_NEW_WORDS = (
    caseless(rf"\b(?:{_NOW}|{_MOVED}|{_WRONG})(?![\w'’])"),
    expression(rf"{_HAN_NOW}|{_HAN_MOVED}|{_HAN_WRONG}"),
)
_WRONG_WORDS = (caseless(rf"\b(?:{_WRONG})\b"), expression(_HAN_WRONG))
ENDED = (*_GONE_WORDS, *_NOT)
"""What a clause says to be over, or denies, without its object."""
AGAIN = (
    caseless(r"\bagain\b|\bonce more\b|\bback (?:to|with|at|on|in)\b|wieder"),
    expression(r"又[^，,；;。]{0,4}回|[改换搬转调用订吃喝走坐住]回|恢复|重新|又"),
)


def has_word_of_change(plain: str) -> bool:
    """Tell whether a sentence says that something is otherwise now, so that it is held against the memories."""
    return any(one.search(plain) for one in _CHANGED)


def lasts_by_word(plain: str) -> bool:
    """Tell whether a word says that what happened holds on: behind a past, *instead* says what was done once."""
    return has_word_of_change(
        _INSTEAD.sub(lambda one: " " if tells_what_happened(plain[: one.start()]) else one[0], plain)
    )


def has_gone(clause: str) -> bool:
    """Tell whether a clause says that something is over, and not only that it is not so."""
    return any(one.search(clause) for one in _GONE_WORDS)


def says_now(clause: str) -> bool:
    """Tell whether a clause says what is now, by what it was changed or what was wrong."""
    return any(one.search(clause) for one in _NEW_WORDS)


def says_wrong(plain: str) -> bool:
    """Tell whether a sentence says that what was said before was wrong."""
    return any(one.search(plain) for one in _WRONG_WORDS)


def over_in(clause: str) -> str:
    """Return the part of a clause that names what is over: all of it, what went back, or what is denied; or nothing."""
    if back := _SENT_BACK.search(clause):
        return clause[: back.start()]
    if has_gone(clause) or says_wrong(clause) or any(one.search(clause) for one in _THE_OLD):
        return clause
    denied = next((found for one in _NOT if (found := one.search(clause))), None)
    return clause[denied.end() :] if denied else ""


def begins_gone(clause: str) -> bool:
    """Tell whether a clause begins with what its author gave up, and leaves out who."""
    return any(one.match(clause.strip()) for one in _GONE_WORDS)
