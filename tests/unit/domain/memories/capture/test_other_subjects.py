"""Sentences about other people, things, single events or plans revise nothing."""

import pytest

from tests.unit.domain.memories.books import book_from
from tests.unit.domain.memories.capture.test_revisions import LATER, revise, superseded, verdict_on

OTHER_OWNER = [
    ("My dentist is Dr. Weber in Lindenstrasse 5", "My sister's dentist is Dr. Klein, not Dr. Weber"),
    ("My dentist is Dr. Weber in Lindenstrasse 5", "Tom's dentist isn't Dr. Weber, it's Dr. Klein"),
    ("My phone is a Pixel 7", "My brother's phone isn't a Pixel 7, it's a Pixel 9"),
    ("My phone is a Pixel 7", "A friend's phone is a Pixel 9 now"),
    ("My bank is ING", "Ben's bank is no longer ING but DKB"),
    ("Our cat is allergic to chicken", "Our neighbours' cat isn't allergic to chicken, it's beef"),
    ("My landlord is Mr Petri", "Carla's landlord is no longer Mr Petri, it's Mr Vogt"),
    ("Rent is 850 euros a month", "Nadia's rent went up to 910 euros"),
    ("Tom's class is 4b", "Nadia's class is 5a now"),
    ("My car is a Skoda Octavia", "My boss's car is no longer a Skoda Octavia, it's a Tesla"),
    ("The gym costs 30 euros a month", "My wife's gym costs 35 euros now"),
    ("My sister's dentist is Dr. Weber", "My dentist is Dr. Klein, not Dr. Weber"),
    ("Dana's birthday is on 12 March", "My birthday is on 14 March, not 12 March"),
    ("My brother's phone is a Pixel 7", "My phone is a Pixel 9 now, not a Pixel 7"),
    ("我家的车是比亚迪汉，车牌尾号7", "朋友的车卖了，换成特斯拉了"),
    ("我家的车是比亚迪汉", "同事的车不是比亚迪汉，是特斯拉"),
    ("我家的猫叫咪宝", "邻居家的猫不叫咪宝，叫豆豆"),
    ("我的牙医是孙大夫", "姐姐的牙医不是孙大夫，是吴大夫"),
    ("班主任是陈老师", "表弟的班主任不是陈老师，是刘老师"),
    ("路由器是华为的", "隔壁的路由器换成小米的了"),
    ("房租是三千二", "朋友的房租涨到三千五了"),
    ("我的手机是小米", "小王的手机换成苹果了"),
    ("爸爸的车是比亚迪", "我的车不是比亚迪，是特斯拉"),
    ("My wife Julia works at the city hospital", "my colleague's wife no longer works at the city hospital"),
    ("老公在华为上班，负责存储团队", "老公的同事从华为离职了"),
    ("妈妈住在苏州", "妈妈的妹妹搬到无锡了"),
    ("我家住在三楼", "同学家搬到五楼了"),
]
OTHER_THING = [
    ("Lena's school starts at 8:10", "The school bus leaves at 7:45 now, not 8:10"),
    ("The billing API runs on port 8080", "The billing API docs moved to Notion"),
    ("I work at Siemens as a backend engineer", "I no longer work from Siemens' office on Fridays"),
    ("服务器部署在阿里云，端口是8080", "测试服务器端口改成9090了"),
    ("例会在周三下午三点，三号会议室", "例会的主持人换成小王了"),
    ("儿子在实验小学上三年级", "儿子不在实验小学操场，在教室"),
    ("Dana's birthday is on 12 March", "Dana's birthday party is on 14 March, not 12 March"),
    ("My phone is a Pixel 7", "My work phone isn't a Pixel 7, it's a Samsung"),
    ("The car is a Skoda", "The car insurance is no longer with Skoda, it's with Allianz"),
    ("The wifi router is a Netgear", "The guest wifi router isn't a Netgear, it's a Zyxel"),
    ("The printer is a Brother", "The label printer isn't a Brother, it's a Dymo"),
    ("The team meeting is at 10:00", "The team meeting notes are due at 11:00, not at 10:00"),
    ("The flight to Oslo leaves at 7:40", "The flight briefing is at 9:15, not at 7:40"),
    ("The database is Postgres 14", "The test database is no longer Postgres 14, it's Postgres 16"),
    ("The cron job runs every 15 minutes", "The cleanup cron job runs every 5 minutes now"),
    ("The plumber comes on Monday", "actually the plumber came on Tuesday"),
    ("The meeting is at 9:30", "actually the other meeting is at 10:00"),
    ("The meeting is at 9:30", "actually, one meeting is at 10:00"),
    ("Anna does the books on Thursdays", "wait, Anna comes on Tuesday"),
    ("My dentist is Dr. Weiss", "Actually Dr. Brand is a dentist"),
    ("My dentist is Dr. Weiss", "Dr. Brand is a dentist now"),
    ("Der Kuchen wird mit Butter gebacken", "Wir nehmen Öl statt Butter"),
    ("Der Kuchen wird mit Butter gebacken", "Ich nehme nicht Butter, sondern Öl"),
    ("Der Klempner kommt am Montag", "Ich meine, der Klempner kommt am Dienstag"),
]
OTHER_RELATION = [
    ("老公在华为上班，负责存储团队", "老公换了辆车"),
    ("Tom works at Siemens", "Tom switched to a Fairphone"),
    ("Tom plays the drums", "Tom moved to Kiel"),
    ("The landlord is Mr. Braun, rent is 1200 euros", "The landlord's rent is now 1300 euros for the flat above us"),
    ("I work at Siemens as a backend engineer", "Siemens is no longer hiring backend engineers"),
    ("I work at Siemens as a backend engineer", "Siemens moved its office to Garching"),
    ("I work at Siemens", "Siemens no longer sponsors the marathon"),
    ("I live in Munich", "Munich has no longer a night train to Paris"),
    ("I live in Munich", "Munich is no longer cheap"),
    ("I drive a Polo", "The Polo is no longer built in Spain"),
    ("I use Vim as my editor", "Vim isn't written in Rust, it's written in C"),
    ("My sister works at Bosch", "Bosch moved its plant to Poland"),
    ("The newsletter is sent with Mailchimp", "Mailchimp moved its office to Dallas"),
    ("The website is hosted on Netlify", "Netlify raised its prices to 25 dollars"),
    ("老公在华为上班，负责存储团队", "华为不再卖这款手机了"),
    ("老公在华为上班", "华为总部从深圳搬到东莞了"),
    ("我在腾讯工作", "腾讯不再招实习生了"),
]
ONCE = [
    ("Backups run every night at 2 to the Synology NAS", "The NAS backup didn't run at 2 last night, it ran at 3"),
    ("Backups run every night at 2:00", "The backup wasn't at 2:00 last night, it was at 3:00"),
    ("The stand-up starts at 9:15 every day", "The stand-up didn't start at 9:15 yesterday, it started at 9:40"),
    ("The choir rehearses on Tuesday", "The choir didn't rehearse on Tuesday, it rehearsed on Wednesday"),
    ("Lunch is in the canteen", "Lunch wasn't in the canteen yesterday, it was in the garden"),
    ("The bus leaves at 7:30", "The bus left at 7:45 this morning, not at 7:30"),
    ("Emma goes to school by bus", "Emma didn't go to school by bus yesterday, she went by bike"),
    ("例会在周三下午三点", "昨天的例会不是三点，是四点开的"),
    ("备份每天凌晨两点跑", "昨晚备份不是两点跑的，是三点跑的"),
    ("班车七点半发车", "昨天班车不是七点半发车，是七点五十"),
]
PLANS = [
    ("The stand-up is at 9:30 in room Orion", "Rumour has it that the stand-up is moving to 10"),
    ("老公在华为上班", "老公说不去华为了"),
    ("I use Vim as my editor", "I'm thinking about switching from Vim to Helix"),
    ("I use Vim as my editor", "I'm considering moving from Vim to Helix"),
    ("I use Vim as my editor", "I'd like to switch from Vim to Helix"),
    ("I use Vim as my editor", "I'm tempted to switch from Vim to Helix"),
    ("I use Vim as my editor", "I hope to move from Vim to Helix"),
    ("I use Vim as my editor", "I tried switching from Vim to Helix"),
    ("The website is hosted on Netlify", "We're discussing a move from Netlify to Cloudflare"),
    ("The website is hosted on Netlify", "We're planning on moving from Netlify to Cloudflare"),
    ("My bank is ING", "Thinking of switching from ING to DKB"),
    ("The repo uses pnpm", "We're debating whether to change from pnpm to bun"),
    ("The repo uses pnpm", "It might be better to switch from pnpm to bun"),
    ("My car is a Skoda Fabia", "I plan on selling the Skoda Fabia and moving to a Zoe"),
    ("数据库用的是MySQL", "我们在考虑从MySQL换到PostgreSQL"),
    ("数据库用的是MySQL", "我们考虑把MySQL换成PostgreSQL"),
    ("我在腾讯工作", "我想从腾讯辞职"),
    ("我在腾讯工作", "我打算从腾讯离职了"),
    ("我住在苏州", "我在想要不要从苏州搬到无锡"),
    ("我住在苏州", "我们可能搬到无锡"),
    ("网站部署在阿里云", "网站正考虑迁到腾讯云"),
    ("公司用钉钉", "公司希望改用飞书"),
]
EXPLAINED = [
    ("儿子在实验小学上三年级，班主任是李老师", "班主任不是李老师，是数学老师批评的他"),
    ("班主任是李老师", "不是李老师，是数学老师打电话给我的"),
    ("登录服务由小赵负责", "登录服务不是小赵弄坏的，是小钱改的代码"),
    ("服务器部署在阿里云", "服务器不是阿里云挂了，是网络不通"),
    ("牛奶订的是伊利", "不是伊利不好，是我喝腻了"),
    ("我喜欢喝龙井", "我不是不喜欢龙井，是喝了睡不着"),
    ("The cleaner comes on Friday", "It's not that the cleaner comes on Friday, it's that she comes late"),
    ("My dentist is Dr. Weber", "It wasn't Dr. Weber who called, it was the nurse"),
]
NO_REVISIONS = [*OTHER_OWNER, *OTHER_THING, *OTHER_RELATION, *ONCE, *PLANS, *EXPLAINED]


@pytest.mark.parametrize(("memory", "message"), NO_REVISIONS)
def test_nothing_is_superseded(memory: str, message: str) -> None:
    verdict, book = revise(message, f"W @Thing: {memory}")

    assert superseded(verdict, book) == []


REVISIONS = [
    ("My dentist is Dr. Weber in Lindenstrasse 5", "My dentist is Dr. Klein, not Dr. Weber"),
    ("My sister's dentist is Dr. Weber", "My sister's dentist isn't Dr. Weber, it's Dr. Klein"),
    ("Dana's birthday is on 12 March", "Dana's birthday isn't on 12 March, it's on 13 March"),
    ("Dana's birthday party is on 12 March", "Dana's birthday party is on 14 March, not 12 March"),
    ("I work at Siemens as a backend engineer", "I no longer work at Siemens, I work at Bosch"),
    ("I use Vim as my editor", "I switched from Vim to Helix"),
    ("Backups run every night at 2 to the Synology NAS", "Backups don't run at 2 any more, they run at 3"),
    ("My work phone is a Pixel 7", "My work phone isn't a Pixel 7, it's a Samsung"),
    ("我家的车是比亚迪汉", "我家的车不是比亚迪汉了，换成特斯拉了"),
    ("June eats meat", "June no longer eats meat"),
    ("We use npm for the frontend", "We no longer use npm, we moved to pnpm"),
    ("儿子在实验小学上三年级，班主任是李老师", "班主任不是李老师，是王老师"),
    ("数据库用的是MySQL", "数据库从MySQL换到PostgreSQL了"),
    ("爸爸的车是比亚迪", "爸爸的车不是比亚迪，是特斯拉"),
]


@pytest.mark.parametrize(("memory", "message"), REVISIONS)
def test_revision_of_same_subject_supersedes(memory: str, message: str) -> None:
    verdict, book = revise(message, f"W @Thing: {memory}")

    assert superseded(verdict, book) == [memory]


def test_returning_habit_supersedes_no_other_habit() -> None:
    lines = ("W @June: June eats vegetarian.", "W @June: June eats meat.", "W @June: June plays the clarinet.")
    verdict, book = revise("June has gone back to vegetarian food, no meat for her.", *lines)

    assert "June plays the clarinet." not in superseded(verdict, book)


@pytest.mark.parametrize(
    ("message", "is_captured"),
    [
        ("I switched from Vim to Helix", True),
        ("We no longer use npm, we moved to pnpm", True),
        ("I moved to Berlin last week", True),
        ("I no longer live in Munich, I moved to Berlin", True),
        ("I switched from dark mode to light mode in Vim", False),
        ("I switched to the other branch", False),
        ("I moved the notes to the wiki", False),
        ("moved the notes to monday.md", False),
        ("moved judo to 6", True),
        ("changed the padding to 8", False),
        ("pushed it to friday", False),
        ("I no longer care", False),
        ("My brother switched from Vim to Helix", False),
        ("I'm thinking about switching from Vim to Helix", False),
    ],
)
def test_own_change_is_captured_without_older_line(message: str, is_captured: bool) -> None:
    verdict, _ = revise(message)

    assert [(one.text, one.supersedes, one.contradicts) for one in verdict.items] == [(message, (), ())] * is_captured


@pytest.mark.parametrize("message", ["我的邮箱换了，新的是 li@ex.com", "My email changed, it is now li@ex.com"])
def test_changed_own_address_is_captured(message: str) -> None:
    verdict, _ = revise(message)

    assert [one.text for one in verdict.items] == [message]


@pytest.mark.parametrize(("scope", "is_revised"), [("", True), ("(scope=agent:a)", True), ("(scope=agent:b)", False)])
def test_agent_revises_its_own_lines_and_those_of_the_workspace(scope: str, is_revised: bool) -> None:
    message = "The lamp isn't a Philips, it's an Osram."
    book = book_from({LATER: [f"- W{scope}: The lamp is a Philips."]})
    verdict = verdict_on(message, book, scope="agent:a")

    assert superseded(verdict, book) == ["The lamp is a Philips."] * is_revised


def test_line_superseded_for_other_agent_is_current() -> None:
    message = "The lamp isn't a Philips, it's an Osram."
    older = book_from({LATER: ["- W: The lamp is a Philips."]}).by_day[0].id[:8]
    lines = ["- W: The lamp is a Philips.", f"- W(scope=agent:b, supersedes={older}): The lamp is an Ikea."]
    book = book_from({LATER: lines})
    verdict = verdict_on(message, book, scope="agent:a")

    assert superseded(verdict, book) == ["The lamp is a Philips."]
