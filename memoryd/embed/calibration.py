"""Measurements of an embedding model on known texts: vectors of unrelated texts, and cosines of questions and answers.

The vectors of unrelated texts ("strangers") show how similar texts are that have nothing to do with each other. They
are computed once per model and stored beside the models. The questions with answers check whether a model is fit for
search.

A few notes are not enough to measure the noise: one of five notes may be the answer. But the similarity of unrelated
texts is a property of the model. So it is measured on 24 everyday passages for each kind of script, as long as chunks
of notes: from a line to a short paragraph. They are sent to the same embedder as the owner's notes, and contain nothing
about a real person. If one of the texts changes, every model is measured again.
"""

import asyncio
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import structlog
from msgspec import Struct
from numpy.typing import NDArray

from memoryd.domain.ranking.vector_space import UnrelatedVectors
from memoryd.domain.text.words import is_unspaced
from memoryd.embed.protocol import Embedder, EmbedderIdentity, Fingerprint, Passage, Unembeddable
from memoryd.errors import EmbeddingError
from memoryd.files.reading import NotReadableError, TornReadError, read_snapshot
from memoryd.files.writing import write_private

SPACED = tuple(
    """\
The quarterly tax return was sent on the 14th; the receipt number is in the blue folder.
Replaced the washers of both kitchen taps. The left one still drips when the boiler is on.
Prefers tabs over spaces and short commit messages; never push on Fridays.
Grandmother's plum cake: 300 g flour, 150 g butter, a pinch of cinnamon, forty minutes at 180 degrees.
Oskar starts swimming lessons in the autumn. He has to bring goggles and a towel with his name on it.
The flight to Porto leaves at 6:40 from terminal two, and the hotel keeps the room until midnight.
Decided against the message broker: one table with a status column is enough for forty jobs a day.
The vet says that the rabbit is too heavy. Less dry food, more hay, and weigh her every second Sunday.
Choir practice moved to the parish hall while the roof of the school is being mended.
Marta from accounting is on leave until March. Invoices go to Henrik in the meantime.
The rear brake squeaks again after the rain. Ordered new pads, size B01S, from the shop by the bridge.
Read two chapters of the book about the siege of Leningrad; the part on bread rations is hard to bear.
Production runs on three machines behind a load balancer. The certificates renew by themselves in the night.
Tomatoes and basil went out onto the balcony today, a week later than last year because of the frost.
Physiotherapy twice a week for the shoulder: ten slow lifts with the red band, then ice.
Retrospective: the release slipped since nobody had tested the import of old files. Next time a rehearsal first.
The landlord agreed to pay for the new windows but not for the paint in the hallway.
Sofia likes jazz, strong tea and being called before noon. Her birthday is at the end of May.
The printer in the corridor only takes jobs from the guest network. Restart it when the light blinks orange.
Paid 84 for the winter tyres, including the change. The summer ones lie in the cellar, marked with chalk.
Learned thirty new words of Portuguese. Mixed up the past tenses again when telling the story of the ferry.
The telescope needs a heavier tripod; with this one Saturn trembles whenever a lorry passes.
Insurance covers water damage but no theft from the bicycle shed. The policy ends on the last day of June.
Chess club: lost with the black pieces after a careless rook move, won the second game in thirty moves.
""".splitlines()
)
"""Passages in a script with spaces between words."""

UNSPACED = tuple(
    """\
第二季度的增值税已经申报，回执放在蓝色文件夹里。
厨房两个水龙头的垫圈都换了，热水开着的时候左边那个还是滴水。
提交说明要写得短一些，周五下午不要上线。
外婆的红烧肉：五花肉一斤，冰糖一小把，小火炖一个半钟头。
小杰九月开始学游泳，要带泳镜和写了名字的毛巾。
去厦门的航班早上六点四十起飞，民宿的房间保留到半夜。
不用消息队列了，一张带状态字段的表就够，每天才四十个任务。
兽医说兔子太胖，少喂颗粒多给干草，每两个星期称一次体重。
合唱团排练改在社区活动室，学校的屋顶正在维修。
财务的李敏休产假到三月，发票先交给老周。
下雨以后后刹车又响了，在桥边的车行订了一副新的刹车片。
读了两章讲长征的书，写过草地的那一段看得心里难受。
线上一共三台机器，前面有负载均衡，证书夜里自动续期。
番茄和罗勒今天搬到阳台，因为倒春寒比去年晚了一个星期。
肩膀每周理疗两次，用红色弹力带慢慢抬十下，然后冰敷。
复盘：没有人测过旧文件的导入，所以发版推迟了，下次先演练一遍。
房东同意出钱换窗户，走廊的墙漆要我们自己付。
小雅喜欢爵士乐和浓茶，上午打电话给她最合适，生日在五月底。
走廊的打印机只认访客网络，橙色灯闪的时候重启一下就好。
换冬季轮胎花了八百四，夏天的那套放在地下室，用粉笔做了记号。
背了三十个法语单词，讲坐渡轮的故事时又把过去时弄混了。
天文望远镜要配一个更重的三脚架，有卡车经过的时候土星一直在抖。
家财险赔水管爆裂，不赔车棚里的失窃，保单六月最后一天到期。
象棋社：第一局走错一步车输了，第二局三十回合赢下来。
""".splitlines()
)
"""Passages in a script without spaces."""

ASKED_SPACED = tuple(
    """\
When did we hand in the papers for the revenue office?
What did we repair at the sinks?
How should changes to the code be described?
Which baking recipe do we have from the family?
What must the boy take along to the pool?
How early do I have to be at the airport?
Why is there no queue software in our design?
How is the pet supposed to get thinner?
Where do the singers rehearse now?
Who handles bills while she is away?
What is wrong with the bicycle?
What history reading made me sad?
How many servers carry the live system?
When were the plants moved outside?
Which exercises help my arm?
What made us deliver too late?
Who covers the cost of the glazing?
What music does my friend enjoy?
How do I get paper copies made in the hall?
How much was the garage bill for the car?
How is my language course going?
Why are the planets blurred when I look at them?
Is a stolen bike paid for?
How did my board games end?
""".splitlines()
)
"""Questions that the passages in SPACED answer, in the same order and in other words."""

ASKED_UNSPACED = tuple(
    """\
交税的凭证收在什么地方？
洗菜池那边修了什么？
写代码改动的描述有什么要求？
家里老人传下来的炖菜怎么做？
孩子去泳池要准备什么？
出发那天得多早赶到机场？
为什么设计里没有用排队的软件？
宠物怎么减肥？
唱歌的人现在在哪里练习？
她不在的时候账单给谁？
自行车哪里坏了？
哪一本历史读物让我伤心？
正式环境有几个服务器？
植物什么时候搬到外面的？
胳膊要做哪些康复动作？
我们为什么交付晚了？
门窗翻新的费用谁承担？
我的朋友爱听什么音乐？
怎么才能打出纸质文件？
给汽车换胎用了多少钱？
外语学得怎么样了？
为什么看行星总是模糊？
电动车被偷能不能报销？
下棋的结果如何？
""".splitlines()
)
"""Questions that the passages in UNSPACED answer, in the same order."""


log = structlog.get_logger(__name__)

REMEASURE_SECONDS = 900.0
"""Seconds until a model is measured again after a measurement without vectors, or one that has not ended."""
STORED_TOLERANCE = 0.01
_TEXTS = (*SPACED, *UNSPACED)
_QUESTIONS = (*ASKED_SPACED, *ASKED_UNSPACED)
_DIGEST_BYTES = 32

LANGUAGES = ("en", "zh")
"""Languages of the two kinds of script."""

Rows = NDArray[np.float32]
"""One vector of length 1 in each row."""


class UnrelatedTexts:
    """The vectors of unrelated texts for each model, stored in one file per model in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[Fingerprint, tuple[UnrelatedVectors, ...]] = {}
        self._not_before: dict[Fingerprint, float] = {}
        """The earliest time of the next measurement of a model (monotonic clock)."""
        self._refusing: set[Fingerprint] = set()
        """Models that gave no vector for a plain sentence at the last measurement."""
        self._wanted: asyncio.Queue[Embedder] = asyncio.Queue(1)

    def known(self, fingerprint: Fingerprint) -> tuple[UnrelatedVectors, ...]:
        """Return the vectors for scripts with and without spaces; an empty tuple until they are known."""
        return self._known.get(fingerprint, ())

    def for_question(self, embedder: Embedder, question: str) -> UnrelatedVectors | None:
        """Return the vectors for the script of the question; if they are not known yet, None, and request them."""
        known = self.known(embedder.identity.fingerprint)
        if known:
            spaced, unspaced = known
            return unspaced if is_unspaced(question) else spaced
        if not self._wanted.full():
            self._wanted.put_nowait(embedder)
        return None

    def is_unmeasured(self, embedder: Embedder) -> bool:
        """Return whether the vectors are missing and may arrive at any time, so that answers are provisional."""
        fingerprint = embedder.identity.fingerprint
        return fingerprint not in self._known and fingerprint not in self._refusing

    async def run(self) -> None:
        """Measure the models that `for_question` requested; runs until cancelled."""
        while True:
            await self.measure(await self._wanted.get())

    async def measure(self, embedder: Embedder) -> None:
        """Read or measure the strangers of a model; after a failure the model is measured again later.

        A call returns without them while another call waits for the model, so that no text is sent twice.
        """
        identity = embedder.identity
        fingerprint, now = identity.fingerprint, time.monotonic()
        if fingerprint in self._known or now < self._not_before.get(fingerprint, now):
            return
        self._not_before[fingerprint] = now + REMEASURE_SECONDS
        path = self._folder / fingerprint
        rows = await asyncio.to_thread(_read, path, identity)
        if rows is None:
            try:
                rows = await _measure(embedder)
            except EmbeddingError as exc:
                log.info("how near strangers come is not known yet", model=identity.model, reason=str(exc))
                return
            if rows is None:
                self._refusing.add(fingerprint)
                reason = "the model gives no vector for a plain sentence"
                log.warning("how near strangers come is not known", model=identity.model, reason=reason)
                return
            await asyncio.to_thread(_store, path, identity, rows)
        texts, questions = np.split(rows, [len(_TEXTS)])
        halves = zip(LANGUAGES, np.split(texts, 2), np.split(questions, 2), strict=True)
        self._known[fingerprint] = tuple(UnrelatedVectors(*half) for half in halves)


async def speed_of(embedder: Embedder) -> float:
    """Return how many everyday passages the embedder embeds per second. Raises what the embedder raises."""
    start = time.perf_counter()
    await embedder.embed_documents([Passage(text) for text in _TEXTS])
    return len(_TEXTS) / (time.perf_counter() - start)


async def _measure(embedder: Embedder) -> Rows | None:
    """Return the vectors of the texts, then of the questions; None if a text has no vector. Raises EmbeddingError."""
    vectors = await embedder.embed_documents([Passage(text) for text in _TEXTS])
    rows = [vector for vector in vectors if not isinstance(vector, Unembeddable)]
    if len(rows) < len(_TEXTS):
        return None
    rows += [await embedder.embed_query(question) for question in _QUESTIONS]
    return np.stack(rows).astype(np.float32)


def _read(path: Path, identity: EmbedderIdentity) -> Rows | None:
    """Return the stored vectors of a model; None if the file is missing, damaged, of other texts or another model."""
    size = _DIGEST_BYTES + 2 * (len(_TEXTS) + len(_QUESTIONS)) * identity.dimensions
    try:
        data = read_snapshot(path.parent, path.name, max_bytes=size).data
    except (OSError, NotReadableError, TornReadError):
        return None
    digest, body = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    if len(data) != size or digest != _digest(identity, body):
        return None
    rows = np.frombuffer(body, np.float16).reshape(len(_TEXTS) + len(_QUESTIONS), -1).astype(np.float32)
    return rows if np.allclose(np.linalg.norm(rows, axis=1), 1, atol=STORED_TOLERANCE) else None


def _store(path: Path, identity: EmbedderIdentity, rows: Rows) -> None:
    body = rows.astype(np.float16).tobytes()
    try:
        write_private(path, _digest(identity, body) + body)
    except OSError as exc:
        log.warning("what a model makes of strangers cannot be kept", reason=str(exc))


def _digest(identity: EmbedderIdentity, body: bytes) -> bytes:
    """Return a digest of the vectors, their model and their texts."""
    return sha256("\x1f".join((identity.fingerprint, *_TEXTS, *_QUESTIONS)).encode() + body).digest()


VECTOR_TOLERANCE = 1e-3
ENGLISH_MISSES_MAX = 1
"""Allowed misses of eight; MiniLM misses none, and MiniLM with the pooling of another family two."""

ENGLISH = (
    ("Mac Studio gateway host", "the machine running the gateway"),
    ("how do I get my money back?", "Refunds are paid to the original card within ten days."),
    ("when is the dentist?", "Tooth check-up moved to Thursday at nine."),
    ("what does the cat eat", "Feed Minka half a tin of tuna in the morning."),
    ("the build is broken on main", "Compilation fails since yesterday's merge."),
    ("where do we go on holiday", "The flat in Lisbon is booked for the first week of August."),
    ("which database do we use", "All data is stored in PostgreSQL 16."),
    ("she is afraid of flying", "Anna takes the train because planes frighten her."),
)
CHINESE = (
    ("我们什么时候交房租？", "每月五号之前要把租金转给房东。"),
    ("猫吃什么？", "早上给咪咪喂半罐金枪鱼。"),
    ("牙医约在什么时候", "周四九点去检查牙齿。"),
)


class Pair(Struct, frozen=True):
    """A question with its answer, their cosine, and the highest cosine of the question with another answer."""

    language: str
    question: str
    answer: str
    cosine: float
    nearest_stranger: float

    @property
    def is_first(self) -> bool:
        return self.cosine > self.nearest_stranger


class Verification(Struct, frozen=True):
    """The verdict, the cosines behind it, and one sentence for people."""

    ok: bool
    pairs: tuple[Pair, ...]
    reason: str


async def verify(embedder: Embedder) -> Verification:
    """Embed known pairs; the model is fit if at most one of eight English answers is outranked by another answer.

    Chinese pairs are measured, too, but only reported: a model may be made for English alone.
    Raises what the embedder raises: EmbedderUnavailable, WorkerDied.
    """
    pairs: list[Pair] = []
    for language, texts in (("English", ENGLISH), ("Chinese", CHINESE)):
        questions = [await embedder.embed_query(question) for question, _ in texts]
        answers = await embedder.embed_documents([Passage(answer) for _, answer in texts])
        vectors = [answer for answer in answers if not isinstance(answer, Unembeddable)]
        if len(vectors) < len(texts):
            return Verification(False, tuple(pairs), f"the model gives no vector for a plain {language} sentence")
        if flaw := _flaw([*questions, *vectors], embedder.identity.dimensions):
            return Verification(False, tuple(pairs), flaw)
        cosines = np.stack(questions) @ np.stack(vectors).T
        strangers = np.where(np.eye(len(texts), dtype=bool), -np.inf, cosines).max(axis=1)
        for row, (question, answer) in enumerate(texts):
            pairs.append(Pair(language, question, answer, float(cosines[row, row]), float(strangers[row])))
    return _judge(pairs)


def _flaw(vectors: Sequence[NDArray[np.float32]], dimensions: int) -> str:
    for vector in vectors:
        if vector.shape != (dimensions,):
            return f"a vector has the shape {vector.shape}, not ({dimensions},)"
        if not np.isfinite(vector).all() or abs(float(np.linalg.norm(vector)) - 1) > VECTOR_TOLERANCE:
            return "a vector is not of length 1"
    return ""


def _judge(pairs: Sequence[Pair]) -> Verification:
    english, chinese = ([pair for pair in pairs if pair.language == language] for language in ("English", "Chinese"))
    first = sum(pair.is_first for pair in english)
    ok = len(english) - first <= ENGLISH_MISSES_MAX
    tally = f"{first} of {len(english)} English paraphrases outrank every stranger"
    if not ok:
        reason = f"only {tally}: wrong pooling, wrong prompts, a bad quantisation, or no embedding model"
    elif all(pair.is_first for pair in chinese):
        reason = f"{tally}, and so do the Chinese ones"
    else:
        reason = f"{tally}; Chinese ones do not: for Chinese notes choose a multilingual model"
    return Verification(ok, tuple(pairs), reason)
