"""Why nothing is learned from a message, or from a part of it on: text to work on, play, jokes, pasted words of others.

In doubt nothing is: a memory that was never said costs more than one that is lacking.
"""

import re
from collections.abc import Sequence
from typing import Final

from memoryd.domain.memories.capture.sentences import SpokenSentence, plain_text

SIGNS_MAX: Final = 4000
TOO_LONG: Final = "it is longer than what a person says in one message"
UNWANTED: Final = "it is not to be remembered, as it says"
TASK_TEXT: Final = "it is text to work on"
PLAY: Final = "it is play, or a supposition"
JOKE: Final = "it is a joke, as it says"
PASTED: Final = "it is pasted, and may be another person's words"
_MILD_JOKE: Final = re.compile(
    r"\b(?:lol|lmao|rofl|ha(?:ha)+h?|hehe+)\b|[😂🤣😜😝🤪]|(?<!\w)[:;]-?[pP)](?!\w)|/s\s*\Z|哈哈|嘿嘿|嘻嘻", re.I
)

_UNWANTED: Final = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\bthey )(?<!\byou )\b(?:don['’]?t|do not|no need to|never|needn['’]?t|must not"
    r"|mustn['’]?t)"
    r" (?:you )?(?:ever )?(?:remember|save|store|memori[sz]e|record|log|write (?:this|that|it) down|note (?:this"
    r"|that|it)"
    r"|keep (?:this|that|it)|learn (?:this|that|it))\b"
    r"|\byou (?:don['’]?t|do not) (?:have|need) to (?:remember|save|store|memori[sz]e|keep|note)\b"
    r"|\bforget (?:that|what|this|it|everything|all)\b(?<!don't forget that)(?<!don’t forget that)(?<!not forget that)"
    r"|\boff the record\b|\bnot for (?:your )?memory\b"
    r"|(?:别|不要|不用|不必|无需|请勿|不需要)(?:再|帮我|给我|把[^，。]{1,12})?(?:记(?!得|错)|保存|存下|存储|记录)|不要把[^。]{1,30}记|忘(?:掉|了)(?:这|那|我刚|刚才"
    r"|吧)",
    re.IGNORECASE,
)
_TASK: Final = re.compile(
    r"\b(?:translate|proofread|rephrase|paraphrase|rewrite|reword|spell-?check|transcribe|transliterate)\b"
    r"|\bsummari[sz]e (?:this|the|following|below)\b|\bhow (?:do|would|can|to) (?:you |i |we |one )?say\b"
    r"|\b(?:fix|correct|check|improve|polish|edit) (?:the |my |this |following )*(?:grammar|spelling|sentence"
    r"|english|german"
    r"|french|chinese|wording|text|paragraph)\b|\bwhat does\b.{0,80}\bmean\b"
    r"|翻译(?:一下|成|为|这|下|以下|给|[:：])|(?:请|帮我|帮忙|麻烦|怎么|如何)翻译|把[^。]{1,40}翻译|翻成|译成|润色|改写|校对|病句"
    r"|(?:用|拿)[^，。]{0,6}(?:英语|英文|法语|德语|日语|中文)[^，。]{0,4}怎么说|造句|续写|仿写",
    re.IGNORECASE,
)
_PLAY: Final = re.compile(
    r"\b(?:pretend|imagine|role-?play(?:ing)?|act as|let['’]?s play|play (?:the|a) (?:role|part|character)|in character"
    r"|my character|you are now|you['’]re now|speaking as|i['’]?ll be the|hypothetical(?:ly)?|let['’]?s (?:say"
    r"|suppose|assume)"
    r"|suppos(?:e|ing)|in (?:the|this|my|our|a) (?:story|novel|game|script|scene|play|dream|film|movie|song)"
    r"|(?:write|continue|finish|tell)\b.{0,50}\b(?:story|poem|song|lyrics|dialogue|scene|screenplay|script|novel"
    r"|monologue|fiction))\b"
    r"|假装|扮演|角色扮演|想象|假设|假定|(?:小说|故事|游戏|剧本|电影|梦|歌)里|梦见|台词|歌词|(?:写|编|讲)[^，。]{0,12}(?:故事|小说|诗|剧本|对白|对话|歌词)",
    re.IGNORECASE,
)
_JOKE: Final = re.compile(
    r"\b(?:(?:just |only )?kidding|j/?k|joking|(?:just|only|as) a joke|sarcasm|gotcha|april fools?)\b"
    r"|开玩笑|逗你|骗你|玩笑话?"
    r"|瞎说|胡说",
    re.IGNORECASE,
)
_PASTED: Final = re.compile(
    r"^[ \t]*(?:from|to|subject|sent|cc|betreff|von|发件人|收件人|主题|抄送)[ \t]*[:：]"
    r"|^-{2,} ?(?:original|forwarded)|\bforwarded message\b|\bwrote:[ \t]*$|写道[:：][ \t]*$"
    r"|^[ \t]*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^[ \t]*\[?\d{1,2}:\d\d(?::\d\d)?\]? \S{1,30}[:：]"
    r"|^[ \t]*\[?(?:error|warn(?:ing)?|info|debug|fatal|trace)\]?[ \t]*[:\]\-|]|^traceback\b|^[ \t]+at \S+\("
    r"|^[ \t]*file \""
    r"|^(?:dear|sehr geehrte|尊敬的)\b.{0,60}[,，:：][ \t]*$|^(?:best|kind|warm)? ?regards\b|^(?:sincerely|cheers"
    r"|yours truly)\b.{0,20}$|^此致",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER: Final = re.compile(
    r"^[ \t]*(?:[A-Z][\w.]{0,15}(?: [A-Z][\w.]{0,15})?|[\u4e00-\u9fff]{1,4})[:：][ \t]*\S", re.MULTILINE
)
_INTRODUCED: Final = re.compile(
    r"\b(?:e-?mails?|mails?|logs?|messages?|letter|texts?|output|transcript|article|paragraphs?|excerpt|review"
    r"|errors?|bio"
    r"|posts?"
    r"|tweet|following|below|sentences?|passage|stor(?:y|ies)|quote|chat|wrote|sent|says?|said|reads?|writes?|poem"
    r"|lyrics|line"
    r"|caption|snippet|template|example|sample|draft|test data|dialogue|phrase|statement|word|this|comment"
    r"|reply)\b[^:：]{0,60}[:：]"
    r"|(?:邮件|日志|消息|短信|原文|如下|下面|以下|这段|那段|内容|聊天记录|发来|写道|文章|例子|例句|例如|比如|模板|句子|这句|一段话|文字|评论|帖子|这样写)[^:：]{0,20}[:：]"
    r"|\b(?:write|draft|compose|say|repeat|explain|analy[sz]e|parse|extract|classify|complete|review|fix|check"
    r"|correct|read"
    r"|improve|shorten|format|convert|reply|post|tell (?:him|her|them))\b[^:：]{0,100}[:：]"
    r"|(?:写|说|重复|解释|分析|提取|回复|回答|修改|检查|告诉(?:他|她|他们))[^:：。]{0,30}[:：]",
    re.IGNORECASE,
)
_ABOUT_OWN: Final = re.compile(
    r"\bremember\b[^:：]{0,30}[:：]|\babout (?:me|myself)\b|\bfyi\b|\bnote (?:this|that)\b|记住|备注", re.IGNORECASE
)


def why_unfit(text: str) -> str:
    """Say why nothing at all is learned from a message; empty if something may be."""
    if len(text) > SIGNS_MAX:
        return TOO_LONG
    plain = plain_text(text)
    if _PASTED.search(plain) or len(_SPEAKER.findall(plain)) > 1:
        return PASTED
    for pattern, why in ((_UNWANTED, UNWANTED), (_TASK, TASK_TEXT), (_PLAY, PLAY), (_JOKE, JOKE)):
        if pattern.search(plain):
            return why
    return ""


def why_each_unfit(sentences: Sequence[SpokenSentence]) -> list[str]:
    """Say of each sentence why it is not its author's own, by what stands before and behind it; empty if it is."""
    reasons = [JOKE if _MILD_JOKE.search(one.plain) else "" for one in sentences]
    reasons = [why or (reasons[at + 1] if _is_all_joke(sentences, at + 1) else "") for at, why in enumerate(reasons)]
    after = ""
    for at, one in enumerate(sentences):
        reasons[at] = after or reasons[at]
        if not after and _INTRODUCED.search(one.plain) and not _ABOUT_OWN.search(one.plain):
            after = TASK_TEXT
            reasons[at] = TASK_TEXT
    return reasons


def _is_all_joke(sentences: Sequence[SpokenSentence], at: int) -> bool:
    """Tell whether a sentence only marks the one before it as a joke."""
    return at < len(sentences) and len(sentences[at].text) < 12 and bool(_MILD_JOKE.search(sentences[at].plain))
