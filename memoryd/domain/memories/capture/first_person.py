"""Whether a clause is a plain statement of the first person, and where in a sentence such clauses begin."""

import re
from collections.abc import Callable
from typing import Final

_OWN: Final = re.compile(
    r"\W*(?:(?:i|we)(?:['’](?:m|ve|re))? (?!(?:(?:really|just|also|only) )?(?:will|would|shall|want|need|got|get"
    r"|receive\w*"
    r"|read|found|saw|see|heard|hear|wrote|write|quote|have to|copied|copy|paste\w*|say|said|wonder|call)\b)\w"
    r"|(?:i['’]m|we['’]re|i['’]ve|we['’]ve)\b|(?:my|our) [\w'’-]+(?: [\w'’-]+){0,4}? (?:is|are)\b)"
    r"|\W*我(?:们)?(?!们?(?:[想要会听读写问说]|收到|看到|找到|听到|正在?[写读翻]))"
    r"|\W*(?:今年|现年|来自|在|是)[\u4e00-\u9fff0-9]",
    re.IGNORECASE,
)
_STAGED: Final = re.compile(
    r"(?<!\bmy )\b(?:e-?mails?|mails?)\b|\b(?:letters?|messages?|texts?|sentences?|essays?|chapters?|applicants?"
    r"|dialog(?:ue)?s?|persona|bio|biography|characters?|exercises?|following|below|above|this|story|stories|novels?"
    r"|scenes?|scripts?|lines?|quotes?|lyrics|poems?|post|comment|subtitles?|waiter|play|playing|role|translat\w+"
    r"|diary|transcript|test data|fixture|placeholder|draft|sample|example|practice|practis\w+|practic\w+)\b"
    r"|邮件|短信|留言|消息|作文|课文|句|台词|剧本|小说|故事|设定|角色|扮演|背诵|翻译|阅读|题目|材料|原文|例|下面|以下|练习|对话",
    re.IGNORECASE,
)


def is_own_clause(plain: str) -> bool:
    """Tell whether a clause, or a sentence, states something plain of its author, and nothing of a text."""
    return bool(_OWN.match(plain)) and not _STAGED.search(plain)


def own_starts(plain: str, clause: re.Pattern[str], behind_leads: Callable[[str, int], int]) -> list[int]:
    """Return where a main clause of the author may begin: behind what leads in, and behind clauses of theirs alone."""
    start = behind_leads(plain, 0)
    starts = [start]
    for found in clause.finditer(plain):
        if found.end() <= start:
            continue
        if not is_own_clause(plain[start : found.start()]):
            break
        start = behind_leads(plain, found.end())
        starts.append(start)
    return starts
