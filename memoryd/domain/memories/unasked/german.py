"""German words of messages.

Word frequencies were counted in English and Chinese: any common German word would seem as rare as a name. So the
words by which a message is recognised as German get no weight in it.
"""

from collections.abc import Mapping

from memoryd.domain.expressions import word_set
from memoryd.domain.text.languages import function_words, language_of
from memoryd.domain.text.words import STOP_WORDS, normalised

GERMAN_CONCEPTS = """
wife ehefrau | husband ehemann | son sohn sohne | daughter tochter | child kinder sohn sohne tochter
mother mutter mutti | father vater | parents eltern | brother bruder | sister schwester schwestern
grandmother oma grossmutter | grandfather opa grossvater | aunt tante | uncle onkel | girlfriend freundin
neighbour nachbar nachbarin nachbarn | boss vorgesetzte | colleague kollege kollegin kollegen
landlord vermieter vermieterin miete wohnung | teacher lehrer lehrerin schule
doctor arzt arztin hausarzt hausarztin klinik krankenhaus | dentist zahnarzt zahnarztin zahne
vet tierarzt tierarztin | lawyer anwalt anwaltin | accountant steuerberater steuerberaterin buchhalter steuer
cat katze katzen kater | dog hund hunde welpe | plumber klempner | electrician elektriker
eat essen isst esse gegessen kochen kocht gekocht mahlzeit rezept suppe kuchen abendessen mittagessen fruhstuck \
obst gemuse vegetarisch vegetarier vegetarierin allergisch allergie unvertraglichkeit fleisch fisch kase milch \
nusse zucker | drink trinken trinkt trinke kaffee saft wein bier alkohol
sugar zucker kuchen schokolade diabetiker diabetikerin
nut nuss nusse haselnusse erdnuss erdnusse walnusse mandeln | seafood garnelen fisch muscheln krabben
allergy allergisch allergie allergien | medicine medikament medikamente tablette tabletten rezept antibiotika
ill krank fieber husten erkaltung grippe | birthday geburtstag geschenk geschenke
christmas weihnachten | phone telefon telefonnummer handynummer | key schlussel | train zug zuge bahnhof flug flughafen
holiday urlaub ferien reise | table tisch | run laufen lauft
parcel paket pakete versand | repair reparatur reparieren kaputt | rubbish mull mulltonne abfall
shoe schuhe kleidung | sleep schlafen schlaft | exam prufung prufungen klausur
concert konzert konzerte orchester gitarre geige klavier | meeting termin termine besprechung
heating heizung | garden garten pflanzen | monday montag montags | tuesday dienstag dienstags
wednesday mittwoch mittwochs | thursday donnerstag donnerstags | friday freitag freitags | saturday samstag samstags
sunday sonntag sonntags | password passwort passworter kennwort | customer kunde kundin kunden
"""
"""German words of a concept, after the first word of its row in `concepts`; none is also English."""
ALSO_ENGLISH = word_set("die den war hat man will bin was am es du er da so an in also alle mal gut halt mag dort im")
"""Words that are also English; to determine the language, they count as German."""
_TALK = word_set("""
merk merke dir vergiss denk denke daran stell wieso worauf schon wieder bis beim vor seit ohne gegen durch unter
zwischen wegen einem eines keinen meinen dein deine sein seine ihre dich uns euch ihm ihn ihnen seid hab hast habt
wurden kannst konnen konnte darf darfst durfen soll sollen sollte muss musst mussen mochte mochten wollen willst
wollte macht mach machen mache machst gehen geht gibt geben kommt kommen lass lassen lieber erst mehr immer weil denn
denen dessen deren ichs doch nein eben gerade dann hier wen wem wohin woher welches alles etwas nichts nix viel viele
sehr ganz gerne gern bitte danke letzten letzte letztes nachste nachsten dieser dieses jede jeder jedes nochmal passt
weiss glaube finde sag sage sagen heut jetz ned nimmer koa koan scho gehn bisschen einfach
eigentlich vielleicht ubrigens falsch fertig
""")
_GERMAN_TALK = _TALK.union(map(normalised, function_words("de"))) - ALSO_ENGLISH
"""Mostly not English: a message with these words is German."""
GERMAN_MAX = 5.5
"""Upper limit for the weight of a word in a German message: without counted frequencies all would be as rare as
names."""


def is_german(small: str) -> bool:
    """Return whether a message is German; if it is short, whether it has more German than English function words."""
    words = small.split()
    german = sum(word in _GERMAN_TALK or word in ALSO_ENGLISH for word in words)
    english = sum(word in STOP_WORDS and word not in _GERMAN_TALK and word not in ALSO_ENGLISH for word in words)
    return german > english or language_of(small) == "de"


def german_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of the terms of a German message; common words get the weight 0."""
    talk = _GERMAN_TALK | ALSO_ENGLISH
    return {
        term: 0.0 if term in talk else min(weight, GERMAN_MAX) if term.isalpha() else weight
        for term, weight in weights.items()
    }
