"""Rejection of messages and sentences that are not plain statements of their author.

Rejected messages are text to work on, role play, jokes and pasted words of others; rejected sentences are questions,
conditions, suppositions and other people's words. Doubtful ones are rejected: a false memory costs more than a missing
one.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.skips import SkipReason
from memoryd.domain.text.sentences import SpokenSentence, plain_text


class DroppedItem(Struct, frozen=True):
    """A sentence that looked like a memory but was rejected, with the reason and the form that it has, if any."""

    text: str
    reason: str
    form: str = ""


MESSAGE_CHARACTERS_MAX = 4000
_MILD_JOKE = caseless(
    r"\b(?:lol|lmao|rofl|ha(?:ha)+h?|hehe+)\b|[😂🤣😜😝🤪]|(?<!\w)[:;]-?[pP)](?!\w)|/s\s*\Z|哈哈|嘿嘿|嘻嘻"
)

_UNWANTED = caseless(
    r"(?<!\bi )(?<!\bwe )(?<!\bthey )(?<!\byou )\b(?:don['’]?t|do not|no need to|never|needn['’]?t|must not"
    r"|mustn['’]?t)"
    r" (?:you )?(?:ever )?(?:remember|save|store|memori[sz]e|record|log|write (?:this|that|it) down|note (?:this"
    r"|that|it)|keep (?:this|that|it)|learn (?:this|that|it))\b"
    r"|\byou (?:don['’]?t|do not) (?:have|need) to (?:remember|save|store|memori[sz]e|keep|note)\b"
    r"|(?<!don't )(?<!don’t )(?<!dont )(?<!never )(?<!(?<!if )not )\bforget (?:that|what|this|it|everything|all)\b"
    r"|\b(?:merke? dir (?:das|es|bitte)* ?nicht|nicht (?:merken|speichern|notieren))\b"
    r"|\bvergiss (?:das|es|alles|was)\b(?! bitte nicht| nicht)"
    r"|\boff the record\b|\bnot for (?:your )?memory\b"
    r"|(?:别|不要|不用|不必|无需|请勿|不需要)(?:再|帮我|给我|把[^，。]{1,12})?(?:记(?!得|错)|保存|存下|存储|记录)|不要把[^。]{1,30}记|忘(?:掉|了)(?:这|那|我刚|刚才"
    r"|吧)"
)
_TASK = caseless(
    r"\b(?:translate|proofread|rephrase|paraphrase|rewrite|reword|spell-?check|transcribe|transliterate)\b"
    r"|\bsummari[sz]e (?:this|the|following|below)\b|\bhow (?:do|would|can|to) (?:you |i |we |one )?say\b"
    r"|\b(?:fix|correct|check|improve|polish|edit) (?:the |my |this |following )*(?:grammar|spelling|sentence"
    r"|english|german|french|chinese|wording|text|paragraph)\b|\bwhat does\b.{0,80}\bmean\b"
    r"|\b(?:übersetz\w*|korrigier\w*|formulier\w*|umschreiben|fass\w* .{0,40}zusammen|wie sagt man)\b"
    r"|翻译(?:一下|成|为|这|下|以下|给|[:：])|(?:请|帮我|帮忙|麻烦|怎么|如何)翻译|把[^。]{1,40}翻译|翻成|译成|润色|改写|校对|病句"
    r"|(?:用|拿)[^，。]{0,6}(?:英语|英文|法语|德语|日语|中文)[^，。]{0,4}怎么说|造句|续写|仿写"
)
_PLAY = caseless(
    r"\b(?:pretend|imagine|role-?play(?:ing)?|act as|let['’]?s play|play (?:the|a) (?:role|part|character)|in character"
    r"|my character|you are now|you['’]re now|speaking as|i['’]?ll be the|hypothetical(?:ly)?|let['’]?s (?:say"
    r"|suppose|assume)"
    r"|suppos(?:e|ing)|in (?:the|this|my|our|a) (?:story|novel|game|script|scene|play|dream|film|movie|song)"
    r"|(?:write|continue|finish|tell)\b.{0,50}\b(?:story|poem|song|lyrics|dialogue|scene|screenplay|script|novel"
    r"|monologue|fiction))\b"
    r"|\b(?:stell dir vor|tu so,? als|rollenspiel|spiel(?:e|en wir)? (?:den|die|einen|eine)|angenommen|schreib\w*"
    r" .{0,50}(?:geschichte|gedicht|lied|dialog|roman))\b"
    r"|假装|扮演|角色扮演|想象|假设|假定|(?:小说|故事|游戏|剧本|电影|梦|歌)里|梦见|台词|歌词|(?:写|编|讲)[^，。]{0,12}(?:故事|小说|诗|剧本|对白|对话|歌词)"
)
_JOKE = caseless(
    r"\b(?:(?:just |only )?kidding|j/?k|joking|(?:just|only|as) a joke|sarcasm|gotcha|april fools?)\b"
    r"|\b(?:scherz|witz|(?:nur|bloß) spa(?:ß|ss))\b"
    r"|开玩笑|逗你|骗你|玩笑话?|瞎说|胡说"
)
_PASTED = expression(
    r"^[ \t]*(?:from|to|subject|sent|cc|betreff|von|发件人|收件人|主题|抄送)[ \t]*[:：]"
    r"|^-{2,} ?(?:original|forwarded)|\bforwarded message\b|\bwrote:[ \t]*$|写道[:：][ \t]*$"
    r"|^[ \t]*\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|^[ \t]*\[?\d{1,2}:\d\d(?::\d\d)?\]? \S{1,30}[:：]"
    r"|^[ \t]*\[?(?:error|warn(?:ing)?|info|debug|fatal|trace)\]?[ \t]*[:\]\-|]|^traceback\b|^[ \t]+at \S+\("
    r"|^[ \t]*file \""
    r"|^(?:dear|sehr geehrte|尊敬的)\b.{0,60}[,，:：][ \t]*$|^(?:best|kind|warm)? ?regards\b|^(?:sincerely|cheers"
    r"|yours truly)\b.{0,20}$|^此致",
    re.IGNORECASE | re.MULTILINE,
)
_LINE_SPEAKER = expression(
    r"^[ \t]*(?:[A-Z][\w.]{0,15}(?: [A-Z][\w.]{0,15})?|[\u4e00-\u9fff]{1,4})[:：][ \t]*\S", re.MULTILINE
)
_INTRODUCED = caseless(
    r"\b(?:e-?mails?|mails?|logs?|messages?|letter|texts?|output|transcript|article|paragraphs?|excerpt|review"
    r"|errors?|bio|posts?|tweet|following|below|sentences?|passage|stor(?:y|ies)|quote|chat|wrote|sent|says?|said"
    r"|(?<!\bi )reads?|writes?|poem|lyrics|line|caption|snippet|template|example|sample|draft|test data|dialogue"
    r"|phrase|statement|word|this|comment|reply)\b[^:：]{0,60}[:：](?!\d\d)"
    r"|(?:邮件|日志|消息|短信|原文|如下|下面|以下|这段|那段|内容|聊天记录|发来|写道|文章|例子|例句|例如|比如|模板|句子|这句|一段话|文字|评论|帖子|这样写)[^:：]{0,20}[:：]"
    r"|\b(?:write|draft|compose|say|repeat|explain|analy[sz]e|parse|extract|classify|complete|review|fix|check"
    r"|correct|(?<!\bi )read|improve|shorten|format|convert|reply|post|tell (?:him|her|them))\b[^:：]{0,100}[:：]"
    r"|(?:写|说|重复|解释|分析|提取|回复|回答|修改|检查|告诉(?:他|她|他们))[^:：。]{0,30}[:：]"
)
_ABOUT_OWN = caseless(
    r"\b(?:merke? dir|vergiss (?:bitte )?nicht|nicht vergessen|denke? (?:bitte )?d(?:ar|r)an|notiere?)\b[^:]{0,30}:|"
    r"\b(?:remember|(?:keep|bear) in mind|(?:don['’]?t|do not) forget)\b[^:：]{0,30}[:：]"
    r"|\babout (?:me|myself)\b|\bfyi\b|\bnote (?:this|that)\b|记住|备注"
)


def why_unfit(text: str) -> str:
    """Return the reason why nothing is learned from a message; empty if something may be."""
    if len(text) > MESSAGE_CHARACTERS_MAX:
        return SkipReason.MESSAGE_TOO_LONG
    plain = plain_text(text)
    if _PASTED.search(plain) or len(_LINE_SPEAKER.findall(plain)) > 1:
        return SkipReason.PASTED
    for pattern, why in (
        (_UNWANTED, SkipReason.UNWANTED),
        (_TASK, SkipReason.TASK_TEXT),
        (_PLAY, SkipReason.PLAY),
        (_JOKE, SkipReason.JOKE),
    ):
        if pattern.search(plain):
            return why
    return ""


def why_each_unfit(sentences: Sequence[SpokenSentence]) -> list[str]:
    """Return for each sentence the reason why the sentences around it show that it is not its author's own, or ""."""
    reasons = [SkipReason.JOKE if _MILD_JOKE.search(sentence.plain) else "" for sentence in sentences]
    for at, sentence in enumerate(sentences[1:]):
        if reasons[at + 1] and len(sentence.text) < 12:
            # a short one such as "haha" marks the sentence before it as a joke, too
            reasons[at] = SkipReason.JOKE
    for at, sentence in enumerate(sentences):
        if _INTRODUCED.search(sentence.plain) and not _ABOUT_OWN.search(sentence.plain):
            reasons[at:] = [SkipReason.TASK_TEXT] * (len(sentences) - at)
            break
    return reasons


SENTENCE_CHARACTERS_MAX = 400
_ASKS = caseless(
    r"\A\W*(?:(?:and|so|but|ok|okay|hey|hi|hello|also|please|well|then|now|sorry|thanks)\b[,!.]* *)*"
    r"(?:(?:on|in|at|to|from|by|with|for|of|until|since) (?=wh))?"
    r"(?:what|who|whom|whose|where|when(?! i\b)|why|how|which|is|are|am(?= i\b)|was|were|do(?! not forget\b)|does"
    r"|did|can|could|would|will|should|shall"
    r"|may|has|have|had(?! enough\b)|isn['’]t|aren['’]t|don['’]t (?:you|i)|didn['’]t|won['’]t|wouldn['’]t|can['’]t you"
    r"|tell me|guess|any idea|do you)\b|\bi (?:was )?wonder(?:ing)?\b|\bdo you (?:know|remember|recall|think)\b"
    r"|\b(?:you (?:still )?remember|what|whether) my\b"
    r"|\A\W*(?:(?:und|aber|also|ok|hallo|hey|bitte|sag mal)\b[,!.]* *)*(?:was|wer|wen|wem|wann|wo|woher|wohin|wie|warum"
    r"|wieso|weshalb|welche\w?|hast|bist|kannst|könntest|weißt|gibt es|sag mir"
    r"|(?:ist|sind|war|hab|hat|kann|soll|muss)\w{0,2} (?:ich|du|er|sie|es|wir|das|der|die|mein\w?))\b"
)
_ASKS_CHINESE = expression(
    r"[吗嘛呢么][^\u4e00-\u9fffA-Za-z0-9]*\Z|什么|怎么|怎样|为何|谁(?!都|也)|哪(?![怕吒])|(?<![好十这那前后过近])几(?:个|点|岁|号|月|天|次|位)|多少|多大|多久"
    r"|是不是|有没有|能不能|可不可以|会不会|对不对|好不好|要不要|是否|还记得|记不记得|知不知道|知道我|猜(?:猜|一下|我)|对吧|没错吧|请问"
)
_SUPPOSES = caseless(
    r"\b(?:if|unless|whether|provided|as long as|assum(?:e|ing)|suppos(?:e|ing)|imagine|what if|would|could|might|maybe"
    r"|perhaps|possibly|probably|i (?:think|guess|suppose|assume|believe|wish|hope|doubt|dreamt|dreamed)|if only"
    r"|in theory|someday|one day|as if|as though|pretend|not sure|for (?:example|instance)|e\.g|such as)\b"
    r"|\b(?:wenn|falls|ob|sofern|vielleicht|wahrscheinlich|vermutlich|womöglich|würde\w*|könnte\w*|hätte\w*|wäre\w*"
    r"|ich (?:glaube|denke|vermute|hoffe|wünschte)|als ob|zum beispiel|z\.\s?b)\b"
    r"|如果|要是|假如|假设|假使|倘若|若是|若(?=我)|万一|除非|的话|也许|可能|或许|大概|好像|似乎|估计|希望|但愿|我猜|我想我|应该是|说不定|一旦|比如|例如|比方|不确定|不一定"
)
_POLITE = caseless(
    r"\bwould you believe it\b|\bas you (?:might|may|probably) know\b|\bbut i (?:could|would) (?:also )?live with\b"
)
_IN_CASE = caseless(r"\W*(?:just )?in case\b")
_OWN_WORDS = caseless(
    r"\b(?:as|like) i (?:said|mentioned|told you)|\bi(?:['’]ve| have)? (?:already |just )?(?:said|told you"
    r"|mentioned)\b|\bsay hi\b"
    r"|(?:我|实话|老实|顺便|总的来|一般来|换句话|也就是|就是|再|话|来|小|学|传|解|据我|虽)说|说(?:明|话|法|服|起来|实话|一下|到)|问(?:题|候)|回答(?:时|的时候|问题|我)"
)
_REPORTS = caseless(
    r"\b(?:said|says|say|saying|told|tells|asked(?! for\b)|asks(?! for\b)|wrote|writes|claim(?:s|ed)?"
    r"|according to|quot(?:e|es|ed|ing)"
    r"|repl(?:ied|ies)"
    r"|sagte\w?|sagt|gesagt|meinte|fragte|schrieb|schreibt|erzählt\w?|behauptet|laut"
    r"|heard|thinks|answered|texted|mentioned|shouted|sings?|sang|lyrics?|titled|reads|puts it|introduced (?:him"
    r"|her)self)\b"
    r"|(?:[他她它们人妈爸哥姐弟妹友户婆]|老公|老师|老板|同事|先生|太太|经理|客服|总|小[\u4e00-\u9fff])[^，,。\s]{0,4}?[说问唱喊念]|告诉|写道|写着|转告|听(?:见|到|[他她谁人])|唱(?:道|着)|表示|自称|自我介绍"
)
_SENTENCE_SPEAKER = expression(r"\A[ \t]*(?P<who>[A-Za-z][\w .'’-]{0,30}|[\u4e00-\u9fff]{1,8})[ \t]*[:：](?!\d|//)")
_NEW_NUMBER = caseless(r"\A[^:：]*\b(?:has|have|got|new)\b[^:：]*[:：]\s*[+(\d][\d\s()./-]*\Z")
_OWN_LABEL = caseless(
    r"\A[ \t]*(?:note|notes|fyi|btw|by the way|ps|p\.s\.?|please note|update"
    r"|(?:please )?(?:remember|(?:keep|bear) in mind|(?:don['’]?t|do not) forget)(?: this| that)?"
    r"|correction|reminder|important"
    r"|(?:bitte )?(?:merke? dir|vergiss nicht|nicht vergessen|denke? d(?:ar|r)an|notiere?)(?: bitte| mal)?|wichtig"
    r"|mein\w? [\w ]{1,24}|about me|also|me|hi|hello|one thing|for the record|just so you know|my [\w ]{1,24}|i(?:['’]m"
    r"| am)? [\w ]{1,24}|e-?mail|phone|tel|mobile|(?:请|帮我|你要)?记住|备注|注意|另外|补充|提醒|对了|更正|说明"
    r"|我的[\u4e00-\u9fff]{1,6}|我[\u4e00-\u9fff]{1,6}|电话|手机|邮箱)[ \t]*[:：]"
)
_HIDDEN = expression(r"\*{3}|\S{6}…\S{4}|…\d{4}")


_PASSWORDS = caseless(
    r"\b(?:pass ?words?|pass ?phrases?|pass ?codes?|pins?|pin ?codes?|pin numbers?|api ?keys?|secret ?keys?"
    r"|private ?keys?"
    r"|access ?tokens?|cvv|cvc|seed phrase|passwds?|pwd|log-?ins?|credentials?|credit card|debit card|card number|iban"
    r"|bank account|account (?:number|no)|security code)\b|\bkeys?(?: to \w+)?"
    r"(?: (?:is|are|was)\b(?! (?:\w+ )?(?:in|on|at|under|behind|with|by|near|beside|inside|above|below|next to) )"
    r"|\s?[:=])"
    r"|\b(?:wi-?fi|wlan|account|router|network|bank|card|2fa|security|verification|unlock|phone|safe|alarm|door|gate"
    r"|garage|entry|entrance|access|lock(?:er)?|vault|backup|recovery|one-time|login) codes?\b"
    r"(?! (?:is|are|was|gets?) (?:changed|renewed|different)\b)"
    r"|\b(?:seed|recovery|backup|secret) (?:words?|phrases?|keys?)\b|\bmaiden name\b|\bsecurity (?:question|answer)s?\b"
    r"|\b(?:lock(?:er)?|padlock|bike lock|safe|vault|suitcase)(?:['’]s)? combination\b"
    r"|\bcombination (?:to|of|for) (?:my|our|the) (?:lock(?:er)?|padlock|bike lock|safe|vault|suitcase)\b"
    r"|\b(?:safe|vault|locker|padlock|lock|door|gate|garage|alarm) (?:is )?(?:open|unlock|disarm)(?:s|ed)? with\b"
    r"|\b(?:passw(?:o|ö)rt\w*|kennw(?:o|ö)rt\w*|geheimzahl|(?:ec|konto|handy|karten|sim)-?pin|\w*schlüssel(?:code|kombination)|tür-?code|kontonummer"
    r"|kreditkarte\w*|zugangsdaten)\b"
    r"|密码|口令|密钥|私钥|助记词|验证码|门禁码|开门码|备用码|恢复码|动态码|银行卡|信用卡|卡号|银行账[号户]"
)
"""Names of secrets; a sentence with one is not kept, even if the secret itself is not recognised."""


def says_secret(text: str) -> bool:
    """Return whether a sentence may contain a secret: it names one, or has a masked one."""
    return bool(_HIDDEN.search(text) or _PASSWORDS.search(text))


def why_not_plain(sentence: SpokenSentence) -> str:
    """Return the reason why a sentence is not a plain statement; empty for a plain statement."""
    if why := why_not_stated(sentence):
        return why
    plain = sentence.plain
    if _SUPPOSES.search(_POLITE.sub("", plain)) or _IN_CASE.match(plain):
        return SkipReason.CONDITION
    is_label = _OWN_LABEL.match(plain) or _NEW_NUMBER.match(plain)
    if _REPORTS.search(_OWN_WORDS.sub("", plain)) or (_SENTENCE_SPEAKER.match(plain) and not is_label):
        return SkipReason.REPORTED
    return ""


def why_not_stated(sentence: SpokenSentence) -> str:
    """Return the reason why a sentence is neither a statement nor a correction; empty if it may be one.

    The reasons are its length, a question, or a secret.
    """
    plain = sentence.plain
    if len(sentence.text) > SENTENCE_CHARACTERS_MAX:
        return SkipReason.SENTENCE_TOO_LONG
    if sentence.is_question or _ASKS.search(plain) or _ASKS_CHINESE.search(plain):
        return SkipReason.QUESTION
    return SkipReason.SECRET if says_secret(sentence.text) else ""
