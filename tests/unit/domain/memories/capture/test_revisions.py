"""The memory that a message revises: one that it denies, or for which it has another value."""

from datetime import date

import pytest

from memoryd.domain.memories.book import Book
from memoryd.domain.memories.capture import targets
from memoryd.domain.memories.capture.capture import CaptureVerdict, capture_message
from memoryd.domain.memories.capture.renewal import with_revisions
from memoryd.domain.memories.capture.revisions import revisions_of, subject_of
from memoryd.domain.memories.generated import message_about
from memoryd.domain.memories.kinds import Kind, short_id
from memoryd.domain.memories.line import Provenance
from tests.unit.domain.memories.books import book_from, line_of

DAY = date(2026, 11, 23)
NOTES = "memory/2026-11-01.md"
LATER = "memory/2026-11-08.md"
OTHERS = [
    "The office printer is an HP M209.",
    "Anna does the books on Thursdays.",
    "The car is a Skoda.",
    "My sister lives in Clifton.",
    "My sister works at Siemens.",
    "I like tea.",
    "The build takes nine minutes.",
    "The CI runs on Buildkite.",
    "The API listens on port 8443.",
    "Lunch is at noon.",
    "Bert plays the drums.",
    "The cat is called Mia.",
    "The stand-up is at 9:30.",
    "Release notes are written by Carla.",
    "小李住在苏州。",
    "办公室的打印机是惠普。",
    "我喜欢喝茶。",
    "女儿六岁。",
    "猫叫咪咪。",
    "周会在星期一上午十点。",
    "报表由小费发。",
    "测试环境在华为云。",
]
"""Other lines of the book."""
REVISED = [
    ("The dishwasher is a Bosch.", "", "The dishwasher isn't a Bosch, it's a Miele."),
    ("The dishwasher is a Bosch.", "", "Correction: it's a Miele dishwasher, not a Bosch."),
    ("The dishwasher is a Bosch.", "", "Our dishwasher never was a Bosch, it's a Miele."),
    (
        "Parcels go to the depot in Leith.",
        "",
        "Parcels don't go to the depot in Leith any more but to the one in Granton.",
    ),
    ("I live in Clifton.", "", "We moved to Bedminster, so I don't live in Clifton any more."),
    ("I live in Clifton.", "", "I've moved from Clifton to Bedminster."),
    ("i live in clifton", "", "i moved to bedminster in march"),
    ("I work at Siemens.", "", "I left Siemens, I'm at Bosch now."),
    ("I work at Siemens.", "", "I started at Bosch last month; I'm no longer at Siemens."),
    ("The big mixer is a Yamaha MG-12.", "", "Hang on, the big mixer isn't a Yamaha MG-12. It's a Mackie 1604."),
    ("The pager rota starts on Mondays.", "", "You have that the pager rota starts on Mondays. It's Wednesdays."),
    ("The seeds are in cupboard C, shelf 2.", "", "Small correction, the seeds are in cupboard E, shelf 4."),
    (
        "Die Winterreifen liegen bei Reifen Busch.",
        "",
        "Die Winterreifen liegen nicht mehr bei Reifen Busch, sondern bei Autohaus Meyer.",
    ),
    ("The plumber comes on Monday.", "", "actually the plumber comes on Tuesday"),
    ("The gym costs 39 euros a month.", "", "Sorry, the gym costs 45 euros a month."),
    ("Das Internet kommt von Vodafone.", "", "Wir nehmen jetzt Telekom statt Vodafone."),
    ("Die Probe ist am Montag um 19 Uhr.", "", "Die Probe ist auf Mittwoch verschoben."),
    ("Die Probe ist am Montag um 19 Uhr.", "", "Wir haben die Probe auf Mittwoch verschoben."),
    ("Die Miete kostet 900 Euro.", "Die Miete kostet 900 Euro.", "Falsch, die Miete kostet 950 Euro."),
    ("快递用的是顺丰。", "", "从这个月起快递改用京东了。"),
    ("My editor is Emacs.", "", "I've replaced Emacs with Zed."),
    ("The billing service runs on Oracle.", "", "Oracle has been replaced with MySQL in the billing service."),
    ("The stamps are in the tin.", "", "I said the stamps are in the tin, but they are in the drawer."),
    ("Olga is a beekeeper.", "", "Olga used to be a beekeeper."),
    ("The website is hosted on Netlify.", "", "We migrated the website to Cloudflare last month."),
    ("The website is hosted on Netlify.", "", "The website was moved from Netlify to Cloudflare."),
    ("Alerts are sent by Nagios.", "", "Alertmanager has replaced Nagios."),
    ("My bank is Ulster Bank.", "", "Ulster Bank has closed, I bank with AIB now."),
    (
        "The choir rehearses on Tuesday at 19:30 in the crypt, led by Mona.",
        "",
        "Choir is on Thursdays from now on, everything else is the same.",
    ),
    ("The choir rehearses on Tuesday at 19:30 in the crypt, led by Mona.", "", "The choir starts at 20:00 now."),
    ("Rent is 850 euros a month.", "", "The rent went up to 910 euros."),
    ("Rent is 850 euros a month.", "", "Rent is now 910 euros."),
    ("The dentist appointment is on 4 May.", "", "The dentist appointment was moved to 11 May."),
    ("The dentist appointment is on 4 May.", "", "The dentist appointment has been postponed to 11 May."),
    ("Paula's phone number is 555 2010.", "", "Paula has a new phone number: 555 3020."),
    ("Paula takes milk in her coffee.", "", "Paula doesn't take milk in her coffee any more."),
    ("Max eats meat.", "", "Max no longer eats meat."),
    ("The gym is open until ten.", "", "The gym closes at nine now, not at ten."),
    ("The backup runs at 2:00.", "The backup runs at 2:00 every night.", "No, it runs at 4:00."),
    ("The backup runs at 2:00.", "The backup runs at 2:00 every night.", "That's outdated, it's at 4:00 now."),
    (
        "The server room is on the second floor.",
        "The server room is on the second floor.",
        "Wrong, it's on the third floor.",
    ),
    ("Lena's birthday is on 3 March.", "Lena's birthday is on 3 March.", "Not 3 March, her birthday is on 5 March."),
    ("The project lead is Omar.", "Omar leads the project, ask him.", "Omar left, it's Greta now."),
    ("Max plays football.", "", "Max has given up football, he swims now."),
    (
        "The newsletter is sent with Mailchimp.",
        "",
        "We've stopped using Mailchimp, the newsletter goes out with Brevo.",
    ),
    ("The wiki is in Confluence.", "", "The wiki lives in Notion these days, Confluence was cancelled."),
    ("Our vet is Dr Moss.", "", "Our vet isn't Dr Moss any more, it's Dr Hill."),
    ("The heating is serviced by Vaillant.", "", "I was wrong about the heating: it's serviced by Buderus."),
    ("The meeting room is Maple.", "", "The meeting room was changed to Birch."),
    ("Deploys happen on Fridays.", "", "We no longer deploy on Fridays."),
    ("Deploys happen on Fridays.", "", "Deploys happen on Tuesdays now instead of Fridays."),
    ("The office is closed on Mondays.", "", "The office isn't closed on Mondays any longer."),
    ("The invoices go to Anna.", "", "Invoices go to Bert from now on, Anna is on the board."),
    ("The database is Postgres 14.", "", "The database was upgraded to Postgres 16."),
    ("The internet costs 39 euros.", "", "The internet costs 44 euros since July."),
    ("I use Firefox.", "", "I've switched to Chrome from Firefox."),
    ("Tom's class is 4b.", "", "Tom is in class 5a now."),
    ("血压药是早上吃。", "血压药是早上吃的。", "错了，是晚上吃。"),
    ("家里的路由器是华为的。", "", "家里的路由器不是华为的，是小米的。"),
    ("家里的路由器是华为的。", "", "路由器换成小米的了。"),
    ("我住在苏州。", "", "我搬到无锡了。"),
    ("我住在苏州。", "", "我已经不住在苏州了，现在住无锡。"),
    ("我在腾讯工作。", "", "我从腾讯辞职了，现在在字节上班。"),
    ("例会在周三下午三点。", "", "例会改到周四下午三点了。"),
    ("例会在周三下午三点，在二号会议室。", "", "例会改到四点了，地点不变。"),
    ("物业费是每月三百元。", "", "物业费涨到三百五十元了。"),
    ("儿子在育才小学上学。", "", "儿子转到实验小学了。"),
    ("女儿学钢琴。", "", "女儿不学钢琴了，改学小提琴。"),
    ("代码托管在GitLab。", "", "代码从GitLab迁到GitHub了。"),
    ("网站部署在阿里云。", "", "网站已经迁到腾讯云了。"),
    ("项目经理是王敏。", "", "项目经理不是王敏了，现在是李强。"),
    ("项目经理是王敏。", "项目经理是王敏，可以问她。", "王敏走了，现在是李强。"),
    ("面试时间是五月三日。", "", "面试推迟到五月八日了。"),
    ("老王的电话是555-1234。", "", "老王换号了，新号码是555-9876。"),
    ("快递放在南门。", "", "以后快递放在北门，不放南门了。"),
    ("公司用钉钉。", "", "公司现在改用飞书了，钉钉停了。"),
    ("牛奶订的是伊利。", "", "牛奶不订伊利了。"),
    ("会员卡还有效。", "", "更正一下，会员卡已经失效了。"),
    ("The bread comes from the Lindner bakery.", "", "We don't get bread from Lindner any more, it's from Brandt now."),
    ("The lawyer is Ms Okoro.", "", "Ms Okoro isn't our lawyer, Mr Petit is."),
    ("The piano teacher is Mr Bauer.", "Mr Bauer teaches the piano.", "That's wrong, it's Ms Frey."),
    ("The team lunch is on Wednesdays at noon in the canteen.", "", "Team lunch is on Thursdays now."),
    ("The team lunch is on Wednesdays at noon in the canteen.", "", "We've moved the team lunch to Thursdays."),
    ("The parking spot is number 14.", "", "The parking spot is number 22 now."),
    ("Sam is vegetarian.", "", "Sam isn't vegetarian any more."),
    ("Sam is vegetarian.", "", "Sam started eating meat, he is no longer vegetarian."),
    ("The wifi router stands in the hall.", "", "The wifi router stands in the study now, not in the hall."),
    ("The hamster is called Otto.", "", "I meant Odo: the hamster is called Odo, not Otto."),
    ("The flight to Oslo leaves at 7:40.", "", "The flight to Oslo leaves at 9:15, they changed it."),
    ("The flight to Oslo leaves at 7:40.", "", "Our Oslo flight was pushed back to 9:15."),
    ("The exam is on 12 June.", "The exam is on 12 June.", "No, they moved it to 19 June."),
    ("The exam is on 12 June.", "The exam is on 12 June.", "It's been moved to 19 June."),
    ("Emma's shoe size is 36.", "", "Emma wears size 38 now."),
    ("Emma goes to Parkside School.", "", "Emma changed schools, she goes to Hillview now."),
    ("The subscription costs 9 dollars a month.", "", "The subscription is 12 dollars a month since the price rise."),
    ("Logs are kept for 30 days.", "", "Logs are kept for 90 days from now on."),
    ("The on-call phone is 555 0101.", "", "The on-call phone changed to 555 0202."),
    ("The front desk closes at six.", "", "The front desk closes at five, not six."),
    (
        "The rubbish is collected on Tuesdays.",
        "You put the rubbish out on Mondays because it is collected on Tuesdays.",
        "They collect it on Fridays now.",
    ),
    ("Payments are handled by Stripe.", "", "Payments went back to Adyen."),
    ("I drive a Polo.", "", "I sold my Polo and drive a Zoe now."),
    ("I drive a Polo.", "", "I don't drive a Polo anymore, it's a Zoe."),
    ("My phone is a Pixel 6.", "", "I replaced my Pixel 6 with a Fairphone."),
    ("My dentist is Dr Roth.", "", "I changed dentists: Dr Weiss, not Dr Roth any more."),
    ("I study at Leeds.", "", "I dropped out of Leeds and study at York now."),
    ("We meet in room Ash.", "You meet in room Ash.", "no, room Beech since Monday"),
    ("The lab is led by Prof Stein.", "", "Prof Stein retired, the lab is led by Prof Ito now."),
    ("The garden is watered in the morning.", "", "The garden is watered in the evening now."),
    ("The cron job runs every 15 minutes.", "", "The cron job runs every 5 minutes now."),
    ("The minimum Python version is 3.9.", "", "We bumped the minimum Python version to 3.11."),
    ("The default branch is master.", "", "The default branch was renamed to main."),
    ("The default branch is master.", "", "The default branch isn't master, it's main."),
    ("Docs are written in AsciiDoc.", "", "Docs aren't in AsciiDoc anymore, we write them in Markdown."),
    ("The office moved to Graz.", "", "It wasn't Graz, the office moved to Linz."),
    ("班主任是陈老师。", "", "班主任换了，现在是刘老师。"),
    ("班主任是陈老师。", "班主任是陈老师。", "不是陈老师，是刘老师。"),
    ("医保卡在书房抽屉里。", "", "医保卡不在书房抽屉里了，放到卧室柜子里了。"),
    ("钢琴课在周六下午三点。", "", "钢琴课改成周日下午三点了。"),
    ("钢琴课在周六下午三点，老师是何老师，在文化宫。", "", "钢琴课换老师了，现在是罗老师，其他不变。"),
    ("钢琴课在周六下午三点，老师是何老师，在文化宫。", "", "钢琴课时间改到四点，其他照旧。"),
    ("房租是三千二。", "", "房租涨到三千五了。"),
    ("体检约在六月一日。", "", "体检改约到六月八日了。"),
    ("爸爸每天吃两片药。", "", "爸爸现在每天吃一片药。"),
    ("我每天喝咖啡。", "", "我戒了咖啡。"),
    ("弟弟在南京读大学。", "", "弟弟毕业了，不在南京读大学了。"),
    ("我开的是比亚迪。", "", "我把比亚迪卖了，换了辆特斯拉。"),
    ("公司班车七点半发车。", "公司班车七点半发车。", "不对，是七点十分发车。"),
    ("数据库用的是MySQL。", "", "我们的数据库从MySQL换到PostgreSQL了。"),
    ("数据库用的是MySQL。", "", "数据库早就不是MySQL了，是PostgreSQL。"),
    ("登录服务由小赵负责。", "", "登录服务现在由小钱负责。"),
    ("登录服务由小赵负责。", "", "登录服务交给小钱负责了，小赵转岗了。"),
    ("登录服务由小赵负责。", "登录服务由小赵负责。", "小赵不管了，现在是小钱负责。"),
    ("奶奶住在三楼。", "", "奶奶搬到一楼了。"),
    ("快递柜的取件时间是二十四小时。", "", "快递柜的取件时间改成四十八小时了。"),
    ("周报周五交。", "", "周报改周四交了。"),
    ("周报周五交。", "周报周五交。", "错了，周报现在周四交。"),
    ("客厅的空调是格力的。", "", "记错了，客厅的空调是美的的，不是格力的。"),
    ("姐姐的生日是九月九日。", "", "我说错了，姐姐的生日是九月八日。"),
    ("团建去千岛湖。", "", "团建不去千岛湖了，改去莫干山。"),
    ("猫粮买的是皇家。", "", "猫粮不买皇家了，换成渴望了。"),
    ("牙医是孙大夫。", "", "牙医不再是孙大夫了，换成了吴大夫。"),
]
"""A memory, the answer before, and the message."""
CASUAL_MEMORIES = 64
"""Number of memories in the book for messages that revise nothing."""
CASUAL = [
    ("The plumber comes on Monday.", "actually my sister comes on Tuesday"),
    ("The plumber comes on Monday.", "actually the plumber called on Tuesday"),
    ("The plumber comes on Monday.", "wait, the party on Tuesday is at the plumber's"),
    ("", "The printer is broken again."),
    ("", "The office printer is out of paper now."),
    ("", "The build is green now."),
    ("", "I switched to the other branch."),
    ("", "I'm back from lunch."),
    ("", "We moved the function to utils.py."),
    ("", "The test isn't failing any more."),
    ("", "Actually, use a for loop."),
    ("", "no, more friendly"),
    ("Here is the letter.", "no, more friendly"),
    ("Here is the draft.", "not that file, the other one"),
    ("", "The stand-up is at 11 today."),
    ("", "Stand-up is cancelled this week."),
    ("", "Anna isn't in today."),
    ("", "Anna does the books on Fridays too."),
    ("", "I also have a Volvo."),
    ("", "Is the stand-up still at 9:30?"),
    ("", "If the CI moves to GitHub Actions, we save money."),
    ("", "She said the stand-up moved to ten."),
    ("", "Maybe the CI should run on Jenkins."),
    ("", "We will move the CI to Jenkins next month."),
    ("", "My brother lives in Clifton now."),
    ("", "My brother no longer lives in Clifton."),
    ("", "The printer at home is a Brother now."),
    ("", "The staging API listens on port 9000 now."),
    ("", "Rename port to listenPort."),
    ("", "Change 8443 to 9000 in the config."),
    ("", "Replace Buildkite with Jenkins in the text."),
    ("", '"The CI is now on Jenkins" - is this good English?'),
    ("", "The car isn't starting."),
    ("", "The car is dirty now."),
    ("", "I don't know where the car is."),
    ("", "I'm not sure the CI runs on Buildkite."),
    ("", "Carla is not in the office."),
    ("", "Mia isn't eating."),
    ("", "The API isn't responding on port 8443."),
    ("", "just kidding, the cat is called Rex now"),
    ("", "In the story, the cat is called Rex now."),
    ("", "Translate: the stand-up is now at ten."),
    ("The CI runs on Buildkite.", "No, thanks."),
    ("The CI runs on Buildkite.", "no, make it shorter"),
    ("The CI runs on Buildkite.", "No, I mean the logs."),
    ("", "Lunch was great."),
    ("", "Lunch is ready now."),
    ("", "I had tea again."),
    ("", "I like tea again."),
    ("", "The build took twelve minutes today."),
    ("", "Now run the tests."),
    ("", "The cat moved to the sofa."),
    ("", "打印机又坏了。"),
    ("", "打印机没纸了。"),
    ("", "今天周会改到下午两点。"),
    ("", "小李住在哪里？"),
    ("", "如果周会改到周二怎么办？"),
    ("", "他说周会改到周二了。"),
    ("", "我不知道周会几点。"),
    ("", "把周会改到周二。"),
    ("", "换个说法。"),
    ("好的，这是草稿。", "不对，重新写。"),
    ("", "女儿不吃饭了。"),
    ("", "猫不见了。"),
    ("", "测试环境又挂了。"),
    ("", "测试不再报错了。"),
    ("", "我现在在开会。"),
    ("", "改成中文。"),
    ("", "我也喜欢咖啡。"),
    ("", "家里的打印机是佳能。"),
    ("", "The car was in the garage, now it's back."),
    ("", "I no longer care."),
    ("", "I've had enough of this, I quit."),
    ("", "The tests don't pass any more."),
    ("", "We don't need that any more."),
    ("", "It doesn't work any longer."),
    ("", "Port 8443 is not open on my machine."),
    ("", "Bert is not playing drums tonight."),
    ("The stand-up is at 9:30.", "no, the second one"),
    ("The stand-up is at 9:30.", "No, I can't make 9:30, suggest 10:00."),
    ("The stand-up is at 9:30.", "nope, not today"),
    ("The stand-up is at 9:30.", "No, at ten I have a call."),
    ("Lunch is at noon.", "No, remind me at 11:30."),
    ("The CI runs on Buildkite.", "No, on my laptop."),
    ("The CI runs on Buildkite.", "Actually, run it on the laptop."),
    ("The CI runs on Buildkite.", "No, show me the logs from Monday."),
    ("The build takes nine minutes.", "No, I asked about the tests."),
    ("The build takes nine minutes.", "no, 20 lines at most"),
    ("The build takes nine minutes.", "No, make it 3 paragraphs."),
    ("周会在星期一上午十点。", "不对，是第二个。"),
    ("周会在星期一上午十点。", "不，我说的是报表。"),
    ("周会在星期一上午十点。", "不对，写短一点。"),
    ("周会在星期一上午十点。", "不对，我要三个例子。"),
    ("", "I have a new printer at home, a Canon."),
    ("", "Bert has a new car."),
    ("", "The new intern is called Anna."),
    ("", "Anna is now on the phone."),
    ("", "The CI is down again."),
    ("", "The stand-up was boring again."),
    ("", "I'm back at the office."),
    ("", "The cat is back."),
    ("", "We changed the tests to use mocks."),
    ("", "I changed the title to Draft 2."),
    ("", "I moved the meeting notes to the wiki."),
    ("", "I renamed the branch to feature-2."),
    ("", "The car was at the garage, it's at home now."),
    ("", "The API is not documented."),
    ("", "Anna no longer answers me."),
    ("", "The printer is now connected."),
    ("", "I sold my bike."),
    ("", "Bert left early."),
    ("", "Anna left a message."),
    ("", "The build now takes ages."),
    ("", "Lunch moved to 1 pm today."),
    ("", "Move lunch to 1 pm."),
    ("", "Can we move lunch to 1 pm?"),
    ("", "Lunch might move to 1 pm."),
    ("", "Should the stand-up move to ten?"),
    ("", "猫又吐了。"),
    ("", "女儿又发烧了。"),
    ("", "我把周会纪要改好了。"),
    ("", "报表不用发了吗？"),
    ("", "测试环境现在很慢。"),
    ("", "我现在去开会。"),
    ("", "周会开完了。"),
    ("", "女儿现在在睡觉。"),
    ("", "打印机现在没人用。"),
    ("", "我不喝茶了，谢谢。"),
    ("", "今天不喝茶了。"),
    ("", "The report says the CI is now on Jenkins."),
    ("", "According to Carla the CI is now on Jenkins."),
    ("", "Carla wrote: the CI is now on Jenkins."),
    ("", "I wish the CI was on Jenkins now."),
    ("", "Imagine the CI is on Jenkins now."),
    ("", "Write a changelog: the CI is now on Jenkins."),
    ("", "Here is my text. The CI is now on Jenkins."),
    ("", "What if the cat is no longer called Mia?"),
    ("", "代码改到第三版了。"),
]
RENEWED = [
    (
        "My dentist is Dr. Weber in Lindenstrasse 5",
        "My dentist is Dr. Klein, not Dr. Weber",
        "My dentist is Dr. Klein in Lindenstrasse 5",
    ),
    (
        "The plumber is Herr Kranz, phone 0171 555 123",
        "Correction: the plumber's phone is 0171 555 124",
        "The plumber is Herr Kranz, phone 0171 555 124",
    ),
    ("妈妈住在苏州，血压药一天两次", "妈妈血压药改成一天一次了", "妈妈住在苏州，血压药一天一次"),
    (
        "The gym opens at 7 and costs 30 euros a month",
        "The gym no longer costs 30 euros, it costs 35",
        "The gym opens at 7 and costs 35 euros a month",
    ),
    ("My optician is Mr Tate on Mill Road.", "My new optician is Ms Bligh.", "My new optician is Ms Bligh."),
    (
        "Die Probe ist am Montag um 19 Uhr im Gemeindehaus mit Frau Kern.",
        "Die Probe ist jetzt am Dienstag.",
        "Die Probe ist am Dienstag um 19 Uhr im Gemeindehaus mit Frau Kern.",
    ),
    (
        "Die Probe ist am Montag um 19 Uhr im Gemeindehaus.",
        "Die Probe ist auf Mittwoch verschoben.",
        "Die Probe ist am Mittwoch um 19 Uhr im Gemeindehaus.",
    ),
    (
        "Rosa has judo on Monday at 16:00 in the old hall, the fee is 22 euros.",
        "The fee for Rosa's judo is 26 euros from January; all the rest is as it was.",
        "Rosa has judo on Monday at 16:00 in the old hall, the fee is 26 euros.",
    ),
    (
        "The stand-up is at 9:30 in the room Larch, with Katya from design.",
        "Stand-up moved to 10:10, same room.",
        "The stand-up is at 10:10 in the room Larch, with Katya from design.",
    ),
    (
        "Yoga lessons are on Monday at 18:00 with coach Ira in the gym.",
        "Yoga is now with coach Benno, everything else stays.",
        "Yoga lessons are on Monday at 18:00 with coach Benno in the gym.",
    ),
    (
        "Paul works Monday to Wednesday and builds the wheels, phone 555 0121.",
        "Paul's new phone is 555 0177.",
        "Paul works Monday to Wednesday and builds the wheels, phone 555 0177.",
    ),
    (
        "复查在星期四上午，挂赵主任的号，在五号楼。",
        "复查还是星期四上午，不过改挂宋主任的号了。",
        "复查在星期四上午，挂宋主任的号，在五号楼。",
    ),
    (
        "晨会在上午九点，会议室是梧桐，由小韩记录。",
        "晨会会议室换到了白桦，时间不变。",
        "晨会在上午九点，会议室是白桦，由小韩记录。",
    ),
]


def verdict_on(
    message: str, book: Book, *, answer: str = "", said_before: str = "", scope: str = "", may_supersede: bool = True
) -> CaptureVerdict:
    return with_revisions(
        capture_message(message, answer_before=answer),
        [*revisions_of(message, has_answer=bool(answer or said_before))],
        book,
        text=message,
        answer_before=answer,
        said_before=said_before,
        scope=scope,
        day=DAY,
        may_supersede=may_supersede,
    )


def revise(message: str, *memories: str, answer: str = "", may_supersede: bool = True) -> tuple[CaptureVerdict, Book]:
    book = book_from({NOTES: [f"- W: {one}" for one in OTHERS], LATER: [f"- {one}" for one in memories]})
    return verdict_on(message, book, answer=answer, may_supersede=may_supersede), book


def superseded(verdict: CaptureVerdict, book: Book) -> list[str]:
    return [book.find(one).line.text for item in verdict.items for one in item.supersedes]


@pytest.mark.parametrize(("memory", "answer", "message"), REVISED)
def test_message_supersedes_revised_memory(memory: str, answer: str, message: str) -> None:
    verdict, book = revise(message, f"W @Thing: {memory}", answer=answer)

    assert superseded(verdict, book) == [memory]
    assert [(item.kind, item.entities) for item in verdict.items if item.supersedes] == [(Kind.WORLD, ("Thing",))]


@pytest.mark.parametrize(("answer", "message"), CASUAL)
def test_casual_remark_revises_nothing(answer: str, message: str) -> None:
    memories = [f"W: {memory}" for memory, _, _ in REVISED[:CASUAL_MEMORIES]]
    verdict, _ = revise(message, *memories, answer=answer)

    assert [(item.text, item.note) for item in verdict.items if item.supersedes or item.contradicts] == []


@pytest.mark.parametrize(("memory", "message", "expected"), RENEWED)
def test_unchanged_part_of_a_line_is_kept(memory: str, message: str, expected: str) -> None:
    verdict, book = revise(message, f"W @Thing: {memory}")

    assert [item.text for item in verdict.items] == [expected]
    assert superseded(verdict, book) == [memory]


def test_revised_line_stays_pinned() -> None:
    memory, message, expected = RENEWED[-1]
    verdict, _ = revise(message, f"W(pin): {memory}")

    assert [(item.text, item.is_pinned) for item in verdict.items] == [(expected, True)]


OTHER_SORT = [
    ("I live in Clifton.", "I moved to the sofa"),
    ("I live in Clifton.", "We have moved to the night shift."),
    ("I live in Clifton.", "I've moved to Python 3.13"),
    ("Lucia works on Mondays.", "that's Tuesday, not Monday"),
    ("我爸妈住在洛阳", "我搬到南区3号楼了"),
    ("My aunt lives in Graz with Karin.", "Karin moved to Vienna."),
    ("I water the red roses.", "I water the white roses now."),
    ("My uncle is a teacher.", "My uncle is now a grandfather."),
    ("Jonas wohnt in Trier.", "Wir sind letzte Woche nach Köln gezogen."),
    ("The mail relay runs on Alpine.", "The mail relay now runs on port 2525."),
    ("The mail relay runs on Fargate.", "The mail relay now runs on three machines."),
    ("The mail relay listens on all interfaces.", "The mail relay listens on 2525 now."),
    ("Supper is at Paolo's.", "Supper is at seven now."),
    ("Chess is on Discord.", "Chess is on Wednesdays now."),
    ("Grandpa is on ramipril.", "Grandpa is on 5 mg now."),
    ("The matinee is in the little theatre.", "The matinee is now in April."),
    ("The retro is on Webex.", "The retro moved to 14:15."),
    ("The migration is on the green cluster.", "The migration moved to Saturday."),
    ("Chess is in the back room.", "Chess was moved to the evening."),
    ("The rehearsal is on Friday.", "The rehearsal moved to hall 3."),
    ("The rehearsal is at ten.", "The rehearsal moved online."),
    ("The sublet starts on 1 March.", "The sublet ends on 3 May now."),
    ("The kiosk opens at ten.", "The kiosk closes at six now."),
    ("邮局九点开门。", "邮局现在五点关门。"),
    ("The kiosk opens at eight.", "The kiosk now opens at nine on Saturdays."),
    ("The offer for Brandt is due on 3 December.", "The offer for Brandt is now signed."),
    ("丁老师在南楼205。", "丁老师现在在开会。"),
    ("饭局在顺德酒家。", "饭局现在是六点半。"),
]
SAME_SORT = [
    ("Ich wohne in Rosenheim.", "ich bin nach Wien gezogen"),
    ("I prefer window seats.", "I prefer aisle seats now"),
    ("For flights I prefer window seats.", "I prefer aisle seats now"),
    ("lena hat montags schwimmen", "lena hat schwimmen jetzt mittwochs, nimmer montags"),
    ("max geht in den kindergarten", "max geht nimmer in den kindergarten sondern in die schule"),
    ("Der Elternabend ist am 9. Dezember.", "elternabend ist jetzt am 10. dezember"),
    ("Der Elternabend ist am 9. Dezember.", "elternabend wurde auf den 10. verschoben"),
    ("The mail relay runs on Alpine.", "The mail relay now runs on Rocky 9."),
    ("The mail relay runs on port 25.", "The mail relay now runs on port 2525."),
    ("Das Relais läuft auf Alpine.", "Das Relais läuft jetzt auf Rocky."),
    ("The choir meets in room 12.", "The choir now meets in the chapel."),
    ("The studio is on the 2nd floor.", "The studio is now on the ground floor."),
    ("The matinee is in March.", "The matinee is now in April."),
    ("The hearing is next week.", "The hearing moved to Friday."),
    ("The retro is at two on Webex.", "The retro moved to 14:15."),
    ("The linter is at 2.9.", "We bumped the linter to 2.10."),
    ("The rehearsal is in hall 1.", "The rehearsal moved to hall 3."),
    ("The sublet ends on 3 April.", "The sublet ends on 3 May now."),
    ("The bus to Bern leaves at 7:40.", "The bus to Bern leaves at 8:15 now."),
    ("The kiosk opens at eight on Saturdays.", "The kiosk now opens at nine on Saturdays."),
    ("The kiosk opens at eight.", "The kiosk opens at nine every day now."),
    ("Fencing is at three on Fridays.", "Fencing is at four now."),
    ("Piet is at Bosch.", "Piet is at Siemens now."),
    ("Piet is in the paint team.", "Piet is in the sales team now."),
    ("丁老师在南楼205。", "丁老师现在在北楼310。"),
    ("班会是周二。", "班会改到周三了。"),
    ("复试是下周。", "复试改到周五了。"),
    ("班会在阶梯教室。", "班会现在在操场。"),
    ("Kim's riding lesson costs 22 pounds.", "Kim's riding lessons have gone up to 26 quid"),
    ("Kim wears glasses at school.", "Kim doesn't need her glasses anymore"),
    ("Our van is a Caddy.", "the Caddy is sold"),
    ("Lotte braucht nachts eine Windel.", "Lotte braucht nachts keine Windel mehr"),
    ("The rent is 1,850 pounds a month.", "The rent is now 1,990 pounds a month"),
    ("The gym costs 39 euros a month.", "The gym went up to 45 euros a month, but no surprise there"),
    ("I live in Clifton.", "I've moved from Clifton to Bedminster, but not far"),
    ("I live in Clifton.", "I moved from Clifton to Bedminster, haven't unpacked yet"),
    ("Der Server läuft auf Debian.", "Der Server läuft jetzt auf Ubuntu."),
    ("The retro is on Fridays.", "The retro has moved to Sunday"),
    ("我住在苏州。", "我从苏州搬到无锡了，家具还没到"),
]
"""Values of the same sort: two things, two places or two times."""
ANSWERED = [
    ("The door sensor reports on channel 11.", "The door sensor reports on channel 11.", "no, it is 13 now"),
    ("The door sensor reports on channel 11.", "The door sensor reports on channel 11.", "No, 13."),
    ("Der Sensor sendet auf Kanal 11.", "Der Sensor sendet auf Kanal 11.", "nein, es ist 13"),
    ("实验楼的门禁编号是5508。", "门禁编号是5508。", "不对，是5509"),
]
NOT_ANSWERED = [
    ("The door sensor reports on channel 11.", "no, it is 5 pm"),
    ("The door sensor reports on channel 11.", "no, 3 of them"),
    ("The door sensor reports on channel 11.", "no, 2 more"),
    ("The door sensor reports on channel 11.", "no, it was 13 yesterday"),
    ("The door sensor reports on channel 11.", "no, 13?"),
    ("I changed line 11 of the file.", "no, it is 13 now"),
    ("I restarted the worker.", "no, it's 13"),
    ("17 times 3 is 51.", "no, it's 61"),
]
PARTLY_REVISED = [
    ("My girlfriend Maya is vegetarian and allergic to peanuts.", "Maya isn't vegetarian any more, she eats fish now."),
    ("The locksmith is Mr Dunn, 0161 555 0133.", "The locksmith is Mr Okafor now."),
    ("Mia's tutor is Ms Lowe, she lives in Hove.", "Mia's tutor is Mr Pratt now."),
    ("小孩的教练是丁老师，在二楼办公。", "教练换成毛老师了。"),
    ("Ida ist Vegetarierin und gegen Erdnüsse allergisch.", "Ida ist nicht mehr gegen Erdnüsse allergisch."),
    ("服务器部署在阿里云，端口是8080", "服务器迁到腾讯云了"),
    ("服务器部署在阿里云，端口是8080", "服务器端口不是8080，是9090"),
    ("我家的车是比亚迪汉，车牌尾号7", "我家的车不是比亚迪汉了，换成特斯拉了"),
    ("Tom is my brother, he lives in Hamburg", "Tom no longer lives in Hamburg"),
    ("meine schwester heißt karin und wohnt in graz", "karin ist nach wien gezogen"),
    ("Karin hat ein Wohnmobil.", "Karin ist nach Wien gezogen."),
    ("Prices are net of VAT.", "Prices are in euros, net of VAT."),
    ("Tom is my brother, he lives in Hamburg and works as a nurse", "Tom moved to Kiel"),
    ("Das Internet kommt von Vodafone und kostet 39 Euro.", "Das Internet kostet jetzt 45 Euro."),
]
OF_OTHER_SIDE = [
    ("Piet is in the paint team.", "Piet is in Spain now."),
    ("Piet is at the grammar school.", "Piet is at grandma's now."),
    ("Piet ist in Jena.", "Piet ist jetzt in Rente."),
    # nothing that names a secret is written again
    ("The router runs OpenWrt, and its password is in the blue folder.", "The router doesn't run OpenWrt, it's DDWRT."),
]


@pytest.mark.parametrize(("memory", "message"), OTHER_SORT)
def test_value_of_other_sort_supersedes_nothing(memory: str, message: str) -> None:
    verdict, _ = revise(message, f"W: {memory}")

    assert [item.text for item in verdict.items if item.supersedes or item.contradicts] == []


@pytest.mark.parametrize(("memory", "message"), SAME_SORT)
def test_value_of_same_sort_supersedes(memory: str, message: str) -> None:
    verdict, book = revise(message, f"W: {memory}")

    assert superseded(verdict, book) == [memory]


@pytest.mark.parametrize(("memory", "answer", "message"), ANSWERED)
def test_bare_number_corrects_number_in_answer(memory: str, answer: str, message: str) -> None:
    verdict, book = revise(message, f"W: {memory}", answer=answer)

    assert superseded(verdict, book) == [memory]
    assert [memory.partition("1")[0][:12] == item.text.partition("1")[0][:12] for item in verdict.items] == [True]


@pytest.mark.parametrize(("answer", "message"), NOT_ANSWERED)
def test_unrelated_number_corrects_nothing(answer: str, message: str) -> None:
    verdict, book = revise(message, "W: The door sensor reports on channel 11.", answer=answer)

    assert superseded(verdict, book) == []


@pytest.mark.parametrize(("memory", "message"), PARTLY_REVISED)
def test_partly_valid_line_is_repeated_in_the_new_line(memory: str, message: str) -> None:
    verdict, book = revise(message, f"W: {memory}")

    assert superseded(verdict, book) == [memory]
    assert [item.text for item in verdict.items] == [message_about(message, memory)]


def test_line_that_repeats_an_agents_line_is_not_a_persons() -> None:
    memory, message = PARTLY_REVISED[0]
    verdict, book = revise(message, f"W(from=agent): {memory}")

    assert superseded(verdict, book) == [memory]
    assert [item.provenance for item in verdict.items] == [Provenance.AGENT]


@pytest.mark.parametrize(("memory", "message"), OF_OTHER_SIDE)
def test_line_that_may_stay_valid_is_contradicted_not_superseded(memory: str, message: str) -> None:
    verdict, book = revise(message, f"W: {memory}")

    assert superseded(verdict, book) == []
    assert [book.find(one).line.text for item in verdict.items for one in item.contradicts] == [memory]


BACK_AGAIN = [
    ("The CI runs on Travis.", "The CI runs on Drone.", "The CI is on Travis again, Drone was too slow."),
    ("Tea comes from Ronnefeldt.", "Tea comes from Mariage.", "We're back with Ronnefeldt for the tea."),
    ("早上订的是蒙牛的鲜奶。", "早上订的是光明的鲜奶。", "鲜奶又改回蒙牛的了，光明的送得太晚。"),
]


@pytest.mark.parametrize(("first", "second", "message"), BACK_AGAIN)
def test_value_that_returns_is_stated_again(first: str, second: str, message: str) -> None:
    older = line_of(f"- W @Thing: {first}")
    for named in ("", f"(supersedes={short_id(older.id)})"):
        verdict, book = revise(message, f"W @Thing: {first}", f"W{named} @Thing: {second}")

        assert second in superseded(verdict, book)
        assert [item.text for item in verdict.items] == [message]
        remaining = book.memories.keys() - {book.find(one).id for item in verdict.items for one in item.supersedes}
        assert not named or older.id in remaining


def test_line_with_two_new_values_is_captured_literally() -> None:
    message = "Small correction, the seeds are in cupboard E, shelf 4."
    verdict, _ = revise(message, "W: The seeds are in cupboard C, shelf 2.")

    assert [item.text for item in verdict.items] == [message]


def test_ambiguous_revision_contradicts_both_lines() -> None:
    carts = ["W: The small cart is with Mona.", "W: The tall cart is with Mona."]
    verdict, _ = revise("The cart is no longer with Mona, it's with Ida.", *carts)

    (item,) = verdict.items
    assert (item.supersedes, len(item.contradicts)) == ((), 2)
    assert item.text == "The cart is no longer with Mona, it's with Ida."


def test_agent_contradicts_person_and_supersedes_itself() -> None:
    line = "The lamp is a Philips."
    for source, is_superseded in (("", False), ("(from=user)", False), ("(from=agent)", True)):
        verdict, book = revise(
            "The lamp isn't a Philips, it's an Osram.", f"W{source} @Thing: {line}", may_supersede=False
        )
        (item,) = verdict.items
        assert (superseded(verdict, book) == [line], bool(item.contradicts)) == (is_superseded, not is_superseded)


@pytest.mark.parametrize(
    "message",
    [
        "This is a mail I got. The lamp isn't a Philips, it's an Osram.",
        "The lamp isn't a Philips, it's an Osram. How does that sound?",
        "She wrote: the lamp isn't a Philips, it's an Osram.",
        "If the lamp isn't a Philips, it's an Osram.",
        "\"The lamp isn't a Philips, it's an Osram.\"",
        "Just kidding: the lamp isn't a Philips, it's an Osram.",
        "Hello,\nthe lamp isn't a Philips, it's an Osram.\nRegards\nAnna",
    ],
)
def test_words_of_others_revise_nothing(message: str) -> None:
    verdict, _ = revise(message, "W: The lamp is a Philips.")

    assert verdict.items == ()


def test_revision_without_target_is_dropped() -> None:
    verdict, _ = revise("The lamp isn't a Philips, it's an Osram.")

    assert verdict.items == ()
    assert [one.form for one in verdict.dropped] == ["not … but …"]


def test_experiences_and_superseded_lines_are_not_revised() -> None:
    verdict, book = revise(
        "The lamp isn't a Philips, it's an Osram.",
        "B: I bought a lamp, a Philips.",
        "W: The lamp is a Philips.",
        f"W(supersedes={book_from({LATER: ['- W: The lamp is a Philips.']}).by_day[0].id[:8]}): The lamp is an Ikea.",
    )

    assert superseded(verdict, book) == []


@pytest.mark.parametrize(
    "text",
    [
        "Actually, the car is not a Skoda, it is a Fiat.",
        "We are back to tea again.",
        "更正：小李不住在苏州，住在杭州。",
    ],
)
def test_memories_without_common_word_are_not_examined(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    examined = list[str]()

    def record(text: str) -> str:
        examined.append(text)
        return subject_of(text)

    monkeypatch.setattr(targets, "subject_of", record)
    others = [f"Meeting room {number} seats eleven." for number in range(200)]
    book = book_from({NOTES: [f"W: {one}" for one in (*OTHERS, *others)]})
    verdict_on(text, book)

    assert not set(others) & set(examined)
