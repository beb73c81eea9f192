"""Whether `my … is …` states something that lasts: by what it is about, and by what is said of it."""

import re
from typing import Final

_LASTING_WORDS: Final = """
account accountant address age anniversary apartment appointment aunt baby bank bicycle bike birth birthdate birthday
birthplace blood boss boyfriend brother brother-in-law brothers budget car cat cats cell child children city coach
code colleague college company country cousin dad daughter daughters deadline degree dentist department desk diet
distro doctor dog dogs e-mail editor email employer exam extension father father-in-law favorite favorites favourite
favourites fiance fiancee fiancé fiancée flat flatmate flight framework friend girlfriend goal godfather godmother
godson gp grandfather grandma grandmother grandpa gym hairdresser hamster handle height hobbies hobby home hometown
horse house husband id initials instrument insurance interview job keyboard kid kids landlord language laptop lawyer
licence license locker maiden major manager mentor middle mobile mom mother mother-in-law motorcycle mum nationality
native neighbor neighbour nephew network nickname niece number occupation office parents parrot partner passport pet
pets phone pin plan plate profession pronouns rabbit religion rent role room roommate salary school seat shell shift
sibling siblings sister sister-in-law sisters size son sons sport spouse stack star stepfather stepmother supervisor
surname teacher team telephone therapist timezone title tongue town train trainer uncle university username vet
wedding weight wife wifi workplace zodiac zone
"""
_LASTING: Final = frozenset(_LASTING_WORDS.split())
_FLEETING_WORDS: Final = """
advice answer app assumption back bad battery bet booking breakfast browser build case code coffee computer concern
concerns conclusion connection cursor day dinner draft english error essay excuse expectation experience eyes fault
fear feeling feelings feet file folder french function german god goodness grammar guess hair hands head heart
homework hope hypothesis idea ideas impression input intention internet invoice issue issues leg legs life luck lunch
message mind mistake mood morning night nose opinion order output patience pleasure point preference problem problems
program query question questions reason reasoning recommendation reference reply request screen script server skin
soup stomach suggestion tab take task terminal test tests text thought thoughts throat ticket time tracking
train-of-thought treat turn understanding view week wish word words
"""
_FLEETING: Final = frozenset(_FLEETING_WORDS.split())
_BY_VALUE: Final = frozenset(
    {"phone", "flight", "train", "laptop", "wifi", "network", "office", "desk", "gym", "bank", "plan", "code"}
)
"""What is told of these lasts where it is a name or a number."""
_STATE: Final = re.compile(
    r"\s*(?:(?:right |just |only |now )*(?:not|n't|too|so|very|really|quite|pretty|still|already|almost|nearly|gone"
    r"|dead|broken|down|up|here|there|back|ready|done|late|early|slow|fast|hot|cold|sick|ill|unwell"
    r"|tired|hungry|thirsty|busy|free|full|empty|ok|okay|fine|good|great|bad|nice|better|worse|wrong|right|correct"
    r"|incorrect|sad|happy|angry|upset|mad|weird|strange|confused|confusing|killing|hurting|sore|crashing"
    r"|asleep|awake|coming|going|visiting|out|on (?:fire|holiday|vacation|hold|leave|the way|its way|my|his|her)"
    r"|about|being|getting|having|making|to|that|how|what|why|whether|because|when|where|who|which|like|as follows"
    r"|this|these|those|it"
    r"|the (?:same|best|worst|following)|in (?:town|trouble|a|the)|at (?:risk|stake|home)|over|off|lost|stuck"
    r"|waiting|missing|unclear|simple|clear|stupid|due|unknown|none|nothing|private|secret|my|your|an? (?:mess|bit"
    r"|little|disaster|nightmare|joke|lie|secret|problem|good|bad|pain))\b)",
    re.IGNORECASE,
)
_ELSEWHERE: Final = re.compile(
    r"\s*(?:on|in|at|under|behind|inside|outside|next|near|by|with)\b"
    r"|\s*(?:(?:such )?an? |the )?(?:(?:total|complete|real|better|absolute|utter|little|huge) )*(?:jerk|idiot|moron"
    r"|asshole|bastard|bitch|joke|genius|angel|saint|devil|satan|god|hero|pig|monster|none|red hot"
    r"|probably|programmer than)\b",
    re.IGNORECASE,
)
_PLACED_WORDS: Final = """
anniversary apartment bank birthday company department desk flat gym handle home house name office room school seat
wedding workplace
"""
_PLACED: Final = frozenset(_PLACED_WORDS.split())
"""What is told of these by a place or a time lasts."""
_EVENTS: Final = frozenset(["appointment", "exam", "interview", "train", "flight", "deadline", "shift"])
_DATED: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d[./-]\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\d(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_DOING: Final = re.compile(r"\s*\w+ing\b", re.IGNORECASE)
_DOES: Final = frozenset(["hobby", "hobbies", "sport", "favourite", "favorite", "passion", "job", "profession", "goal"])
_VALUE: Final = re.compile(r"[\s:=]*(?:[\"“'‘]?[A-Z]|[\"“]|[+(]?\d|[\u4e00-\u9fff])|[^.]*\d")
_NO_NOUN: Final = re.compile(
    r"\b(?:that|who|which|i|you|he|she|we|they|if|and|or|but|is|are|was|not|in|on|at|of the|to|for you)\b",
    re.IGNORECASE,
)
_OLD: Final = frozenset(["old", "former", "previous", "ex", "last"])


def is_lasting(noun: str, value: str) -> bool:
    """Tell whether `my NOUN is VALUE` is told of something that lasts, and is more than a state of the moment."""
    words = [word.lower().replace("’", "'").removesuffix("'s").removesuffix("'") for word in noun.split()]
    if not re.search(r"\w", value) or _NO_NOUN.search(noun) or not _FLEETING.isdisjoint(words):
        return False
    if _STATE.match(value) or (_DOING.match(value) and _DOES.isdisjoint(words)):
        return False
    if _OLD & set(words[:1]) and words[0] != "last":
        return bool(_VALUE.match(value))
    if _ELSEWHERE.match(value) and _PLACED.isdisjoint(words):
        return False
    if not _EVENTS.isdisjoint(words) and not _DATED.search(value):
        return False
    known = not _LASTING.isdisjoint(words)
    needs_value = not _BY_VALUE.isdisjoint(words) or not known
    return bool(_VALUE.match(value)) if needs_value else True
