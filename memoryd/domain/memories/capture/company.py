"""What stands beside a statement: it counts only in company of a closed list, for a text may be anybody's.

Harmless are greetings, thanks, yes and no, plain statements of the first person, and behind a statement a plain request
that does not speak of the text itself. Beside anything else a statement may be quoted, played, or work to be done.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Final

from memoryd.domain.memories.capture.corrections import is_lead
from memoryd.domain.memories.capture.first_person import is_own_clause
from memoryd.domain.memories.capture.sentences import BLANK, SpokenSentence, plain_text
from memoryd.domain.memories.capture.unfit_sentences import CONDITION, QUESTION, REPORTED, why_not_plain

LINES_MAX: Final = 2
"""Lines with anything in them; a message of more may be pasted."""
OTHER_COMPANY: Final = "what stands beside it may make it another person's words, or text to work on"
LAID_OUT: Final = "it is laid out as something pasted"
_COURTESY: Final = re.compile(
    r"\W*(?:(?:nice to meet you|hi|hello|hey|hiya|howdy|there|all|everyone|again"
    r"|good (?:morning|evening|afternoon|night|day)|thanks"
    r"|thank you|so much|very much|a lot|for everything|and|yes|yeah|yep|no|nope|ok|okay|sure|right|great|cool|nice"
    r"|perfect|fine|good|bye|see you|please|sorry|welcome|by the way|btw|fyi|well|oh|actually|never"
    r"|just so you know|you know|cheers|as well"
    r"|你好|您好|大家好|嗨|哈喽|早上好|下午好|晚上好|早|谢谢|多谢|感谢|你|您|了|是的?|对|不|好的?|好吧|行|嗯|哦|再见|晚安|抱歉|对不起|对了|顺便说一下|初次见面"
    r"|请多关照|很高兴认识)(?![A-Za-z])\W*){1,6}+",
    re.IGNORECASE,
)
_OF_TEXT: Final = re.compile(
    r"\b(?:this|that|these|those|it|above|below|texts?|languages?|grammar|grammatical\w*|tenses?|translat\w+|sounds?"
    r"|style|tone|sentences?|phrases?|words?|wording|spelling|spelled|preposition|short|shorter|longer|formal\w*|polite"
    r"|correct|correctly|mistakes?|errors?|typos?|version|drafts?|rewrite|rephrase|paraphrase|e-?mails?|mails?|letters?"
    r"|messages?|bio|biography|essay|poem|story|song|dialog(?:ue)?|continue|repeat|classify|sentiment|rate|title"
    r"|headline|rhyme|paragraph|applicant|candidate|english|german|french|spanish|italian|chinese|japanese|korean"
    r"|russian|portuguese|latin|deutsch|francais|français|answer (?:with|yes)|what would you (?:say|reply|answer))\b"
    r"|英文|英语|中文|日语|法语|德语|日文|韩语|语法|时态|翻译|句|这样|这段|这个|这篇|这话|对不对|对吗|通顺|润色|改|写|文字|语气|简短|短一点|续|下文|作文|念|读|听起来|怎么说|怎么讲|标点|错",
    re.IGNORECASE,
)
_ORDER: Final = re.compile(
    r"\W*(?:(?:please|pls|so|then|now|and|also|just)[, ]+){0,3}+"
    r"(?:help|recommend|suggest|give|show|find|tell me|book"
    r"|plan|remind|leave|avoid|look|search|let me know|order|cook|list"
    r"|explain|use|don['’]t (?:use|suggest|recommend))\b"
    r"|\W*(?:请|那)?(?:帮我|麻烦|给我|推荐|介绍|安排|提醒我|告诉我|别推荐|不要推荐)",
    re.IGNORECASE,
)


class Company(Enum):
    """What a sentence beside a statement is."""

    COURTESY = "courtesy"
    OWN = "own"
    REQUEST = "request"
    OTHER = "other"


def company_of(sentence: SpokenSentence, *, is_told: bool = False) -> Company:
    """Return what a sentence is to those beside it. `is_told`: it has a form of its own, behind nothing else."""
    plain = sentence.plain
    if _COURTESY.fullmatch(plain) or is_lead(plain):
        return Company.COURTESY
    why = why_not_plain(sentence)
    if why == QUESTION or _ORDER.match(plain):
        return Company.OTHER if _OF_TEXT.search(plain) else Company.REQUEST
    if why in (CONDITION, REPORTED):
        return Company.OTHER
    return Company.OWN if is_told or is_own_clause(plain) else Company.OTHER


def why_not_in_company(text: str, kinds: Sequence[Company], at: int) -> str:
    """Say why the sentence `at` does not count beside the others of its message; empty if it does."""
    if _is_laid_out(text):
        return LAID_OUT
    before = {Company.COURTESY, Company.OWN}
    is_harmless = before.issuperset(kinds[:at]) and Company.OTHER not in kinds[at + 1 :]
    return "" if is_harmless else OTHER_COMPANY


def is_alone(kinds: Sequence[Company], at: int) -> bool:
    """Tell whether nothing but courtesies stand beside the sentence `at`."""
    return all(kind is Company.COURTESY for place, kind in enumerate(kinds) if place != at)


def _is_laid_out(text: str) -> bool:
    """Tell whether it has many lines, a greeting below its first one, or a line that is all quotation or code."""
    lines = [line for line in plain_text(text).splitlines() if line.strip()]
    inside = lines[1:]
    return (
        len(lines) > LINES_MAX
        or any(not line.strip(BLANK + " \t") for line in lines)
        or any(_COURTESY.fullmatch(line) and line.rstrip().endswith((",", "，")) for line in inside)
    )
