"""The English forms of statements: my name is, call me, I live in, I moved to, I no longer, I work at (for), I am a …,
my … is, my … lives in, my … has changed, I prefer, I like, I don't like, I don't eat, I hate, I love, I am allergic to,
I am vegetarian and similar, we use …, never …, always … before …, remember that.

`my … is …` counts if it states something lasting, by its noun and by its value.
"""

import re

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.capture.forms import Language, StatementForm, is_about_answer, is_clean, value
from memoryd.domain.memories.kinds import Kind

_OFTEN = (
    r"(?:(?:really|also|always|usually|generally|mostly|normally|typically|strongly|much|very much|still|currently"
    r"|now|actually"
    r"|personally|truly|definitely|absolutely|particularly|especially|often|just|both|do|quite|rather|simply|only"
    r"|already|temporarily) )*"
)
_LEADS = caseless(
    r"(?:(?:hi|hello|hey|hiya|oh|ah|ok|okay|well|so|and|but|also|plus|btw|by the way|anyway|actually|yes|yeah|yep"
    r"|sure|no|nope|right|fyi"
    r"|for the record|for your information|for future reference|for context|just so you know(?: that)?|so you know"
    r"|note(?: that)?|please note(?: that)?|one more thing|another thing"
    r"|first(?: of all)?|second(?:ly)?|finally|p\.?s\.?|in general|generally|usually|personally|honestly"
    r"|to be honest|frankly"
    r"|(?:for|on|in|at|with) (?!th(?:is|at|ese|ose)\b|it\b|now\b)(?:(?:my|our|the|all|long|short) )*"
    r"(?!(?:answer|draft|example|head(?:er|ing|line)|intro\w*|layout|logo|paragraph|table|text|title|version)\b)[\w-]+"
    r"(?=,? (?:i (?:(?:really|usually|always|generally) )*(?:prefer|like|love|hate|dislike)|we (?:\w+ )?use)\b)"
    r"|as for me|for me|(?:as |like )?i (?:said|mentioned)|i (?:already )?told you(?: that)?|once again|again"
    r"|(?:please |pls |and |also )*remember(?: this| that)?"
    r"|great|thanks|thank you|good (?:morning|evening|afternoon)|sorry|about me|update|correction|important|now"
    r"|these days|nowadays|currently|there|everyone|all|please|then|i should (?:mention"
    r"|say)(?: that)?|let me introduce myself"
    r"|nice to meet you|you should know(?: that)?|as you know|in fact|of course|unfortunately|sadly|luckily|today"
    r"|reminder|just|it['’]s true that|that['’]s wrong|wrong|hmm+|um|uh)(?:[,.!:;—–-]+\s*|\s+)){0,6}+"
)
_CLAUSE = caseless(r"[,;]\s*(?:(?:and|but|so|because|since|plus)\s+)?|\s+(?:and|but|so|because|since|plus)\s+")
_NAME = caseless(
    r"[:\s]*(?:dr\.? |mr\.? |ms\.? |mrs\.? )?(?P<name>[^\W\d_][\w'’.-]*(?: (?:van|von|de|del|der|da|di|la|le|bin|al"
    r"|el|[^\W\d_][\w'’.-]*)){0,4}|[\u4e00-\u9fff·]{2,6})"
    r"(?=\s*(?:\Z|[.,;:!)(—–-]|and\b|but\b|from\b|by the way\b|please\b|or\b))"
)
_NO_NAME = caseless(
    r"(?:not|on|in|at|the|a|an|too|very|wrong|spelled|spelt|misspelled|pronounced|irrelevant|private|secret|mud|long"
    r"|short|hard|easy|unique|common|rare"
    r"|written|missing|mentioned|listed|already|still|also|my|your|his|her|its|important|boring|weird|legion|here"
    r"|there|up|back|now|later|soon|tomorrow|tonight"
    r"|today|crazy|paranoid|old|stupid|an?|when|if|at|on|in|before|after|asap|anytime|whenever|maybe|lazy|names?"
    r"|that|this|it|sir|again|whatever|what|by|for|with|out"
    r"|over|names|naive|cynical|curious|sceptical|skeptical|picky|spoiled|impressed|surprised|biased|dumb|silly"
    r"|cheap|irresponsible|any|every|some|one|only|old-fashioned|please|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|june|july"
    r"|august|september|october|november|december)\b"
)
_SHORT_NAME = caseless(r"(?P<name>[^\W\d_][\w'’-]+)(?= (?:from now|for short|instead|please|in (?:the )?future)\b)")
_ONE_WORD = expression(
    r"(?!(?:sad|mad|bad|mean|weird|odd|sick|ill|cold|selfish|rude|blind|dense|slow|fat|ugly|brave|lucky|guilty|lame"
    r"|vain|wild|greedy|nuts|home|daddy|mommy|master|babe|baby|stat|often|daily|anyhow|anyway|first|back)\b)"
    r"(?![a-z]*(?:ed|ing|al|ful|ous|ish|able|ible|ive|ic|less|ent|ant)\b)[a-z]{2,12}[.!]?\Z"
)
"""A name in lower case that is the complete message."""
_FOR_NAME = caseless(r"\b(?:from now on|for short|instead|please|in future|in the future)\b")
_BARE = caseless(
    r"\s*(?:it|that|this|these|those|them|when|if|(?:the|that|this) (?:[\w-]+ ){0,3}ones?|you|your|yours|him|her"
    r"|hers|his|theirs|how|what|where|when|both|neither|either|none|all|everything|nothing|anything|something"
    r"|to (?:think|believe|say|imagine|see|know|hear|be|have it)\b.{0,3}|(?:the|my|our|an?|each|every)? ?(?:way|idea"
    r"|sound|look|first|second|third|last|former|latter|other|new|previous|current|style of|tone|answer|suggestion"
    r"|plan|option|version|draft|variant|approach|choice|proposal|result|response|title|wording|one|ones|name|logo"
    r"|picture|image|joke|point|list|table|poem|story|layout|theme|change|changes|edit|format)"
    r"|(?:option|version|number|variant|choice|draft) ?\w{1,2}|one|ones|a lot|so far|very much|neither)\b"
)
_FLEETING_PLACE = caseless(
    r"\s*(?:fear|hope|the moment|the past|the present|constant|a (?:world|society|simulation|bubble|time|dream"
    r"|nightmare|country where|place where|mess|fantasy)|my (?:head|own|imagination|mind|car right)|denial|peace|pain"
    r"|exile|interesting times|luxury|misery|poverty|it|that|there|here|this|these|an? (?:age|era|world))\b"
)
_FLEETING_WORK = caseless(
    r"\s*(?:it|that|this|these|my (?:best|own|desk|pace)|full|night|nights|the (?:moment|same|weekend|office today)"
    r"|weekends|least|most|fun|free|food|money|peanuts|love|pleasure|pay|hours|days|weeks|months|years|now|me|you|us"
    r"|them|him|her|myself|nothing|peace|(?:\d+|two|three|four|five|ten|some|many) (?:hours|days|weeks|months|years)"
    r"|a (?:living|while|bit|few)|all|any|a (?:slow|fast|steady)|odd|once|times|present|first|last|\d{1,2}(?::\d\d)?\b"
    r"|noon|dawn|home today)\b"
)
_NO_ALLERGY = caseless(
    r"\s*(?:it|that|this|these|those|you|your|mornings?|mondays?|meetings?|work|working|bullshit|nonsense|stupidity"
    r"|people|drama|fun|small talk|exercise|commitment|effort|bad|him|her|them|homework|boredom|idiots?|javascript"
    r"|java|php)\b"
)
_REMEMBERED = caseless(
    r"\s*(?:time|day|night|one|guy|girl|man|woman|movie|song|scene|episode|place|moment|feeling|conversation|trip"
    r"|party|film|book|photo|story|summer|winter|it|you\b(?! can reach)|we (?:talked|spoke|discussed|said|did|were)"
    r"|when|how|what)\b"
)
_KIN = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[eé]e?|son|daughter|child|kid|baby|twin|mother|father|mum|mom|dad"
    r"|parents|brother|sister|grandmother|grandfather|grandma|grandpa|aunt|uncle|cousin|niece|nephew|boss|manager"
    r"|colleague|friend|neighbou?r|roommate|flatmate|landlord)"
)


def _is_name(head: TextMatch, rest: str) -> bool:
    if not is_clean(head.string, head.end()):
        return False
    text = rest.strip(" \"'“”‘’")
    match = _NAME.match(text)
    return match is not None and not _NO_NAME.match(match["name"]) and len(match["name"]) > 1


def _is_nickname(head: TextMatch, rest: str) -> bool:
    text = rest.strip(" \"'“”‘’")
    match = _SHORT_NAME.match(text) or _NAME.match(text)
    if match is None or _NO_NAME.match(match["name"]) or len(match["name"].split()) > 2:
        return False
    if _ONE_WORD.match(text) and not head.string[: head.start()].strip():
        return True
    head_text = head.string[: head.end()].lower()
    is_request = any(word in head_text for word in ("please", "just", "can", "may"))
    return match["name"][0].isupper() or not match["name"].isascii() or is_request or bool(_FOR_NAME.search(text))


_PROFESSION = caseless(
    r"\s*(?!(?:bit|little|lot|huge|big) )(?:[\w'’/+#-]+ ){0,3}?(?P<noun>[a-z]*(?:eer|ologist|icist|ist|ician|arian"
    r"|[a-z]{3}er|[a-z]{2}or|man|woman|wright"
    r"|smith|accountant|consultant|assistant|attendant|student|nurse|chef|cook|pilot|architect|surgeon|clerk|coach|judge|vet|dad|mum|mom"
    r"|parent|widow|veteran|apprentice|intern|postdoc|midwife|housewife|analyst|dev|admin|founder|ceo|cto))"
    r"(?=\s*(?:\Z|[.,;!(]|(?:at|for|in|with|from|of|by|and|on|who|since|near|here)\b))"
)
_NO_PROFESSION = word_set("""
beginner believer better color customer eater error fighter follower foreigner goner holder horror joker killer loser
lover man matter member mirror monster never newcomer number optimist other outsider owner partner perfectionist
pessimist prisoner quitter reader realist sinner sleeper stranger subscriber sucker terror thinker user visitor winner
woman
""")


def _is_profession(_head: TextMatch, rest: str) -> bool:
    match = _PROFESSION.match(rest)
    return match is not None and match["noun"].lower() not in _NO_PROFESSION and not is_about_answer(rest)


_NOT_OTHERS = caseless(r"\W*\w[^.;!]{0,60}?(?:,| and|, and)? (?:never|not|no|instead of|rather than) \w")


def _is_custom(head: TextMatch, rest: str) -> bool:
    is_ruled = bool(re.search(r"always|only|never|exclusively", head[0], re.IGNORECASE)) or bool(
        _NOT_OTHERS.match(rest) or _NAMED_FOR.match(rest)
    )
    return is_ruled and not _BARE.match(rest) and not is_about_answer(rest)


_NAMED_FOR = expression(r"\s*[A-Z][\w'’.+#-]*(?: [A-Z][\w'’.+#-]*){0,3} (?:for|as) (?:the|our|all|every|my) \w")


_WHENEVER = caseless(
    r"\s+(?!mind\b|say never)[a-z]+ \w.*\b(?:before|after|when(?:ever)?|without|every time|on every|for every)\b \w"
)


def _is_known(head: TextMatch, _rest: str) -> bool:
    words = {word.lower() for word in head["noun"].split()}
    return not _LASTING.isdisjoint(words) and _FLEETING.isdisjoint(words - _BY_VALUE)


_SOMEWHERE = expression(r"\s*(?:in|at|as|near)\b(?!\s+(?:peace|fear|hell|the moment|it|that|this)\b) *\w")


_NAMED = expression(r"\s*(?:the )?[A-Z][\w'’.-]+")


_ENDS = expression(
    r"\W*\Z|[,.;!]|\s+(?:and|but|since|so|because|by the way|as well|too|now|again|from now on|these days)\b"
)


def _is_fact(head: TextMatch, rest: str) -> bool:
    return is_lasting(head["noun"], rest)


def _is_remembered(_head: TextMatch, rest: str) -> bool:
    return len(rest.split()) > 1 and not _REMEMBERED.match(rest)


_LIKED = value(unlike=_BARE, is_own=True)
_FOOD = caseless(
    r" (?:any )?(?!(?:it|its|that|this|these|those|them|there|here|much|many|enough|out|alone|well|any\w*|lunch|dinner"
    r"|breakfast|supper|meals?|yet|now|today|tonight|tomorrow|more|less|like|when|while|if|unless|in|at|on|for|from"
    r"|after|before|with|without|because|the|my|your|his|her|our|their|and|or|but|so|as|to)\b)[a-z'’-]+"
    r"(?: (?!(?:today|tonight|now|yet|when|if|at|on|here|there|this|until|after|before)\b)[a-z-]+)?"
    r"(?:(?:,| or| and)+ [a-z-]+)?\s*(?:\Z|[.!;])"
)
"""A food or drink, without a time or place."""
_FORMS = (
    StatementForm(
        "my name is", Kind.ENTITY, caseless(r"my (?:full |real )?name(?:['’]s| is)\b"), _is_name, is_pinned=True
    ),
    StatementForm(
        "call me",
        Kind.ENTITY,
        caseless(r"(?:(?:please|just|you (?:can|may)) )*call me\b"),
        _is_nickname,
        is_pinned=True,
    ),
    StatementForm("I live in", Kind.FACT, caseless(rf"i {_OFTEN}live in\b"), value(unlike=_FLEETING_PLACE)),
    StatementForm("I work at", Kind.FACT, caseless(rf"i {_OFTEN}work (?:at|for)\b"), value(unlike=_FLEETING_WORK)),
    StatementForm(
        "I am vegetarian",
        Kind.FACT,
        caseless(
            rf"i(?:['’]?m| am) {_OFTEN}(?:an? )?(?:strict )?(?:vegetarian|vegan|pescatarian|teetotal(?:l?er)?"
            r"|(?:lactose|gluten)[- ]intolerant|coeliac|celiac|diabetic|left-handed|colou?r[- ]?blind)\b"
        ),
        value(_ENDS),
    ),
    StatementForm("I am a …", Kind.FACT, caseless(rf"i(?:['’]?m| am) {_OFTEN}an?\b"), _is_profession),
    StatementForm(
        "my … lives in",
        Kind.FACT,
        caseless(
            rf"my (?:[\w-]+ ){{0,2}}{_KIN}(?: [A-Z][\w'’-]+)?,? (?:now )?(?:lives?|works?|stud(?:y|ies)|teach(?:es)?)\b"
        ),
        value(_SOMEWHERE, unlike=_FLEETING_WORK, is_own=True),
    ),
    StatementForm(
        "I moved to", Kind.FACT, caseless(rf"i(?:['’]ve| have)? {_OFTEN}moved to\b"), value(_NAMED, is_own=True)
    ),
    StatementForm(
        "I no longer", Kind.FACT, caseless(r"i no longer (?:live|work|eat|drink|smoke|drive|play|teach|take)\b"), _LIKED
    ),
    StatementForm(
        "I hate",
        Kind.PREFERENCE,
        caseless(rf"i {_OFTEN}(?:hate|dislike|detest|loathe|can['’]?t stand|love|adore)(?! to\b)\b"),
        _LIKED,
    ),
    StatementForm(
        "I don't eat",
        Kind.FACT,
        caseless(rf"(?:i|we) {_OFTEN}(?:don['’]?t|do not|never) {_OFTEN}(?:eat|drink|smoke)\b"),
        value(_FOOD, is_own=True),
    ),
    StatementForm("we use", Kind.FACT, caseless(r"we (?:always |only |never |exclusively )?use\b"), _is_custom),
    StatementForm("always … before …", Kind.LESSON, caseless(r"(?:always|never)\b"), value(_WHENEVER, is_own=True)),
    StatementForm(
        "my … has changed", Kind.FACT, caseless(r"my (?P<noun>[\w'’ -]{2,40}?) (?:has |was |is )?changed\b"), _is_known
    ),
    StatementForm("I prefer", Kind.PREFERENCE, caseless(rf"i {_OFTEN}prefer\b"), _LIKED),
    StatementForm("I don't like", Kind.PREFERENCE, caseless(rf"i {_OFTEN}(?:don['’]?t|do not) {_OFTEN}like\b"), _LIKED),
    StatementForm("I like", Kind.PREFERENCE, caseless(rf"i {_OFTEN}like\b"), _LIKED),
    StatementForm(
        "I am allergic to",
        Kind.FACT,
        caseless(
            rf"i(?:['’]?m| am) {_OFTEN}(?:very |severely |highly |badly |mildly |deathly |slightly "
            rf"|terribly )*allergic to\b"
        ),
        value(unlike=_NO_ALLERGY),
    ),
    StatementForm(
        "my … is",
        Kind.FACT,
        caseless(
            r"(?:my|our(?! (?:company|firm|business|products?|services?|customers?|clients?)\b)) "
            r"(?P<noun>(?!name\b)[\w'’/-]+(?: [\w'’/-]+){0,5}?) (?:is|are)\b"
        ),
        _is_fact,
    ),
)
_REMEMBER = StatementForm(
    "remember that",
    Kind.NOTE,
    caseless(
        r"(?:(?:please|pls|kindly|always|just|also|and|you (?:should|must|need to)|i (?:want|need) you to"
        r"|i['’]d like you to|try to|ok|okay|so|but|hey|oh|yes)[,:]? )*"
        r"(?:remember|(?:keep|bear) in mind|(?:don['’]?t|do not|never) forget)(?: that| this|(?=[:,—–-]))[:,—–-]*\b"
        # or after the statement
        r"|(?=.{16,}[,;.—–-]\s*(?:(?:and|so|but|please|pls) )*(?:remember (?:that|this|it)"
        r"|(?:keep|bear) (?:that|this|it) in mind|(?:don['’]?t|do not) forget (?:that|this|it))"
        r"(?:,? (?:please|for me|for later))?[.!]*\Z)"
    ),
    _is_remembered,
)
ENGLISH = Language(_LEADS, _CLAUSE, _FORMS, _REMEMBER)


_LASTING = word_set("""
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
""")
_FLEETING = word_set("""
advice answer app assumption back bad battery bet booking branch breakfast browser build case code coffee computer
concern concerns conclusion connection cursor day dinner draft english error essay excuse expectation experience eyes
fault fear feeling feelings feet file folder french function german god goodness grammar guess hair hands head heart
homework hope hypothesis idea ideas impression input intention internet invoice issue issues leg legs life luck lunch
message mind mistake mood morning night nose opinion order output patience pleasure point preference problem problems
program query question questions reason reasoning recommendation reference reply request screen script server skin
soup stomach suggestion tab take task terminal test tests text thought thoughts throat ticket time tracking
train-of-thought treat turn understanding view week wish word words
""")
_BY_VALUE = word_set("phone flight train laptop wifi network office desk gym bank plan code")
"""Nouns whose value is lasting only if it is a name or a number."""
_STATE = caseless(
    r"\s*(?:(?:right |just |only |now )*(?:not|n't|too|so|very|really|quite|pretty|still|already|almost|nearly|gone"
    r"|dead|broken|down|up|here|there|back|ready|done|late|early|slow|fast|hot|cold|sick|ill|unwell"
    r"|tired|hungry|thirsty|busy|free|full|empty|ok|okay|fine|good|great|bad|nice|better|worse|wrong|right|correct"
    r"|incorrect|sad|happy|angry|upset|mad|weird|strange|confused|confusing|killing|hurting|sore|crashing"
    r"|asleep|awake|coming|going|visiting|out|on (?:fire|holiday|vacation|hold|leave|the way|its way|my|his|her)"
    r"|about|being|getting|having|making|to|that|how|what|why|whether|because|when|where|who|which|like|as follows"
    r"|this|these|those|it"
    r"|the (?:same|best|worst|following)|in (?:town|trouble|a|the)|at (?:risk|stake|home)|over|off|lost|stuck"
    r"|sold|closed|expired|cancelled|finished|unavailable|discontinued"
    r"|waiting|missing|unclear|simple|clear|stupid|due|unknown|none|nothing|private|secret|my|your|an? (?:mess|bit"
    r"|little|disaster|nightmare|joke|lie|secret|problem|good|bad|pain))\b)"
)
_ELSEWHERE = caseless(
    r"\s*(?:on|in|at|under|behind|inside|outside|next|near|by|with)\b"
    r"|\s*(?:(?:such )?an? |the )?(?:(?:total|complete|real|better|absolute|utter|little|huge) )*(?:jerk|idiot|moron"
    r"|asshole|bastard|bitch|joke|genius|angel|saint|devil|satan|god|hero|pig|monster|none|red hot"
    r"|probably|programmer than)\b"
)
_PLACED = word_set("""
anniversary apartment bank birthday company department desk flat gym handle home house name office room school seat
wedding workplace
""")
"""Nouns whose place or time is lasting."""
_EVENTS = word_set("anniversary appointment birthday exam interview train flight deadline shift")
_DATED = caseless(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\d[./-]\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
    r"|\d(?:st|nd|rd|th)\b"
)
_DOING = caseless(r"\s*\w+ing\b")
_DOES = word_set("hobby hobbies sport favourite favorite passion job profession goal")
_VALUE = expression(r"[\s:=]*(?:(?:an? )?[\"“'‘]?[A-Z]|[\"“]|[+(]?\d|[\u4e00-\u9fff])|[^.]*\d")
_NO_NOUN = caseless(
    r"\b(?:that|who|which|i|you|he|she|we|they|if|and|or|but|is|are|was|not|in|on|at(?! (?:work|home|school)\Z)|of the"
    r"|to|for you)\b"
)
_OLD = word_set("old former previous ex last")


def is_lasting(noun: str, value: str) -> bool:
    """Return whether `my NOUN is VALUE` states something lasting, not a state of the moment."""
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
