"""Detection of the language of questions, notes and scripts."""

import pytest

from memoryd.domain.text.languages import SAMPLE_CHARS, language_of

QUESTIONS = {
    "en": ["Where is the key?", "When is my dentist appointment?", "Who repairs the bike?", "don't call after nine"],
    "de": ["Wo ist der Schlüssel?", "Wann ist der Termin beim Zahnarzt?", "Welches Passwort hat der Router?"],
    "fr": [
        "Où est la clé du garage ?",
        "Qui répare le vélo ?",
        "Combien coûte l'abonnement ?",
        "Où est la cle\u0301",
    ],
    "es": ["¿Dónde está la llave?", "Quién arregla la bicicleta", "¿Cuánto cuesta el alquiler?"],
    "pt": ["Onde está a chave da garagem?", "Quando é a consulta no dentista?", "Quem conserta a bicicleta?"],
    "it": ["Dov'è la chiave del garage?", "Chi ripara la bicicletta?", "Quanto costa l'affitto?"],
    "nl": ["Waar is de sleutel?", "Wie repareert de fiets?", "Hoeveel kost de huur?"],
    "sv": ["Var är nyckeln?", "Vem lagar cykeln?", "Hur mycket kostar hyran?"],
    "da": ["Hvornår er mødet med lægen?"],
    "pl": ["Gdzie są klucze do garażu?"],
    "ru": ["Где ключ от гаража?", "Кто чинит велосипед?", "Сколько стоит аренда?"],
    "uk": ["Де мої ключі від гаража?"],
    "ja": ["鍵はどこですか", "歯医者の予約はいつ?"],
    "ko": ["열쇠가 어디에 있나요?"],
    "zh": ["钥匙在哪里?", "路由器的密码"],
    "el": ["Πού είναι το κλειδί;"],
    "ar": ["أين المفتاح؟"],
    "fa": ["کلید کجاست؟"],
}


@pytest.mark.parametrize(
    ("code", "question"), [(code, each) for code, questions in QUESTIONS.items() for each in questions]
)
def test_language_of_short_question_is_detected(code: str, question: str) -> None:
    assert language_of(question) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "Kubernetes",
        "docker compose up",
        "ERR_4711",
        "Anna",
        "Berlin 2026-05-01",
        "😀",
        "die hard",
        "\0",
        "de",
    ],
)
def test_text_without_indication_of_language_is_unknown(text: str) -> None:
    assert language_of(text) == ""


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("de", "Das Meeting mit dem Product Owner ist auf Montag verschoben, das Ticket bleibt offen."),
        ("en", "The word Schadenfreude is what he had in mind, and the book is by Müller."),
        ("zh", "我用 docker compose 部署了服务,但是端口 8080 被占用了"),
        ("en", "The shop is called 小米 and it is near the station."),
        ("ja", "昨日Pythonのバージョンを3.12に更新した"),
        ("ru", "Мы перенесли деплой на пятницу, потому что GitHub Actions не работал."),
    ],
)
def test_mixed_text_has_language_of_most_words(code: str, text: str) -> None:
    assert language_of(text) == code


def test_only_the_beginning_counts() -> None:
    german = "Der Schlüssel liegt unter der Matte und die Tür ist nicht verschlossen. "
    assert language_of(german * (SAMPLE_CHARS // len(german) + 1) + "the " * SAMPLE_CHARS) == "de"


def test_prefixes_of_retained_lines_are_no_words() -> None:
    # w is a word in Polish, o in Portuguese and Italian
    assert language_of("- W @Peter: Peter moved to Lisbon.") in ("en", "")
    assert language_of("- O(c=0.7) @Anna: Anna would rather have tea with the cake") == "en"
    assert language_of("O carro está na garagem") == "pt"
