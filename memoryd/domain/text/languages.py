"""The language of a text, from its script, or from function words if several languages share the script.

Function words (articles, pronouns, prepositions) make up a third of a text, and few are enough to distinguish
languages. The lists hold the most frequent ones of each language. A word of several languages counts for each of them,
and the other words decide. The same holds for letters that only few languages have.
"""

import string
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import repeat
from struct import Struct

from memoryd.domain.expressions import expression

SAMPLE_CHARS = 400
"""Characters of a text that are examined: more would not change the result, and cost time for each chunk."""
_SCRIPT_CHARS = 100
"""Characters outside Latin that are examined to determine the script."""
_LEAST_SHARE = 1 / 12
"""Least share of function words; a text with fewer is a list, a table or code."""
_LEAST_KANA = 0.1
"""Least share of kana in a Japanese text."""
_CHARACTERS_OF_A_WORD = 2
"""Characters that count as one word in scripts without spaces."""

_FUNCTION_WORDS = {
    "en": "the to and of a in i is for that you it on with this was be as are have at he not by but from my or we an "
    "your all his they if can will what when do who were had their there her which would she how them our did does "
    "has where why its been than t ve ll don me about into should could",
    "de": "der die und in das ich ist nicht zu den von mit es ein auf für im sie eine sich auch dem des als er an dass "
    "bei wie aber aus hat sind nach noch wir war nur wenn oder wird was werden einen am um haben einer zum kann über "
    "habe mein meine unser wo wer wann warum wurde mir mich zur vom ihr welche welcher hatte diese unsere kein keine",
    "fr": "de la le et à les est en des un que a pas une du il pour dans je qui au ce sur qu par on ne plus avec mais "
    "se vous tu elle son ou sont nous comme être cette sa aux ont été mon ses où quand quel quelle c d l j n s y mes "
    "ma leur chez combien était pourquoi ai notre votre ces très sans",
    "es": "de la que el en y a los no un se por es del las con una para lo su al como más si pero me mi le este esta "
    "ya ha cuando yo son sin hay está fue muy sobre también qué nos dónde cuándo cómo quién cuál cuánto desde hasta "
    "mis sus ser era tiene porque entre están nuestro nuestra",
    "pt": "de a o que e do em da é para não um uma com no se na por os eu como as mais dos mas foi ao me você seu sua "
    "tem são das ou à ele muito isso já nos quando está meu minha ela pelo pela onde qual quem até nas às num numa "
    "também quanto era há nosso nossa sem",
    "it": "di e che il la a in non un per è del i una le si con della da sono ma al ha come più dei nel mi alla anche "
    "lo gli delle questo ho ci dal l dell nella nell all un dove quando chi qual quale perché mio mia era sul sulla "
    "cosa quanto alle dalla c suo sua ai negli nei",
    "nl": "de van het een en in is op ik dat voor je te met niet zijn die als er maar om aan hij ook ze naar uit bij "
    "dan dit was we wat heeft of deze hebben geen mijn tot wordt worden haar ben waar wanneer hoe wie welke onze hun "
    "zij wij heb had door over nog moet hoeveel",
    "sv": "det är att och i jag på en inte som för med har av om du så till den de ett kan vi men man var ska när vad "
    "från här mig eller han hur där vara min dig hade mycket efter vilken vem sig hon min mitt vår vårt utan under "
    "vilket varför blev är",
    "da": "i og er af det at en til på jeg har for ikke med den der de du kan som så et var vi om han fra men skal vil "
    "være hvor nu hvis sig efter mig eller hvad blev min hvornår hvem mit vores hun også ud op noget alle meget lige "
    "hvilken dette denne kun",
    "no": "i og er det på som til en av for ikke med har jeg at de du om den så vi fra kan et men han seg dette skal "
    "noen ble vil være etter meg eller hva når hvor hvem min mitt vår hun også ut opp noe alle hvilken "
    "denne deg meg ikke kun",
    "pl": "w i nie na się to z do jest że o jak a ale co od po dla tym czy przez są tylko mi może ten oraz był była "
    "ich jego jej kiedy gdzie kto mój moja przy pod który która za",
    "cs": "a se v na je to že z s do jsem ale o i tak pro ve co jako jak po by od jsou mi když byl byla bylo který "
    "která kde kdy kdo můj moje při pod nebo ze si",
    "tr": "ve bir bu için de da çok ile ne daha en gibi olarak her kadar o olan ben var ama sonra ki ise mi mı benim "
    "nerede nasıl değil olduğu",
    "fi": "ja on ei että se oli ole kun niin myös hän ovat sen kuin tai en joka sitä mitä jos missä milloin kuka minun "
    "mutta ovat olen tämä",
    "ro": "de și a la să în o pe cu nu mai un este că care pentru se au din ce am sunt fi al sau dar unde când cine "
    "lui sa este la îmi mea meu prin",
    "ca": "de la a que i el en per del un les els una no amb es va al és ha com més dels o si però aquest aquesta on "
    "quan qui meu meva l d als són",
    "hu": "a az és nem hogy egy is de meg csak ha van volt ez már még mint el mi hol mikor ki ezt azt minden vagy "
    "lesz sem",
    "vi": "là và có của được một các không trong cho người này với đã thể để như những đến khi làm sẽ từ ở đâu gì tôi",
    "ru": "и в не на я что с он как это по но к из у за от так для вы мы же то бы был была мне мой моя или где когда "
    "кто есть его её они если нет до при наш какой почему сколько чтобы быть",
    "uk": "і в не на я що з він як це та у до за від для ви ми але був була мені мій моя або де коли хто є його її "
    "вони якщо при наш чому скільки щоб бути ні",
    "bg": "и в не на аз че с той как това по но към от за да се си е са сме ми или къде кога кой има го те ако при "
    "защо колко бъде съм беше ще",
    "sr": "и у не на ја да с он како то по али за од је се су смо ми или где када ко има га ако при зашто колико "
    "био била ће",
    "id": "yang dan di ini dari untuk dengan itu ada tidak akan adalah dalam pada ke juga saya apa sudah mereka karena "
    "atau oleh mana kapan siapa",
}
_LETTERS = {
    "de": "ß",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "it": "ìò",
    "sv": "å",
    "da": "åæø",
    "no": "åæø",
    "pl": "ąęłżźśćń",
    "cs": "ěřůťď",
    "tr": "ğış",
    "hu": "őű",
    "ru": "ыэё",
    "uk": "іїєґ",
    "sr": "јљњђћџ",
    "ro": "ășțş",
    "vi": "đơưãõìòạảấầẩậắằẵặẹẻẽếềểễệịỏốồổỗộớờởợụủứừửữự",
}
_WORD = expression(r"[^\W\d_]+")
_OTHER = expression("[^\x00-\u036f\u1d00-\u2e7f\uff00-\uff65]+")
"""Characters that are neither Latin nor punctuation."""
_CAPITALS = frozenset(string.ascii_uppercase)
_CYRILLIC = "cyrillic"
_SCRIPTS = {
    code: expression(f"[{signs}]+")
    for code, signs in {
        "el": "\u0370-\u03ff\u1f00-\u1fff",
        _CYRILLIC: "\u0400-\u052f",
        "hy": "\u0530-\u058f",
        "he": "\u0590-\u05ff",
        "ar": "\u0600-\u06ff\u0750-\u077f",
        "hi": "\u0900-\u097f",
        "bn": "\u0980-\u09ff",
        "ta": "\u0b80-\u0bff",
        "ka": "\u10a0-\u10ff",
        "th": "\u0e00-\u0e7f",
        "lo": "\u0e80-\u0eff",
        "my": "\u1000-\u109f",
        "km": "\u1780-\u17ff",
        "ko": "\u1100-\u11ff\uac00-\ud7af",
        "ja": "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f",
        "zh": "\u3005\u3006\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    }.items()
}
"""The characters of each script, under the most widely used language of that script."""
_UNSPACED = frozenset({"th", "lo", "my", "km", "ko", "ja", "zh"})
_PERSIAN = expression("[پچژگکی]")


def language_of(text: str) -> str:
    """Return the language of most of a text as its ISO 639-1 code such as `de`; empty if unknown.

    Only the first `SAMPLE_CHARS` characters count. A short question may have no function word, or only ones shared by
    several languages: the result is then empty rather than wrong. Text in Chinese characters alone is Chinese.
    """
    sample = text[:SAMPLE_CHARS]
    if sample.isascii() or not _OTHER.search(sample):
        return _by_words(sample)
    other = "".join(_OTHER.findall(sample))
    latin = _WORD.findall(_OTHER.sub(" ", sample))
    code = _by_script(other[:_SCRIPT_CHARS])
    # a word counts as two characters of a script without spaces
    size = len(latin) * _CHARACTERS_OF_A_WORD if code in _UNSPACED else sum(map(len, latin))
    if len(other) < size:
        return _by_words(" ".join(latin))
    return _by_words(sample) if code == _CYRILLIC else code


def function_words(language: str) -> frozenset[str]:
    """Return the most frequent function words of a language code; empty for an unknown code."""
    return frozenset(_FUNCTION_WORDS.get(language, "").split())


def _by_script(text: str) -> str:
    counts = {code: sum(map(len, pattern.findall(text))) for code, pattern in _SCRIPTS.items()}
    if counts["ja"] >= _LEAST_KANA * (counts["ja"] + counts["zh"]):
        counts["ja"] += counts["zh"]
    code = max(counts, key=counts.__getitem__)
    if not counts[code]:
        return ""
    return "fa" if code == "ar" and _PERSIAN.search(text) else code


def _by_words(text: str) -> str:
    if text.isascii():
        words = text.encode().translate(_LETTERS_ALONE).decode().split()
    else:
        text = unicodedata.normalize("NFC", text)
        words = _WORD.findall(text)
    if not (text.isascii() and _CAPITALS.isdisjoint(words)):
        # a single capital is the mark of a retained line, or part of a name
        words = [word for word in words if len(word) > 1 or not word.isupper()]
    by_word, by_letter = _counts()
    counted = sum(map(by_word.get, " ".join(words).lower().split(), repeat(0)))
    if not text.isascii():
        counted += sum(map(by_letter.__getitem__, by_letter.keys() & set(text.lower())))
    counts = _COUNTS.unpack(counted.to_bytes(_COUNTS.size, "little"))
    most = max(counts)
    is_known = counts.count(most) == 1 and most >= len(words) * _LEAST_SHARE
    return _CODES[counts.index(most)] if is_known else ""


_CODES = tuple(_FUNCTION_WORDS)
_COUNTS = Struct(f"<{len(_CODES)}H")
_LETTERS_ALONE = bytes(byte if chr(byte).isascii() and chr(byte).isalpha() else ord(" ") for byte in range(0x100))


@cache
def _counts() -> tuple[Mapping[str, int], Mapping[str, int]]:
    by_word = ((code, words.split()) for code, words in _FUNCTION_WORDS.items())
    return _counts_by(by_word), _counts_by(_LETTERS.items())


def _counts_by(languages: Iterable[tuple[str, Iterable[str]]]) -> Mapping[str, int]:
    """Return for each word or letter its languages as a number with a 16-bit counter each; sums count them all."""
    bits = defaultdict[str, int](int)
    for code, parts_of_language in languages:
        for part in set(parts_of_language):
            bits[part] |= 1 << 16 * _CODES.index(code)
    return bits
