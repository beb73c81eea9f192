"""Words of talk, which say nothing of a subject, and whether a message takes up what was just said.

Fillers are no keywords, so that "hmm, are you sure?" matches no conversation that holds *hmm*. They are a closed
class: interjections, however long they are drawn, answers, greetings, thanks, and what asks to go on. A message takes
up what was said last where it says nothing else, where it begins as a sentence goes on (*and*, *so*, 那, 然后), or
where it points at something without a name (*it*, *those*, 它). One that turns to something else (*by the way*, 对了,
换个话题) does not, whatever it points at.
"""

from collections.abc import Collection
from typing import Final

from memoryd.domain.expressions import expression
from memoryd.domain.text.words import normalised

_ENGLISH: Final = """
hi hello hey ok okay yes yeah thanks thank please really maybe
think know want need like get got let lets go use make way
thing things something anything everything much many lot bit sure right good great well now here again always never
every still even else anyway supposed remind
yep yup nope nah alright fine cool nice perfect wow btw actually basically honestly though anyways interesting
agreed indeed exactly totally course absolutely understood noted goodbye bye morning night sorry oops
continue explain mean means tell say said says sense true
"""
_CHINESE: Final = """
这个 那个 这些 那些 这样 那样 这里 那里 什么 怎么 么样 为什 哪里 哪个 如何 可以 一个 一下 一些 我们 你们 他们 没有
因为 所以 时候 觉得 知道 想知 问题 里面 才能 能够 还是 或者
但是 如果 就是 不是 不能 都要 要不 需要 应该 现在 已经 自己
大家 请问 谢谢 你好 您好 好的 你觉 是不 有没 能不 可能 其实
然后 而且 以及 还有 一样 这种 那种 东西 事情 怎样 多少 是否 帮我
另外 多久 来着 上次 当时
给我 告诉 帮忙 我想 我要 不要 一直 每次 认为 看看 想想
顺便 说一 一句 对了 话说 好吧 好了 好啊 行吧 确定 真的 明白 懂了 继续 意思 辛苦 不错 太好 厉害 这么 那么 定吧 多谢
再见 早上 晚安 哈哈 呵呵 嘿嘿 嗯嗯 哦哦 换个 话题 有用 接着 有道 道理 知道 收到 没事 没关 关系 不用
"""
TALK: Final = frozenset((_ENGLISH + _CHINESE).split())
"""Words of talk, beside the stop words: they say nothing of what a question is about."""
_INTERJECTION: Final = expression(
    r"(?:h+m+|m+h*m+|u+[hmg]+h*|e+[rh]+m*|a+h+|o+h+|hu+h+|e+w+|p+f+t*|y+a+y+|a+w+|(?:ha|he|hi){2,}h?|l+o+l+|x+d+|a+r+g+h+"
    r"|w+h+o+a+|[嗯哦噢喔呃额唉哎诶欸嘿哈呵嘻嗷啊呀哇喂哼嘛呢吧吗啦咯哟])\Z"
)


def is_talk(word: str) -> bool:
    """Tell whether a word, in small letters, says nothing of a subject."""
    return word in TALK or _INTERJECTION.match(word) is not None


_TURNS_AWAY: Final = expression(
    r"\b(?:by the way|btw|something else|another (?:thing|question|topic)|unrelated|on another note|separately"
    r"|different (?:topic|subject)|changing (?:topic|the subject)|new topic)\b"
    r"|对了|另外|顺便(?:问|说|提)|换个|话说|还有(?:一|个)|别的事|题外话"
)
_GOES_ON: Final = expression(
    r"(?:and|so|but|then|or|nor|because|which one|what about|how about|why|if so|if not)\b"
    r"|那|然后|所以|但|可是|不过|而且|还有|为什么|因为|要是|如果|这样"
)
_POINTS: Final = expression(
    r"\b(?:it|its|it's|they|them|their|theirs|those|these|this|that|that's|there|one|ones|same|him|her|he|she|former|latter)\b"
    r"|它|他们|她们|这个|那个|这些|那些|这样|那样|这么|那么|刚才|上面|前面"
)
_VAGUE: Final = 3
"""So few keywords do not tell what a message is about."""
_LEADING: Final = expression(r"[^\W_]+(?:'[a-z]+)?")


def takes_up(message: str, keywords: Collection[str]) -> bool:
    """Tell whether a message goes on with what was just said; `keywords` are those of the message."""
    small = normalised(message).lower().replace("’", "'")
    if not keywords:
        return True
    # one that names what it is about points at what stands in itself
    if len(keywords) > _VAGUE or _TURNS_AWAY.search(small):
        return False
    begin = next((word.start() for word in _LEADING.finditer(small) if not is_talk(word.group())), len(small))
    return bool(_GOES_ON.match(small, begin)) or bool(_POINTS.search(small))
