"""Capture from messages without a model, in English, Chinese and German."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoryd.domain.memories.bundle import is_for_every_session
from memoryd.domain.memories.capture.capture import ITEMS_MAX, capture_failure, capture_message
from memoryd.domain.memories.capture.identifiers import is_resident_id
from memoryd.domain.memories.kinds import Kind
from memoryd.domain.memories.line import Provenance, RetainedLine, parse_line, render
from tests.sweeps import whole_or
from tests.waiting import soon

STATED = [
    ("Hi, my name is Bob Stone and I work at Acme.", "entity", "my name is", True),
    ("my name is anna", "entity", "my name is", False),
    ("Please call me Liz.", "entity", "call me", True),
    ("you can call me sam", "entity", "call me", True),
    ("I live in a small flat in Graz with two cats.", "fact", "I live in", False),
    ("I work at the city library.", "fact", "I work at", False),
    ("My sister is a doctor.", "fact", "my … is", False),
    ("My favourite colour is green.", "fact", "my … is", False),
    ("My dog's name is Rex.", "fact", "my … is", False),
    ("I prefer short answers.", "preference", "I prefer", False),
    ("I don't like cilantro.", "preference", "I don't like", False),
    ("I like hiking in the Alps.", "preference", "I like", False),
    ("I'm severely allergic to peanuts.", "fact", "I am allergic to", False),
    ("Remember that the gate is locked at 8.", "note", "remember that", False),
    ("Remember that the garage code is changed every first Monday.", "note", "remember that", False),
    ("Please remember: the rent is due on the 5th.", "note", "remember that", False),
    ("Don't forget: the rent is due on the 5th.", "note", "remember that", False),
    ("Please keep in mind that Lina is allergic to hazelnuts.", "note", "remember that", False),
    ("Lina is allergic to hazelnuts, please keep that in mind.", "note", "remember that", False),
    ("Lina is allergic to hazelnuts, so don't forget it.", "note", "remember that", False),
    ("Do not forget this: the rent is due on the 5th.", "note", "remember that", False),
    ("Never forget that the rent is due on the 5th.", "note", "remember that", False),
    ("The plumber comes on Thursday at 14:00, remember that", "note", "remember that", False),
    ("By the way, I prefer tea over coffee.", "preference", "I prefer", False),
    ("for flights I prefer window seats", "preference", "I prefer", False),
    ("On long trips, I like audiobooks.", "preference", "I like", False),
    ("My phone number is +43 660 1234567.", "entity", "phone number", True),
    ("You can reach me at lena@example.org.", "entity", "e-mail address", True),
    ("我的邮箱是 xiaoyu@example.cn。", "entity", "e-mail address", True),
    ("我的手机号是13812345678。", "entity", "phone number", True),
    ("你好，我叫王小明，今年三十岁。", "entity", "我叫", True),
    ("请叫我小王就好。", "entity", "叫我", True),
    ("我住在成都。", "fact", "我住在", False),
    ("我在一家银行工作。", "fact", "我在…工作", False),
    ("我的生日是5月4日。", "fact", "我的…是", False),
    ("我很喜欢爬山。", "preference", "我喜欢", False),
    ("我不太喜欢香菜。", "preference", "我不喜欢", False),
    ("我对海鲜过敏。", "fact", "我对…过敏", False),
    ("记住我下周三要去北京出差。", "note", "记住", False),
    ("我的身份证号是11010519491231002X。", "entity", "ID number", True),
    ("My passport number is P1234567.", "entity", "ID number", True),
    ("I work for Siemens.", "fact", "I work at", False),
    ("I'm vegetarian", "fact", "I am vegetarian", False),
    ("I am a vegan and I like tofu.", "fact", "I am vegetarian", False),
    ("call me bob", "entity", "call me", False),
    ("我姓王", "entity", "我姓", False),
    ("你好，我姓王。", "entity", "我姓", True),
    ("我花生过敏", "fact", "我对…过敏", False),
    ("我女儿叫小美", "fact", "我的…叫", False),
    ("我妹妹住在杭州。", "fact", "我的…住在", False),
    ("我爸爸叫李刚。", "fact", "我的…叫", False),
    ("我爸妈住在洛阳", "fact", "我的…住在", False),
    ("我女朋友在南京读书", "fact", "我的…在…工作", False),
    ("我姐姐在深圳当护士。", "fact", "我的…在…工作", False),
    ("我妈生日是农历八月十五", "fact", "我的…是", False),
    ("我搬到南区3号楼了", "fact", "我搬到", False),
    ("我们搬到苏州了。", "fact", "我搬到", False),
    ("我们家搬到上海了", "fact", "我搬到", False),
    ("我母亲是医生", "fact", "我的…是", False),
    ("My boss is Maria and my deadline is Friday.", "fact", "my … is", False),
    ("I am new here, and I like jazz.", "preference", "I like", False),
    ("The plumber can be reached at 0316 555 778, in case you need it.", "entity", "phone number", False),
    ("Bob's mail is bob@example.com.", "entity", "e-mail address", False),
    ("Our new doctor is Dr. Brandt.", "fact", "my … is", False),
    ("Our rent is 1,180 euros.", "fact", "my … is", False),
    ("我女儿对榛子过敏", "fact", "我对…过敏", False),
    ("我们家的新医生是白大夫。", "fact", "我的…是", False),
    ("Merk dir, dass der Schlüssel bei Frau Yilmaz ist.", "note", "merk dir", False),
    ("Merk dir bitte: Die Mülltonne wird am Montag geleert.", "note", "merk dir", False),
    ("Vergiss nicht: Der Klempner kommt am Dienstag.", "note", "merk dir", False),
    ("Denk daran, dass Mia keine Nüsse darf.", "note", "merk dir", False),
    ("Der Schlüssel ist bei Frau Yilmaz, merk dir das.", "note", "merk dir", False),
    ("Hallo, ich heiße Anna Vogel und wohne in Bremen.", "entity", "ich heiße", True),
    ("Ich heiße Anna.", "entity", "ich heiße", False),
    ("Nenn mich bitte Ansa.", "entity", "nenn mich", True),
    ("Wir wohnen in Bremen.", "fact", "ich wohne in", False),
    ("Ich arbeite bei Siemens als Ingenieurin.", "fact", "ich arbeite bei", False),
    ("Ich bin Vegetarierin.", "fact", "ich bin Vegetarier", False),
    ("Ich bin allergisch gegen Haselnüsse.", "fact", "ich bin allergisch gegen", False),
    ("Wir essen kein Schweinefleisch.", "fact", "ich esse kein", False),
    ("I don't eat mushrooms", "fact", "I don't eat", False),
    ("We never drink cow's milk or cream.", "fact", "I don't eat", False),
    ("我不吃茴香", "fact", "我不吃", False),
    ("我从小不喝牛奶。", "fact", "我不吃", False),
    ("Ich mag keine Oliven.", "preference", "ich mag", False),
    ("Unsere neue Hausärztin ist Dr. Brandt.", "fact", "mein … ist", False),
    ("Mein Bruder heißt Jonas.", "fact", "mein … ist", False),
    ("Mein Sohn ist allergisch gegen Nüsse.", "fact", "mein … ist", False),
    ("Meine Oma ist 2019 gestorben.", "fact", "mein … ist", False),
    ("Meine Wohnung ist im dritten Stock.", "fact", "mein … ist", False),
    ("Mein Bruder wohnt in Köln.", "fact", "mein … ist", False),
    ("Meine neue Handynummer ist 0176 4455 6677.", "entity", "phone number", True),
    ("ich heiß übrigens toni und wohn in rosenheim", "entity", "ich heiße", True),
    ("ich bin nach wien gezogen", "fact", "ich bin nach … gezogen", False),
    ("wir sind in eine neue wohnung gezogen", "fact", "ich bin nach … gezogen", False),
    ("ich heiß max von berg", "entity", "ich heiße", False),
    ("ich arbeit bei der bahn", "fact", "ich arbeite bei", False),
    ("i bin jetz vegetarier", "fact", "ich bin Vegetarier", False),
    ("ich vertrag keine nüsse", "fact", "ich bin allergisch gegen", False),
    ("i mog koan koriander", "preference", "ich mag", False),
    ("mein geburtstag ist der 3. märz", "fact", "mein … ist", False),
]
"""A message, and the kind, form and pin of its memory."""
NOT_STATED = [
    "What is my name?",
    "Is my name Bob?",
    "He said my name is Bob.",
    '"My name is Bob," he said.',
    "If I live in Paris, what visa do I need?",
    "I don't live in Paris.",
    "Call me back later.",
    "Call me crazy, but it works.",
    "Call me tomorrow.",
    "call me skeptical",
    "call me old-fashioned but I prefer it so",
    "If you call me bob",
    "I like it.",
    "I like that idea.",
    "I prefer the second option.",
    "I prefer it this way.",
    "My question is simple.",
    "My code is failing.",
    "My computer is slow.",
    "my head is hurting",
    "My guess is that it rains.",
    "Don't remember that my name is Bob.",
    "Translate: my name is Bob",
    "Translate this into German. I live in Rome.",
    "Let's pretend my name is Bond. My name is Bond.",
    "My name is Batman, just kidding.",
    "haha my name is Batman lol",
    "Maybe I prefer tea.",
    "I think I like tea.",
    "My friend says I live in a bubble.",
    "```\nmy name is Bob\n```",
    "> I live in Rome",
    "Here is the mail:\nHi, my name is Tom and I live in Linz.",
    "From: bob@x.com\nSubject: hello\n\nMy name is Bob.",
    "我叫什么名字？",
    "我叫了一辆车。",
    "妈妈叫我去吃饭。",
    "叫我去吃饭。",
    "他说他叫小明，我住在北京。",
    "如果我住在北京，怎么办？",
    "我喜欢你。",
    "我喜欢这个。",
    "我的问题是怎么安装。",
    "我的意思是明天。",
    "别记住我叫小明。",
    "翻译：我叫小明",
    "开玩笑的，我叫超人。",
    "我记住了。",
    "也许我喜欢喝茶。",
    "I work for fun",
    "I work for two hours a day",
    "I am vegan curious",
    "I am diabetic, just kidding",
    "我姓什么？",
    "我皮肤过敏",
    "我妈叫我去吃饭",
    "我老板叫加班",
    "我女儿叫得很大声",
    "我弟弟叫了外卖",
    "我女儿叫小美吗",
    "I like how you explain things.",
    "我在努力工作。",
    "My order number is 20231234567.",
    "Version 2025.11.27 is out, call me.",
    "I live in hope.",
    "remember when we went to Rome?",
    "Our plan is to leave at eight.",
    "Our kids are sick.",
    "Our server is slow.",
    "我们的问题是没有时间。",
    "Wie heiße ich?",
    "Weißt du, wie mein Bruder heißt?",
    "Ich heiße nicht Anna.",
    "Sie sagte, ich heiße Anna.",
    "Ich glaube, ich bin allergisch gegen Nüsse.",
    "Wenn ich in Bremen wohne, mag ich Fisch.",
    "Übersetze: Ich heiße Anna",
    "Ich heiße Batman, war nur Spaß.",
    "Stell dir vor, ich wohne in Rom. Ich wohne in Rom.",
    "Merk dir das nicht, aber ich wohne in Bremen.",
    "Vergiss das.",
    "Vergiss nicht!",
    "Ich mag das nicht.",
    "Ich mag deinen Vorschlag.",
    "Ich liebe dich.",
    "Ich bin müde.",
    "Meine Tochter ist krank.",
    "Mein Passwort ist hund123.",
    "Merk dir, dass die EC-Pin 1234 ist.",
    "Denk daran, den Code zu formatieren.",
    "Vergiss nicht, die Tests laufen zu lassen.",
    "Merk dir, wie man das macht.",
    "Ich mag nicht.",
    "Ich mag jetzt schlafen.",
    "Ich mag, was du geschrieben hast.",
    "Ich bevorzuge Option 2.",
    "Ich arbeite als erstes den Fehler ab.",
    "Ich arbeite bei Regen nicht gern.",
    "Ich rauche gerade keine Zigarette.",
    "Ich trinke keinen Kaffee mehr heute.",
    "Ich esse keine Ahnung was.",
    "Mein Vater ist gestern gekommen.",
    "Mein Name ist Hase, ich weiß von nichts.",
    "Meine Frau ist einkaufen.",
    "Meine Mutter ist im Krankenhaus.",
    "Meine Adresse ist falsch.",
    "Meine E-Mail-Adresse ist gehackt worden.",
    "Mein Chef ist ein Idiot.",
    "Mein Chef ist ok.",
    "Mein neuer Chef ist echt streng.",
    "Mein Chef ist jetzt krankgeschrieben.",
    "Meine Mutter ist angekommen.",
    "Meine Frau ist einverstanden.",
    "Ich wohne in Berlin. Ist der Satz richtig?",
    "Our company is a leader in cloud services.",
    "As I said, please remember that.",
    "If it rains we stay at home, keep that in mind.",
    "My sister lives in Ghent, if not forget it.",
    "My sister lives in Ghent, please forget that.",
    "He comes on Thursday at 14:00, remember that?",
    "Remember that time in Rome.",
    "My wife is sick.",
    "My name is on the list.",
    "Do you remember that I live in Graz?",
    "Can you remember that my cat is called Mimi?",
    "Anna: I live in Rome.",
    "In my novel, I live in a castle.",
    "I wish I could say I live in Rome.",
    "Suppose my name is Bob.",
    "假设我叫小明。",
    "《我叫MT》很好看。",
    "我听过一首歌，歌词是我喜欢你。",
    "My password is hunter2hunter2.",
    "My locker combination is 12-34-56.",
    "My 2FA backup codes are 1234-5678.",
    "My mother's maiden name is Hubermann.",
    "My safe opens with 7391.",
    "Remember that my safe opens with 7391.",
    "Remember that the door code is 8842.",
    "My login is bob / blafasel99.",
    "我的保险柜密码是1234。",
    "我的门禁码是8842。",
    "我的备用码是1234。",
    "记住我的助记词是苹果香蕉。",
    "I am allergic to mornings.",
    "Write an email to Tom: my name is Bob and I work at Acme.",
    "My name's not important.",
    "My plan is to leave.",
    "我的身份证号码格式是 110105194912310021 吗？",
]
DURABLE = [
    "I'm a backend engineer at Nordlys.",
    "I am a nurse.",
    "I'm an accountant.",
    "I'm a single mum with two kids.",
    "We use pnpm, never npm.",
    "We use tabs, not spaces.",
    "in kestrel we use sqlx, not diesel",
    "We use Trello for the pharmacy rota.",
    "My truck is a Toyota Tacoma.",
    "My parking space at work is number 41.",
    "My brother Mateo lives in Valencia.",
    "My wife teaches at the music school.",
    "I'm vegetarian from now on.",
    "We only use Postgres.",
    "Always run ruff before committing.",
    "Never push to main without a review.",
    "Always run the linter before you commit.",
    "I hate emojis.",
    "I hate long answers.",
    "I love gardening.",
    "I can't stand jazz.",
    "My e-mail has changed.",
    "My address has changed.",
    "I moved to Perth.",
    "I've moved to Graz.",
    "I no longer eat meat.",
    "我家在苏州工业园区。",
    "我家有两只猫。",
    "我家住五楼。",
    "我的身份证放在店里的保险柜。",
    "我的车位在负二层B区031。",
    "我妈的忌日是正月十九。",
    "我家的暖气费是两千一百块。",
    "我是后端工程师。",
    "我是四川人。",
    "我是一名护士。",
    "我是左撇子。",
    "我在字节上班。",
    "我在一家医院上班。",
    "我的邮箱换了。",
    "我的手机号换了。",
    "我讨厌表情符号。",
    "提交前一定要跑测试。",
    "我是素食者。",
    "我是两个孩子的妈妈。",
]
TRANSIENT = [
    "For this I prefer tabs",
    "in the draft I prefer the old intro",
    "for the header we use blue, not green",
    "at the moment I like it",
    "我搬到沙发上睡了",
    "我搬到隔壁了",
    "我搬到阳台了",
    "我搬到二号桌了",
    "我搬到前面坐了",
    "我搬来三箱水",
    "我们搬进会议室了",
    "我爸在家工作",
    "我女儿在房间读书",
    "我同事在为我工作",
    "我爸在上班",
    "我妈在外面工作",
    "i mag nimmer",
    "ich heiße das nicht gut",
    "ich heiße sie herzlich willkommen",
    "ich heiße morgen anders",
    "mein name ist egal, hilf mir",
    "ich bin nach oben gezogen",
    "ich bin nach dem sport schnell umgezogen",
    "ich bin in den bann gezogen",
    "i mag di",
    "I don't eat lunch today",
    "I don't drink that much",
    "I don't eat there any more",
    "we never eat out",
    "I don't eat when I'm stressed",
    "I don't eat anything",
    "I never drink alone",
    "I don't drink and drive",
    "I don't eat meat in this story",
    "我不吃了",
    "我不吃这套",
    "我不吃亏",
    "我不喝这个",
    "我不吃早饭了",
    "我不吃醋",
    "我不吃肉怎么办",
    "Stop doing that.",
    "don't send it yet",
    "别发",
    "先别发出去。",
    "I like the blue one better.",
    "I like the second one more.",
    "I hate it.",
    "I hate this.",
    "I hate when that happens.",
    "I love you.",
    "I love it!",
    "I love your answer.",
    "I'm a bit tired.",
    "I'm a little confused.",
    "I'm a huge fan.",
    "I'm a beginner here.",
    "I am a moron.",
    "I'm a winner!",
    "We use it.",
    "We use a loop here.",
    "We use this function.",
    "We use Python for this task.",
    "My truck is a mess.",
    "My guess is a Sunday.",
    "My branch is a Git mess.",
    "My desk at home is oak.",
    "my brother works hard",
    "My boss works on it.",
    "my son studies at the moment",
    "My friend lives in a dream.",
    "I'm vegetarian for today.",
    "Always look on the bright side.",
    "Never mind.",
    "Always.",
    "Never again!",
    "My mind has changed.",
    "My mood changed.",
    "I moved to the next step.",
    "I no longer know.",
    "I moved on.",
    "I'm an AI.",
    "I am a customer.",
    "If I'm a nurse, what do I need?",
    "She said I'm a nurse.",
    "Pretend I'm a doctor. I'm a doctor.",
    "我家的电脑坏了。",
    "我的手机在桌上。",
    "我的钥匙放在哪？",
    "我的文件放在这里。",
    "我妈的意思是不去。",
    "我家在装修。",
    "我家今天停电。",
    "我是说明天。",
    "我是想问一下。",
    "我是不是错了？",
    "我是你爸爸。",
    "我是第一次用。",
    "我是认真的。",
    "我是好人。",
    "我是外星人。",
    "我是来找你的。",
    "我在上班。",
    "我的想法变了。",
    "我的密码换了。",
    "我的代码改了。",
    "我是在开玩笑。",
    "我讨厌你。",
    "我讨厌这个。",
    "我家有人来了。",
    "我在上班的路上。",
    "My mum's birthday is next week.",
    "我妈生日是下周。",
    "我最喜欢的杯子碎了。",
    "Ich arbeite bei schlechtem Licht.",
]
CORRECTIONS = [
    "Please don't use tables in your answers.",
    "From now on answer in German.",
    "No, the meeting is on Thursday, not on Tuesday.",
    "回答不要用表格。",
    "以后请用中文回答。",
    "不对，会议是周四。",
    "Nein, der Elternabend ist am Donnerstag, nicht am Dienstag.",
]
NO_CORRECTIONS = [
    "以后我要早睡",
    "以后我们都去那家吧",
    "schreib es nicht",
    "Erklär mir das nochmal, aber nicht so kompliziert.",
    "wir antworten immer zu spät",
    "Nenn drei Tiere, die nie schlafen",
    "Zeige Zeilen, die keine Zahl enthalten",
    "Schreib meiner Oma einen Brief, nicht zu lang",
    "Ab heute gibt es Eis",
    "ab jetzt sagt tom immer bescheid",
    "keine Emojis gefunden",
    "immer diese Emojis",
    "gib nie auf",
    "keine Ahnung",
    "No, thanks.",
    "No problem!",
    "不是的。",
    "No, that's wrong.",
    "Don't worry about it.",
    "No, it should be three, not four.",
    "Nein, danke.",
    "Nein, das ist falsch.",
    "No, I meant the allotment shed, not the house.",
    "I meant the second verse, not the first.",
    "Nein, ich meinte die große Schaufel, nicht die kleine.",
    "不对，我说的是豆豆，不是子轩。",
]


@pytest.mark.parametrize(("text", "kind", "form", "is_pinned"), STATED)
def test_statement_is_captured_literally_with_kind_of_its_form(
    text: str, kind: str, form: str, is_pinned: bool
) -> None:
    (item,) = capture_message(text).items

    assert (item.kind.value, item.form, item.is_pinned) == (kind, form, is_pinned)
    assert item.text == text
    assert item.provenance is Provenance.USER


@pytest.mark.parametrize("text", NOT_STATED)
def test_other_text_is_not_captured(text: str) -> None:
    assert capture_message(text).items == ()


@pytest.mark.parametrize("text", DURABLE)
def test_lasting_statement_is_captured(text: str) -> None:
    assert [item.text for item in capture_message(text).items] == [text]


@pytest.mark.parametrize("text", TRANSIENT)
def test_transient_statement_is_not_captured(text: str) -> None:
    assert capture_message(text).items == ()
    assert capture_message(text, answer_before="Here is something else.").items == ()


@pytest.mark.parametrize("text", CORRECTIONS)
def test_correction_of_an_answer_is_a_lesson(text: str) -> None:
    (item,) = capture_message(text, answer_before="Here is a table.").items

    assert (item.kind, item.is_pinned) == (Kind.LESSON, False)
    assert capture_message(text).items == (), "there was no answer before it"


@pytest.mark.parametrize(
    ("text", "is_rule"),
    [
        ("Please don't use tables in your answers.", True),
        ("always run black before you commit", True),
        ("回答不要用表格。", True),
        ("ab jetzt bitte immer kurz antworten", True),
        ("Antworte bitte nicht so lang.", True),
        ("Bitte keine Tabellen mehr.", True),
        ("bitte duze mich", True),
        ("verwende ab sofort keine Umlaute", True),
        ("Von jetzt an antworte auf Deutsch", True),
        ("no, use half-even rounding", False),
        ("No, the meeting is on Thursday, not on Tuesday.", False),
        ("that's wrong, the fixture is wrong not the test", False),
        ("不对，会议是周四。", False),
    ],
)
def test_every_session_is_told_rules_but_no_correction_of_one_answer(text: str, is_rule: bool) -> None:
    (item,) = capture_message(text, answer_before="Here is a table.").items

    assert item.kind is Kind.LESSON
    assert is_for_every_session(item.line()) is is_rule


@pytest.mark.parametrize("text", NO_CORRECTIONS)
def test_refusal_is_no_correction(text: str) -> None:
    assert capture_message(text, answer_before="Shall I go on?").items == ()


def test_corrected_value_after_refusal_is_captured() -> None:
    found = capture_message("That's wrong. The train leaves at nine.", answer_before="It leaves at ten.")

    assert [item.text for item in found.items] == []
    found = capture_message("That's wrong. The train is at nine.", answer_before="It leaves at ten.")
    assert [item.text for item in found.items] == ["The train is at nine."]


@given(st.sampled_from([text for text, *_ in STATED]), st.sampled_from(['"{}"', "“{}”", "「{}」", "`{}`", "> {}"]))
def test_quoted_statement_is_not_captured(text: str, quotation: str) -> None:
    assert capture_message(quotation.format(text)).items == ()


@given(st.sampled_from([text.rstrip(".。") for text, *_ in STATED]), st.sampled_from(["{}?", "{}？", "{} ?", "{}吗"]))
def test_question_is_not_captured(text: str, question: str) -> None:
    assert capture_message(question.format(text)).items == ()


@given(
    st.sampled_from([text for text, *_ in STATED]),
    st.sampled_from(
        [
            "If {}",
            "Maybe {}",
            "He said {}",
            "Translate: {}",
            "如果{}",
            "他说{}",
            "翻译：{}",
            "Let's pretend {}",
            "Do you know that {}",
        ]
    ),
)
def test_reported_or_hypothetical_statement_is_not_captured(text: str, frame: str) -> None:
    assert capture_message(frame.format(text)).items == ()


@pytest.mark.sweep
@settings(max_examples=whole_or(20, 200))
@given(st.text(max_size=300))
def test_captured_line_of_any_text_round_trips(text: str) -> None:
    for item in capture_message(text, answer_before="yes").items:
        line = item.line()
        assert parse_line(render(line)) == line


def test_captured_line_has_provenance() -> None:
    (item,) = capture_message("My phone number is +43 660 1234567.").items

    line = parse_line("- entity(i=0.95, from=user, pin): My phone number is +43 660 1234567.")
    assert isinstance(line, RetainedLine)
    assert item.line() == line


def test_message_gives_at_most_six_memories_with_identifiers_first() -> None:
    likes = " ".join(f"I like hiking in country{n}." for n in range(9))
    found = capture_message(f"{likes} My phone number is +43 660 1234567.")

    assert len(found.items) == ITEMS_MAX
    assert found.items[0].kind is Kind.ENTITY
    assert len(found.dropped) == 4


def test_identifiers_can_be_disabled() -> None:
    found = capture_message("My phone number is +43 660 1234567.", identifiers=False)

    assert found.items == ()
    assert "memory.capture.identifiers" in found.dropped[0].reason


def test_nothing_is_pinned_outside_direct_chats() -> None:
    (item,) = capture_message("My name is Lena Hofer.", is_direct=False).items

    assert not item.is_pinned


def test_failure_is_captured_with_its_tool_and_no_pin() -> None:
    (item,) = capture_failure("timed out\n  three times", "browser").items

    assert (item.kind, item.text) == (Kind.FAILURE, "browser: timed out three times")
    assert not item.is_pinned
    assert capture_failure("  ").items == ()


@pytest.mark.parametrize(
    ("number", "expected"),
    [("11010519491231002X", True), ("110105194912310021", False), ("11010519491331002X", False)],
)
def test_resident_id_is_recognised_by_check_digit_and_birthday(number: str, expected: bool) -> None:
    assert is_resident_id(number) is expected


@pytest.mark.parametrize(
    "piece", ["my ", "我", "please ", "no, ", "(", '"', "> ", "1 2", "a.b@", "really ", "：", "```", "我的"]
)
def test_hostile_message_is_captured_in_linear_time(piece: str) -> None:
    with soon():
        assert capture_message(piece * (4000 // len(piece)), answer_before="x").items == ()
