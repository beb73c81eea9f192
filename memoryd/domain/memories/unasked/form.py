"""The wording of a message: whether its answer requires memory, or could be given to anyone.

*Book the usual place*, *can she eat that* and *where did I put it* require memory; news of one's day, jokes, sums,
orders about the text at hand and questions about the world do not. A logistic regression separates them by common
words, pairs of consecutive words, signs, and length; the weights are at the end of this module.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from memoryd.domain.expressions import expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import UNSPACED_RUN

WEIGHED_LANGUAGES = ("en", "zh", "de", "")
"""Languages with weights; a text too short to determine its language is treated as one of them."""
UNKNOWN = -1.5
"""The result for other languages: a little less than most messages that require memory have."""
ALWAYS = "*"
"""The feature of every message (the bias)."""
_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LENGTHS = (2, 4, 6, 9, 13, 20, 35, 60)
"""Thresholds of length in words: each one that a message reaches is a feature."""
SIGNS_A_WORD = 1.7
"""Characters that count as one word in scripts without spaces."""
_MARKS = (("?", expression("[?？]")), ("#", expression(r"\d")))


def form_of(text: str, weights: Mapping[str, float] | None = None) -> float:
    """Return the log-odds that the answer to a normalised text requires memory, by its wording alone.

    `weights` are those of the table by default. For a language without weights the result is `UNKNOWN`.
    """
    weights = weights_in(TABLE) if weights is None else weights
    if language_of(text) not in WEIGHED_LANGUAGES:
        return UNKNOWN
    return sum(weights.get(feature, 0.0) for feature in features(text))


def word_count(text: str) -> float:
    """Return the number of words in a text; characters of scripts without spaces count as fractions."""
    signs = sum(map(len, UNSPACED_RUN.findall(text)))
    return len(_WORD.findall(UNSPACED_RUN.sub(" ", text))) + signs / SIGNS_A_WORD


def features(text: str) -> set[str]:
    """Return the distinct features of the wording of a normalised text."""
    return {ALWAYS, *_features(text.lower())}


def _features(small: str) -> Iterator[str]:
    words = [word.replace("'", "").replace("’", "") for word in _WORD.findall(UNSPACED_RUN.sub(" ", small))]
    yield from words
    yield from map(" ".join, pairwise(words))
    if words:
        yield f"^{words[0]}"
    for run in UNSPACED_RUN.findall(small):
        yield from run
        yield from map("".join, pairwise(run))
    length = word_count(small)
    yield from (f">{least}" for least in LENGTHS if length >= least)
    yield from (name for name, mark in _MARKS if mark.search(small))


@cache
def weights_in(table: str) -> Mapping[str, float]:
    """Return the weights of a table: each row has a weight in hundredths and the features with this weight."""
    rows = (row.partition(" ") for row in table.split("\n") if row)
    return {feature: int(weight) / 100 for weight, _, several in rows for feature in several.split(" | ")}


TABLE = """
-275 *
-165 ^my
-155 >35
-120 ^our
-115 最
-110 为
-105 成
-100 how do
-95 >20 | between | mean | what is | you
-90 ^if | best | came | ein | 了一 | 和 | 真
-85 tell me | third | word | your
-80 # | ^meine | a | als | and she | asked | does a | sentence | uber | wort | 全 | 字 | 睡 | 都
-75 asleep | heute | its for | man | sich | thats | the first | 国 | 完 | 狗
-70 ^say | ate | excel | for a | invented | ohne | which is | whole | why | won | 句 | 吃了 | 后
-65 ^we | ^why | dann | darf man | drei | git | he was | it to | python | the last | then | this morning | today
-65 was ist | what does | 今天 | 十 | 我说 | 是 | 笑 | 红
-60 ^der | bit | eine | genau | kollege | lost | menu | moon | never | nine | planet | rein | satz | scheiß | ten
-60 took | vs | wrote | 一 | 于 | 几月 | 妈 | 手 | 正 | 用 | 省
-55 >60 | ^git | ^no | ^now | also | c | difference | durch | england | explain | feet | first | found | french
-55 gelacht | gesagt | gibts | good | hat | hat mir | haus | heißt das | made | makes | more | nachbarn | nobody
-55 point | rain | rhyme | said | shorter | so | stand | statt | three | through | warum | weather | whats that
-55 when the | wir haben | won the | 像 | 大 | 妈的 | 李 | 第 | 语 | 鼓
-50 ^unser | ^warum | auf der | bad | behind the | bought | british | bus | but | cheese | cried
-50 difference between | e | eaten | fish | five | god | hat heute | hat sich | into | ist | laughed | mit dem
-50 mostly | oben | percent | point of | says its | sind | stop | take out | the next | the printer | the word
-50 und die | wind | wurde | 中 | 为什 | 从 | 儿子 | 动 | 回来 | 她说 | 就 | 文 | 棋 | 死 | 爷 | 的时 | 看了 | 第一
-45 ^explain | actually | as a | asleep on | because | bells | bloody | come out | dentists | einem | fenster
-45 fine | ganz | gestern | had to | have a | heut | in a | it again | it in | it was | its a | keep | knees
-45 latin | law | letters | look | market | mehr | printer | regards | rose | row | sehr | sie hat | sign
-45 suitcase | swan | swap the | talking | team | the bit | the titanic | titanic | use | very | was heißt | welsh
-45 welsh for | whats a | who invented | who wrote | wieviel grad | word for | words | write it | 一般 | 七 | 产
-45 关 | 写 | 午 | 哦 | 四 | 夸 | 子 | 小时 | 得我 | 意思 | 我写 | 来的 | 率 | 线 | 给我 | 般 | 谢 | 雨
-40 ^ab | ^from | ^just | ^mein | ^rain | ^the | ^wenn | ^woher | again but | all | an hour | and they | aus | b
-40 back of | brother | by law | closed | colour | css | da wie | dieser | does it | drop the | drum | dry | erste
-40 every | forty | ganze | gave | gehort | happens | hard | hell | hi | i was | in | in die | in his | instead
-40 into the | it | kann man | kuchen | large | longer | missed | missing | names | nichts | of | old | one for
-40 out and | pro | quiet | read | rechts | regex | schon wieder | sea | sell | shouting | singing | sorry for
-40 sunset | tag | talking to | the difference | the menu | the vicar | the whole | und dann | upon | vicar | vier
-40 way | we were | weg | were | what have | woher | woher kommt | wrote the | you get | 三点 | 么 | 了个 | 光
-40 几个 | 副 | 升 | 坐 | 头 | 好 | 底下 | 思 | 段 | 泡 | 自 | 蜂 | 跟她 | 较 | 速 | 题 | 验
-35 ^bloody | ^synonym | ^take | ^that | ^wir | add that | and has | and we | are you | at am | back to | bed
-35 behind | betreff | better | bigger | bit about | bless | break | broke | clocks | could they | did not | e mail
-35 endlich | englisch | ersten | example | exclamation | finally | for and | for i | french for | goes | greyhound
-35 had | hat heut | i get | ich bin | im not | invented the | is this | jetzt | joke | just | kinder | lake
-35 last line | less | long does | lost the | meine tochter | needs an | nur | of them | off a | off the | only
-35 over the | painted | passed | photo | plain | poem | polish | pounds | review | richtig | rude | save | seit
-35 sentences | show | sonst | sound | sql | stammtisch | synonym | teeth | thats the | the cat | the council
-35 the moon | the third | the young | time is | told the | too | turns | um | unterschied | unterschied zwischen
-35 war der | was my | waved | waved at | way round | went | wept | why do | wird | worked | you kindly | young
-35 下的 | 了两 | 亲 | 俩 | 先 | 写了 | 剧 | 十二 | 历 | 去了 | 品 | 圈 | 奶茶 | 如 | 学 | 家老 | 怎 | 手机 | 昨
-35 梦 | 欢 | 比 | 气 | 法 | 的是 | 盘 | 破 | 练 | 翻 | 背 | 节 | 要打 | 起 | 路 | 馆 | 高
-30 ^excel | ^noch | ^ok | ^one | ^python | ^she | ^shorter | ^spanish | ^sql | ^third | a ring | about a
-30 absolute | add | add a | all day | an old | and hes | and shes | and thank | app | as if | at and | aufs
-30 aus dem | bedeutet | bees | burnt | came back | can you | cats | causes | closed for | copies | couldnt
-30 crossword | der kollege | der unterschied | desk | detached | detached head | did and | didnt | do they
-30 does mean | doing | donkey | down | down and | durfen | dusche | dutch | einer | ersten mal | es
-30 exclamation marks | feel | ffs | flight | foot | for an | for that | fringe | funf | gave me | geht der | gives
-30 got the | great | grow | handy | has been | hat auf | hat dem | hate | he is | heißt | how to | i went | i will
-30 if im | im so | in an | in bits | instagram | ireland | isnt | it on | jahren | keeps saying | kein | km
-30 kostet | lad | laughing | leave the | leaves | led | leeks | leute | line | liter | loop | lying | mach die
-30 make the | man auf | marks | married | mate | milk | minuten | my boss | my phone | nah | nee | nem | nicely
-30 nix mehr | note | once | or is | or to | painted the | para | paragraph | passed her | past tense | points
-30 polish for | power | push | quit | rain again | really | ring on | river | sake | sandwich | saved | say | saß
-30 schlaft | scored | seen | sein | she is | she says | sick | spanish | spanish for | spelling | start with
-30 tell you | tense | that in | that is | the back | the bus | the same | the second | thrilled | through the
-30 to a | tochter | twelve | und der | up in | video | walked | wall | was bedeutet | wasps | welt | what a
-30 why does | with a | womens | world | would have | year | zusammen | zwolf | 一半 | 一句 | 一年 | 三 | 下来
-30 为啥 | 五个 | 京 | 他妈 | 你说 | 八 | 冬 | 出来 | 分 | 刚 | 办 | 区 | 区别 | 半天 | 压 | 友圈 | 只 | 听 | 咋
-30 哈 | 啦 | 在哪 | 奶 | 孙子 | 完了 | 得 | 怎么 | 感 | 我在 | 我家 | 我真 | 扔 | 抱 | 抱着 | 教练 | 曲 | 有啥
-30 来一 | 来了 | 毫 | 的老 | 盘上 | 离 | 终 | 终于 | 脸 | 苏 | 草 | 诗 | 请 | 谢谢 | 过去 | 通 | 里 | 重 | 队 | 集
-30 鱼
-25 ^but | ^css | ^ffs | ^give | ^half | ^jesus | ^kieran | ^less | ^mei | ^mums | ^na | ^nans | ^who | ^your
-25 a full | a tomato | a week | about | age | alive | am ende | and me | and not | and now | api | auf den
-25 bastard | before me | besser | between the | bollocks | boots | bringt | brought | bullet | bullet points
-25 butter | came up | can kiss | can the | capital | centre | chat | chips | christ | council | crying | customer
-25 customs | daft | das dritte | die frau | discovered | do bees | do not | downstairs | dozen | dritte | duck
-25 during | eh | eigentlich auch | eight | ends | english | erklaren | erklart | erst | everyone in | f | fallen
-25 fliesen | fourth | function | g | ganzen | gave him | gefragt | gesungen | geweint | gives me | gleichzeitig
-25 goal | god and | goldfish | greek | had in | haiku | half the | hat die | hay | held | hello | hide | his own
-25 hort | hours | how far | hunde | hut | i drive | i ought | ich habe | idiot | in goal | in python | ins
-25 inside | is a | ist der | ist ein | it a | it from | it now | it or | it true | ive been | jahre | joking
-25 katze | kind | kiss | kiss my | klavier | kommt der | lange | latex | like | like that | lines | links | living
-25 lol | lose | mad | make it | me that | mein schwager | mich | mir heut | moss | moving | mushrooms | na
-25 nearly | next door | noch ein | noon | not even | now and | nur noch | of your | office | on a | on it
-25 one more | one with | opened | out there | outlook | own | picked | pink | quid | radio | said it | sang
-25 sat on | say in | say where | saying it | schrift | schwager | seat | selber | sent me | sheep | shell | ship
-25 shorter and | side | so we | sod | sofa | sold | space | spoon | stelle | stunden | tale | telly | than
-25 thanks | that a | that was | the best | the crossword | the joke | the lot | the milk | the night | the order
-25 the paper | the past | the radio | the rest | the sofa | the street | the table | the top | the trampoline
-25 the wall | the window | thing at | threw | to me | to send | toast | today the | told | tomato | traffic
-25 tried | true | turns out | twenty | und wir | undo | vicars | vinegar | wake | war | was a | was at | was in
-25 was the | watching | website | whats the | when was | who is | who the | why is | win | winter | wochen | wollt
-25 worse | worst | you do | you take | your parcel | 一只 | 三分 | 上的 | 不是 | 不要 | 个小 | 也不 | 了五 | 了半
-25 今 | 他自 | 儿 | 写一 | 冰 | 删 | 哈哈 | 哭得 | 图 | 块 | 天了 | 天把 | 女的 | 子有 | 实 | 小孩 | 就给 | 年轻
-25 当 | 情 | 意 | 慢 | 我跟 | 戴 | 把我 | 指 | 挺 | 排了 | 改成 | 新 | 星 | 昨儿 | 是谁 | 显 | 有 | 有什 | 服了
-25 本 | 来电 | 案 | 楼下 | 毛 | 澡 | 照片 | 版 | 男的 | 的一 | 的照 | 看 | 着 | 睡着 | 缸 | 老是 | 蜜蜂 | 视 | 觉
-25 认 | 走了 | 轻 | 钟 | 键 | 隔 | 龙
-20 ^betreff | ^kurzer | ^sign | ^thats | ^too | a baby | a short | and asked | and her | and then | arent | arse
-20 average | baklava | been | below | bis | bis zum | bitte | came in | child | children | copy | dazu
-20 den ganzen | derek | did a | dir | div | drank | during the | ende | facts | faster | first one | for your
-20 front | game | general | give me | gleich | go back | go off | guess | hab | haha | hair | half a | hang
-20 he did | he had | he said | hedge | high | hin | hour | how did | i nearly | i swear | ich hab | ich schon
-20 is an | jars | kann ich | kid | kill | kind regards | konnen | krieg | kurzer | kurzer und | lap | last one
-20 leave it | like the | long do | louder | make a | man den | me something | mei | memory | middle | mile | mude
-20 music | muss man | my feet | my tea | ne | november | o | on my | paragraphs | pfarrer | printed | project
-20 proposed | prozent | pushed | queen | raus | regen | remove | roughly | schlaft endlich | schreiben
-20 schreiben sie | schwester | scratch | she said | sleep | slept | stille | stuck | suit | tea | tears | tenner
-20 that again | the capital | the clocks | the letters | the middle | the queen | the world | there is | they go
-20 to eat | total | try | two hours | two paragraphs | two sentences | uk | undo the | up for | wanted to
-20 wants it | war so | was on | ways | we lost | wer war | whos on | wia | words for | write a | year old
-20 zwillinge | 一晚 | 一路 | 上一 | 下午 | 了我 | 人的 | 停 | 冷 | 前的 | 北 | 半夜 | 印 | 叔 | 响 | 哪里 | 唱
-20 喂 | 小区 | 己 | 布 | 干 | 式 | 弟 | 恐 | 成了 | 我们 | 打印 | 掉 | 播 | 敲 | 标 | 每 | 球 | 瓜 | 甜 | 着了
-20 给他 | 色 | 英 | 行 | 设 | 说法 | 起来 | 车上 | 近 | 连 | 镇 | 颗糖 | 题目 | 风 | 鸡
20 ? | ^could | ^gib | ^see | ^they | a second | after the | alles | always | an den | and its | and theres
20 and whether | anfahrt | anyone | are we | arrive | art | back from | be out | black | box | by and | can they
20 certain | charge for | come a | das die | day | die die | doors | down the | essay | estate agent | family
20 farm | frozen | funeral | getting | gone and | got one | half | happy birthday | he still | hes back | hes in
20 hotel in | i ring | ich dir | if the | ihrem | in welchem | is asking | is not | is there | key | know who
20 kommen | kriegt | landlord about | lend | likes it | logo | long have | long till | march | match | meine frau
20 mietvertrag | mir die | more of | mum | my car | my visa | name of | needs to | neuen | not the | not too | omg
20 on me | on wednesday | or what | order for | out again | out for | packing | paid the | parents | password
20 put in | reminder | rent | roof | s | said yes | standing | stopcock | studio | termin aber | that does
20 the boy | the card | the consultant | the doctor | the heating | the list | the physio | the rota | the spare
20 the stopcock | those | to drop | to get | to it | to read | to swap | towel | tropfen | trouble | try the
20 us at | visa | von | ward | were away | weve got | whoevers | whose | wir damals | wissen was | with it
20 with me | wont | yes to | zettel | zwischen und | 下个 | 下次 | 书 | 什 | 什么 | 全家 | 别 | 到期 | 卡 | 压药
20 发一 | 发烧 | 同 | 啥时 | 地址 | 大夫 | 奶粉 | 娃 | 婚纪 | 子都 | 宜 | 寿 | 就说 | 库 | 念日 | 我排 | 抬 | 搬
20 收 | 斤 | 日是 | 早 | 是十 | 替 | 本书 | 校 | 样 | 歉 | 水管 | 涨 | 物 | 的日 | 眼 | 票 | 糕 | 纪念 | 给谁
20 能不 | 能吃 | 英语 | 被 | 见 | 请假 | 贴砖 | 赛 | 那天 | 里有 | 钱 | 防水 | 降 | 降压 | 露 | 预 | 餐
25 ^bit | ^dads | ^does | ^its | ^mag | ^whats | a birthday | a clue | a lift | a month | a present | agreed
25 alarm | and he | and in | and send | and where | anniversary | answering | as to | at home | bei mir | bill for
25 blanket | boys | bring | by the | chart | chefs | chor | code for | come back | coming up | consultant | cost
25 cottage | counter | crowd | damals | dates | delivery | dem ich | denn | did she | die stunde | dinner | do a
25 dose | draft a | draft the | em | emergency | emergency contact | er nicht | estate | everyone | everyones
25 final | find the | firm | first paragraph | fit | flowers for | football | for this | forgotten | format
25 fragen | free or | fur den | garage | gas | gern | give | give her | gleiche | good as | got a | got left
25 got on | guests | gym | habe | hat er | hat sie | hat und | have i | have it | have we | having | hearing | hes
25 i cannot | i cant | i charge | i had | i still | i take | ich der | ich mochte | ich weiß | ihm | im running
25 in march | is der | it cant | it how | it that | ive a | jemand | job in | just rung | keys | kleine von | knee
25 leaving | leg | licence | looks | machines | mag er | making the | man about | man at | mia | min | mind
25 mit den | mochte | my usual | near | nen | net | next week | night | normally | not answering | now | ob ich
25 on saturday | one i | one on | optician | or was | out | paint | pancakes | phone | piano | picking
25 picking up | picks | pizza | pork | present for | press | reading | rebook | rechnung fur | rep | right | round
25 run | sag | sag dem | said id | sat | says and | schon | septic | shopping list | sink | size | so far
25 so good | so it | something for | spell | stammkunden | steps | stood | stunde | summer | tante | the bill
25 the boat | the boys | the choir | the christening | the code | the counter | the estate | the family
25 the landlord | the month | the name | the nursery | the ones | the septic | the shed | the vet | they ever
25 they need | thirty | this month | thursdays | time does | to have | to my | to start | told us | und uhr
25 und weiß | und wo | van | vertrag | vor dem | wann muss | warranty | was sie | we agreed | wegen dem | weight
25 weiß | wen | what did | what i | what we | which day | which ones | who do | width | wie lang | wieviel | wifes
25 will wissen | wise | wish | with his | wochenende | wollen | wont be | workshop | yesterday | you spell | zeit
25 一回 | 一遍 | 上 | 上礼 | 不能 | 东 | 了几 | 今晚 | 仪 | 位置 | 你帮 | 你都 | 保 | 保养 | 借 | 八点 | 养 | 再
25 到哪 | 刷 | 医生 | 口了 | 台 | 吃的 | 吴 | 周五 | 周末 | 哪年 | 团 | 址 | 型 | 外面 | 多少 | 天来 | 头一 | 女儿
25 妹 | 客厅 | 就一 | 就行 | 屉 | 平时 | 快递 | 我现 | 房租 | 把自 | 抽屉 | 拿 | 挑 | 排 | 是几 | 是多 | 来看 | 查
25 检 | 满 | 点的 | 煮 | 物业 | 理 | 琴 | 的地 | 的说 | 看我 | 砖 | 答辩 | 签 | 粉 | 素 | 纸 | 芯 | 要去 | 试
25 说她 | 豆包 | 货 | 跟谁 | 辩 | 还剩 | 通知 | 道 | 那几 | 钱了 | 阿
30 >6 | ^ask | ^bitte | ^call | ^can | ^chase | ^fill | ^find | ^hows | ^ist | ^locked | ^mail | ^set | ^sort
30 ^stuck | ^such | ^tell | ^there | ^verschieb | ^welches | ^wer | a client | a different | a nice
30 a temperature | abholen | absagen | and it | and nobody | and say | another | any | anything | apotheke
30 asking which | bald | bank | be | be so | bedtime | bins | boilers | booked | calendar | call the | can she
30 christening | clue | come | could you | customers | da | der vom | dienst | dieses | do i | dont | easter
30 figure | fill | find | flowers | for her | for thursday | form | free | going | got my | grad | habe ich
30 haben wir | hall | has a | has gone | hat der | he wont | heut abend | i dont | i told | idea | if ive | if she
30 ill | in and | in dem | in it | in on | insurance | interview | is dead | just rang | karte | keller | key to
30 kleine | l | last night | lens | letter | lisbon | little | long is | mal | man bei | manager | many weeks
30 me and | meant to | mias | move my | mr | must | my mother | my shift | ned | neue | nicht | offered
30 on monday | one who | op | operation | other one | out on | owes | park | parking | parts | preis | q
30 rechnung | remind me | renew the | reply to | says | schicken | shall i | share | sheet | sister | so wie
30 spare | stopped | sundays | supper | sure | tablet | take | taking | temperature | text the | thank | that the
30 the blue | the cottage | the long | the man | the piano | the rent | the school | the van | the wifi
30 they have | theyve got | to take | told you | under | verschieb | vet | walk in | wants to | water | wer
30 where did | where is | wheres | which bin | who did | whos got | will | window cleaner | work out | write her
30 yes | zahnarzt | zugesagt | zur | 一声 | 上回 | 下单 | 个抽 | 做 | 傅 | 兰 | 匙 | 告诉 | 周三 | 外头 | 姑 | 婚
30 室 | 小姑 | 居 | 师傅 | 平 | 床 | 开 | 我不 | 我今 | 我把 | 找 | 抽 | 换 | 提前 | 提醒 | 敏 | 是不 | 是哪 | 末
30 梯 | 注 | 滤 | 点半 | 电 | 的来 | 盒 | 眼镜 | 答 | 系人 | 老公 | 联系 | 聚 | 行不 | 补 | 裁 | 裁缝 | 话我
30 说一 | 账 | 过敏 | 部 | 钥 | 钥匙 | 长会
35 ^draft | ^frag | ^invoice | ^pay | ^schreib | ^theyve | ^was | ^wieviel | ^wifi | ^wos | address | allen
35 am mittwoch | and tell | bei dem | bei der | bei uns | beim | christmas | contract | couple | dead | dentist
35 die liste | do the | eat | er jetzt | feed | fill in | find me | finish | forgot | freitag | from me | get me
35 gone | got me | hasnt | hatten wir | hes got | him | house | how i | how old | hows the | i never | i put | ice
35 ich die | im angebot | in before | it ok | ive already | ive got | jabs | lady | limit | lot | mahnung | making
35 man says | mans | me down | meinem | mit | must be | nach der | nebenan | no | nochmal das | ob | of mine | off
35 off in | old is | or just | party | people | physio | plus | price | recall | rental | repeat | rezept
35 ring the | room | rota | same as | says i | school | sorry to | spater | spent | tell | tested | than i | that
35 that i | the deposit | the hall | the hospital | the phone | the shop | the small | the spring | the thing
35 then the | they back | theyre asking | thinking | together | trip | uberhaupt | uberweisung | using | want to
35 wants a | wants the | was hat | was that | we do | we have | wed | wer hat | whatever | whats | whats her
35 whats our | where the | who gets | who has | with that | with the | woche | works | yet | 下 | 下周 | 个教
35 之前 | 价 | 你看 | 修 | 催 | 到几 | 厂 | 只剩 | 她讲 | 好的 | 定的 | 密 | 密码 | 尺 | 屋 | 帮我 | 忌 | 忌口
35 托 | 提 | 日子 | 条 | 架 | 点 | 的那 | 知 | 礼拜 | 落 | 表 | 说明 | 过的 | 递 | 里谁 | 错 | 防 | 饭
40 >4 | ^a | ^book | ^bring | ^cancel | ^die | ^es | ^im | ^kann | ^phone | ^remind | ^reply | ^ring | ^when | ab
40 agency | am i | and how | and ive | and the | ausgesperrt | babysitter | bloke | brauchen | caravan | cleaner
40 code | darf | date | den | des | did he | did i | die zwei | dienstag | donnerstag | drinks | einkaufsliste
40 elternabend | euro | february | fertig | gehn | has he | has she | her a | here in | i do | if | immer | in for
40 invoice | ja | komm | last year | lauft | like to | machen | many | monat | mrs | muss | name | need the | not
40 not to | oder war | oma | on | ordinary | outside the | owe | packed | paying | plan my | promised | prufung
40 quick | return | rule about | same | say no | schreib | should | soll | somewhere | tables | the caravan
40 their | theres | these days | they want | theyre | thing | this term | us a | von uns | w | wanting | was er
40 weekend | welchem | what time | when does | where are | whom | you know | you to | 了多 | 二十 | 人在 | 你 | 六
40 加 | 单子 | 叫 | 呢 | 啊 | 地方 | 复 | 多 | 太太 | 婆婆 | 定 | 忘了 | 想 | 我晚 | 我的 | 户 | 房东 | 明早
40 机的 | 款 | 没有 | 照 | 爸 | 盆 | 笔 | 腰 | 诉 | 这周 | 邮 | 锁 | 门
45 ^hatte | ^id | ^message | ^steh | ^wo | a first | abend | again | an die | and what | and when | anrufen
45 aoife | are they | bei | bill | bit of | borrowed | call | can | cancel the | charge | darf ich | dieses jahr
45 down for | drop | email | freitags | gonna | große | gun | hab ich | help | hospital | how many | i should
45 in der | irgendwer | is he | it the | jess | know about | late | lease | left | like it | litres | mag
45 message the | monday | my | nehmen | nimmt | nummer | ones | onkel | over to | paid | post | present | ring
45 screen | someone | sort | spring | start | starting | stuff | tell her | term | the place | to do | to the
45 und was | vorm | ware | was ich | wednesday | what the | wie heißt | wir sind | wissen | would | write the
45 zum | 一直 | 不 | 个月 | 了没 | 今年 | 他们 | 公司 | 厅 | 司 | 吃 | 吧 | 填 | 多大 | 姓 | 姓什 | 孩 | 孩子 | 师
45 拜 | 是怎 | 期 | 没人 | 码 | 箱 | 那边
50 ^at | ^is | ^welche | auntie | braucht | card | coming | contact | dass ich | deposit | do it | doch | does she
50 dr | dress | ersatzschlussel | essen | fella | filter | frag | fur alle | geht | hatten | havent | how much
50 id | im at | im in | is my | it out | lads | let the | letztes mal | list for | liste | mama | meine | meinen
50 mine | oil | or not | remind | renew | run out | set | she | shop | somebody | st | the oil | the right
50 the sink | thick | things | this week | tmrw | unser | urlaub | vertragt | want the | war das | welches | weve
50 whats my | whoever | wieder | wos | would like | 不吃 | 么时 | 假 | 医 | 去年 | 姨 | 往 | 忘 | 所 | 有人 | 烦
50 电话 | 租 | 老样
55 ^am | ^auf | ^have | ^in | ^plan | ^renew | ^stehe | ask | away | bescheid | buch | can i | choir | dads
55 das was | do him | due | evening | flat | hotel | me | meiner | month | n | nich | of the | pay the | pick
55 plan | quote | samstag | signed | steht | the one | them | they | thurs | what size | whats his | wie immer
55 without | 买 | 住 | 到 | 发给 | 咱 | 在外 | 店 | 按 | 来着 | 样子 | 老 | 课
60 ^and | ^ruf | asks | before | cant | chase | de | did | did we | geburtstag | list | ma | message | much | need
60 of my | order it | place | pls | reason | ruf | schlussel | stehe | tablets | til | weeks | what was | xmas
60 剩 | 单 | 寄 | 带 | 快 | 报 | 柜 | 看看 | 要 | 记 | 该 | 还
65 ^bin | ^did | ^email | ^schick | ^send | ^text | bin | cancel | client | friday | gets | here | hope | ich am
65 im | kommt | last | schick | something | steh | the little | the usual | uns | us | wann | week | what | wifi
65 wo | 交 | 哪家 | 啥 | 工 | 我 | 接 | 明天 | 班 | 续 | 车
70 >2 | ^order | and im | angebot | birthday | days | fur die | have | her | ihr | is she | laden | letztes | mein
70 needs | oder | ours | saturday | still | this year | time | tomorrow | wegen | when | who | 晚 | 药 | 订 | 那个
75 ^whens | about the | der | does he | draft | for | frau | ich | labour | or the | our | send | shift | tell the
75 the | tonight | von der | wem | write to | 她 | 房 | 日 | 礼 | 让 | 跟
80 ^bestell | ^sag | asking | book | food | fragt | i | jahr | theyve | vom | write | 一下 | 家 | 次 | 问
85 ^get | ^wann | am | bestell | die | do we | locked | mittwoch | pay | sie | th | where | 没 | 还是
90 ^whos | fur | furs | get | have the | noch | offer | was it | welche | which of | whos | 去
95 for the | ive | mums | termin | the th | want | whens | 上次
100 or | 几 | 约
105 ^has | ^trag | nochmal | number | sunday | usual | wir | 哪天 | 谁
110 ^hat | dem | er | trag | which
115 order | 周
120 thursday | 号
130 we | 哪
135 给
140 know
150 那
155 wants
"""
"""Weights in hundredths of a log-odds, each before its features.

A feature is a word, a pair of words or characters, `^` and the first word, `>4` for four words and more, `#` a digit,
`*` for every message. `make eval-messages ARGS=--fit` regenerates them.
"""
