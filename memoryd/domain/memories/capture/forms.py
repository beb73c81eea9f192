"""Forms of statements in all languages: first check of a message, clauses in the first person, unreal statements.

The few German forms are here, too: ich heiße, nenn mich, ich wohne in, ich bin nach … gezogen, ich arbeite bei, ich bin
Vegetarier, ich bin allergisch gegen, ich esse kein, ich mag, ich hasse, mein … ist (heißt), merk dir. `mein … ist`
counts if it states something lasting, by its noun.
"""

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.skips import SkipReason

_OWN = caseless(
    r"\W*(?:(?:i|we)(?:['’](?:m|ve|re))? (?!(?:(?:really|just|also|only) )?(?:will|would|shall|want|need|got|get"
    r"|receive\w*"
    r"|read|found|saw|see|heard|hear|wrote|write|quote|have to|copied|copy|paste\w*|say|said|wonder|call)\b)\w"
    r"|(?:i['’]m|we['’]re|i['’]ve|we['’]ve)\b|(?:my|our) [\w'’-]+(?: [\w'’-]+){0,4}? (?:is|are)\b)"
    r"|\W*(?:(?:ich|wir) (?!(?:will|brauche|möchte|muss|lese|sage|schreibe)\b)\w|(?:mein|unser)e? [\w-]+(?: [\w-]+)?"
    r" (?:ist|sind|hei(?:ß|ss)t)\b)"
    r"|\W*我(?:们)?(?!们?(?:[想要会听读写问说]|收到|看到|找到|听到|正在?[写读翻]))"
    r"|\W*(?:今年|现年|来自|在|是)[\u4e00-\u9fff0-9]"
)
_STAGED = caseless(
    r"(?<!\bmy )\b(?:e-?mails?|mails?)\b|\b(?:letters?|messages?|texts?|sentences?|essays?|chapters?|applicants?"
    r"|dialog(?:ue)?s?|persona|bio|biography|characters?|exercises?|following|below|above|this|story|stories|novels?"
    r"|scenes?|scripts?|lines?|quotes?|lyrics|poems?|post|comment|subtitles?|waiter|play|playing|role|translat\w+"
    r"|geschichte|gedicht|roman|brief|satz|sätze|nachricht|entwurf|beispiel|übersetz\w*|rolle"
    r"|diary|transcript|test data|fixture|placeholder|draft|sample|example|practice|practis\w+|practic\w+)\b"
    r"|邮件|短信|留言|消息|作文|课文|句|台词|剧本|小说|故事|设定|角色|扮演|背诵|翻译|阅读|题目|材料|原文|例|下面"
    r"|以下|练习|对话"
)


def is_about_text(plain: str) -> bool:
    """Return whether a sentence is about a text, or about role play."""
    return bool(_STAGED.search(plain))


def is_own_clause(plain: str) -> bool:
    """Return whether a clause or sentence is a plain statement about its author, and not about a text."""
    return bool(_OWN.match(plain)) and not _STAGED.search(plain)


_MARKERS = caseless(
    r"\b(?:my|our|call me|i (?:\w+ ){0,2}(?:live|work|prefer|like|hate|dislike|detest|loathe|stand|love|adore|moved)"
    r"|i(?:['’]ve moved|['’]m| am)(?: \w+){0,2} (?:an?|to)|we (?:\w+ )?use|(?:always|never) [a-z]+ \w+"
    r"|i can['’]?t stand|i no longer|i (?:don['’]?t|do not)(?: \w+)? like"
    r"|(?:i|we) (?:\w+ )?(?:don['’]?t|do not|never)(?: \w+)? (?:eat|drink|smoke)"
    r"|i(?:['’]m| am)(?: \w+){0,2} allergic|remember|(?:don['’]?t|do not) forget|(?:keep|bear) (?:\w+ )?in mind"
    r"|here(?: is|['’]s) my"
    r"|vegetarian|vegan|pescatarian|teetotal(?:l?er)?|intolerant|coeliac|celiac|diabetic|left-handed"
    r"|colou?r[- ]?blind|merke? (?:dir|es dir)|vergiss|vergessen|denke? (?:bitte )?d(?:ar|r)an|erinnere dich|notiere?"
    r"|mein name|nenne? mich|(?:i(?:ch)?|wir) (?:\w+ ){0,3}(?:hei(?:ß|ss)e?|wohn(?:en?)?|arbeite?|bin|m[ao]g|hasse?"
    r"|liebe?|bevorzuge?|vertrage?|ess(?:en?)?|trink(?:en?)?|rauche?)|(?:mein|unser)e?)\b|前一定|前必须|前务必|[前后][，,]?都?要|我叫|叫我|我是|我(?:们家)?的|我家|我妻子"
    r"|我[爸妈女儿先老丈太爱哥弟姐妹男室父母孩爷奶外同导上专职国生姓]|过敏|别忘|不要忘"
    r"|我[\u4e00-\u9fff]{0,4}(?:喜欢|住在|讨厌|受不了)|我[\u4e00-\u9fff]{0,2}[在对]|我(?:从来|一直|从小)?不[吃喝]|记住|我手机|我电话"
)
_IDENTIFIERS = expression(r"\d[\d\s().-]{5,}[\dXx]|[^\s@]@[^\s@]+\.\w")
_CORRECTIONS = caseless(
    r"\A\W*(?:no|nope|wrong|not|that['’]?s|that is|you(?:['’]re| are)|actually|please|stop|don['’]?t|do not|never"
    r"|always|from now on|next time|in (?:the )?future|i (?:said|meant|asked|told)|it['’]?s|it is|use|keep|incorrect)\b"
    r"|\b(?:from now on|next time|in (?:the )?future|you got|is wrong|not right|incorrect|nie|nicht|kein\w*"
    r"|immer|duz\w*|siez\w*|ab (?:jetzt|sofort|heute)|in zukunft|künftig|von jetzt an)\b"
    r"|不对|不是|错|别|不要|以后|下次|今后|应该|我说的|永远|总是|始终|一律|回答|回复"
)


def gate(text: str, *, has_answer: bool) -> str:
    """Return the first marker in a message; empty if it has none, so that it need not be examined.

    `has_answer`: there was an answer before, which the message may correct.
    """
    patterns = (_MARKERS, _IDENTIFIERS, _CORRECTIONS) if has_answer else (_MARKERS, _IDENTIFIERS)
    for pattern in patterns:
        if match := pattern.search(text):
            return "a number or an address" if pattern is _IDENTIFIERS else " ".join(match[0].split()).lower()
    return ""


Holds = Callable[[TextMatch, str], bool]
"""Predicate on the match of a head and the text after it: True if they are a lasting statement."""


class StatementForm(Struct, frozen=True):
    """A closed form of statement: name, kind of memory, head, and a predicate on the text after the head."""

    name: str
    kind: Kind
    head: re.Pattern[str]
    holds: Holds
    is_pinned: bool = False


_SAYS = expression(r"\W*\w")


def value(like: re.Pattern[str] = _SAYS, *, unlike: re.Pattern[str] | None = None, is_own: bool = False) -> Holds:
    """Return a predicate: the text after a head begins `like` this pattern (by default with a word), and not `unlike`.

    `is_own`: the text must not be about the answer before, or about the present task either.
    """

    def holds(_head: TextMatch, rest: str) -> bool:
        is_refused = (unlike is not None and unlike.match(rest)) or (is_own and is_about_answer(rest))
        return bool(like.match(rest)) and not is_refused

    return holds


class Language(Struct, frozen=True):
    """Forms of one language, the phrases that may precede them, and the separators of clauses.

    `remember` is a form that counts only at the beginning of a sentence.
    """

    leads: re.Pattern[str]
    clause: re.Pattern[str]
    forms: tuple[StatementForm, ...]
    remember: StatementForm

    def starts(self, plain: str) -> list[int]:
        """Return the offsets at which a main clause of the author may begin: after leads, and after such a clause."""
        starts = [start := self._behind_leads(plain, 0)]
        for match in self.clause.finditer(plain):
            if match.end() <= start:
                continue
            if not is_own_clause(plain[start : match.start()]):
                break
            starts.append(start := self._behind_leads(plain, match.end()))
        return starts

    def _behind_leads(self, plain: str, place: int) -> int:
        while plain[place : place + 1].isspace():
            place += 1
        leads = self.leads.match(plain, place)
        return leads.end() if leads else place


class FormMatch(Struct, frozen=True):
    """A form in a sentence; `reason` is why it does not hold, empty if it does."""

    form: StatementForm
    is_first: bool
    """Whether it is at the beginning of the sentence."""
    reason: str = ""


def form_in(text: str, plain: str, starts: Sequence[int], forms: Sequence[StatementForm]) -> FormMatch | None:
    """Return the first form that holds at one of `starts`, else the first with a matching head, or None."""
    refused: FormMatch | None = None
    for place, start in enumerate(starts):
        for form in forms:
            head = form.head.match(plain, start)
            if head is None:
                continue
            if form.holds(head, text[head.end() :]):
                return FormMatch(form, place == 0)
            refused = refused or FormMatch(form, place == 0, SkipReason.NO_VALUE)
    return refused


_UNREAL = caseless(
    r"\bin (?:my|your|his|her|the|a) (?:dreams?|fixtures?|imagination|fantasy|tests?|test (?:data|file)|code|config"
    r"|file|database|form|example|example file|mock\w*)\b|\b(?:fixtures?|placeholders?|test data|unit tests?)\b"
    r"|\bwhich (?:is|are|was|happens) (?:never|not|rarely|a lie|false)\b|\b(?:never|not)\W*\Z"
    r"|\bin (?:an?|half an?|\d+|a few|a couple of|one|two|three|four|five|six|ten|fifteen|twenty|thirty) (?:seconds?"
    r"|min|mins|minutes?|hours?|h)\b|\b(?:right now|just now|at the moment|on the phone|on the line|today|tonight"
    r"|tomorrow|this (?:morning|afternoon|evening|week|weekend|minute)|in a (?:minute|moment|second|bit))\b"
    r"|\b(?:is|are|was) (?:not true|untrue|a lie|made up|invented)\b|\bmaking (?:this|it|that) up\b"
    r"|\b(?:tenses?|grammar|grammatical\w*|prepositions?|translat\w+|subtitles?|quiz)\b"
    r"|\b(?:until|when|once|while) you(?:['’]re| are)?\b|\b(?:he|she|they|it) (?:declared|goes|went|begins?|whispered"
    r"|cried|added)\b"
    r"|梦里|梦中|才怪|骗人|假的|胡扯|第[一二三四五六七八九十]句|这句|课文|作文|测试用|示例|样例|今天[早晚上下]"
    r"|明天|后天|刚才|刚刚|马上|几分钟|分钟后|小时后"
)
_OF_ANSWER = caseless(
    r"\byou(?:['’]ve| have)? (?:just )?(?:made|chose|chosen|wrote|written|did|gave|picked|used|suggested|proposed|drew"
    r"|built|sent|named)\b|\b(?:for|in|on|of|with|from|about) (?:this|these|that)\b|\bhere\b\W*\Z"
    r"|\bthis \w+|\bto wait\b|\bnot to (?:answer|say|tell|talk|discuss|comment)\b"
    r"|\bthe (?:\w+ )?(?:errors?|functions?|methods?|class|variables?|buttons?|headings?|fonts?|code|tests?|messages?"
    r"|branch|loops?|approach|queries|query|api|config|diff|patch|pr|commit|refactoring|implementation)\b"
    r"|你(?:刚|写|做|说|给|选|画)|这(?:个|段|种|版|首|张|篇)"
)
_ASIDE = caseless(r"[,;，；]\s*|\s+(?:and|but|so)\s+")
_ADDED = caseless(
    r"\W*(?:(?:by the way|btw|please|thanks|thank you|nice to meet you|from now on|for short|instead|in case\b.*|in"
    r"|from|at|aged?|\d+|born"
    r"|谢谢|请多关照|很高兴认识你?|叫我.{1,6}|住在.+|今年.+|来自.+|在.+|\d.*|不是.+|你?可以.+)(?![A-Za-z]).{0,60}"
    r"|\W*)\Z"
)


def why_unreal(plain: str) -> str:
    """Return the reason why a statement is unreal or of the moment; empty if nothing shows it."""
    return SkipReason.UNREAL if _UNREAL.search(plain) else ""


def is_about_answer(value: str) -> bool:
    """Return whether a value is about the answer before or the present task."""
    return bool(_OF_ANSWER.search(value))


def is_clean(plain: str, start: int, *, added: re.Pattern[str] = _ADDED) -> bool:
    """Return whether all clauses after the first, from `start` on, are the author's own or match `added`."""
    first = _ASIDE.search(plain, start)
    if first is None:
        return True
    rest = filter(None, _ASIDE.split(plain[first.end() :]))
    return all(is_own_clause(clause) or _ADDED.match(clause) or added.match(clause) for clause in rest)


_LEADS = caseless(
    r"(?:(?:hallo|hi|hey|moin|servus|guten (?:morgen|tag|abend)|ach(?: ja)?|oh|ok|okay|also|so|und|aber|denn|übrigens"
    r"|ja|nein|doch|gut|danke|vielen dank|bitte|noch (?:was|etwas)|zur info|nur zur info|fürs protokoll|außerdem"
    r"|wie gesagt|zu mir|kurz zu mir|jetzt|inzwischen|mittlerweile|eigentlich|ehrlich gesagt|leider|korrektur"
    r"|(?:bitte )?(?:merk(?:e)? dir|vergiss nicht)(?: bitte)?)(?:[,.!:;—–-]+\s*|\s+)){0,6}+"
)
_CLAUSE = caseless(r"[,;]\s*(?:(?:und|aber|denn|weil)\s+)?|\s+(?:und|aber|denn)\s+")
_I = "i(?:ch)?"
"""`ich` as it is spoken, too: *i mag*. So a verb may lack its ending, *ich wohn in*."""
_NONE = "(?:kein|koa)\\w*"
_OFTEN = (
    r"(?:(?:wirklich|auch|immer|meistens|sehr|noch|jetzt?|derzeit|aktuell|eigentlich|schon?|nur|übrigens|halt"
    r"|seit \S+) )*"
)
_NAME = expression(
    r"[:\s]*(?:Dr\.? )?(?P<name>[A-ZÄÖÜ][\w'’-]+(?: (?:von|van|de|der|zu|[A-ZÄÖÜ][\w'’-]*)){0,3})"
    r"(?=\s*(?:\Z|[.,;!)(—–-]|(?i:und|aber|bitte)\b))"
)
_SMALL_NAME = caseless(
    r"[:\s]*(?P<name>[\w'’-]{2,}(?: (?:(?:von|van|de|der|zu) )*[\w'’-]+)?)"
    r"(?=\s*(?:\Z|[.,;!)(—–-]|(?:und|aber|bitte)\b))"
)
_NO_NAME = caseless(
    r"(?:nicht|das|es|so|wie|hier|da|alle|sie|dich|euch|auf|mach\w*|wieder|solche|egal|falsch|wichtig|geheim|anders"
    r"|verrückt|programm|hase|morgen|Montag|Dienstag|Mittwoch|Donnerstag|Freitag)\b|.* (?:gut|willkommen)\Z"
)
_BARE = caseless(
    r"[\s,]*(?:das|des|es|die(?:se[nrsm]?)?|der|den|dein\w*|eure\w*|di(?:ch)?|euch|ihn|sie|beide|so|wie|dass|wenn|was"
    r"|(?:nicht|net|ned|nimmer)(?=\W*\Z)|nicht (?:mehr|so|dass)|option|variante|nach hause"
    r"|[^,.;!]*\b(?:heute|jetzt|gerade|gleich|bitte)"
    r"|(?:den |die |das )?(?:ersten?|zweiten?|letzten?|anderen?|neue[nrs]?|vorschlag|idee|antwort|version|entwurf)\b)\b"
)
_NO_WORK = caseless(
    r"\s*(?:[md]i(?:ch|r)|uns|euch|ihn|ihm|sie|heute|jetzt|immer|umsonst|gewöhnlich|gelegenheit|bedarf|regen|schnee|sonne|hitze|kälte|nacht"
    r"|tag|zwei|drei|(?:erst|nächst|letzt)e[rs]?|team|(?!(?:ein|mein|unser|d)em )(?-i:[a-zäöü]+em)(?= ))\b"
)
_NO_FOOD = caseless(r"[^.;!]*\b(?:heute|jetzt|gerade|ahnung|problem|wunder|kritik|spa(?:ß|ss))\b")
_FLEETING = caseless(r"\s*(?:der (?:hoffnung|angst)|einer? (?:welt|traum|blase)|frieden|moment|ruhe|it)\b")
_LASTING = word_set("""
adresse allergie anschrift arbeitgeber arzt auto bank bruder chef chefin e-mail-adresse ehefrau ehemann eltern enkel
enkelin firma frau freund freundin geburtsdatum geburtstag geschwister großmutter großvater hausarzt hausärztin hobby
hund kater katze kennzeichen kind kinder klasse lehrer lehrerin lieblingsessen lieblingsfarbe mann mama mieter mutter
nachbar nachbarin oma onkel opa papa partner partnerin schuhgröße schule schwester sohn steuerberater straße tante
tierarzt tierärztin tochter vater vermieter vermieterin verein wohnung wohnort zahnarzt zahnärztin
""")
_STATE = caseless(
    r"\s*(?:(?:gerade|heute|noch|schon|wieder|immer noch|endlich) )*"
    r"(?:(?:sehr|ganz|zu|so|echt|wirklich|ziemlich|total|mega|etwas)\b(?! allergisch)"
    r"|nicht|krank|müde|da|weg|hier|zuhause|daheim|kaputt|leer|voll|fertig|ok|okay|einverstanden|dagegen"
    r"|gut|schlecht|super|toll|nett|lieb|doof|blöd|sauer|böse|traurig|glücklich|nervös|dran|unterwegs|los"
    r"|gerade|gestern|heute|morgen|spät|zurück|verrückt|schuld|falsch|geheim|unordentlich|aus(?=\W*\Z)|das|es)\b"
    r"|\s*de[rs] (?:meinung|ansicht|hammer|wahnsinn|beste)\b|\s*ein\w* (?:idiot|trottel|depp|engel|schatz|held)\w*\b"
    r"|\s*(?:einkaufen|schlafen|essen|arbeiten|duschen|baden|schwimmen|joggen|spazieren)\W*\Z"
    r"|(?:[^.;!]*\s)?(?:(?!geboren|gestorben|geschieden)(?-i:[a-zäöü]{0,5}ge)\w+(?:t|en)|worden)\W*\Z"
)
_TO_DO = caseless(
    r"\s*(?:was|wie|wo|warum)\b|[^.;!]*\b(?:zu \w+n|(?:ab|an|auf|aus|ein|mit|nach|vor|weg|zurück)zu\w+n)\W*\Z"
)
NO_NEW_HOME = (
    r"(?:hause|oben|unten|vorne?|hinten|links|rechts|drüben|draußen|drinnen|de[mnrs]|dies\w+|ein\w*|kurz\w*|lang\w*|\d+"
    r"|zwei|drei|vier|fünf)\b"
)
"""What `nach` may have with it that is no place to live in: *nach oben*, *nach dem Sport* (changed clothes)."""
_NEW_HOME = caseless(
    rf"(?:nach (?!{NO_NEW_HOME})(?:[\w-]+ ){{1,3}}"
    r"|in (?:die|den|das|ein\w*|unser\w*|mein\w*) (?:[\w-]+ )?[\w-]*(?:stadt|haus|häuschen|wohnung|wg|dorf|viertel"
    r"|bezirk|straße|gasse|schweiz|usa|niederlande|türkei) )(?:um)?(?:ge)?zoge?n\b(?! worden)"
)
_PLACED = word_set("arbeitgeber firma geburtsdatum geburtstag hobby klasse schule straße verein wohnort wohnung")
_SOMEWHERE = caseless(r"\s*(?:im|in|auf|am|bei|beim|zu|zum|zur)\b")
"""A place as a value, which is lasting only for `_PLACED` nouns, and for people with a verb of living or working."""


def _is_name(head: TextMatch, rest: str) -> bool:
    # who types no capitals writes names without them, too
    match = (_SMALL_NAME if head.string.islower() else _NAME).match(rest)
    return match is not None and not _NO_NAME.match(match["name"]) and is_clean(head.string, head.end())


def _is_fact(head: TextMatch, rest: str) -> bool:
    noun = head["noun"].lower()
    is_placed = noun in _PLACED or head["verb"].lower() not in ("ist", "sind") or not _SOMEWHERE.match(rest)
    return noun in _LASTING and is_placed and bool(re.match(r"\s*\w", rest)) and not _STATE.match(rest)


def _is_remembered(head: TextMatch, rest: str) -> bool:
    is_order = head[0].endswith(",") and _TO_DO.match(rest)
    return len(rest.split()) > 1 and not is_order


_LIKED = value(unlike=_BARE, is_own=True)
_FORMS = (
    StatementForm(
        "ich heiße",
        Kind.ENTITY,
        caseless(rf"(?:{_I} hei(?:ß|ss)e?|mein name ist)\b(?: {_OFTEN})?"),
        _is_name,
        is_pinned=True,
    ),
    StatementForm("nenn mich", Kind.ENTITY, caseless(r"nenne? mich(?: bitte| einfach)*\b"), _is_name, is_pinned=True),
    StatementForm(
        "ich wohne in", Kind.FACT, caseless(rf"(?:{_I}|wir) {_OFTEN}wohn(?:en?)? {_OFTEN}in\b"), value(unlike=_FLEETING)
    ),
    StatementForm(
        "ich bin nach … gezogen",
        Kind.FACT,
        caseless(rf"(?:{_I} bin|wir sind) {_OFTEN}(?=(?:nach|in)\b)"),
        value(_NEW_HOME),
    ),
    StatementForm(
        "ich arbeite bei",
        Kind.FACT,
        caseless(rf"{_I} {_OFTEN}arbeite? {_OFTEN}(?:bei|als|für)\b"),
        value(unlike=_NO_WORK),
    ),
    StatementForm(
        "ich bin Vegetarier",
        Kind.FACT,
        caseless(rf"{_I} bin {_OFTEN}(?:(?:vegetarier|veganer|diabetiker|linkshänder)(?:in)?|vegan|vegetarisch)\b"),
        value(expression(r"\W*\Z|[,.;!]|\s+(?:und|aber|seit)\b")),
    ),
    StatementForm(
        "ich bin allergisch gegen",
        Kind.FACT,
        caseless(rf"{_I} bin {_OFTEN}(?:stark )?allergisch (?:gegen|auf)\b|{_I} vertrage? {_OFTEN}{_NONE}"),
        value(unlike=_NO_FOOD),
    ),
    StatementForm(
        "ich esse kein",
        Kind.FACT,
        caseless(rf"(?:{_I}|wir) {_OFTEN}(?:ess(?:en?)?|trink(?:en?)?|rauche?) {_OFTEN}{_NONE}"),
        value(unlike=_NO_FOOD),
    ),
    StatementForm("ich hasse", Kind.PREFERENCE, caseless(rf"{_I} {_OFTEN}(?:hasse?|liebe?|bevorzuge?)\b"), _LIKED),
    StatementForm("ich mag", Kind.PREFERENCE, caseless(rf"{_I} {_OFTEN}m[ao]g\b"), _LIKED),
    StatementForm(
        "mein … ist",
        Kind.FACT,
        caseless(
            r"(?:mein|unser)e? (?:(?:neue[rs]?|älterer?|jüngerer?|kleiner?|großer?|älteste[rs]?|jüngste[rs]?) )?"
            r"(?P<noun>[\w-]{3,24})(?: [A-ZÄÖÜ][\w-]+)? (?P<verb>ist|sind|hei(?:ß|ss)t|heißen|wohnt|arbeitet)\b"
            r"(?: (?:jetzt?|nun|inzwischen)\b)?"
        ),
        _is_fact,
    ),
)
_REMEMBER = StatementForm(
    "merk dir",
    Kind.NOTE,
    caseless(
        r"(?:(?:bitte|und|also|ok|okay|ach ja|übrigens|noch was|kannst du|du sollst)[,:]? )*"
        r"(?:merke? (?:dir|es dir)|notiere?(?: dir)?|vergiss (?:bitte )?nicht|nicht vergessen"
        r"|denke? (?:bitte )?d(?:ar|r)an"
        r"|erinnere dich(?: daran)?)(?: bitte| mal)?(?:, dass| dass|(?=[:,—–-]))[:,—–-]*"
        # or after the statement
        r"|(?=.{16,}[,;.—–-]\s*(?:(?:und|aber|bitte) )*(?:merk dir das|vergiss das (?:bitte )?nicht|denk dran)"
        r"(?: bitte)?[.!]*\Z)"
    ),
    _is_remembered,
)
GERMAN = Language(_LEADS, _CLAUSE, _FORMS, _REMEMBER)
