"""Parsing of a message without a question: reasons for silence, and its parts."""

import pytest

from memoryd.domain.memories.unasked.form import UNKNOWN
from memoryd.domain.memories.unasked.messages import MessageParts, may_mean_another, read_message, refers_back
from memoryd.domain.skips import SkipReason
from tests.waiting import soon

SILENT = {
    SkipReason.SMALL_TALK: [
        "lgtm",
        "hi",
        "thanks a lot!",
        "ok, sounds good",
        "haha you're great",
        "ugh, so tired today",
        "damn it",
        "fine by me",
        "wish me luck",
        "guten Morgen!",
        "vielen Dank",
        "ok super",
        "谢谢",
        "好的",
        "早",
        "嗯 好",
        "哈哈哈",
        "烦死了",
        "今天好累啊",
        "行，就这样",
        "晚安",
    ],
    SkipReason.NO_CONTENT: [
        "👍",
        "!!!",
        "…",
        "🙏🙏",
    ],
    SkipReason.ABOUT_OUTPUT: [
        "no, more formal",
        "in bullet points",
        "再简短一点",
        "把上面的内容翻译成英文",
        "检查一下错别字",
        "翻译成英文：秋天的雨下了一夜",
    ],
    SkipReason.ARITHMETIC: [
        "what's 18 * 24?",
        "20% of 340",
        "convert 5 miles to km",
        "12 boxes of 30, how many is that",
        "30 nm at 6 knots, how long does it take",
        "180 split by 6",
        "4 boxes x 12",
        "1200除以4是多少",
        "一英里等于多少公里",
    ],
    SkipReason.PASTED_OUTPUT: [
        'Traceback (most recent call last):\n  File "a.py", line 3, in run\nKeyError: 4',
        "2026-10-01 08:00:00 INFO up\n2026-10-01 08:01:00 WARN slow",
        "错误代码 0x80004005：未指定的错误",
    ],
}


@pytest.mark.parametrize(("reason", "text"), [(reason, text) for reason, texts in SILENT.items() for text in texts])
def test_message_asks_nothing(reason: SkipReason, text: str) -> None:
    assert read_message(text, names_entity=False).silence is reason


def test_only_question_above_pasted_output_counts() -> None:
    text = 'why does our nightly job do this?\nTraceback (most recent call last):\n  File "a.py", line 3\nKeyError: 4'
    assert read_message(text, names_entity=False).parts == ("why does our nightly job do this?",)


@pytest.mark.parametrize(
    ("text", "has", "may_mean"),
    [
        ("does she like tulips?", True, True),
        ("他几点到", True, True),
        ("my sister is here, does she like tulips?", False, True),
        ("does she like my sister?", True, True),
        ("we sell to Brightwell, they pay late", False, True),
        ("do they pay late?", True, True),
        ("其他的呢", False, False),
        ("ask the plumber when", False, True),
        ("帮我问问", False, True),
        ("where is the ladder?", False, False),
    ],
)
def test_pronoun_or_person_to_contact_may_refer_to_entity(text: str, has: bool, may_mean: bool) -> None:
    assert (refers_back(text), may_mean_another(text)) == (has, may_mean)


def test_message_with_known_entity_is_not_silent() -> None:
    assert read_message("add Juniper to that", names_entity=True).silence is None
    assert read_message("in bullet points", names_entity=True).silence is None
    assert (
        read_message("12 hens at 4 eggs, 12 * 4?", names_entity=False, names_noun=True).silence is SkipReason.ARITHMETIC
    )


def test_greetings_are_no_parts() -> None:
    read = read_message("Hi, thanks! I'm off to Leeds, where is the charger?", names_entity=False)
    assert read.parts == ("I'm off to Leeds", "where is the charger?")
    assert read_message("谢谢，备用钥匙放哪了？", names_entity=False).parts == ("备用钥匙放哪了?",)


def test_long_message_keeps_beginning_and_end() -> None:
    read = read_message(", ".join(f"we saw pear tree {number}" for number in range(40)), names_entity=False)
    assert (len(read.parts), read.parts[0], read.parts[-1]) == (12, "we saw pear tree 0", "we saw pear tree 39")


@pytest.mark.parametrize(
    "text",
    [
        "1" * 20000,
        "1 " * 10000,
        " " * 20000,
        "\n" * 20000,
        "a," * 10000,
        "how many " * 2000,
        "你" * 20000,
        "you're " * 3000,
        "; " * 10000,
        "x" + "; " * 9990 + "x",
        "x " + "please " * 2850 + "x",
        "x " + "谢谢你啊" * 4900,
        "� \x00 \u202e",
    ],
)
def test_hostile_message_is_parsed_fast(text: str) -> None:
    with soon(2):
        read_message(text, names_entity=False)


@pytest.mark.parametrize(
    "text", ["Где мой паспорт?", "Мой паспорт лежит в ящике", "أين جواز سفري؟", "여권이 어디 있어?"]
)
def test_message_in_unsupported_script_is_not_silent(text: str) -> None:
    assert read_message(text, names_entity=False).parts == (text,)


def test_wording_omits_greetings_and_thanks() -> None:
    bare = read_message("where did I put the ladder", names_entity=False)
    assert bare.form > 0
    for polite in (
        "Hi there! Where did I put the ladder? Thank you so much!",
        "where did I put the ladder thanks a lot",
        "Good morning!\n\nwhere did I put the ladder\n\nKind regards,\nCallum",
        "where did I put the ladder please",
    ):
        assert read_message(polite, names_entity=False).wording.lower().rstrip("?") == bare.wording.lower(), polite


def test_form_without_wording_is_unknown() -> None:
    assert MessageParts(("mail server down",)).form == UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "I'm Imogen by the way, please call me Immy",
        "Hi, my name is Imogen Frost",
        "Ich bin Jörg, nenn mich einfach Jo",
        "我叫沈若兰，叫我兰姐就好",
    ],
)
def test_introduction_is_small_talk(text: str) -> None:
    assert read_message(text, names_entity=True).silence is SkipReason.SMALL_TALK
    assert read_message(f"{text}. Where is the ladder?", names_entity=True).parts == ("Where is the ladder?",)


@pytest.mark.parametrize("text", ["我叫什么来着", "我姓什么", "你该叫我什么"])
def test_question_for_own_name_is_no_introduction(text: str) -> None:
    assert read_message(text, names_entity=True).parts == (text,)
