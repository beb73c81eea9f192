"""Identifiers of people: phone numbers, ID numbers and e-mail addresses.

A number counts only if its form, its check digit or a word beside it shows it: orders, dates and prices do not count.
"""

import re
from collections.abc import Sequence
from datetime import date

from msgspec import Struct

from memoryd.domain.expressions import caseless, expression
from memoryd.domain.memories.capture.forms import is_clean
from memoryd.domain.skips import SkipReason

_EMAIL = expression(
    r"(?<![A-Za-z0-9_.+/@-])[A-Za-z0-9](?:[A-Za-z0-9._%+-]{0,62}[A-Za-z0-9_])?@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,4}[A-Za-z]{2,18}(?![A-Za-z0-9_@-])(?!:)"
)
_NO_PERSON = caseless(r"(?:git|noreply|no-reply|donotreply|root|nobody|mailer-daemon|postmaster)@")
_CHINESE_MOBILE = expression(r"(?<![\d.-])(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?![\d-]|\.\d)")
_INTERNATIONAL = expression(
    r"(?<![\w.])(?:\+|00)[1-9]\d{0,2}[ ./-]?(?:\(0?\d{1,4}\)[ ./-]?)?\d(?:[ ./-]?\d){5,12}(?!\w|[.,-]\d)"
)
_NATIONAL = expression(r"(?<![\w.+/-])\(?\d{2,5}\)?(?:[ /.-]?\d){4,11}(?!\w|[.,/-]\d)")
_PHONE_WORD = caseless(
    r"\b(?:phone|tel(?:ephone)?|mobile|cell(?:phone)?|landline|whats ?app|call|calls|ring|dial|text|sms|fax"
    r"|telefon\w*|handy\w*|nummer|festnetz|anruf\w*|erreich\w*|reach(?:ed|able)?|number|hotline|signal|contact)\b|电话|手机|号码|致电|打给|打我|座机|微信|联系|热线"
)
_OTHER_NUMBER = caseless(
    r"\b(?:order|ticket|invoice|tracking|case (?:number|no)|issue|commit|port|account|serial|model|version|build"
    r"|flight|room"
    r"|booking|reference|card|price|cost|costs|iban|isbn|zip|postal|postcode|customer|article|product|pin|code|line"
    r"|row|page|year|dollars?|euros?|usd|eur)\b"
    r"|订单|单号|快递|编号|版本|卡号|房间|价格|账号|邮编|端口|序列号|型号|航班|发票|验证码|密码"
)
_DATE = expression(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|(?:\d{1,3}\.){3}\d{1,3}")
_RESIDENT = expression(r"(?<![0-9A-Za-z])[1-9]\d{5}(?:18|19|20)\d{9}[0-9Xx](?![0-9A-Za-z])")
_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_CHECK_CHARS = "10X98765432"
_OWN_DOCUMENT = caseless(
    r"\bmy (?:new |current )?(?:passport|id(?:entity)?(?: card)?|national id|driver['’]?s? licen[cs]e"
    r"|driving licen[cs]e|licen[cs]e|residence permit|social security|ssn|tax(?: id)?|national insurance"
    r"|health insurance|insurance)(?: number| no\.?| card)*(?: is|:"
    r"| =)\s*(?P<value>(?=[A-Za-z0-9 -]*\d[A-Za-z0-9 -]*\d[A-Za-z0-9 -]*\d[A-Za-z0-9 -]*\d)"
    r"[A-Za-z0-9](?:[ -]?[A-Za-z0-9]){5,17})\b"
    r"|我的?(?:新)?(?:护照|身份证|驾照|社保|证件|港澳通行证|居留卡)(?:号码?|编号)?(?:是|为"
    r"|[:：])\s*(?P<number>(?=[A-Za-z0-9]*\d{4})[A-Za-z0-9]{6,18})"
)
_MINE = (
    r"(?:new |current |personal |private |work |home |mobile |cell |main |own |office |business |best |direct "
    r"|daily |other )*"
    r"(?:phone|mobile|cell(?:phone)?|telephone|tel|number|landline|whatsapp|signal|e-?mail|mail|gmail|id"
    r"|identity card)(?: (?:number|no\.?|address|id|card))*"
)
_FIRST_PERSON = caseless(
    rf"(?:(?:here is|here['’]s|this is) )?\bmy {_MINE}"
    rf"(?: (?:is|are|was changed to|has changed to|changed to)\b|['’]s\b|[ ]?[:=])"
    rf"|\bmy {_MINE} (?:has |was |is )*(?:changed|new)[,;:]? (?:and )?(?:it['’]?s|it is|the new one is)(?: now)?\b"
    r"|\b(?:you can |please |just |or )*(?:reach|call|text|ring|phone|e-?mail|mail|message|contact|write(?: to)?"
    r"|find|whatsapp) me (?:directly )?(?:at|on|under|via|by|:)"
    r"|\bi(?:['’]m| am) (?:reachable|available) (?:at|on|under)|\b(?:send|forward) it to me at|\bmy (?:contact"
    r"|address) (?:is|details are)"
    r"|\bmeine (?:neue |private )?(?:handy|telefon|mobil|festnetz)?-?(?:nummer|(?:e-?)?mail(?:-?adresse)?)"
    r"(?: ist| lautet|:)(?: jetzt)?"
    r"|我的?(?:新|私人|工作|常用|个人)?(?:的)?(?:电话|手机|号码|邮箱|邮件|电邮|座机|联系方式|联系电话|email|Email|E-mail|身份证|微信)(?:号码?|地址|账号)?(?:现在|已经"
    r"|就)?(?:是|为|换成了?|改成了?|改为|[:：])"
    r"|我的?(?:私人|工作)?(?:电话|手机|号码|邮箱|邮件|电邮|微信)(?:号码?|地址)?(?:换|改|变)了[，,]?\s*(?:新的?|现在)?(?:是|为|用|[:：])"
    r"|(?:打|发|联系|加|致电)(?:我|给我)(?:的)?(?:电话|手机|邮箱|邮件|短信|微信)?(?:[:：]|吧)?\s*(?=[\dA-Za-z+])|(?:打|发到|发)我(?:的)?(?:电话|手机|邮箱)"
)
_NOT_MINE = caseless(
    r"\bmy \w+['’]s?\b(?<!my number's)(?<!my email's)(?<!my phone's)"
    r"|\b(?:old|former|previous|no longer)\b|以前|旧|原来的|不再用"
)
_THING = (
    r"(?:phone|mobile|cell(?:phone)?|telephone|tel|landline|number|whatsapp|signal|e-?mail|mail|address|hotline|contact"
    r"|phone number)"
)
_SOMEONE = r"(?!(?:that|my|if|so|uses?|write|tell)\b)[\w.'’-]+"
_WHOSE = caseless(
    rf"(?:please |can you |you can |also )*(?:save|keep|note(?: down)?|remember|store)\b"
    rf"|(?:my |our |the |his |her |their )?(?:{_SOMEONE} ){{0,5}}?(?:can be|is|are) (?:reach|contact|call)(?:ed|able)\b"
    rf"|(?:you can )?(?:reach|contact|call|text|e-?mail) (?!me\b)"
    rf"(?:my |our |the )?[\w.'’-]+(?: [\w.'’-]+){{0,3}}? (?:at|on|under|via)\b"
    rf"|(?:my |our |the |his |her |their )?(?:{_SOMEONE} ){{0,5}}?{_THING}(?: (?:number|address))?"
    rf"(?: (?:of|for) [\w .'’-]{{1,40}})?(?: (?:is|was|changed to)\b|['’]s\b|\s?:)"
    r"|(?:请|帮我)?(?:记住|记下|保存|存一下|记一下)|[^，,。\d@]{1,16}(?:电话|手机|号码|邮箱|邮件|电邮|座机|微信|热线)(?:号码?|地址)?(?:是|为|[:：])"
)
"""Beginning of a main clause that names the owner of an identifier, or asks to remember it."""
_NEGATED = caseless(
    r"\b(?:is|are|was)(?: not|n['’]t)\b|不是|并非|诈骗|骗子"
    r"|骚扰|这个人|测试|\b(?:scam|spam|fraud|fake|dummy|test|bounced)\b"
)
_IN_CODE = caseless(
    r"\A\W*(?:ssh|scp|git|curl|wget|ping|mailto|error|warning|info|debug)\b"
    r"|[{}<>;=|$\\]|\w\(|://|\b(?:regex|constant|variable"
    r"|fixture|placeholder|field|column|log ?in|commit|config|string)\b"
)
_SECRET = caseless(
    r"别外传|不要外传|保密|别告诉|不要告诉|\bdo(?:n['’]t| not) (?:share|pass|tell|give|spread)\b|\bconfidential\b"
)


_ADDED = caseless(
    r"\W*(?:(?:please |just |only )*(?:call|text|ring|write|message|reach) me|(?:please |just )*(?:save|keep|note))\b"
    r"|\W*请.{1,8}\Z"
)
"""Clauses that the owner may add to a number."""


class IdentifierMatch(Struct, frozen=True):
    """An identifier in a sentence."""

    what: str
    """Its kind, one of `IDENTIFIERS`."""
    is_own: bool
    """Whether the author says that it is their own."""
    is_plain: bool = False
    """Whether it is own, and the sentence says nothing else."""


def identifier_in(plain: str, starts: Sequence[int]) -> IdentifierMatch | None:
    """Return the identifier in a sentence; None if it has none. `starts` are the offsets of its main clauses."""
    what = _kind_of(plain)
    if not what:
        return None
    claims = [at for at in starts if _FIRST_PERSON.match(plain, at) or _OWN_DOCUMENT.match(plain, at)]
    is_own = bool(claims) and not _NOT_MINE.search(plain)
    return IdentifierMatch(what, is_own, is_own and is_clean(plain, claims[0], added=_ADDED))


def why_not_kept(plain: str, identifier: IdentifierMatch, starts: Sequence[int]) -> str:
    """Return the reason why an identifier is not kept, for example without an owner; empty if it is kept."""
    if _SECRET.search(plain):
        return SkipReason.NOT_TO_PASS_ON
    if _NEGATED.search(plain) or _IN_CODE.search(plain):
        return SkipReason.NOBODYS
    has_owner = identifier.what != "ID number" and any(_WHOSE.match(plain, at) for at in starts)
    return "" if identifier.is_own or has_owner else SkipReason.NOBODYS


IDENTIFIERS = ("ID number", "e-mail address", "phone number")


def _kind_of(plain: str) -> str:
    if any(is_resident_id(match[0]) for match in _RESIDENT.finditer(plain)) or _OWN_DOCUMENT.search(plain):
        return IDENTIFIERS[0]
    if any(not _NO_PERSON.match(match[0]) for match in _EMAIL.finditer(plain)):
        return IDENTIFIERS[1]
    bare = _DATE.sub(lambda match: " " * len(match[0]), plain)
    if _OTHER_NUMBER.search(bare) and not re.search(r"\b(?:phone|mobile|tel|cell)|电话|手机", bare, re.IGNORECASE):
        return ""
    lengths = (len(re.sub(r"\D", "", match[0])) for match in _NATIONAL.finditer(bare))
    is_national = _PHONE_WORD.search(bare) and any(7 <= length <= 13 for length in lengths)
    is_phone = _CHINESE_MOBILE.search(bare) or _INTERNATIONAL.search(bare) or is_national
    return IDENTIFIERS[2] if is_phone else ""


def is_resident_id(text: str) -> bool:
    """Return whether 18 characters are a Chinese resident identity number.

    It must have an existing birthday, and the check digit of GB 11643 (ISO 7064, MOD 11-2).
    """
    try:
        date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    total = sum(int(sign) * weight for sign, weight in zip(text[:17], _WEIGHTS, strict=True))
    return _CHECK_CHARS[total % 11] == text[17].upper()
