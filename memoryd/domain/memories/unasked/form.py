"""How a message is worded: whether its answer calls for something that is kept, or anybody could have typed it.

*Book the usual place*, *can she eat that* and *where did I put it* call for what is kept; news of one's day, jokes,
sums, orders about the text at hand and questions about the world do not. A logistic regression tells them apart by
common words, pairs of words that follow each other, signs, and its length; the weights stand at the end.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise

from memoryd.domain.expressions import expression
from memoryd.domain.text.words import UNSPACED_RUN

ALWAYS = "*"
"""The feature that every message has."""
_WORD = expression(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
LENGTHS = (2, 4, 6, 9, 13, 20, 35, 60)
"""Words from which on a message is longer: each that it has is a feature."""
SIGNS_A_WORD = 1.7
"""Of a script without spaces."""
_MARKS = (("?", expression("[?？]")), ("!", expression("[!！]")), ("#", expression(r"\d")), ("¶", expression("\n")))


def form_of(text: str) -> float:
    """Return the log-odds that a message calls for something that is kept, by its wording alone.

    It is 0 of a language that the table has no word of.
    """
    weights = _weights()
    known = features(text) & weights.keys()
    return sum(map(weights.__getitem__, known)) if any(_is_worded(one) for one in known) else 0.0


def word_count(text: str) -> float:
    """Return how many words a text has, of a script without spaces by its signs."""
    signs = sum(map(len, UNSPACED_RUN.findall(text)))
    return len(_WORD.findall(UNSPACED_RUN.sub(" ", text))) + signs / SIGNS_A_WORD


def _is_worded(feature: str) -> bool:
    return feature.removeprefix("^")[0].isalpha()


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
-189 *
-173 ^my
-150 >35
-112 you
-110 ^our | 最
-108 heute | 成
-103 ! | what is
-99 ^if
-98 >20 | ¶ | 为
-95 了一
-94 真
-92 a
-91 ein | mean | 和
-90 asked
-88 word
-86 how do
-85 between | third
-84 best
-82 睡
-80 and she
-79 man
-77 都
-76 # | 字 | 狗
-74 what does | 完
-73 ohne | your | 国
-72 >60 | 全
-71 ^der | well
-70 ^no | for a
-69 today | um | 句 | 后 | 妈
-68 今天
-67 bit | so | whole | 语
-66 git | he was | sich | the first | 吃了 | 我说
-65 does a | sentence
-64 ^we | asleep | ate | in a | invented | 是 | 笑
-63 excel | why | wort | 十 | 红
-62 ^why | genau | thats | uber
-61 never | 几月 | 手 | 用
-60 ^say | dann | made | percent | wrote | 于 | 省
-59 moon | was ist | 您
-58 french | said | then | three | which is | won the
-57 morning | satz | sorry | took | wind | 一 | 死
-56 all | b | came | explain | god | 妈的 | 谢
-55 ^git | auf der | ersten | feet | heut | lost | team | won | 正
-54 darf man | 她说
-53 hat mir | into | schreiben | tell me | und die | 回来 | 李 | 棋 | 第
-52 difference | its for | nobody | very | 为什 | 哦 | 爷
-51 ^explain | als | difference between | jetzt | menu | rhyme | the last | 从 | 大
-50 cheese | closed | einer | it to | nine | point | seen | shorter | this morning
-50 中 | 像 | 动 | 的时 | 第一
-49 ^now | found | hin | rain | through | welsh | welsh for | went | 就 | 意思
-48 also | but | gelacht | ist | it | law | python | 文 | 来的 | 气
-47 fish | it again | mann | please | the third | the window | vs | 儿子 | 关 | 给我 | 起
-46 bad | c | dear | mostly | talking | the next | the word | whats a | 小时 | 我写 | 雨
-45 british | css | dry | eaten | hell | i get | krieg | letters | whats that
-45 word for | 产 | 坐 | 如 | 子
-44 broke | instead | it in | point of | sell | sie hat | the back | use | words | 头
-44 得我
-43 an hour | bells | good | in | into the | less | rein | show | sind | talking to
-43 the bit | too | who invented | 一般 | 七 | 写 | 四 | 率 | 般 | 鼓
-42 at and | behind the | cried | first | its a | poem | row | sea | ten | were
-42 who wrote | write it | 亲 | 写了 | 几个 | 哈 | 嗯 | 底下 | 者
-41 behind | brother | dentists | im not | mit dem | polish | schon wieder | 了个 | 副
-41 午 | 夸 | 速
-40 ^synonym | because | eine | had | lange | line | one for | synonym | 好 | 思 | 段
-40 线 | 蜂 | 验
-39 ^ok | ^the | break | can you | do they | french for | hi | in die | is this
-39 kollege | make the | says its | the difference | the whole | vier | 一半 | 三点 | 光
-39 剧 | 自 | 较 | 题
-38 ^ab | ^rain | gegen | haus | heißt | long does | statt | the best | the printer
-38 the vicar | vicar | way round | we were | wrote the | 了两 | 看了 | 跟她
-37 asleep on | at am | come out | could they | film | fine | ganzen | gesagt
-37 guess | latin | more | only | regex | sehr | sentences | take out | upon | 得 | 怎
-37 比 | 泡 | 的是
-36 and we | are you | back to | erste | five | forty | keep | kuchen | lines
-36 missing | printer | rain again | rude | stop | the second | warm | way
-36 would have | 么 | 升 | 家老 | 昨 | 梦 | 练 | 翻 | 要打 | 谢谢 | 高
-35 ^good | absolute | actually | and has | bigger | bloody | did not | for an
-35 have a | of | plain | the moon | und dann | up in | 十二 | 品 | 啦 | 圈 | 盘
-34 better | cheers | exclamation | flight | gave | hat die | ich hab | large
-34 pounds | schrift | shed | side | singing | spanish | stand | swap the | teeth
-34 the top | waved | waved at | wurde | zu | 八 | 去了 | 哈哈 | 奶茶 | 学 | 手机 | 欢 | 法
-33 ^spanish | ^woher | add that | as a | bus | einen | every | foot | great | led
-33 lost the | off a | off the | regards | swan | tea | the menu | warum | woher
-33 woher kommt | womens | 下的 | 先 | 孙子 | 怎么 | 挺 | 掌 | 破 | 背 | 路
-32 and shes | makes | passed | past tense | rose | she says | slept | sod | tense
-32 und der | why does | wir haben | 下来 | 五个 | 显 | 有啥 | 通
-31 ^warum | bed | bless | by law | cat | causes | colour | didnt | goes | head
-31 ihn | ireland | joke | laughed | laughing | married | paragraph | please find
-31 polish for | quit | review | ring on | sick | sql | ten percent | the machine
-31 to me | when the | why do | 一只 | 分 | 友圈 | 奶 | 当 | 曲 | 来一 | 来了 | 节 | 馆
-30 about a | again but | back of | bit about | burnt | doing | durch | gave me
-30 ich bei | invented the | ist das | kostet | lad | nur | on my | para | sagt
-30 said it | save | sign | tale | telly | time is | true | walked | website | 一年
-30 他自 | 冬 | 刚 | 压 | 我真 | 教练 | 敬 | 终 | 终于 | 脸 | 集 | 鱼
-29 ^bloody | ^noch | ^one | ^sql | clocks | closed for | drop the
-29 exclamation marks | ffs | ganz | gave him | gut | had in | had to | isnt | it on
-29 it was | look | make a | marks | most | nee | out there | outlook | photo
-29 push | service | she is | the bus | the milk | the sofa | threw | to hell
-29 toast | vicars | wait | whats the | wird | with a | world | 为啥 | 京 | 今 | 他妈 | 你说
-29 俩 | 出来 | 办 | 区 | 只 | 听 | 咋 | 我家 | 扔 | 白 | 盘上 | 草 | 诗 | 过去
-28 ^morning | ^shorter | ^take | ^wir | asking for | boots | copy | crying | danke
-28 finally | fringe | hard | ihren | it and | ive been | kind | kind regards
-28 leaves | like that | mm | note | over the | power | remove | sang | sound
-28 the lot | to a | told the | zwolf | 三 | 不是 | 区别 | 半天 | 我们 | 抱 | 抱着 | 改成 | 请 | 重
-28 键 | 队 | 隔
-27 ^cant | as if | detached | detached head | gegessen | goat | greek | has been
-27 how to | i went | i will | is | living | lol | low | or a | out and | radio
-27 read | stelle | stuck | that is | the joke | undo | unterschied | video
-27 when was | 一句 | 了五 | 写一 | 哭得 | 在哪 | 完了 | 新 | 来电 | 里
-26 ^ffs | ^give | ^less | alive | am ende | am so | and me | both | bought | chat
-26 christ | customer | did and | donkey | drama | function | gestern | gives
-26 how did | i was | is a | know i | leave the | lovely | mate | nichts | noch ein
-26 of them | once | passed her | quiet | sein | sleep | the table
-26 the trampoline | to send | tomato | turns | was the | who the | wie lange
-26 you do | 三分 | 历 | 天把 | 年轻 | 情 | 戴 | 楼下 | 毫 | 的照 | 着 | 睡着 | 离 | 视 | 轻
-25 ^kieran | ^third | and now | bis zum | crossword | funf | hat | ich habe
-25 ist der | last line | like im | na | on a | one | perfect | pushed | say
-25 scored | seit | ship | talks | thank | the night | unterschied zwischen | wake
-25 why is | 不要 | 个小 | 了半 | 儿 | 天了 | 女的 | 澡 | 爱 | 男的 | 的老 | 苏 | 认 | 钟
-24 ^css | ^jesus | ^swap | ach | add a | couldnt | den ganzen | faster | goldfish
-24 his own | i drive | jetzt auch | kann man | like | pot | saß | shell | sorry for
-24 start with | suit | tenner | the past | the radio | three different
-24 through the | was heißt | we had | win | year old | 冰 | 唱 | 图 | 块 | 子有 | 小孩 | 就给
-24 弟 | 意 | 我跟 | 指 | 敲 | 星 | 服了 | 案 | 毛 | 空 | 给他 | 蜜蜂 | 觉 | 走了 | 龙
-23 ^excel | age | app | arent | auf den | biscuits | cats | dozen | duck | dusche
-23 einmal | erklart | father | finished | forward | full | gives me | got his
-23 got it | hat heut | hour | i am | idiot | in his | it a | jars | just | kann
-23 mad | my phone | ne | next door | o | one more | project | second | stubborn
-23 than | the middle | then he | tried | walked out | was my | worst | year
-23 zweiten | 一样 | 上的 | 也不 | 冷 | 删 | 实 | 式 | 恐 | 感 | 有 | 果 | 没事 | 的一 | 走 | 阳 | 雪
-23 颗糖
-22 ^kurzer | ^too | a full | a tomato | an old | changed | d | die falsche
-22 does that | during | dutch | et | f | falsche | for your | fourth | hate | high
-22 hours | i couldnt | i left | in goal | it true | ive seen | kurzer
-22 kurzer und | latex | links | loft | macbeth | me that | middle | morning the
-22 music | now and | one with | player | roughly | sandwich | saved | schreiben sie
-22 sold | the letters | the rest | the telly | traffic | war | was in | what a
-22 了我 | 人的 | 发现 | 哪里 | 啥意 | 布 | 成了 | 我在 | 我给 | 打印 | 掉 | 昨儿 | 是谁 | 有什 | 本 | 甜 | 着了
-22 科 | 缸 | 老是 | 英
-21 ^mums | ^you | at an | balance | bedeutet | brought | by a | capital | class
-21 cows | derek | did a | discovered | div | erst | fuck | g | got the | he did
-21 i nearly | i swear | in bits | inside | just me | lamb | lap | lying | man auf
-21 missed | nothing | overnight | pitch | printed | really | satzen | started
-21 thats the | to find | try | village | was bedeutet | 一路 | 下午 | 事 | 前的 | 印 | 叔
-21 响 | 哭 | 喂 | 已 | 干 | 慢 | 我还 | 把我 | 球 | 色 | 西 | 设 | 镇 | 题目
-20 ^change | ^nah | a baby | and hes | ate the | aus | haha | ist ein | klasse
-20 machine | on and | osmosis | sofa | the capital | the crossword | the world
-20 to go | u | und um | value | watching | ways | winter | words for | you take
-20 一个 | 上一 | 今日 | 假牙 | 停 | 到一 | 半夜 | 发 | 推销 | 每 | 道了 | 音 | 风
20 ^ask | ^do | before i | by the | damals | denn | dienst | for her | for two
20 frau | geht | half | him a | in before | know who | landlord about | manage
20 march | matter | pls | stopcock | the ones | the stopcock | who do | 下老 | 不了
20 了点 | 发一 | 子都 | 斤 | 校 | 水管 | 见 | 贴砖 | 钱的
21 >6 | ^does | always | and whether | are we | bei der | bis wann | by and | call
21 come a | doesnt | down the | etwas | gib | grad im | ham | hes | holen | how
21 i buy | i cannot | i mean | i take | i told | is it | jacket | kommen | machen
21 me one | mother | needs the | next | next week | normally | off and | or was
21 piano | picking | picking up | reading | shoes | slot | stood | the boy
21 the chair | they ever | they need | thing with | those | to swap | ton | what i
21 when is | with me | writing | 东 | 人说 | 从哪 | 价 | 作文 | 到期 | 医生 | 半小 | 单元 | 卖 | 卡
21 发烧 | 吵了 | 周六 | 周日 | 大夫 | 女儿 | 婚纪 | 寿 | 帮 | 念日 | 时 | 牌 | 理 | 糖 | 纪念 | 给老 | 给谁
21 请假 | 跟他 | 降
22 ^please | ^vertragt | ^welche | alles | and say | and start | bank | be a
22 crowd | exactly | for it | garage | got left | got on | i ever | immer
22 is asking | jab | lady | let the | likes it | little one | mal | man says
22 more of | old one | on call | or just | rent | said id | said yes | spell
22 the keys | the piano | to drop | to it | van | vertragt | walk | was die
22 wieviele | works | you spell | 上 | 下次 | 二楼 | 全家 | 咱家 | 团 | 娃 | 宿 | 库 | 挑 | 日是
22 替 | 涨 | 的地 | 联 | 英语 | 货 | 跟谁 | 那天 | 餐
23 ^let | ^on | allowed | allowed to | and dont | and who | arrive | asks if
23 back from | bit of | charge for | chart | dates | draft the | everyones | forget
23 format | hotel in | i cant | i make | i never | ich steh | licence
23 locked out | near | nobodys | numbers | offered | omg | one of | out | password
23 permit | put in | rain and | sag dem | shall | standing | surgery
23 the landlord | to be | to give | were at | what he | will wissen | 上礼 | 你帮 | 哪年
23 地址 | 奶粉 | 抬 | 搬 | 是十 | 歉 | 琴 | 看我 | 通知 | 道 | 那几 | 里有 | 钱 | 露
24 ^wo | after | am in | and left | as to | be so | booked | boys | cottage
24 counter | dose | final | firm | football | free | freitag | good as | havent
24 heads | i still | it out | lang | letter | load | mum | needs to | neue | off
24 other one | papers | parents | pick | press | says and | so far | so good
24 someone has | summer | tablet | the bill | the boat | the boys | the doctor
24 to get | told us | told you | was sie | we do | were away | weve got | where is
24 wollte | zimmer | 一遍 | 什 | 养 | 压药 | 口了 | 吴 | 址 | 就一 | 找 | 的说 | 知 | 豆包 | 赛 | 轮
24 钱了 | 防水 | 降压
25 and its | anyone | bin ich | cleaner | come back | coming up | email my | fill
25 got one | her a | hows | i like | if she | in march | invoice | it cant | mein
25 not a | paid the | pancakes | park | post | room | rota | shopping | so it
25 the card | the christening | the hall | the parking | thirty | und weiß
25 which ones | whose | will | wise | woche | 了几 | 什么 | 仪 | 信 | 借 | 八点 | 啥时 | 天来
25 屉 | 平时 | 抽屉 | 拿 | 查 | 物业 | 票 | 答辩 | 能 | 辩 | 过 | 还剩 | 长会
26 ^gib | ^right | ^set | ^wer | ^whats | ^would | a man | a second | answering
26 dads | die liste | find the | haben wir | have we | he still | hes back
26 ich der | it how | ive got | nach dem | nen | no | not answering | out for
26 parking | the cottage | the counter | the twins | the van | thursdays | warranty
26 was that | wegen | welchem | 今晚 | 保养 | 到哪 | 周五 | 头一 | 室 | 我现 | 现在 | 能不 | 能吃
26 被 | 要去 | 说她 | 费
27 ^renew | ^which | ab | agreed | bill for | cost | did she | dienstag | draft a
27 first paragraph | him about | ich die | ill | in it | job in | mr | my
27 my usual | out again | over | praxis | reminder | renew the | samstag | says i
27 shopping list | studio | the hospital | tisch | to take | walk in | wants to
27 what did | whoevers | wish | with | with that | 位置 | 你都 | 保 | 傅 | 台 | 吃的 | 周末
27 多少 | 就行 | 师傅 | 快递 | 是不 | 来看 | 检 | 煮 | 砖 | 粉 | 试
28 ^in | ^there | agency | at home | at the | day | getting | green | hers | idea
28 if ive | in on | insurance | it that | ja | looks | ob | one who | prufung
28 renew | should | sundays | text the | the shop | then the | under | we agreed
28 while | wont | 一回 | 一声 | 个抽 | 刷 | 型 | 外头 | 妹 | 客厅 | 平 | 床 | 开 | 房租 | 点的 | 签 | 错
29 ^fill | and theres | anniversary | caravan | christening | he wont | him
29 im running | is he | it the | last time | late | man at | out on | remind me
29 ring the | same as | says | the choir | the vet | water | what we | where did
29 with his | work out | 下 | 不能 | 周三 | 居 | 我不 | 换 | 是几 | 末 | 注 | 满 | 盒 | 眼镜 | 素
29 老公 | 芯 | 补 | 账
30 ^call | auto | bloke | calendar | can she | customers | eggs | gleiche | i dont
30 i ring | i say | manager | many weeks | nicht | pay the | picks | steps | take
30 the blue | vorm | whats her | which bin | which day | zwei | 下单 | 匙 | 婚 | 我今
30 敏 | 滤 | 话我 | 钥 | 钥匙
31 ^frag | ^kann | ^wieviel | a birthday | and ive | another | asking which | be
31 beim | brauchen | call the | christmas | drinks | hows the | in and
31 ive already | just rang | letztes | long is | move my | must | my mother | oma
31 run | steht | supper | the caravan | the school | the thing | weiß | who did
31 whos got | 兰 | 外面 | 把自 | 抽 | 排 | 提醒 | 纸 | 说一 | 过敏 | 里谁 | 阿
32 ^chase | ^invoice | ^when | den | figure | finish | got me | i charge | in dem
32 interview | must be | nebenan | not to | of mine | on | reply to | rule about
32 spare | stunde | sure | they have | theyve got | with the | 上回 | 定的 | 小姑 | 托
32 是哪 | 架 | 点半 | 的来 | 系人 | 联系 | 表 | 裁 | 裁缝
33 ^die | ^hows | ^sort | absagen | again | and is | asks | contract | fill in
33 finn | gas | hasnt | have i | im angebot | key to | little | message the | mine
33 need the | paid | start | the rent | the right | the small | they want
33 thinking | vet | wheres | who has | zum | 告诉 | 姑 | 密 | 密码 | 忌 | 忌口 | 提 | 提前 | 梯
33 聚 | 落 | 行不 | 部
34 ^draft | ^find | ^reply | ^stuck | anything | bedtime | couple | drop
34 geburtstag | is there | it ok | mans | me down | night | not | paper | share
34 the deposit | theyre asking | we have | wer | wieviel | 个教 | 做 | 屋 | 电 | 递
35 ^auf | ^theyve | and how | darf ich | did he | dont | everything | february
35 feed | habe | leg | place | recall | shall i | that | that i | the wifi
35 this week | us a | wedding | weekend | weve | whats our | 之前 | 她讲 | 尺 | 帮我 | 说明
36 ^id | a nice | come | das was | große | last night | limit | litres | on monday
36 same | schon | sheet | stopped | thing | using | wednesday | whatever
36 where the | 催 | 再 | 吃 | 啊 | 定 | 我把 | 日子 | 门
37 ^could | ^locked | abend | and when | bins | find | find me | get me | hospital
37 ma | monday | owe | sort | the phone | theres | vertrag | wed | wer hat | 人在
37 到几 | 厂 | 只剩 | 好的 | 我的 | 的那 | 答 | 腰 | 过的
38 ^can | auntie | da | date | euro | flat | gone | got my | jabs | much | n
38 party | say yes | somebody | somewhere | tables | the oil | the spring | wants a
38 whats my | whom | 下周 | 你看 | 房东 | 盆 | 防 | 饭
39 ^tell | and where | contact | has she | hatten wir | is dead | lauft | nich
39 not the | owes | promised | screen | this term | was er | wie lang | write the
39 单子 | 呢 | 复 | 太太 | 婆婆 | 忘了 | 机的 | 点 | 礼拜 | 这周
40 ^steh | and i | and nobody | and what | coming | darf | do the | down for
40 how i | kriegt | l | many | outside the | people | school | soll | their | unser
40 what time | wie heißt | 修 | 六 | 条
41 ^welches | a first | bar | dentist | laden | oil | phone | present | quick
41 wants the | whats | 我晚 | 笔 | 诉
42 ^remind | are they | bill | choir | do i | donnerstag | elternabend | got a
42 i do | i put | lease | like it | mrs | ordinary | price | these days | want to
42 wanting | where are | who gets | you to | 了多 | 地方 | 想 | 户 | 明早 | 款 | 没有 | 照 | 邮
43 ^plan | ^ring | an die | aoife | clue | einkaufsliste | ersatzschlussel | gonna
43 here | ice | im in | lot | mama | plan my | ring | st | starting | when does
43 不 | 个月 | 二十 | 加 | 叫 | 多 | 是怎 | 爸
44 essen | fella | nehmen | spring | stehe | tell her | term | yet | 不吃 | 多大 | 姓
44 姓什 | 那边
45 ^book | ^im | am i | and the | card | has he | hatten | i should | in der
45 last year | like to | list for | thick | to the | what size | 一直 | 他们 | 填 | 码
46 ask | before | from me | if | me | run out | shop | things | to do | von | 今年
46 拜
47 away | bei uns | borrowed | gun | quote | say no | w | want the | war das | 了没
47 师 | 往 | 忘 | 电话 | 老样
48 ^bin | ^message | ^ruf | anrufen | client | does she | im at | mit | of my
48 or not | physio | plan | remind | ruf | something | whats his | wifi | would | 住
48 公司 | 厅 | 吧 | 姨 | 所 | 期 | 没人 | 烦
49 dress | email | food | house | how many | how much | lads | of the | to my
49 von uns | xmas | 孩 | 箱 | 锁
50 ^at | charge | do him | form | hotel | left | mag | stuff | the sink | tmrw
50 whether | 么时 | 医 | 孩子
51 ^bestell | deposit | liste | need | set | them | uhr | 去年 | 司 | 店 | 课
52 ^have | filter | id | name | shift | what the | you know | 记
53 she | tell | theyre | weeks | would like | 假 | 按 | 看看 | 租
54 and it | do it | kommt | noch | our | schick | 有人
55 ^schick | angebot | any | bei | frag | going | grad | help | meine | signed
55 the one | wie immer | 买 | 到 | 快 | 样子
56 ^am | someone | tablets | thurs | welches | without
57 meinen | sie sich | still | 发给
58 is my | saturday | the usual | 咱 | 带 | 老
59 ^cancel | ich am | this year | til | 来着 | 还
60 bestell | can | due | making | pay | whoever | 单 | 在外 | 柜 | 续
61 cant | dr | ihr | wissen | 啥 | 寄
62 ^send | ^wann | bin | chase | did we | time | 交 | 该
63 and im | cancel | send | steh | 明天
64 ^did | birthday | der | tonight | 剩 | 报 | 要 | 订
65 ^sag | buch | er | have the | message | sag | they | 哪家 | 接
66 fragt | list | the little | vom | von der
67 ^hat | dem | is she | ones | tell the | what was | 我 | 车
68 ^email | about the | book | know about | 班
69 ^order | fur die | gets | i | im | ours | reason | us | week | yes | 工 | 晚
70 can i | mums | needs | termin | welche
71 ^text | locked | tomorrow | write to
72 did | wann | 药
73 does he | draft | her | who | 跟
74 bescheid | labour | or the | schreib | the | 那个
75 sie | theyve | whos
76 ^is | jahr | was it | wem | 让
77 last | 礼
78 days | offer | 她 | 没
79 friday | what | write | 次
80 th | 家 | 房 | 日
81 have | wo
82 do we
83 ^whens | am | when | whens
84 for | fur
85 ^whos | 一下
86 oder
87 the th | 问
88 ^and | furs
89 ^trag | asking | mittwoch | sunday | which of
90 uns | where
91 ^get | 去
92 want
93 which | 还是
94 die | 上次
96 ^has | get | ich | trag
98 usual
101 哪天 | 约
103 ive | 几
107 number
109 谁
111 nochmal | wir
113 or
115 we | 周
116 order
117 for the
120 know
124 号
127 thursday
137 哪
141 给
151 那
162 wants
"""
"""Weights in hundredths of a log-odds, each before the features that have it.

A feature is a word, a pair of them or of signs, `^` the first word, `>4` four words and more, `#` a digit, `¶` a second
line, `*` what every message has. `make eval-messages ARGS=--fit` writes them anew.
"""
