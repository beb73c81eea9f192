"""How a message is worded: whether its answer calls for something that is kept, or anybody could have typed it.

*Book the usual place*, *can she eat that* and *where did I put it* call for what is kept; news of one's day, jokes,
sums, orders about the text at hand and questions about the world do not. A logistic regression tells them apart by
common words, pairs of words that follow each other, signs, and its length; the weights stand at the end.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from memoryd.domain.expressions import expression
from memoryd.domain.text.languages import language_of
from memoryd.domain.text.words import UNSPACED_RUN

WEIGHED_LANGUAGES = ("en", "zh", "de", "")
"""What is too short to tell its language is taken for one of them."""
UNKNOWN = -1.5
"""Of what nobody can tell: a little less than most messages that need something have."""
ALWAYS = "*"
"""The feature that every message has."""
_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LENGTHS = (2, 4, 6, 9, 13, 20, 35, 60)
"""Words from which on a message is longer: each that it has is a feature."""
SIGNS_A_WORD = 1.7
"""Of a script without spaces."""
_MARKS = (("?", expression("[?？]")), ("#", expression(r"\d")))


def form_of(text: str, weights: Mapping[str, float] | None = None) -> float:
    """Return the log-odds that a normalised text calls for something that is kept, by its wording alone.

    By the weights of the table, if no others are given. Of a language that has none nobody can tell.
    """
    weights = _weights() if weights is None else weights
    if language_of(text) not in WEIGHED_LANGUAGES:
        return UNKNOWN
    return sum(weights.get(one, 0.0) for one in features(text))


def word_count(text: str) -> float:
    """Return how many words a text has, of a script without spaces by its signs."""
    signs = sum(map(len, UNSPACED_RUN.findall(text)))
    return len(_WORD.findall(UNSPACED_RUN.sub(" ", text))) + signs / SIGNS_A_WORD


def features(text: str) -> set[str]:
    """Return what of the wording of a normalised text is weighed: each of its features once."""
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
def _weights() -> Mapping[str, float]:
    rows = (row.partition(" ") for row in TABLE.split("\n") if row)
    return {feature: int(weight) / 100 for weight, _, several in rows for feature in several.split(" | ")}


TABLE = """
-275 *
-161 ^my
-157 >35
-120 ^our
-115 最
-110 how do
-107 为
-102 成
-95 what is
-94 between | mean
-92 >20 | you | 和 | 真
-89 came
-88 ^if | best | ein | 了一
-86 third
-85 tell me
-84 word
-83 als | today
-82 完
-81 your | 睡
-80 # | a | uber | wort | 全
-79 and she | asked
-78 ^meine
-77 does a
-76 sentence
-75 its for | 国 | 字 | 都
-74 asleep | thats | 狗
-73 heute | man | sich
-72 excel | for a
-71 ate | ohne | the first | whole
-70 ^say | 后
-69 why | 笑
-68 吃了
-67 git | was ist | won | 句
-66 invented | it to | which is | 今天 | 我说
-65 ^we | ^why | dann | drei | he was | this morning | what does | 红
-64 darf man | python | 于 | 十
-63 then
-62 是
-61 eine | kollege | scheiß | took | 手 | 用 | 省
-60 genau | nine | rein | ten | wrote | 妈
-59 ^der | bit | feet | lost | moon | 一 | 几月
-58 satz | vs
-57 >60 | haus | menu | never | planet | rhyme | so | the last | 大 | 正
-56 also | c | durch | five | gelacht | heißt das | makes | statt
-55 ^git | rain | weather | when the | wir haben | 妈的
-54 ^now | england | explain | found | gesagt | gibts | good | into | point | three
-54 warum | won the | 棋 | 鼓
-53 ^no | hat | hat mir | made | nachbarn | said | stand | whats that | wurde | 从
-53 像 | 第
-52 ^warum | an hour | cheese | difference | first | french | mostly | shorter
-52 through | und die | 她说
-51 auf der | bought | british | hat heute | oben | sind | 中 | 动 | 文
-50 bad | behind the | cried | e | look | mit dem | nobody | wind | 为什 | 回来 | 看了
-49 bus | difference between | god | ist | point of | take out | the next | the word
-49 就 | 爷 | 自 | 语
-48 eaten | fish | hat sich | percent | the printer | 儿子 | 八 | 的时 | 第一
-47 ^unser | asleep on | but | mehr | more | rose | says its | sie hat | whats a
-47 意思
-46 fenster | ganz | laughed | quiet | team | the bit | use | was heißt | welsh
-46 welsh for | 关 | 写 | 几个 | 我写 | 死
-45 ^that | dentists | einem | heut | into the | market | sign | stop | who invented
-45 一般 | 产 | 哦 | 子 | 得我 | 般
-44 actually | as a | because | fine | it was | latin | law | row | suitcase
-44 who wrote | wieviel grad | word for | 给我 | 通 | 雨
-43 ^explain | ^the | bloody | css | gestern | had to | have a | its a | knees
-43 letters | regards | sehr | sunset | swap the | the titanic | titanic | 副 | 夸 | 线
-43 谢
-42 bells | come out | dry | ganze | gave | kuchen | out and | schon wieder
-42 shouting | swan | talking | went | were | what have | 午 | 四 | 小时 | 思 | 率
-41 ^from | instead | it | keep | printer | read | und dann | very | words
-41 write it | wrote the | 七 | 坐 | 速
-40 ^ab | ^just | ^woher | and they | b | back of | brother | da wie | drum | erste
-40 every | gehort | happens | i was | it again | kann man | sell | tag | the menu
-40 the whole | upon | woher | woher kommt | you get | 么 | 了个 | 来的 | 跟她
-39 ^mein | ^wenn | aus | closed | colour | dieser | does it | drop the | hard
-39 hell | hi | in | in die | longer | missed | nichts | of | one for | over the
-39 pro | sea | the difference | we were | 升 | 头 | 底下 | 段 | 比 | 较 | 验
-38 forty | in a | missing | names | plain | rechts | singing | sorry for
-38 talking to | the cat | the vicar | vicar | way | weg | 学 | 题
-37 ^rain | ^take | all | broke | by law | englisch | goes | in his | it in | large
-37 meine tochter | old | poem | seit | the third | vier | you kindly | 亲 | 光 | 剧
-37 十二 | 家老 | 手机 | 练 | 起
-36 ^synonym | again but | behind | did not | ersten | example | exclamation
-36 finally | ich bin | is this | jetzt | joke | long does | of them | review
-36 sentences | sonst | synonym | thats the | the order | wept | young | 三点 | 写了
-36 奶茶 | 如 | 梦 | 欢 | 的是 | 蜂 | 重 | 高
-35 and we | betreff | bigger | bit about | break | for i | french for | had | lake
-35 last line | less | note | nur | polish | pounds | rude | stammtisch | teeth
-35 the council | turns | unterschied | way round | 了两 | 好 | 怎 | 泡 | 要打
-34 ^wir | back to | clocks | could they | e mail | invented the | kinder | lost the
-34 off a | only | passed | photo | sound | teacher | the moon | the young | too
-34 um | unterschied zwischen | 分 | 品 | 翻 | 路 | 里 | 馆
-33 add a | and has | bed | bless | endlich | foot | for and | hat heut | im not
-33 just | needs an | regex | richtig | save | seen | sql | to a | war der | was my
-33 waved | waved at | why do | wird | worked | 三 | 下的 | 为啥 | 你说 | 俩 | 先 | 啦 | 昨
-33 气 | 盘 | 节
-32 ^bloody | ^noch | ^ok | ^python | ^shorter | about a | all day | are you
-32 change | feel | fringe | give me | greyhound | has been | kostet | led | liter
-32 off the | paragraph | passed her | power | she says | told the | und der | wasps
-32 womens | would have | zusammen | 一半 | 下来 | 冰 | 去了 | 圈 | 孙子 | 扔 | 法 | 破 | 背 | 请
-32 过去
-31 ^excel | ^third | absolute | at am | bedeutet | crossword | der kollege
-31 detached | detached head | funf | gave me | grow | handy | heißt | i get
-31 ireland | kein | leaves | leute | mach die | make the | married | nicely
-31 nix mehr | or is | points | river | scored | tell you | that is | video | walked
-31 was bedeutet | welt | world | 一年 | 压 | 听 | 哈 | 怎么 | 我真 | 星 | 曲 | 本 | 来一 | 苏
-31 草
-30 ^she | ^sql | a ring | and shes | app | as if | bees | couldnt | desk | didnt
-30 do they | durfen | dutch | exclamation marks | ffs | hat auf | hour | i will
-30 km | latex | marks | mate | me that | minuten | my boss | nee | nem | on a
-30 or to | quit | rain again | really | saved | she is | start with | time is
-30 tochter | wall | what a | zwolf | 他妈 | 冬 | 刚 | 友圈 | 己 | 我家 | 教练 | 的老 | 队 | 集 | 鱼
-29 ^one | an old | and thank | at and | better | burnt | came back | can you | cats
-29 causes | copies | did and | does mean | down and | dusche | es | flight
-29 for that | great | hat dem | he is | i went | if im | im so | instagram | isnt
-29 keeps saying | lad | laughing | leeks | line | nah | past tense | polish for
-29 radio | say | sick | tense | the back | thrilled | twelve | up in | 一句 | 不是 | 京
-29 出来 | 历 | 奶 | 抱 | 抱着 | 新 | 有啥 | 来了 | 看
-28 ^mums | ^who | and hes | aufs | aus dem | closed for | doing | donkey | down
-28 einer | ersten mal | geht der | gives | got the | i need | inside | it on
-28 jahren | lol | man auf | noch ein | painted | para | ring on | sandwich | saß
-28 schlaft | sein | the bus | the second | through the | try | with a | 儿 | 区别 | 咋
-28 当 | 楼下 | 毫 | 终 | 终于 | 脸 | 诗
-27 ^css | ^ffs | ^na | ^spanish | and now | bastard | der unterschied | downstairs
-27 duck | eigentlich auch | eight | ganzen | gave him | gesungen | had in | hide
-27 how to | hut | in bits | it a | klavier | leave the | like that | lying | milk
-27 my phone | na | now and | said it | sake | schrift | sent me | since | spanish
-27 spanish for | spelling | than | that in | that was | the rest | the tea
-27 to send | version | vinegar | who is | why does | wochen | 一只 | 写一 | 办 | 区 | 半天
-27 只 | 完了 | 小孩 | 得 | 感 | 是谁 | 来电 | 男的 | 自己 | 谢谢 | 隔
-26 ^kieran | ^nans | ^your | a week | add | age | alive | and me | api | boots
-26 can the | daft | ends | gefragt | hate | hay | held | his own | hunde | in an
-26 ins | ist der | it true | jahre | lose | next door | on it | one with
-26 out there | outlook | sang | say in | saying it | sod | tea | the joke
-26 the same | the window | threw | tried | true | vicars | war | was in | was the
-26 website | 了半 | 发 | 天了 | 女的 | 显 | 毛 | 盘上 | 离 | 群 | 认 | 钟 | 键 | 面 | 鸡
-25 ^half | ^mei | a full | and not | bollocks | bringt | capital | chips | council
-25 crying | die frau | erst | geweint | gleichzeitig | i drive | idiot
-25 in python | katze | kind | kommt der | links | mich | mushrooms | nearly
-25 picked | sat on | space | spoon | stelle | telly | the lot | the radio
-25 the trampoline | the wall | to me | toast | turns out | until | was at | who the
-25 why is | win | winter | worse | year | you do | your parcel | 删 | 哭得 | 就给 | 情
-25 戴 | 排了 | 的一 | 睡着 | 视
-24 ^jesus | ^less | am ende | brought | butter | came up | chat | christ | customs
-24 discovered | do not | f | fallen | fliesen | for an | fourth | g | goal
-24 god and | greek | hello | hours | how far | i ought | in goal | is a | lange
-24 like | mein schwager | mir heut | need to | noon | not even | nur noch | office
-24 say where | seat | sheep | show | so we | sofa | sold | stunden | tale
-24 that a | the best | the night | the past | thing at | traffic | twenty | was a
-24 上的 | 了五 | 今 | 他自 | 前的 | 哈哈 | 天把 | 子有 | 年轻 | 我在 | 我跟 | 改成 | 有 | 有什 | 服了 | 澡 | 版
-24 觉 | 轻 | 龙
-23 ^but | a tomato | auf den | besser | between the | bullet | bullet points
-23 centre | das dritte | dritte | during | eh | english | erklaren | erklart
-23 function | gives me | haiku | half the | hat die | hort | ich hab | ich habe
-23 ist ein | it now | it or | joking | mad | make it | moving | one more | opened
-23 own | painted the | pink | remove | schwager | selber | shorter and | stuck
-23 the crossword | the milk | the paper | the sofa | the street | the top | to eat
-23 tomato | und wir | wake | watching | when was | wollt | worst | 三分 | 也不 | 冷
-23 图 | 在哪 | 实 | 意 | 慢 | 指 | 挺 | 昨儿 | 照片 | 的照 | 着 | 给他 | 老是 | 蜜蜂
-22 ^thats | ^too | about | and asked | arent | arse | average | below | bis
-22 bis zum | bitte | can kiss | customer | did a | do bees | dozen | drank
-22 everyone in | first one | gleich | goldfish | haha | he did | i nearly | i swear
-22 it from | ive been | kid | kill | kiss | kiss my | konnen | last one
-22 like the | me something | mile | moss | of your | once | paragraphs | pfarrer
-22 quid | schlaft endlich | side | slept | stille | tears | thanks | that he
-22 the capital | the clocks | the middle | the table | today the | two hours
-22 two paragraphs | wanted to | war so | was on | we lost | wia | year old
-22 you take | zwillinge | 上一 | 不要 | 个小 | 事 | 已 | 掉 | 缸 | 行 | 设 | 走了 | 连 | 镇
-21 ^betreff | ^cant | ^kurzer | and a | and her | and then | baklava | before me
-21 came in | child | copy | dazu | derek | dir | during the | end on | faster
-21 for your | front | game | go off | hab | hair | he had | he said | high | hin
-21 how did | ich schon | is an | kind regards | krieg | kurzer | kurzer und
-21 leave it | lines | living | long do | mei | memory | mude | music | muss man
-21 my tea | ne | o | on my | printed | prozent | pushed | queen | raus | regen
-21 schreiben | schreiben sie | schwester | she said | six | sleep | suit
-21 the letters | the queen | there is | they go | told | two sentences | uk
-21 whats the | words for | wrong | 一晚 | 一路 | 人的 | 北 | 印 | 响 | 唱 | 喂 | 嘴 | 布 | 干 | 弟
-21 打印 | 标 | 每 | 瓜 | 着了 | 空 | 色 | 英 | 说法 | 贵 | 起来 | 车上 | 颗糖 | 风
-20 ^callum | ^sign | a short | den ganzen | die ganze | each | ende | general
-20 ghost | guess | half a | hang | hedge | lap | last commit | louder | macbeth
-20 man den | middle | project | proposed | push | this is | total | verse | ways
-20 wer war | whos on | 南 | 叔 | 块 | 式 | 成了 | 把我 | 播 | 敲 | 球
20 ^see | ^they | an den | and who | eggs | funeral | gone and | happy birthday
20 him about | hotel in | jacket | march | mietvertrag | not the | old one | pizzas
20 rent | that does | the big | the card | the contract | the list | to it
20 us at | visa | wedding | zettel | 二楼 | 单元 | 号是 | 姐 | 宿 | 工作 | 我排 | 涨 | 病 | 的日
20 血糖 | 被
21 ^could | ^gib | alles | and i | and its | and theres | and whether | anfahrt
21 art | black | das die | die die | each of | estate agent | farm | getting | give
21 got one | has the | he still | hes in | i charge | if the | in welchem | key
21 kommen | kriegt | long have | manage | more of | omg | on me | on saturday
21 on what | one i | out again | paid the | password | said yes | standing
21 termin aber | the rota | the spare | the test | to give | to read | to swap
21 towel | tropfen | ward | wir damals | wissen was | wont | yes to | 别 | 卖 | 卡
21 复查 | 大夫 | 婚纪 | 就说 | 念日 | 挑 | 搬 | 斤 | 纪念 | 能不 | 英语 | 还有 | 那天 | 钱 | 防水 | 降 | 露 | 预
22 a second | always | anyone | arrive | by and | christmas | come a | crowd
22 doors | essay | family | for this | have i | hes back | i ring | ich dir | ihrem
22 is asking | is there | know who | lend | logo | long till | match | meine frau
22 min | mind | mir die | mit den | name of | needs to | neuen | on wednesday
22 or what | out for | parents | put in | reminder | roof | stood | studio
22 the doctor | they ever | those | time does | trouble | von | what i | yesterday
22 zwischen und | 一遍 | 上礼 | 下个 | 全家 | 压药 | 发一 | 发烧 | 地址 | 天来 | 奶粉 | 收 | 日是 | 明
22 是几 | 物 | 眼 | 糕 | 见 | 请假 | 贴砖 | 过 | 钱的 | 降压
23 ^bit | a clue | after the | and send | boys | can they | find the | flowers for
23 fur den | half | i cannot | i cant | in march | is der | it how | it that
23 landlord about | licence | mr | my car | next week | ob ich | one on | pizza
23 reading | road | sag | septic | so far | so it | stopcock | the boys
23 the consultant | the physio | the stopcock | thirty | thursdays | to get
23 to start | wann muss | wants to | weight | whoevers | wifes | with it | 不了 | 东
23 以 | 你帮 | 你都 | 到期 | 医生 | 口了 | 哪年 | 啥时 | 宜 | 就一 | 抬 | 校 | 样 | 歉 | 琴 | 的地 | 票 | 里有
24 ^does | a lift | as to | bei mir | bill for | damals | die stunde | emergency
24 emergency contact | estate | everyones | forgotten | format | good as | got a
24 habe | hat er | hat und | i had | kleine von | knee | leaving | man about
24 man at | my usual | out | paint | phone | piano | rep | said id | says and
24 so good | summer | the estate | the family | the heating | the nursery
24 the septic | vor dem | what we | where is | whose | will wissen | wollen
24 write her | 吃的 | 吴 | 址 | 多少 | 娃 | 居 | 的说 | 能吃 | 说她 | 货 | 那几
25 ^dads | agreed | alarm | answering | anything | are we | chefs | chor
25 coming up | cost | counter | dem ich | do a | everyone | first paragraph | fit
25 give her | gleiche | gym | hat sie | hearing | hes | i take | ich mochte
25 it cant | job in | just rung | leg | mia | must | near | normally
25 not answering | pork | press | rebook | rechnung fur | sat | schon | size
25 something for | the bill | the month | the name | they need | this month
25 und uhr | und wo | wegen dem | weiß | wen | with his | wont be | workshop | 不能
25 养 | 团 | 头一 | 平时 | 库 | 换 | 替 | 砖 | 答辩 | 粉 | 行不 | 跟谁 | 辩
26 ^whats | a month | a present | anniversary | at home | by the | consultant
26 dates | did she | draft the | em | er nicht | final | fragen | got left | guests
26 i still | ich der | ich weiß | jemand | keys | machines | nen | net | night
26 optician | or was | picking | picking up | present for | right | round | sag dem
26 the boat | the landlord | the ones | the shed | warranty | we agreed
26 which ones | who do | wie lang | wish | wochenende | 保养 | 刷 | 同 | 快递 | 房租 | 拿
26 查 | 检 | 物业 | 签 | 素 | 还剩 | 钱了
27 ^draft | ^mag | ^stuck | and he | and in | blanket | chart | code for | denn
27 dinner | dose | free or | gas | gern | have it | having | ihm | im running
27 ive a | kleine | mag er | mochte | now | operation | remind me | sink | spell
27 stammkunden | stunde | sundays | tante | the choir | the counter | the school
27 the vet | to have | to my | und weiß | van | vertrag | was sie | what did
27 which bin | which day | width | wieviel | wise | zeit | 一回 | 了几 | 位置 | 再 | 到哪
27 周末 | 型 | 就行 | 屉 | 抽屉 | 是多 | 注 | 点 | 看我 | 纸 | 试
28 a birthday | abholen | be so | bring | clue | come back | cottage | delivery
28 firm | football | going | got on | habe ich | hall | in dem | in it | last night
28 lisbon | looks | me and | neue | owes | preis | reply to | the christening
28 the code | the long | they have | to take | told us | window cleaner | 一声 | 上
28 今晚 | 保 | 兰 | 客厅 | 开 | 我今 | 是不 | 是哪 | 满 | 点的 | 长会 | 阿
29 >6 | ^bitte | ^chase | ^fill | ^ist | ^sort | ^verschieb | and say | boilers
29 booked | calendar | customers | da | do i | dont | fill | for thursday | free
29 garage | got my | have we | i dont | idea | karte | key to | making the
29 man bei | manager | move my | one who | other one | parts | so wie | take
29 taking | text the | that the | the blue | the man | the van | verschieb
29 walk in | where are | yes | zugesagt | 借 | 周五 | 妹 | 床 | 我不 | 提醒 | 末 | 理
30 ^ask | ^call | ^locked | ^set | a different | a temperature | and it | apotheke
30 dienst | do the | easter | figure | form | haben wir | has a | he wont
30 i told | if ive | in and | in on | insurance | is dead | keller | l | long is
30 making | my mother | offered | op | park | rechnung | schicken | stopped
30 temperature | the cottage | the piano | the rent | then the | 下 | 下单 | 个抽 | 做
30 台 | 婚 | 找 | 敏 | 梯 | 滤 | 的来 | 答 | 老公 | 芯 | 补 | 说一 | 过敏 | 道
31 ^find | ^hows | ^mail | ^such | ^welches | a nice | absagen | another
31 asking which | bank | bedtime | bins | call the | der vom | grad | hat der
31 interview | just rang | lens | letter | mal | many weeks | meant to | my shift
31 out on | parking | run | says | share | spare | tablet | the deposit | the thing
31 told you | vet | where did | wheres | whos got | zahnarzt | zur | 傅 | 告诉 | 小姑
31 师傅 | 我现 | 提前 | 盒 | 眼镜 | 话我 | 部
32 ^there | ^wer | allen | bald | can she | christening | could you | dieses | find
32 finish | flowers | for her | has gone | heut abend | if she | mias | ned | off
32 q | renew the | should | sister | spent | thank | the wifi | theyve got
32 under | wer | will | work out | 外头 | 姑 | 室 | 平 | 抽 | 系人 | 联系 | 聚 | 裁 | 裁缝 | 账
33 ^can | ^tell | a client | and nobody | beim | eat | find me | forgot | got me
33 hasnt | i do | must be | nicht | ob | sheet | spater | supper | sure | tested
33 than i | they back | thinking | together | water | we do | whats her | who did
33 上回 | 匙 | 周三 | 定的 | 递 | 钥 | 钥匙 | 饭
34 ^im | ^theyve | ^was | ^wieviel | ^wifi | bei der | come | die liste | fill in
34 it ok | ive already | lady | limit | little | meinem | nochmal das | of mine
34 same as | the shop | uberweisung | we have | whatever | whats our | with that
34 works | 价 | 在外 | 婆婆 | 尺 | 明早 | 架 | 说明 | 这周
35 ^wos | am mittwoch | and tell | bei dem | dentist | er jetzt | how old
35 im angebot | ive got | mahnung | man says | me down | mit | off in | old is
35 or just | party | rezept | ring the | says i | that i | uberhaupt | 个教 | 修 | 六
35 加 | 帮我 | 托 | 提 | 电 | 落 | 表 | 里谁
36 ^frag | ^invoice | bei uns | contract | couple | drinks | drop | from me
36 get me | hatten wir | how i | ich die | jabs | mans | many | nach der | nebenan
36 people | physio | price | recall | repeat | room | rota | school | the phone
36 the small | the spring | theyre asking | trip | using | want to | wants a
36 was hat | was that | wer hat | where the | with the | 只剩 | 叫 | 她讲 | 好的 | 密 | 密码
36 屋 | 忌 | 忌口 | 日子 | 期 | 没有 | 照 | 错 | 防
37 ^pay | ^schreib | and ive | dead | feed | fertig | freitag | her a | hes got
37 house | i never | i put | in before | last year | no | packed | rental
37 sorry to | tell | the hall | the hospital | whats | woche | write the | 礼拜 | 腰
38 ^kann | ^phone | ^reply | again | can | cleaner | date | gone | here in | him
38 hows the | ice | in for | lauft | lot | oder war | plus | prufung | rule about
38 somewhere | this term | von uns | wanting | wants the | wed | welchem | whom
38 you to | 么时 | 你看 | 催 | 到几 | 厂 | 复 | 机的 | 的那 | 盆 | 过的
39 ^a | ^die | address | and how | ausgesperrt | bloke | caravan | did he
39 dienstag | gehn | invoice | ja | machen | not to | same | tables | they want
39 to do | us a | weekend | when does | yet | 下周 | 单子 | 啊 | 太太 | 我的 | 房东 | 条 | 笔
39 诉
40 ^bring | ^es | ab | brauchen | call | den | des | die zwei | has he | if
40 like to | need the | on | promised | return | say no | that | their | theres
40 was er | wednesday | 二十 | 地方 | 忘了 | 户 | 款
41 ^ring | agency | and the | be | charge | donnerstag | elternabend | euro
41 february | has she | i should | komm | mrs | muss | oma | ordinary | owe
41 paying | soll | the caravan | 呢 | 师 | 我晚 | 邮 | 门
42 ^book | ^when | abend | einkaufsliste | how many | immer | know about | my
42 quick | schreib | w | zum | 不 | 了多 | 你 | 孩 | 想
43 ^id | am i | an die | and when | babysitter | code | darf | deposit | did i
43 dieses jahr | down for | freitags | gonna | gun | help | is he | jess | lease
43 monat | name | nummer | on monday | outside the | start | these days | theyre
43 wir sind | would | you know | 公司 | 姓 | 码
44 ^hatte | ^remind | ^steh | bei | bit of | in der | litres | starting | vorm
44 wie heißt | 个月 | 人在 | 他们 | 多 | 定 | 爸 | 那边
45 >4 | ^cancel | aoife | are they | bill | borrowed | hab ich | it the
45 message the | nimmt | not | reason | ring | 一直 | 今年 | 填 | 多大 | 姓什 | 拜
46 ^wo | a first | and what | cancel the | darf ich | late | like it | list for
46 onkel | post | run out | screen | someone | sort | stuff | term | this week
46 ware | was ich | what time | 了没 | 司 | 孩子 | 是怎 | 烦 | 课
47 ^message | anrufen | dr | email | evening | große | hospital | irgendwer | liste
47 mag | nehmen | present | she | spring | tell her | und was | wissen | 厅 | 吃
47 没人
48 filter | left | oil | ones | over to | paid | renew | the place | thick | thing
48 what the | whats my | wos | would like | 姨 | 老样
49 ^at | ^welche | coming | doch | essen | frag | geht | havent | id | im at
49 meine | meinen | the right | urlaub | vertragt | 假 | 吧 | 忘 | 箱
50 ^is | fur alle | is my | mama | or not | remind | to the | welches | 医 | 去年 | 所
50 电话
51 braucht | do it | dress | fella | gets | hatten | let the | letztes mal | mine
51 unser | want the | war das | 到 | 往
52 ^and | auntie | card | contact | dass ich | does she | ersatzschlussel | im in
52 shop | the sink | tmrw | weve | whats his | wieder | 不吃 | 租
53 ^renew | away | buch | choir | dads | flat | it out | pay the | pick | steht
53 the oil | things | thurs | whoever | wie immer
54 ^am | ^plan | ^stehe | do him | due | how much | lads | meiner | monday | plan
54 quote | samstag | signed | 要
55 ^have | das was | need | nich | set | somebody | st | 店
56 ^in | bescheid | hotel | of the | the one | they | without | 买 | 住 | 咱 | 有人 | 老
57 ^ruf | me | month | n | ruf | them | what size | 快 | 按 | 样子
58 ^auf | can i | list | 柜
59 cant | friday | ma | of my | pls | write to | 单 | 来着
60 ask | asks | before | did we | much | order it | tablets | 带 | 看看 | 还
61 de | geburtstag | message | schlussel | stehe | til | weeks | what was | 发给 | 寄
61 记 | 车
62 chase | did | ich am | place | 接
63 bin | kommt | schick
64 ^bin | ^did | hope | the usual | wann | wo | xmas | 剩 | 哪家 | 啥 | 报 | 班 | 续 | 该
65 ^email | week | what | wifi | 交 | 我
66 ^text | client | uns | who
67 ^schick | ^send | im | steh | the little | us
68 >2 | angebot | cancel | fur die | her | here | letztes | ours | when | 一下 | 那个
69 ihr | laden | oder | this year
70 and im | days | for | is she | last | something | the | wegen | 明天
71 ^order | have | mein | saturday | tonight | 工 | 药
72 birthday | labour | shift | tomorrow | 订
73 der | draft | needs | still
74 ich | 晚 | 让
75 frau | tell the | time | wem | 跟
76 ^whens | about the | do we | does he | i | write | 房 | 日
77 theyve | 礼
78 or the | our | send | vom | von der | 她
79 ^sag | food | where
80 ^bestell | book | 家 | 次
82 asking | fragt | jahr | 问
83 bestell | mittwoch | sie
84 ^wann | am
85 ^get | pay | 没
86 locked
87 die
88 furs | 还是
89 th
90 have the | was it | welche
91 ^whos | fur | get | offer | which of | whos | 上次 | 去
92 noch
94 mums | termin | whens
95 the th
96 ive
97 for the
98 want
99 or
101 几 | 哪天 | 约
102 谁
103 ^trag | nochmal
104 number
105 wir
106 sunday
107 ^has | usual
109 ^hat | er | order | trag | which
112 dem | 周
118 thursday
122 号
126 we
127 哪
134 给
142 know
150 wants
151 那
"""
"""Weights in hundredths of a log-odds, each before the features that have it.

A feature is a word, a pair of them or of signs, `^` the first word, `>4` four words and more, `#` a digit, `*` what
every message has. `make eval-messages ARGS=--fit` writes them anew.
"""
