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
-160 ^my
-155 >35
-120 ^our
-115 最
-110 how do
-105 为
-100 成
-95 between | mean | what is
-90 >20 | ^if | best | came | ein | you | 了一 | 和 | 真
-85 als | tell me | third | today | word
-80 # | ^meine | a | and she | asked | uber | wort | your | 全 | 完 | 睡
-75 asleep | does a | heute | its for | man | sentence | sich | thats | 国 | 字 | 狗 | 都
-70 ^say | ate | excel | for a | ohne | the first | whole | why | 吃了 | 后 | 笑
-65 ^we | ^why | dann | darf man | drei | git | he was | invented | it to | python | then | this morning | was ist
-65 what does | which is | won | 于 | 今天 | 十 | 句 | 我说 | 红
-60 ^der | bit | eine | feet | genau | kollege | lost | moon | nine | rein | satz | scheiß | ten | took | vs
-60 wrote | 一 | 几月 | 妈 | 手 | 是 | 用 | 省
-55 >60 | ^git | ^no | ^now | also | c | durch | england | explain | five | found | gelacht | gesagt | gibts | good
-55 hat | hat mir | haus | heißt das | into | made | makes | menu | nachbarn | never | planet | point | rain
-55 rhyme | said | so | stand | statt | the last | three | warum | weather | whats that | when the | wir haben
-55 won the | wurde | 从 | 像 | 大 | 妈的 | 棋 | 正 | 第 | 鼓
-50 ^warum | an hour | auf der | bad | behind the | bought | british | bus | cheese | cried | difference
-50 difference between | e | eaten | first | fish | french | god | hat heute | hat sich | ist | look | mit dem
-50 mostly | nobody | oben | percent | point of | shorter | sind | take out | the next | the printer | the word
-50 through | und die | wind | 中 | 为什 | 儿子 | 八 | 动 | 回来 | 她说 | 就 | 文 | 爷 | 的时 | 看了 | 第一 | 自
-50 语
-45 ^explain | ^that | ^the | ^unser | actually | as a | asleep on | because | bloody | but | css | dentists
-45 einem | fenster | fine | ganz | gestern | had to | have a | heut | into the | it was | its a | knees | latin
-45 laughed | law | letters | market | mehr | more | quiet | regards | rose | row | says its | sehr | sie hat
-45 sign | stop | suitcase | sunset | swap the | team | the bit | the titanic | titanic | use | was heißt | welsh
-45 welsh for | whats a | who invented | who wrote | wieviel grad | word for | 一般 | 产 | 关 | 写 | 几个 | 副 | 哦
-45 夸 | 子 | 得我 | 意思 | 我写 | 死 | 线 | 给我 | 般 | 谢 | 通 | 雨
-40 ^ab | ^from | ^just | ^mein | ^wenn | ^woher | and they | aus | b | back of | bells | brother | closed | colour
-40 come out | da wie | dieser | does it | drop the | drum | dry | erste | every | forty | ganze | gave | gehort
-40 happens | hard | hell | hi | i was | in | in a | in die | instead | it | it again | kann man | keep | kuchen
-40 longer | missed | missing | names | nichts | of | one for | out and | over the | plain | printer | pro | read
-40 rechts | schon wieder | sea | sell | shouting | singing | sorry for | swan | tag | talking | talking to
-40 the cat | the difference | the menu | the vicar | the whole | und dann | upon | very | vicar | way | we were
-40 weg | went | were | what have | woher | woher kommt | words | write it | wrote the | you get | 七 | 么 | 了个
-40 升 | 午 | 四 | 坐 | 头 | 学 | 小时 | 底下 | 思 | 来的 | 段 | 比 | 率 | 跟她 | 较 | 速 | 题 | 验
-35 ^rain | ^synonym | ^take | ^wir | add a | again but | all | and has | and we | back to | bed | behind | betreff
-35 bigger | bit about | bless | break | broke | by law | clocks | could they | did not | e mail | endlich
-35 englisch | ersten | example | exclamation | finally | foot | for and | for i | french for | goes | had
-35 hat heut | ich bin | im not | in his | invented the | is this | it in | jetzt | joke | just | kinder | lake
-35 large | last line | less | long does | lost the | meine tochter | needs an | note | nur | of them | off a | old
-35 only | passed | photo | poem | polish | pounds | regex | review | richtig | rude | save | seen | seit
-35 sentences | sonst | sound | sql | stammtisch | synonym | teacher | teeth | thats the | the council | the moon
-35 the order | the third | the young | to a | too | turns | um | unterschied | unterschied zwischen | vier
-35 war der | was my | waved | waved at | way round | wept | why do | wird | worked | you kindly | young | 三
-35 三点 | 下的 | 为啥 | 了两 | 亲 | 你说 | 俩 | 先 | 光 | 写了 | 分 | 剧 | 十二 | 品 | 啦 | 奶茶 | 好 | 如 | 家老
-35 怎 | 手机 | 昨 | 梦 | 欢 | 气 | 泡 | 的是 | 盘 | 练 | 翻 | 节 | 蜂 | 要打 | 起 | 路 | 里 | 重 | 馆 | 高
-30 ^bloody | ^excel | ^mums | ^noch | ^ok | ^one | ^python | ^she | ^shorter | ^sql | ^third | ^who | a ring
-30 about a | absolute | all day | an old | and hes | and shes | and thank | app | are you | as if | at am | at and
-30 aufs | aus dem | bedeutet | bees | better | burnt | came back | can you | cats | causes | change | closed for
-30 copies | couldnt | crossword | der kollege | desk | detached | detached head | did and | didnt | do they
-30 does mean | doing | donkey | down | down and | durfen | dusche | dutch | einer | ersten mal | es
-30 exclamation marks | feel | ffs | flight | for that | fringe | funf | gave me | geht der | give me | gives
-30 got the | great | greyhound | grow | handy | has been | hat auf | hat dem | he is | heißt | hour | i get
-30 i need | i went | i will | if im | im so | inside | instagram | ireland | isnt | it on | jahren | keeps saying
-30 kein | km | kostet | lad | latex | laughing | leaves | led | leeks | leute | line | liter | lol | mach die
-30 make the | man auf | marks | married | mate | me that | minuten | my boss | nah | nee | nem | nicely | nix mehr
-30 noch ein | off the | on a | or is | or to | painted | para | paragraph | passed her | past tense | points
-30 polish for | power | quit | radio | rain again | really | ring on | river | sandwich | saved | say | saß
-30 schlaft | scored | sein | she is | she says | sick | start with | tell you | tense | that is | the back
-30 the bus | the second | thrilled | through the | time is | tochter | told the | try | twelve | und der | up in
-30 video | walked | wall | was bedeutet | wasps | welt | what a | with a | womens | world | would have | zusammen
-30 zwolf | 一半 | 一句 | 一年 | 下来 | 不是 | 京 | 他妈 | 儿 | 冬 | 冰 | 出来 | 刚 | 区别 | 历 | 压 | 去了 | 友圈
-30 听 | 咋 | 哈 | 圈 | 奶 | 孙子 | 己 | 当 | 怎么 | 我家 | 我真 | 扔 | 抱 | 抱着 | 教练 | 新 | 星 | 曲 | 有啥 | 本
-30 来一 | 来了 | 楼下 | 毫 | 法 | 的老 | 看 | 破 | 终 | 终于 | 背 | 脸 | 苏 | 草 | 诗 | 请 | 过去 | 队 | 集 | 鱼
-25 ^but | ^css | ^ffs | ^half | ^jesus | ^kieran | ^less | ^mei | ^na | ^nans | ^spanish | ^your | a full
-25 a tomato | a week | add | age | alive | am ende | and me | and not | and now | api | auf den | bastard | besser
-25 between the | bollocks | boots | bringt | brought | bullet | bullet points | butter | came up | can the
-25 capital | centre | chat | chips | christ | council | crying | customs | daft | das dritte | der unterschied
-25 die frau | discovered | do not | downstairs | dritte | duck | during | eh | eigentlich auch | eight | ends
-25 english | erklaren | erklart | erst | f | fallen | fliesen | for an | fourth | function | g | ganzen | gave him
-25 gefragt | gesungen | geweint | gives me | gleichzeitig | goal | god and | greek | had in | haiku | half the
-25 hat die | hate | hay | held | hello | hide | his own | hort | hours | how far | how to | hunde | hut | i drive
-25 i ought | ich hab | ich habe | idiot | in an | in bits | in goal | in python | ins | is a | ist der | ist ein
-25 it a | it now | it or | it true | jahre | joking | katze | kind | klavier | kommt der | lange | leave the
-25 like | like that | links | lose | lying | mad | make it | mein schwager | mich | milk | mir heut | moving
-25 mushrooms | my phone | na | nearly | need to | next door | noon | not even | now and | nur noch | office
-25 on it | one more | one with | opened | out there | outlook | own | painted the | picked | pink | remove
-25 said it | sake | sang | sat on | say in | say where | saying it | schrift | schwager | seat | selber | sent me
-25 sheep | shorter and | show | since | so we | sod | sofa | sold | space | spanish | spanish for | spelling
-25 spoon | stelle | stuck | stunden | tale | tea | telly | than | that a | that in | that was | the best
-25 the crossword | the joke | the lot | the milk | the night | the paper | the past | the radio | the rest
-25 the same | the sofa | the street | the tea | the top | the trampoline | the wall | the window | thing at
-25 threw | to eat | to me | to send | toast | tomato | traffic | tried | true | turns out | twenty | und wir
-25 until | version | vicars | vinegar | wake | war | was a | was at | was in | was the | watching | website
-25 when was | who is | who the | why does | why is | win | winter | wochen | wollt | worse | worst | year | you do
-25 your parcel | 一只 | 三分 | 上的 | 也不 | 了五 | 了半 | 今 | 他自 | 写一 | 冷 | 删 | 前的 | 办 | 区 | 半天 | 发
-25 只 | 哈哈 | 哭得 | 图 | 在哪 | 天了 | 天把 | 女的 | 子有 | 完了 | 实 | 小孩 | 就给 | 年轻 | 得 | 情 | 意 | 感
-25 慢 | 我在 | 我跟 | 戴 | 指 | 挺 | 排了 | 改成 | 昨儿 | 是谁 | 显 | 有 | 有什 | 服了 | 来电 | 毛 | 澡 | 照片
-25 版 | 男的 | 的一 | 的照 | 盘上 | 着 | 睡着 | 离 | 给他 | 群 | 老是 | 自己 | 蜜蜂 | 视 | 觉 | 认 | 谢谢 | 轻
-25 钟 | 键 | 隔 | 面 | 鸡 | 龙
-20 ^betreff | ^callum | ^cant | ^kurzer | ^sign | ^thats | ^too | a short | about | and a | and asked | and her
-20 and then | arent | arse | average | baklava | before me | below | bis | bis zum | bitte | came in | can kiss
-20 child | copy | customer | dazu | den ganzen | derek | did a | die ganze | dir | do bees | dozen | drank
-20 during the | each | end on | ende | everyone in | faster | first one | for your | front | game | general
-20 ghost | gleich | go off | goldfish | guess | hab | haha | hair | half a | hang | he did | he had | he said
-20 hedge | high | hin | how did | i nearly | i swear | ich schon | is an | it from | ive been | kid | kill
-20 kind regards | kiss | kiss my | konnen | krieg | kurzer | kurzer und | lap | last commit | last one | leave it
-20 like the | lines | living | long do | louder | macbeth | man den | me something | mei | memory | middle | mile
-20 moss | mude | music | muss man | my tea | ne | o | of your | on my | once | paragraphs | pfarrer | printed
-20 project | proposed | prozent | push | pushed | queen | quid | raus | regen | schlaft endlich | schreiben
-20 schreiben sie | schwester | she said | side | six | sleep | slept | stille | suit | tears | thanks | that he
-20 the capital | the clocks | the letters | the middle | the queen | the table | there is | they go | this is
-20 today the | told | total | two hours | two paragraphs | two sentences | uk | verse | wanted to | war so
-20 was on | ways | we lost | wer war | whats the | whos on | wia | words for | wrong | year old | you take
-20 zwillinge | 一晚 | 一路 | 上一 | 不要 | 个小 | 事 | 人的 | 北 | 南 | 印 | 叔 | 响 | 唱 | 喂 | 嘴 | 块 | 已 | 布
-20 干 | 式 | 弟 | 成了 | 打印 | 把我 | 掉 | 播 | 敲 | 标 | 每 | 球 | 瓜 | 着了 | 空 | 缸 | 色 | 英 | 行 | 设
-20 说法 | 贵 | 走了 | 起来 | 车上 | 连 | 镇 | 颗糖 | 风
20 ^could | ^gib | ^see | ^they | a second | alles | always | an den | and i | and its | and theres | and whether
20 and who | anfahrt | anyone | arrive | art | black | by and | christmas | come a | crowd | das die | die die
20 doors | each of | eggs | essay | estate agent | family | farm | for this | funeral | getting | give | gone and
20 got one | happy birthday | has the | have i | he still | hes back | hes in | him about | hotel in | i charge
20 i ring | ich dir | if the | ihrem | in welchem | is asking | is there | jacket | key | know who | kommen
20 kriegt | lend | logo | long have | long till | manage | march | match | meine frau | mietvertrag | min | mind
20 mir die | mit den | more of | name of | needs to | neuen | not the | old one | omg | on me | on saturday
20 on wednesday | on what | one i | or what | out again | out for | paid the | parents | password | pizzas
20 put in | reminder | rent | roof | said yes | standing | stood | studio | termin aber | that does | the big
20 the card | the contract | the doctor | the list | the rota | the spare | the test | they ever | those
20 time does | to give | to it | to read | to swap | towel | tropfen | trouble | us at | visa | von | ward
20 wedding | what i | wir damals | wissen was | wont | yes to | yesterday | zettel | zwischen und | 一遍 | 上礼
20 下个 | 二楼 | 全家 | 别 | 单元 | 卖 | 卡 | 压药 | 发一 | 发烧 | 号是 | 地址 | 复查 | 大夫 | 天来 | 奶粉 | 姐
20 婚纪 | 宿 | 就说 | 工作 | 念日 | 我排 | 挑 | 搬 | 收 | 斤 | 日是 | 明 | 是几 | 涨 | 物 | 病 | 的日 | 眼 | 糕
20 纪念 | 能不 | 英语 | 血糖 | 被 | 见 | 请假 | 贴砖 | 过 | 还有 | 那天 | 钱 | 钱的 | 防水 | 降 | 降压 | 露 | 预
25 ^bit | ^dads | ^does | ^draft | ^mag | ^stuck | ^whats | a clue | a lift | a month | a present | after the
25 agreed | alarm | and he | and in | and send | anniversary | answering | anything | are we | as to | at home
25 bei mir | bill for | blanket | boys | by the | can they | chart | chefs | chor | code for | coming up
25 consultant | cost | counter | damals | dates | dem ich | denn | did she | die stunde | dinner | do a | dose
25 draft the | em | emergency | emergency contact | er nicht | estate | everyone | everyones | final | find the
25 first paragraph | fit | flowers for | forgotten | format | fragen | free or | fur den | gas | gern | give her
25 gleiche | good as | got a | got left | guests | gym | habe | half | hat er | hat sie | hat und | have it
25 having | hearing | hes | i cannot | i cant | i had | i still | i take | ich der | ich mochte | ich weiß | ihm
25 im running | in march | is der | it cant | it how | it that | ive a | jemand | job in | just rung | keys
25 kleine | kleine von | knee | landlord about | leaving | leg | licence | machines | mag er | man about | man at
25 mia | mochte | mr | must | my car | my usual | near | nen | net | next week | night | normally | not answering
25 now | ob ich | one on | operation | optician | or was | out | paint | phone | piano | picking | picking up
25 pizza | pork | present for | press | reading | rebook | rechnung fur | remind me | rep | right | road | round
25 sag | sag dem | said id | sat | says and | schon | septic | sink | size | so far | so good | so it
25 something for | spell | stammkunden | stopcock | stunde | summer | sundays | tante | the bill | the boat
25 the boys | the choir | the consultant | the counter | the estate | the family | the heating | the landlord
25 the month | the name | the nursery | the ones | the physio | the school | the septic | the shed | the stopcock
25 the vet | they need | thirty | this month | thursdays | to get | to have | to my | to start | und uhr
25 und weiß | und wo | van | vertrag | vor dem | wann muss | wants to | warranty | was sie | we agreed | wegen dem
25 weight | weiß | wen | what did | what we | where is | which bin | which day | which ones | who do | whoevers
25 whose | width | wie lang | wieviel | wifes | will wissen | wise | wish | with his | with it | wochenende
25 wollen | wont be | workshop | write her | zeit | 一回 | 不了 | 不能 | 东 | 了几 | 以 | 位置 | 你帮 | 你都
25 保养 | 养 | 再 | 到哪 | 到期 | 刷 | 医生 | 口了 | 吃的 | 同 | 吴 | 周末 | 哪年 | 啥时 | 团 | 址 | 型 | 多少
25 头一 | 娃 | 宜 | 就一 | 就行 | 居 | 屉 | 平时 | 库 | 快递 | 房租 | 抬 | 抽屉 | 拿 | 换 | 是多 | 替 | 查 | 校
25 样 | 检 | 歉 | 注 | 点 | 物业 | 琴 | 的地 | 的说 | 看我 | 砖 | 票 | 答辩 | 签 | 粉 | 素 | 纸 | 能吃 | 行不 | 试
25 说她 | 货 | 跟谁 | 辩 | 还剩 | 那几 | 里有 | 钱了
30 >6 | ^ask | ^bitte | ^call | ^chase | ^fill | ^find | ^hows | ^ist | ^locked | ^mail | ^set | ^sort | ^such
30 ^there | ^verschieb | ^welches | ^wer | a birthday | a different | a nice | a temperature | abholen | absagen
30 allen | and it | and say | another | apotheke | asking which | bald | bank | be so | bedtime | bins | boilers
30 booked | bring | calendar | call the | can she | christening | clue | come back | cottage | could you
30 customers | da | delivery | der vom | dienst | dieses | do i | do the | dont | easter | figure | fill | find
30 finish | firm | flowers | football | for her | for thursday | form | free | garage | going | got my | got on
30 grad | habe ich | haben wir | hall | has a | has gone | hat der | have we | he wont | heut abend | i dont
30 i told | idea | if ive | if she | in and | in dem | in it | in on | insurance | interview | is dead | just rang
30 karte | keller | key to | l | last night | lens | letter | lisbon | long is | looks | making | making the | mal
30 man bei | manager | many weeks | me and | meant to | mias | move my | my mother | my shift | ned | neue | off
30 offered | one who | op | other one | out on | owes | park | parking | parts | preis | q | rechnung | renew the
30 reply to | run | says | schicken | share | should | sister | so wie | spare | spent | stopped | tablet | take
30 taking | temperature | text the | thank | that the | the blue | the christening | the code | the cottage
30 the deposit | the long | the man | the piano | the rent | the thing | the van | the wifi | then the | they have
30 theyve got | to take | told us | told you | under | verschieb | vet | walk in | wer | where are | where did
30 wheres | whos got | will | window cleaner | work out | yes | zahnarzt | zugesagt | zur | 一声 | 上 | 下 | 下单
30 个抽 | 今晚 | 保 | 借 | 做 | 傅 | 兰 | 台 | 告诉 | 周五 | 外头 | 妹 | 姑 | 婚 | 客厅 | 室 | 小姑 | 师傅 | 平
30 床 | 开 | 我不 | 我今 | 我现 | 找 | 抽 | 提前 | 提醒 | 敏 | 是不 | 是哪 | 末 | 梯 | 满 | 滤 | 点的 | 理 | 的来
30 盒 | 眼镜 | 答 | 系人 | 老公 | 联系 | 聚 | 芯 | 补 | 裁 | 裁缝 | 话我 | 说一 | 账 | 过敏 | 道 | 部 | 长会 | 阿
35 ^can | ^frag | ^im | ^invoice | ^pay | ^schreib | ^tell | ^theyve | ^was | ^wieviel | ^wifi | ^wos | a client
35 am mittwoch | and ive | and nobody | and tell | bei dem | bei der | bei uns | beim | come | contract | couple
35 dead | dentist | die liste | drinks | drop | eat | er jetzt | feed | fertig | fill in | find me | forgot
35 freitag | from me | get me | got me | hasnt | hatten wir | her a | hes got | house | how i | how old | i do
35 i never | i put | ich die | im angebot | in before | it ok | ive already | ive got | jabs | lady | last year
35 limit | little | mahnung | man says | mans | many | me down | meinem | mit | must be | nach der | nebenan
35 nicht | no | nochmal das | ob | of mine | off in | old is | or just | packed | party | people | physio | price
35 recall | rental | repeat | rezept | ring the | room | rota | same as | says i | school | sheet | sorry to
35 spater | supper | sure | tell | tested | than i | that i | the hall | the hospital | the phone | the shop
35 the small | the spring | they back | theyre asking | thinking | together | trip | uberhaupt | uberweisung
35 using | want to | wants a | was hat | was that | water | we do | we have | wer hat | whatever | whats
35 whats her | whats our | where the | who did | with that | with the | woche | works | write the | 上回 | 个教
35 价 | 修 | 六 | 加 | 匙 | 只剩 | 叫 | 周三 | 在外 | 她讲 | 好的 | 婆婆 | 定的 | 密 | 密码 | 尺 | 屋 | 帮我 | 忌
35 忌口 | 托 | 提 | 日子 | 明早 | 期 | 架 | 没有 | 照 | 电 | 礼拜 | 腰 | 落 | 表 | 说明 | 这周 | 递 | 里谁 | 钥
35 钥匙 | 错 | 防 | 饭
40 ^a | ^book | ^bring | ^die | ^es | ^kann | ^phone | ^reply | ^ring | ^when | ab | abend | address | again
40 agency | and how | and the | ausgesperrt | be | bloke | brauchen | call | can | caravan | charge | cleaner
40 date | den | des | did he | die zwei | dienstag | donnerstag | einkaufsliste | elternabend | euro | february
40 gehn | gone | has he | has she | here in | him | how many | hows the | i should | ice | if | immer | in for
40 invoice | ja | know about | komm | lauft | like to | lot | machen | mrs | muss | my | need the | not to
40 oder war | oma | on | ordinary | owe | paying | plus | promised | prufung | quick | return | rule about | same
40 say no | schreib | soll | somewhere | tables | that | the caravan | their | theres | they want | this term
40 to do | us a | von uns | w | wanting | wants the | was er | wed | wednesday | weekend | welchem | when does
40 whom | yet | you to | zum | 下周 | 不 | 么时 | 了多 | 二十 | 你 | 你看 | 催 | 到几 | 单子 | 厂 | 呢 | 啊 | 地方
40 复 | 太太 | 孩 | 师 | 忘了 | 想 | 我晚 | 我的 | 户 | 房东 | 机的 | 条 | 款 | 的那 | 盆 | 笔 | 诉 | 过的 | 邮
40 门
45 >4 | ^cancel | ^hatte | ^id | ^message | ^remind | ^steh | ^wo | a first | am i | an die | and what | and when
45 anrufen | aoife | are they | babysitter | bei | bill | bit of | borrowed | cancel the | code | darf | darf ich
45 deposit | did i | dieses jahr | down for | dr | email | evening | freitags | gonna | große | gun | hab ich
45 help | hospital | in der | irgendwer | is he | it the | jess | late | lease | like it | list for | liste
45 litres | mag | message the | monat | name | nehmen | nimmt | not | nummer | on monday | onkel | outside the
45 post | present | reason | ring | run out | screen | she | someone | sort | spring | start | starting | stuff
45 tell her | term | these days | theyre | this week | und was | vorm | ware | was ich | what time | wie heißt
45 wir sind | wissen | would | you know | 一直 | 个月 | 了没 | 人在 | 今年 | 他们 | 公司 | 厅 | 司 | 吃 | 填 | 多
45 多大 | 姓 | 姓什 | 孩子 | 定 | 拜 | 是怎 | 没人 | 烦 | 爸 | 码 | 课 | 那边
50 ^and | ^at | ^is | ^welche | auntie | braucht | card | coming | contact | dass ich | do it | doch | does she
50 dress | ersatzschlussel | essen | fella | filter | frag | fur alle | geht | gets | hatten | havent | id | im at
50 im in | is my | left | let the | letztes mal | mama | meine | meinen | mine | oil | ones | or not | over to
50 paid | remind | renew | shop | the place | the right | the sink | thick | thing | tmrw | to the | unser
50 urlaub | vertragt | want the | war das | welches | weve | what the | whats his | whats my | wieder | wos
50 would like | 不吃 | 假 | 到 | 医 | 去年 | 吧 | 姨 | 往 | 忘 | 所 | 电话 | 租 | 箱 | 老样
55 ^am | ^have | ^in | ^plan | ^renew | ^ruf | ^stehe | away | bescheid | buch | choir | dads | das was | do him
55 due | flat | hotel | how much | it out | lads | me | meiner | monday | month | n | need | nich | of the
55 pay the | pick | plan | quote | ruf | samstag | set | signed | somebody | st | steht | the oil | the one | them
55 they | things | thurs | what size | whoever | wie immer | without | 买 | 住 | 咱 | 店 | 快 | 按 | 有人 | 样子
55 老 | 要
60 ^auf | ask | asks | before | can i | cant | chase | de | did | did we | friday | geburtstag | ich am | list
60 ma | message | much | of my | order it | place | pls | schlussel | stehe | tablets | til | weeks | what was
60 write to | 单 | 发给 | 寄 | 带 | 接 | 来着 | 柜 | 看看 | 记 | 车 | 还
65 ^bin | ^did | ^email | ^schick | ^send | ^text | bin | client | hope | im | kommt | schick | steh | the little
65 the usual | uns | us | wann | week | what | who | wifi | wo | xmas | 交 | 剩 | 哪家 | 啥 | 我 | 报 | 班 | 续
65 该
70 >2 | ^order | and im | angebot | birthday | cancel | days | for | fur die | have | her | here | ihr | is she
70 labour | laden | last | letztes | mein | oder | ours | saturday | shift | something | the | this year
70 tomorrow | tonight | wegen | when | 一下 | 工 | 明天 | 药 | 订 | 那个
75 ^whens | about the | der | do we | does he | draft | frau | i | ich | needs | still | tell the | theyve | time
75 wem | write | 房 | 日 | 晚 | 礼 | 让 | 跟
80 ^bestell | ^sag | asking | book | food | fragt | jahr | or the | our | send | vom | von der | where | 她 | 家
80 次 | 问
85 ^get | ^wann | am | bestell | die | locked | mittwoch | pay | sie | 没
90 ^whos | fur | furs | get | have the | noch | offer | th | was it | welche | which of | whos | 上次 | 去 | 还是
95 for the | ive | mums | termin | the th | whens
100 or | want | 几 | 哪天 | 约 | 谁
105 ^has | ^trag | nochmal | number | sunday | usual | wir
110 ^hat | dem | er | order | trag | which | 周
120 thursday | 号
125 we | 哪
135 给
140 know
150 wants | 那
"""
"""Weights in hundredths of a log-odds, each before the features that have it.

A feature is a word, a pair of them or of signs, `^` the first word, `>4` four words and more, `#` a digit, `*` what
every message has. `make eval-messages ARGS=--fit` writes them anew.
"""
