"""Context that makes a statement not the author's own, and context that does not."""

import pytest

from memoryd.domain.memories.capture.capture import capture_message, distillable
from memoryd.domain.text.sentences import spoken_sentences

WORDS_OF_OTHERS = [
    "This is the mail I got this morning.\n\nHello,\nmy name is Susan and I live in Leeds. Could you call me back?",
    "What do you make of this applicant? My name is Susan Miller. I live in Leeds.",
    "Here's what she sent me\nmy name is Susan and I work at Acme",
    "This is the cover letter of an applicant.\nMy name is Susan Miller. I live in Leeds. I work at Acme.",
    "How does this sound? My name is Susan Miller and I live in Leeds.",
    "Make a persona. My name is Lea. I am allergic to nuts.",
    "Let us do a dialog exercise. My name is Pierre. I live in Lyon.",
    "Say after me. My name is Hal.",
    "Hi, I am writing about the flat. I live in Leeds.",
    "Hello, I'm interested in the room. I work at Acme.",
    "Hi, I'm your waiter. I am allergic to shellfish.",
    "Hi, we're looking for a sitter. I live in Leeds.",
    "你好，我是看到租房信息来的。我住在宜昌。",
    "Chapter 1. My name is Arthur. I live in Camelot.",
    "Subtitle 14. My name is Neo.",
    "You play the waiter. I am allergic to shellfish.",
    "I play the waiter. I am allergic to shellfish.",
    "Generate a bio. I live in Graz. I like dogs. Keep it short.",
    "I live in Graz. I like dogs. Keep it short.",
    "I got a mail. My name is Susan.",
    "I live in Leeds since 2010. Is this grammatically right?",
    "I am allergic to peanuts. Is that the correct preposition?",
    "I live in Graz (which tense is that)",
    "In German please. I live in Graz.",
    "I live in Graz. In German please.",
    "Auf Deutsch bitte. I live in Graz.",
    "Call me Ishmael. Some years ago, never mind how long precisely.",
    "My name is Susan.\nI live in Leeds.\nI work at Acme.",
    "这是客户发来的邮件。\n你好，我叫王芳，我住在上海。",
    "小红书上有人留言\n我叫李雷，我喜欢你",
    "帮我写一段自我介绍。我叫小明，我住在北京，我喜欢足球。",
    "老师让我背课文。我叫韩梅梅，我住在伦敦。",
    "阅读理解。我叫小明，今年十岁。我喜欢踢球。",
    "作文题目。我叫小明，我住在北京。",
    "人物设定。我叫阿狸，我喜欢吃鱼。",
    "把下面的话变成英文。我住在东京。",
    "帮我看看这句对不对。我住在北京五年了。",
]
NOT_MAIN_CLAUSE = [
    "It is false that I live in Linz.",
    "Not that I like spinach.",
    "I live in Rome in my dreams.",
    "Had I known, I'd live in Rome. I live in Rome in my dreams.",
    "If only! My house is in Malibu.",
    "I like pizza when I'm drunk, which is never.",
    "My sister goes: I live in Graz.",
    'Peter goes "meh" and then: my name is Rumpelstilzchen.',
    "As my grandmother used to put it, I like my coffee like my men.",
    "Kurt's mail begins with hi, my name is Kurt, I live in Bonn.",
    "D&D: my name is Thorin, I live in Moria",
    "Print hello, my name is Clara",
    "Set the greeting to hello, my name is Clara",
    "Dear diary, my name is Anna",
    "The first line of Moby Dick - call me Ishmael.",
    "My name is Inigo Montoya, you killed my father, prepare to die.",
    "Call me Tuesday",
    "Call me Monday.",
    "我叫小明，是作文的第一句。",
    "假的，我叫小明",
    "我喜欢上班（才怪）",
    "叫我女王大人",
]
TRANSIENT = [
    "My cat is on the keyboard",
    "My boss is on the phone",
    "My boss is a jerk",
    "My deadline is in five minutes.",
    "my interview is in an hour",
    "my appointment is at 3",
    "my train is at 9:15",
    "My car is red hot right now",
    "I like the color of the button you just made",
    "I like the function names you chose",
    "I prefer a smaller font for this heading",
    "I don't like the error message here",
    "I prefer not to answer that.",
    "I prefer to wait until you are done.",
    "我的车是在修",
    "我的航班是今天下午三点",
    "我的生日是明天",
    "我住在酒店",
    "我妻子是在生气",
    "我的老板是个混蛋",
    "记住这一刻",
    "记住变量x必须大于零",
]
FOREIGN_NUMBERS = [
    "Email Tom that my new phone number is 0660 1234567.",
    "the fixture uses my email is foo@example.com",
    "Change the constant so that my email is foo@example.com",
    "My phone number is 555-0100 in the fixture.",
    "The commit was signed off by jane@corp.com",
    "user admin@corp.com cannot log in",
    "ssh peter@db.example.com hangs",
    "my wifi is Guest, the key is blafasel99",
    "My login is admin",
    "Remember that the wifi code is 4711.",
    "我的银行卡是6222020200112233445",
    "我的订单号是13812345678",
    "我的手机号不是13812345678",
    "我的邮箱不是a@b.com",
    "13812345678这个号码是诈骗",
    "李总的电话是13812345678，别外传",
    "测试用的身份证11010519491231002X",
    "这个人的身份证是11010519491231002X",
]
UNPINNED = [
    ("My name is Lena Hofer. I have two kids.", "entity"),
    ("I live in Graz. What should I cook tonight?", "fact"),
    ("I moved. I live in Leoben now.", "fact"),
    ("hi, I'm Lena. I live in Leoben with my son.", "fact"),
    ("Hallo, ich bin Lena. Ich wohne in Leoben.", "fact"),
    ("你好，我是小高。我住在宜昌。", "fact"),
    ("Thanks! I prefer tea. Please recommend a shop.", "preference"),
    ("I am allergic to walnuts, so leave those out please.", "fact"),
    ("I live in Graz, would you believe it.", "fact"),
    ("I prefer tea, but I could live with coffee.", "preference"),
    ("I like hiking, as you might know.", "preference"),
    ("Don't forget that I'm vegetarian.", "note"),
    ("My birthday is on May 3rd.", "fact"),
    ("Anna's e-mail is anna@example.org.", "entity"),
    ("Please save the plumber's number: 0316 555 778.", "entity"),
    ("李总的电话是13812345678。", "entity"),
    ("我搬家了。我住在重庆。", "fact"),
    ("我喜欢唱歌", "preference"),
    ("我的爱好是唱歌", "fact"),
    ("我喜欢说相声", "preference"),
    ("我喜欢听问答节目", "preference"),
    ("我的老板是哪吒", "fact"),
    ("我爸爸是医生", "fact"),
    ("别忘了我对虾过敏", "note"),
]
PINNED = [
    "Hi! My name is Lena Hofer. Nice to meet you.",
    "你好！我叫王小明。谢谢！",
    "Hello, my phone number is +43 660 1234567.",
    "Just so you know, my number is 0660 1234567.",
    "My number is 0660 1234567, call me on weekdays.",
    "我的手机号是13812345678，请记住",
    "我的邮箱是peter@example.com。",
]


@pytest.mark.parametrize("text", [*WORDS_OF_OTHERS, *NOT_MAIN_CLAUSE, *TRANSIENT, *FOREIGN_NUMBERS])
def test_statement_that_may_be_foreign_is_not_captured(text: str) -> None:
    assert capture_message(text, answer_before="Something was answered.").items == ()


@pytest.mark.parametrize("text", WORDS_OF_OTHERS)
def test_model_gets_no_text_that_may_be_foreign(text: str) -> None:
    distilled = " ".join(distillable(text))

    assert not [word for word in ("name is", "I live", "I work", "allergic", "叫", "住", "喜欢") if word in distilled]


def test_model_gets_plain_statements_without_greetings_and_requests() -> None:
    text = "Hi! We moved to Graz in May. My sister is Ann. Please recommend a shop."

    assert distillable(text) == ["We moved to Graz in May.", "My sister is Ann."]
    for other in (
        "The number is 0660 1234567, do not pass it on.",
        "My brother said we moved to Rome.",
        "If we moved to Rome my dog would like it.",
        "We moved to Rome in my dreams.",
        "Do we like my hat?",
    ):
        assert distillable(other) == []


@pytest.mark.parametrize(("text", "kind"), UNPINNED)
def test_statement_beside_harmless_text_is_captured_without_pin(text: str, kind: str) -> None:
    kept = capture_message(text).items

    assert [(item.kind.value, item.is_pinned) for item in kept] == [(kind, False)]


@pytest.mark.parametrize("text", PINNED)
def test_statement_beside_greetings_only_is_pinned(text: str) -> None:
    assert [item.is_pinned for item in capture_message(text).items] == [True]


def test_own_numbers_are_pinned_only_beside_other_numbers() -> None:
    def pins(text: str) -> list[bool]:
        return [item.is_pinned for item in capture_message(text).items]

    assert pins("My phone number is 0660 1234567. My e-mail is peter@example.com.") == [True, True]
    assert pins("My phone number is 0660 1234567. I live in Graz.") == [False, False]
    assert pins("My name is Lena Hofer. My phone number is 0660 1234567.") == [False, False]


def test_text_after_remembered_sentence_is_not_captured() -> None:
    kept = capture_message("Remember that the gate is locked at 8. Peter told me so. My name is Hal.").items

    assert [item.text for item in kept] == ["Remember that the gate is locked at 8."]


def test_accented_word_end_is_no_initial() -> None:
    text = "My landlord is Dona Graça. Write him two lines."
    assert [one.text for one in spoken_sentences(text)] == ["My landlord is Dona Graça.", "Write him two lines."]
    assert len(spoken_sentences("My landlord is Ö. Graça.")) == 1
