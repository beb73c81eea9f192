"""The German forms of statements: ich heiße, nenn mich, ich wohne in, ich arbeite bei, ich bin Vegetarier, ich bin
allergisch gegen, ich esse kein, ich mag, ich hasse, mein … ist (heißt), merk dir.

`mein … ist` counts if it states something that lasts, by its noun.
"""

import re

from memoryd.domain.expressions import TextMatch, caseless, expression, word_set
from memoryd.domain.memories.capture.forms import Language, StatementForm, is_clean, value
from memoryd.domain.memories.kinds import Kind

_LEADS = caseless(
    r"(?:(?:hallo|hi|hey|moin|servus|guten (?:morgen|tag|abend)|ach(?: ja)?|oh|ok|okay|also|so|und|aber|denn|übrigens"
    r"|ja|nein|doch|gut|danke|vielen dank|bitte|noch (?:was|etwas)|zur info|nur zur info|fürs protokoll|außerdem"
    r"|wie gesagt|zu mir|kurz zu mir|jetzt|inzwischen|mittlerweile|eigentlich|ehrlich gesagt|leider|korrektur"
    r"|(?:bitte )?(?:merk(?:e)? dir|vergiss nicht)(?: bitte)?)(?:[,.!:;—–-]+\s*|\s+)){0,6}+"
)
_CLAUSE = caseless(r"[,;]\s*(?:(?:und|aber|denn|weil)\s+)?|\s+(?:und|aber|denn)\s+")
_OFTEN = r"(?:(?:wirklich|auch|immer|meistens|sehr|noch|jetzt|derzeit|aktuell|eigentlich|schon|nur|seit \S+) )*"
_NAME = expression(
    r"[:\s]*(?:Dr\.? )?(?P<name>[A-ZÄÖÜ][\w'’-]+(?: (?:von|van|de|der|zu|[A-ZÄÖÜ][\w'’-]*)){0,3})"
    r"(?=\s*(?:\Z|[.,;!)(—–-]|und\b|aber\b|bitte\b))"
)
_NO_NAME = caseless(
    r"(?:nicht|das|es|so|wie|hier|da|alle|dich|euch|programm|hase|Montag|Dienstag|Mittwoch|Donnerstag|Freitag)\b"
)
_BARE = caseless(
    r"[\s,]*(?:das|es|die(?:se[nrsm]?)?|der|den|dein\w*|eure\w*|dich|euch|ihn|sie|beide|so|wie|dass|wenn|was"
    r"|nicht(?=\W*\Z)|nicht (?:mehr|so|dass)|option|variante|nach hause"
    r"|[^,.;!]*\b(?:heute|jetzt|gerade|gleich|bitte)"
    r"|(?:den |die |das )?(?:ersten?|zweiten?|letzten?|anderen?|neue[nrs]?|vorschlag|idee|antwort|version|entwurf)\b)\b"
)
_NO_WORK = caseless(
    r"\s*(?:[md]i(?:ch|r)|uns|euch|ihn|ihm|sie|heute|jetzt|immer|umsonst|gewöhnlich|gelegenheit|bedarf|regen|schnee|sonne|hitze|kälte|nacht"
    r"|tag|zwei|drei|(?:erst|nächst|letzt)e[rs]?|team)\b"
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
    r"\s*(?:(?:sehr|ganz|gerade|heute|noch|schon|zu|so|wieder|immer noch) )*(?:nicht|krank|müde|da|weg|hier|kaputt|leer"
    r"|voll|fertig|gut|schlecht|super|toll|nett|lieb|doof|blöd|sauer|böse|traurig|glücklich|nervös|dran|unterwegs|los"
    r"|gerade|gestern|heute|morgen|spät|zurück|verrückt|schuld|falsch|geheim|unordentlich|aus(?=\W*\Z)|das|es)\b"
    r"|\s*de[rs] (?:meinung|ansicht|hammer|wahnsinn|beste)\b|\s*ein\w* (?:idiot|trottel|depp|engel|schatz|held)\w*\b"
    r"|\s*(?:einkaufen|schlafen|essen|arbeiten|duschen|baden|schwimmen|joggen|spazieren)\W*\Z"
    r"|(?:[^.;!]*\s)?(?:(?!geboren|gestorben|geschieden)(?-i:ge)\w+(?:t|en)|worden)\W*\Z"
)
_TO_DO = caseless(
    r"\s*(?:was|wie|wo|warum)\b|[^.;!]*\b(?:zu \w+n|(?:ab|an|auf|aus|ein|mit|nach|vor|weg|zurück)zu\w+n)\W*\Z"
)
_PLACED = word_set("arbeitgeber firma geburtsdatum geburtstag hobby klasse schule straße verein wohnort wohnung")
_SOMEWHERE = caseless(r"\s*(?:im|in|auf|am|bei|beim|zu|zum|zur)\b")
"""A place lasts of what has its place, and of people where they live or work."""


def _is_name(head: TextMatch, rest: str) -> bool:
    found = _NAME.match(rest)
    return found is not None and not _NO_NAME.match(found["name"]) and is_clean(head.string, head.end())


def _is_fact(head: TextMatch, rest: str) -> bool:
    noun = head["noun"].lower()
    is_placed = noun in _PLACED or not head[0].endswith(("ist", "sind")) or not _SOMEWHERE.match(rest)
    return noun in _LASTING and is_placed and bool(re.match(r"\s*\w", rest)) and not _STATE.match(rest)


def _is_remembered(head: TextMatch, rest: str) -> bool:
    is_order = head[0].endswith(",") and _TO_DO.match(rest)
    return len(rest.split()) > 1 and not is_order


_LIKED = value(unlike=_BARE, is_own=True)
_FORMS = (
    StatementForm(
        "ich heiße", Kind.ENTITY, caseless(r"(?:ich hei(?:ß|ss)e|mein name ist)\b"), _is_name, is_pinned=True
    ),
    StatementForm("nenn mich", Kind.ENTITY, caseless(r"nenne? mich(?: bitte| einfach)*\b"), _is_name, is_pinned=True),
    StatementForm("ich wohne in", Kind.FACT, caseless(rf"(?:ich|wir) {_OFTEN}wohnen? in\b"), value(unlike=_FLEETING)),
    StatementForm(
        "ich arbeite bei",
        Kind.FACT,
        caseless(rf"ich {_OFTEN}arbeite {_OFTEN}(?:bei|als|für)\b"),
        value(unlike=_NO_WORK),
    ),
    StatementForm(
        "ich bin Vegetarier",
        Kind.FACT,
        caseless(rf"ich bin {_OFTEN}(?:(?:vegetarier|veganer|diabetiker|linkshänder)(?:in)?|vegan|vegetarisch)\b"),
        value(expression(r"\W*\Z|[,.;!]|\s+(?:und|aber|seit)\b")),
    ),
    StatementForm(
        "ich bin allergisch gegen",
        Kind.FACT,
        caseless(rf"ich bin {_OFTEN}(?:stark )?allergisch (?:gegen|auf)\b|ich vertrage {_OFTEN}kein\w*"),
        value(unlike=_NO_FOOD),
    ),
    StatementForm(
        "ich esse kein",
        Kind.FACT,
        caseless(rf"(?:ich|wir) {_OFTEN}(?:esse|essen|trinke|trinken|rauche) {_OFTEN}kein\w*"),
        value(unlike=_NO_FOOD),
    ),
    StatementForm("ich hasse", Kind.PREFERENCE, caseless(rf"ich {_OFTEN}(?:hasse|liebe|bevorzuge)\b"), _LIKED),
    StatementForm("ich mag", Kind.PREFERENCE, caseless(rf"ich {_OFTEN}mag\b"), _LIKED),
    StatementForm(
        "mein … ist",
        Kind.FACT,
        caseless(
            r"(?:mein|unser)e? (?:(?:neuer?|älterer?|jüngerer?|kleiner?|großer?|älteste[rs]?|jüngste[rs]?) )?"
            r"(?P<noun>[\w-]{3,24})(?: [A-ZÄÖÜ][\w-]+)? (?:ist|sind|hei(?:ß|ss)t|heißen|wohnt|arbeitet)\b"
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
        # or behind what is said
        r"|(?=.{16,}[,;.—–-]\s*(?:(?:und|aber|bitte) )*(?:merk dir das|vergiss das (?:bitte )?nicht|denk dran)"
        r"(?: bitte)?[.!]*\Z)"
    ),
    _is_remembered,
)
GERMAN = Language(_LEADS, _CLAUSE, _FORMS, _REMEMBER)
