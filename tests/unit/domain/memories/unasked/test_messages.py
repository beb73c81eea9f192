"""What a message asks of the memory, by its form: nothing, something of one's own, or what anybody could ask."""

import pytest

from memoryd.domain.memories.unasked.messages import (
    SIGNS_A_WORD,
    Aim,
    has_pronoun,
    may_mean_another,
    read_message,
    word_count,
)
from memoryd.domain.skips import SkipReason
from tests.waiting import soon


@pytest.mark.parametrize(
    "text",
    [
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
)
def test_words_that_say_nothing_to_a_memory_ask_nothing(text: str) -> None:
    assert read_message(text, names_entity=False).silence is SkipReason.SMALL_TALK


@pytest.mark.parametrize("text", ["👍", "!!!", "…", "🙏🙏"])
def test_signs_alone_have_no_word(text: str) -> None:
    assert read_message(text, names_entity=False).silence is SkipReason.NO_CONTENT


@pytest.mark.parametrize(
    "text",
    [
        "no, more formal",
        "in bullet points",
        "再简短一点",
        "把上面的内容翻译成英文",
        "检查一下错别字",
        "翻译成英文：秋天的雨下了一夜",
    ],
)
def test_how_the_last_output_is_to_be_is_no_matter_of_the_memory(text: str) -> None:
    assert read_message(text, names_entity=False).silence is SkipReason.ABOUT_OUTPUT


@pytest.mark.parametrize(
    "text",
    [
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
)
def test_sums_and_conversions_are_reckoned(text: str) -> None:
    assert read_message(text, names_entity=False).silence is SkipReason.ARITHMETIC


@pytest.mark.parametrize(
    "text",
    [
        'Traceback (most recent call last):\n  File "a.py", line 3, in run\nKeyError: 4',
        "2026-10-01 08:00:00 INFO up\n2026-10-01 08:01:00 WARN slow",
        "错误代码 0x80004005：未指定的错误",
    ],
)
def test_pasted_output_asks_nothing(text: str) -> None:
    assert read_message(text, names_entity=False).silence is SkipReason.PASTED_OUTPUT


def test_question_above_pasted_output_is_all_that_is_asked() -> None:
    text = 'why does our nightly job do this?\nTraceback (most recent call last):\n  File "a.py", line 3\nKeyError: 4'
    assert read_message(text, names_entity=False).parts == ("why does our nightly job do this?",)


@pytest.mark.parametrize(
    "text",
    [
        "who painted the Night Watch",
        "how do you spell rhythm?",
        "how do I sort a dict by value",
        "光合作用是什么",
        "什么是黑洞",
        "算盘是谁发明的",
        "世界上最深的湖在哪",
        "墨水用法语怎么说",
        "蜜蜂和黄蜂有什么区别",
        "put that in a list",
        "write a haiku about it",
        "rename this function",
        "Wie schreibt man Rhythmus?",
        "Schreib mir ein Gedicht über Katzen",
        "whats the difference between a fox and a wolf",
        "pytest: how to skip a slow test",
        "formula in google sheets that adds column C",
        "鲸鱼为什么会唱歌",
        "豆腐是怎么做的",
        "一头大象能活几年",
    ],
)
def test_what_anybody_could_say_is_general(text: str) -> None:
    assert read_message(text, names_entity=False).aim is Aim.GENERAL


@pytest.mark.parametrize(
    "text",
    [
        "when do I have to hand in the keys?",
        "book the usual table for Friday",
        "女儿这周六有空吗",
        "帮我订下周的票",
        "which bin goes out this Wednesday?",
        "Wer ist unsere Hausärztin?",
        "Wann kommt der Klempner am Montag?",
        "write a card to aunt May, she framed it last time",
        "列个清单，用什么格式你知道的",
        "钢琴课几点来着",
        "明天的课上不上",
    ],
)
def test_first_person_and_days_told_from_today_make_a_matter_ones_own(text: str) -> None:
    assert read_message(text, names_entity=False).aim is Aim.OWN


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("给房东说一声水管坏了", Aim.OWN),
        ("what is a landlord for?", Aim.GENERAL),
        ("how often must landlords paint", Aim.OPEN),
    ],
)
def test_who_is_meant_without_a_name_makes_what_is_open_ones_own(text: str, aim: Aim) -> None:
    assert read_message(text, names_entity=False, means_entity=True).aim is aim


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("how do hens keep warm", Aim.GENERAL),
        ("why do hens moult", Aim.GENERAL),
        ("feed the hens tonight", Aim.OWN),
        ("who shuts the hens in when I am away?", Aim.OWN),
    ],
)
def test_thing_that_is_called_by_a_word_of_the_language_may_be_any(text: str, aim: Aim) -> None:
    assert read_message(text, names_entity=False, names_noun=True).aim is aim


def test_question_of_all_things_of_a_kind_is_of_none_that_has_a_name() -> None:
    assert read_message("一只鹦鹉一般能活几年", names_entity=True).aim is Aim.GENERAL
    assert read_message("what is the difference between a gull and a tern", names_entity=True).aim is Aim.GENERAL
    assert read_message("鹦鹉吃几顿", names_entity=True).aim is Aim.OWN


@pytest.mark.parametrize("text", ["good, both of them in the post", "yes the lighter green", "wind's howling again"])
def test_answer_to_the_agent_and_remark_state(text: str) -> None:
    assert read_message(text, names_entity=False).aim is Aim.OPEN


@pytest.mark.parametrize(
    ("text", "has", "may_mean"),
    [
        ("does she like tulips?", True, True),
        ("他几点到", True, True),
        ("其他的呢", False, False),
        ("ask the plumber when", False, True),
        ("帮我问问", False, True),
        ("where is the ladder?", False, False),
    ],
)
def test_pronouns_and_whom_to_speak_to_leave_open_who_is_meant(text: str, has: bool, may_mean: bool) -> None:
    assert (has_pronoun(text), may_mean_another(text)) == (has, may_mean)


def test_statement_asks_less_than_a_question() -> None:
    assert read_message("I sold the old car this morning.", names_entity=False).aim is Aim.OPEN
    assert read_message("I sold the old car, who has the papers?", names_entity=False).aim is Aim.OWN


def test_message_that_names_what_the_memory_knows_is_of_it() -> None:
    assert read_message("how is Juniper fed?", names_entity=True).aim is Aim.OWN
    assert read_message("how is Juniper fed?", names_entity=False).aim is Aim.GENERAL
    assert read_message("add Juniper to that", names_entity=True).silence is None


def test_greeting_and_aside_are_no_parts() -> None:
    read = read_message("Hi, thanks! I'm off to Leeds, where is the charger?", names_entity=False)
    assert read.parts == ("I'm off to Leeds", "where is the charger?")
    assert read_message("谢谢，备用钥匙放哪了？", names_entity=False).parts == ("备用钥匙放哪了?",)


def test_long_message_keeps_its_beginning_and_its_end() -> None:
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
        "� \x00 \u202e",
    ],
)
def test_odd_message_is_read_in_little_time(text: str) -> None:
    with soon(2):
        read_message(text, names_entity=False)


@pytest.mark.parametrize("text", ["didn't see my sister at all", "heading home to my cat", "off to bed with my book"])
def test_statement_that_leaves_its_subject_out_asks_for_nothing(text: str) -> None:
    assert read_message(text, names_entity=False).aim is Aim.OPEN


def test_code_is_about_the_world_unless_it_is_ours() -> None:
    assert read_message("why does my list comprehension leak", names_entity=False).aim is Aim.GENERAL
    assert read_message("excel formula that sums B2:B90", names_entity=False).aim is Aim.GENERAL
    assert read_message("Excel函数怎么用，我忘了", names_entity=False).aim is Aim.GENERAL
    assert read_message("which python do we run in our services", names_entity=False).aim is Aim.OWN


@pytest.mark.parametrize(
    "text", ["Где мой паспорт?", "Мой паспорт лежит в ящике", "أين جواز سفري؟", "여권이 어디 있어?"]
)
def test_message_in_a_script_without_a_list_of_idle_words_is_asked(text: str) -> None:
    assert read_message(text, names_entity=False).parts == (text,)


@pytest.mark.parametrize(
    ("text", "aim"),
    [
        ("where's the spare key?", Aim.OPEN),
        ("when is the dentist appointment?", Aim.OPEN),
        ("Wo ist der Ersatzschlüssel?", Aim.OPEN),
        ("Wann kommt die Müllabfuhr?", Aim.OPEN),
        ("Where is the Eiffel Tower?", Aim.GENERAL),
        ("婚纱照是谁拍的", Aim.OPEN),
        ("阳台的灯什么时候修", Aim.OPEN),
        ("clean up the stylesheets", Aim.OPEN),
        ("can you make the border green?", Aim.OPEN),
        ("add a sidebar to the page", Aim.OPEN),
        ("rename the module to core", Aim.OPEN),
        ("replace the filter", Aim.OWN),
        ("order the filters", Aim.OWN),
        ("put out the bins", Aim.OWN),
        ("make the dentist appointment", Aim.OWN),
        ("where's the old palace of Knossos?", Aim.GENERAL),
        ("Wo ist der Hafen von Piräus?", Aim.GENERAL),
        ("where is the box of fuses?", Aim.OPEN),
        ("where is the box of Easter eggs?", Aim.OPEN),
        ("when is the party in May?", Aim.OPEN),
        ("when is the next full moon?", Aim.GENERAL),
        ("Was ist die Hauptstadt von Australien?", Aim.GENERAL),
    ],
)
def test_where_a_thing_of_the_house_is_may_be_known(text: str, aim: Aim) -> None:
    assert read_message(text, names_entity=False).aim is aim


@pytest.mark.parametrize("text", ["I need to send Anna a parcel", "ich muss zum Zahnarzt", "我得给安娜寄包裹"])
def test_what_its_author_is_to_do_is_as_good_as_an_order(text: str) -> None:
    assert read_message(text, names_entity=True).aim is Aim.OWN


def test_words_of_every_script_are_counted() -> None:
    assert word_count("don't ring my mother-in-law today") == 5
    assert word_count("") == 0
    assert word_count("帮我订Bosch的烤箱") == pytest.approx(1 + 6 / SIGNS_A_WORD)
