"""Corrections without a fixed form: a word of change, and evidence for one line."""

import pytest

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture.capture import CaptureVerdict, marker_of
from tests.unit.domain.memories.books import book_from
from tests.unit.domain.memories.capture.test_revisions import NOTES, superseded, verdict_on

MEMORY = [
    "W @Oskar: Oskar is seven and goes to Lindenhof school.",
    "W @Oskar: Oskar has swimming on Mondays at 16:00.",
    "W @Swimming: The swimming teacher is Frau Kessler.",
    "W @Greta: Greta is allergic to hazelnuts.",
    "W @Greta: Greta plays the cello.",
    "W @Car: The car is a Dacia Jogger.",
    "W @Garage: The car is serviced at Reiter's garage.",
    "W @Internet: The broadband comes from Sky.",
    "W @Mortgage: The mortgage is with Nationwide at 2.1 percent.",
    "W @Work: My shift starts at 6:30.",
    "W @Work: My supervisor is Denise.",
    "W @Work: The lockers are in building C.",
    "W @Allotment: The allotment costs 45 pounds a year.",
    "W @Allotment: The beans are in the bed by the fence.",
    "W @Bees: The hives stand behind the chapel.",
    "W @Church: The organist is Mr Tennant.",
    "W @Church: Rehearsal is in the vestry.",
    "W @Mum: Mum takes 10 mg of lisinopril in the morning.",
    "W @Mum: Mum's carer is Beata, she comes at nine.",
    "W @Mum: Mum lives in Alder Court, flat 12.",
    "W @Dog: The dog is walked by Jonas at noon.",
    "W @Dog: The dog eats Royal Canin.",
    "W @Bank: The joint account is at Barclays.",
    "W @Phone: My phone is a Pixel 6.",
    "W @Holiday: We spend Easter in Whitby.",
    "W @Bins: The bins are collected on Thursdays.",
    "W @Band: The band practises at Steve's barn.",
    "W @Band: The drummer is Lol.",
    "W @Band: We play 90 minutes.",
    "W @Server: The photos are backed up to a Synology.",
    "W @Server: The media server runs on Plex.",
    "W @Club: The club fee is 18 pounds a month.",
    "W @Kitchen: The oven is a Bosch.",
    "W @Tax: The tax return is done by Hargreaves.",
    "W @Newspaper: The paper is delivered by Ali.",
    "W @Book-Club: The book club meets at Jan's on the first Wednesday.",
    "W @Book-Club: The next book is Middlemarch.",
    "W @Gym: I swim at the Lido.",
    "W @Glasses: My optician is Vision Plus.",
    "W @Coffee: The beans come from Small Batch.",
]
REPLACED = [
    ("Oskar has swimming on Mondays at 16:00.", "Oskar's swimming has been moved, it's Wednesdays at 16:30 now"),
    (
        "The swimming teacher is Frau Kessler.",
        "Frau Kessler is on maternity leave, Herr Brandt teaches the swimming now",
    ),
    ("Greta plays the cello.", "Greta packed in the cello, she's playing the trumpet"),
    ("The broadband comes from Sky.", "Had enough of Sky, the broadband's from Zen now"),
    ("The mortgage is with Nationwide at 2.1 percent.", "we remortgaged with Halifax, done with Nationwide"),
    ("My supervisor is Denise.", "Denise got promoted, Marek is my supervisor now"),
    ("The allotment costs 45 pounds a year.", "allotment's gone up to 52 pounds"),
    ("Rehearsal is in the vestry.", "no more vestry, rehearsal is in the hall"),
    ("Mum takes 10 mg of lisinopril in the morning.", "doctor upped Mum's lisinopril to 20 mg"),
    ("Mum's carer is Beata, she comes at nine.", "Beata left, Mum's new carer is Ilona"),
    ("The dog is walked by Jonas at noon.", "Jonas can't do the dog any more, Pia walks her at noon"),
    ("The dog eats Royal Canin.", "the dog went off Royal Canin, she gets Lily's Kitchen now"),
    ("The joint account is at Barclays.", "closed the account at Barclays, the joint one is with Monzo"),
    ("The bins are collected on Thursdays.", "bins are Fridays from now on"),
    ("The band practises at Steve's barn.", "Steve sold the barn, the band practises at the scout hut"),
    ("The photos are backed up to a Synology.", "the Synology packed up, photos go to Backblaze"),
    ("The media server runs on Plex.", "switched the media server to Jellyfin"),
    ("The club fee is 18 pounds a month.", "club fee is 21 quid a month now"),
    ("The oven is a Bosch.", "the Bosch gave up, we've got a Neff oven"),
    ("The tax return is done by Hargreaves.", "Hargreaves retired, my tax return's with Priya Shah now"),
    ("The next book is Middlemarch.", "we swapped Middlemarch for Piranesi"),
    ("I swim at the Lido.", "The Lido shut for good, I swim at Ponds Forge"),
    ("My optician is Vision Plus.", "I got it wrong about the optician, it's Specsavers"),
    ("Greta is allergic to hazelnuts.", "my mistake: Greta's allergic to almonds, not hazelnuts"),
]
NO_CORRECTION = [
    "the bins weren't collected again",
    "The Lido was closed, so I went running instead",
    "we sold out of honey at the church",
    "Oskar went swimming again and lost his goggles",
    "Frau Kessler was ill, so no swimming today",
    "Greta's cello needs a new string",
    "The Dacia wouldn't start again",
    "Reiter's garage was shut when I got there",
    "Sky was down again, so I read a book instead",
    "Nationwide sent a new letter about the mortgage",
    "My shift was awful, never again",
    "Denise is on holiday now, it's quiet",
    "I left my jacket in the lockers",
    "The beans are up now, lovely",
    "I sold two jars of beans at the fair",
    "the hives were quiet, I left them alone",
    "Mr Tennant played badly again, Sally laughed",
    "the vestry is freezing now",
    "Mum forgot her lisinopril again",
    "Beata brought cake, Mum is happy now",
    "Alder Court has a new lift",
    "Jonas was late again, the dog had an accident",
    "The dog is sick now, poor thing",
    "Barclays app has changed its colours",
    "My Pixel is charging now",
    "Easter was cold, Whitby was empty, we're home again",
    "Steve's barn was full of hay, so we jammed outside",
    "Lol dropped his sticks again, the gig went fine",
    "We played 90 minutes again, I'm dead now",
    "the Synology is making noise again",
    "Plex needs an update again",
    "Paid the club fee, that's done now",
    "The oven is dirty again, the Bosch deserves better",
    "Hargreaves called, the tax return isn't done",
    "Ali was late, no paper this morning",
    "Jan cancelled, book club next week instead",
    "I finished Middlemarch, now I need a rest",
    "The Lido was packed, I left again",
    "Small Batch has a new roast",
    "new recipe: beans with bacon",
    "I've bought a new lamp for the kitchen",
    "Oskar's school has new windows",
    "Oskar and Greta are fighting again",
    "we lost at cards again, Denise won",
    "I moved the beans to the sunny side of the kitchen, they're sprouting now",
    "the band was great, Steve was not there",
    "the car is dirty again since I drove to Whitby",
    "dropped the dog at Jonas's, I'm at work now",
    "Mum isn't answering, maybe she's out",
    "I gave up waiting for the bins, took them back in",
    "the photos of Whitby are gone, my Pixel ate them",
    "Marek is back, Denise can relax now",
    "Sally got the wrong key, the church was closed",
    "Bev left her drums at the barn, Lol was annoyed",
    "new week, new luck",
    "it turns out the bus was early",
    "I've had enough of this rain now",
    "my tooth is fine again",
    "Zen garden is done, I'm proud now",
]
CHINESE_MEMORY = [
    "W @保洁: 保洁阿姨是小尹。",
    "W @报销: 小李负责报销。",
    "W @女儿: 女儿学钢琴，老师是方老师。",
    "W @房租: 房租每月三千二。",
    "W @测试: 测试环境在华为云。",
    "W @快递: 快递放在南门。",
    "W @早餐: 早餐在老张家吃。",
    "W @宽带: 宽带是电信的。",
    "W @司机: 送货的司机是老马。",
    "W @押金: 入住押金是两百元。",
    "W @床单: 床单送到洁雅去洗。",
]
CHINESE_REPLACED = [
    ("保洁阿姨是小尹。", "小尹回老家了，保洁现在是小丁"),
    ("送货的司机是老马。", "老马跳槽了，送货的换了小冯"),
    ("快递放在南门。", "南门不让放了，快递以后放北门"),
    ("入住押金是两百元。", "押金我调到三百元了，上回有人把茶台烫坏了。"),
    ("床单送到洁雅去洗。", "洁雅涨价太狠，床单改送白鹤那边洗了。"),
]
CHINESE_NO_CORRECTION = [
    "打印机又没纸了",
    "比亚迪又降价了，车市真卷",
    "华为云又挂了，测试环境进不去",
    "电信又涨价了，烦",
    "女儿又不想练琴了，方老师很无奈",
    "老张家今天关门，早餐没吃",
    "换了件衣服，现在出门",
    "我现在回到工位了",
]

BOTH_TRUE = [
    ("W @Tanks: In the left tank are the sea urchins.", "In the right tank there are periwinkles now."),
    ("W @Bea: Bea's birthday is on 3 February.", "Just found out Idris's birthday is on 21 June."),
    (
        "W @Teaching: In the fall term Noor teaches the invertebrate lab.",
        "In the winter term I'm teaching biostatistics now.",
    ),
    ("W @Dogs: The older sheepdog is called Moss.", "We've got a new sheepdog, she's called Tess."),
    ("W @Aoife: Aoife does the morning milking.", "Tomás does the evening milking now."),
    ("W @Costumes: The red ball gown is hired from Angels.", "The green coat is from Cosprop now."),
    ("W @Stages: The stage in Ludlow is flat.", "Turns out the stage in Buxton is raked."),
    ("W @Imogen: Imogen likes to be called ten minutes early.", "Desh now wants to be called at the last moment."),
    ("W @Vet: The vet for the horses is Dr Moss.", "The cats have a new vet, Dr Hill."),
    ("W @Kids: Lena goes to Hill School.", "Max goes to Park Lane now."),
    ("W @Rent: The flat in Leeds costs 850 pounds.", "The garage costs 60 pounds now."),
    ("W @Phones: My work phone is an iPhone.", "My private phone is a Pixel now."),
    ("W @Meds: Dad takes ramipril.", "Mum takes lisinopril now."),
    ("W @Office: The Berlin office has 40 people.", "The Munich office has 25 people now."),
    ("W @Team: The backend is written in Go.", "The frontend is written in Svelte now."),
    ("W @Coffee: At work I drink espresso.", "At home I drink decaf now."),
    ("W @Band: Lol plays the drums.", "Bev plays the bass now."),
    ("W @Sisters: Anna lives in Ghent.", "Paula moved to Lille."),
    ("W @Car: Tom drives a Golf.", "Greta bought a Fiat."),
    ("W @Choir: The altos rehearse on Monday.", "The tenors rehearse on Thursday from now on."),
    ("W @Wifi: The wifi upstairs is called Alba.", "The wifi downstairs is now called Bora."),
    ("W @无线网: 一楼的无线网叫苍山。", "二楼的无线网现在叫洱海。"),
    ("W @房价: 暑假的房价是五百八。", "冬天的房价改成三百二了。"),
    ("W @进度: 三班讲到氧化还原。", "五班现在讲到离子反应了。"),
    ("W @试剂: 硝酸银放在棕色瓶里。", "金属钠现在放在煤油里了。"),
    ("W @苏晓彤: 苏晓彤改卷子用红笔。", "苏晓彤写教案改用铅笔了。"),
    ("W @爸: 爸爸吃络活喜。", "妈妈换成二甲双胍了。"),
    ("W @老师: 语文老师是方老师。", "数学老师换成何老师了。"),
    ("W @车: 我的车是比亚迪。", "老婆的车换成特斯拉了。"),
    ("W @会: 部门周会在星期一。", "项目周会改到星期三了。"),
    ("W @宠物: 猫叫咪咪。", "新来的狗叫旺财。"),
    ("W @家: 哥哥住在杭州。", "姐姐搬到宁波了。"),
    ("W @货: 米从东北订。", "面粉现在从河南订了。"),
    ("W @司机: 早班司机是老马。", "晚班司机换成小冯了。"),
    ("W @Doctor: My dentist is Dr Weiss.", "My optician is Dr Brand now."),
    ("W @Garden: The roses are by the gate.", "The tulips moved to the terrace."),
    ("W @Backup: The photos are backed up to a Synology.", "The mails are backed up to Backblaze now."),
    ("W @Gym: Kim trains at FitBox.", "I train at Ponds Forge now."),
    ("W @Paper: Ali delivers the paper.", "Ruth delivers the milk now."),
]


def captured(
    message: str, memory: list[str], answer: str = "", *, may_supersede: bool = True
) -> tuple[CaptureVerdict, Book]:
    book = book_from({NOTES: memory})
    return verdict_on(message, book, answer=answer, may_supersede=may_supersede), book


def contradicted(verdict: CaptureVerdict, book: Book) -> list[str]:
    return [book.find(one).text for item in verdict.items for one in item.contradicts]


@pytest.mark.parametrize(("old", "message"), [*REPLACED, *CHINESE_REPLACED])
def test_correction_supersedes_its_line_only(old: str, message: str) -> None:
    verdict, book = captured(message, MEMORY if message.isascii() else CHINESE_MEMORY)

    assert superseded(verdict, book) == [old]
    assert contradicted(verdict, book) == []


@pytest.mark.parametrize("message", [*NO_CORRECTION, *CHINESE_NO_CORRECTION])
def test_ordinary_sentence_is_not_captured(message: str) -> None:
    assert captured(message, MEMORY if message.isascii() else CHINESE_MEMORY)[0].items == ()


@pytest.mark.parametrize(("line", "message"), BOTH_TRUE)
def test_line_about_other_thing_place_time_or_person_is_unchanged(line: str, message: str) -> None:
    verdict, book = captured(message, [one for one, _ in BOTH_TRUE])

    assert line in {f"W @{memory.line.entities[0]}: {memory.text}" for memory in book.memories.values()}
    assert superseded(verdict, book) == contradicted(verdict, book) == []


def test_denial_of_an_answer_supersedes_its_line() -> None:
    memory = "W @Half: The half is called at 18:55."
    message = "It isn't, curtain up is earlier on this tour so it's 18:25"
    verdict, book = captured(message, [*MEMORY, memory], answer="The half is called at 18:55, so be there before that.")

    assert superseded(verdict, book) == ["The half is called at 18:55."]
    assert captured(message, [*MEMORY, memory])[0].items == ()


def test_returning_value_supersedes_the_one_between() -> None:
    memory = ["W @Labels: The labels are made by Snap in Ennis.", "W @Labels: The labels are made by Clare Colour."]
    verdict, book = captured("I've gone back to Snap for the labels, Clare Colour never got the green right.", memory)

    assert "The labels are made by Clare Colour." in superseded(verdict, book)


@pytest.mark.parametrize(
    "message",
    [
        "gave up the stall in Kilrush, I'm selling in Limerick instead now",
        "I've left the Minerva and signed on with the Whalebone for the darts.",
        "They've moved me, so I share with Camille now instead of Rahul.",
        "膝盖受不了，我不跑步了，改成晚上游泳。",
    ],
)
def test_own_change_with_both_values_is_captured_without_a_line(message: str) -> None:
    verdict, _ = captured(message, [])

    assert [item.text for item in verdict.items] == [message]


AMONG_OTHER_TEXT = [
    (
        "The club fee is 18 pounds a month.",
        "Cold at the meeting. Club fee is 21 quid a month now. Word me a note for the board?",
    ),
    ("The dog eats Royal Canin.", "not Royal Canin, the dog gets Lily's Kitchen"),
]
DOUBTFUL_CONTEXT = [
    "Denise got promoted, Marek is my supervisor now. Is this sentence correct?",
    "Club fee is 21 quid a month now. Can you make the wording nicer?",
    "My aunt says it is all different. Denise got promoted, Marek is my supervisor now.",
    "If we had a vote, it were so. Club fee is 21 quid a month now.",
    "since the new rota my shift starts at 7, she said",
    "not the lockers, show me the rota",
]


@pytest.mark.parametrize(("old", "message"), AMONG_OTHER_TEXT)
def test_correction_among_other_text_is_recognised(old: str, message: str) -> None:
    verdict, book = captured(message, MEMORY)
    assert [*superseded(verdict, book), *contradicted(verdict, book)] == [old]


@pytest.mark.parametrize("message", DOUBTFUL_CONTEXT)
def test_text_in_doubtful_context_corrects_nothing(message: str) -> None:
    assert captured(message, MEMORY)[0].items == ()


@pytest.mark.parametrize(
    ("old", "message"),
    [
        ("Eli takes the bus.", "Eli doesnt take the bus any more, he walks"),
        ("The boiler is a Vaillant.", "oh wait, the boiler isnt a Vaillant, it's a Junkers"),
        ("Choir is on Mondays at 19:00.", "choir is on Tuesdays at 19:00 now, everything else as before"),
        ("小邓每周二休息。", "小邓改成每周四休息了，别的照旧。"),
    ],
)
def test_missing_apostrophe_and_remark_on_the_rest_are_ignored(old: str, message: str) -> None:
    assert marker_of(message, has_answer=False)
    verdict, book = captured(message, [f"W @Of: {old}", "W @Noor: Noor takes the tram."])
    assert superseded(verdict, book) == [old]
    assert not any("n't" in item.text for item in verdict.items), "the text is kept as written"


@pytest.mark.parametrize(
    "message",
    [
        "choir is on Tuesdays at 19:00 now, everything else as before?",
        "der Chor ist jetzt dienstags um 19 Uhr, der Rest bleibt?",
        "Dont moved to Leipzig",
        "see github.com/eli/dont-panic",
        "call Ann, everything else is fine",
    ],
)
def test_question_name_or_address_is_no_correction(message: str) -> None:
    verdict, book = captured(message, ["W @Choir: Choir is on Mondays at 19:00.", "W @Dont: Dont lives in Dresden."])
    assert superseded(verdict, book) == contradicted(verdict, book) == []


def test_end_of_captured_text_is_kept() -> None:
    verdict, _ = captured("The boiler isn't a Vaillant!!! It's a Junkers", ["W @Boiler: The boiler is a Vaillant."])
    assert [item.text.endswith("It's a Junkers") for item in verdict.items] == [True]
