"""Secrets that are known by the name before them: `password=…`, `"token": "…"`, `--api-key …`, `密码：…`.

How much a value must look like a secret depends on how it is written: what is quoted, or stands right behind an
equals sign, is believed; a word behind a colon or `is` may be prose and needs a digit or a sign in it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memoryd.domain.secret_shapes import FoundSecret, SecretKind, is_random, is_told_already

# every alternative begins with a letter of its own: so the search skips what none begins with
_PASSWORD: Final = (
    r"password|passwort|kennwort|pw(?<![a-z0-9_]pw)|passwd|passcode|passphrase|pwd(?<![a-z]pwd)|_pwd|_pass"
)
_TOKEN: Final = (
    r"secret(?:[_-]?(?:access[_-]?)?key(?:[_-]base)?)?|token|credential|api[_ -]?key|access[_ -]?key|private[_ -]?key"
    r"|auth[_ -]?key|account[_ -]?key|encryption[_ -]?key|signing[_ -]?key|master[_ -]?key"
)
_ANY_KEY: Final = r"_key|-key"
"""Keys of databases and maps are no secrets; so this value must look like one."""
_CHINESE: Final = "密码|口令|密钥|私钥|令牌"
_QUOTE: Final = r"\\{0,4}[\"'`]"
_BARE: Final = r"(?:[!-~…](?<![\"'`&\\])|&(?![\w.-]{1,40}=)){1,4096}+"
"""Printable ASCII up to a quotation mark, or the next parameter of an address; `…` as masked values have it."""
_ANOTHER_NAME: Final = (
    rf"(?:{_PASSWORD}|{_TOKEN})(?:{_QUOTE})?+\]?+(?:[ \t]{{1,8}}+(?:[:：=]|is[ \t:])|(?:=>|:=|==?|[:：])[ \t])"
)
"""What is no value, but names one: `my pw is password: …`."""
_NAMED: Final = re.compile(
    rf"(?:(?P<password>{_PASSWORD})|(?P<token>{_TOKEN})|{_ANY_KEY})(?:{_QUOTE})?+\]?+"
    rf"(?P<sign>[ \t]{{0,8}}+(?:=>|:=|==?+|[:：])[ \t]{{0,8}}+|[ \t]{{1,4}}+is[ \t:]{{1,4}}+)"
    rf"(?:{_QUOTE}(?P<quoted>[^\"'`\r\n\\]{{1,512}}+){_QUOTE}|(?!{_ANOTHER_NAME})(?P<bare>{_BARE}))"
)
"""Of a text in small letters."""
_CHINESE_NAMED: Final = re.compile(
    rf"(?:{_CHINESE})(?P<sign>[ \t]{{0,8}}(?:[:：=]|是|为|改成|改为|设为|设成|[ \t])[ \t]{{0,8}}[:：]?[ \t]{{0,4}})"
    rf"[\"'`“「]?(?P<bare>{_BARE})"
)
_OPTION: Final = re.compile(
    r"(?<![\w-])--?[a-z-]{0,24}?(?:password|passwd|passphrase|token|secret|api-?key)[ \t]{1,4}"
    rf"(?P<bare>(?!-){_BARE})"
)
_TAIL: Final = ".,;:!?)]}>"
_ENCLOSING: Final = ".,;)]}>"
_CODE: Final = re.compile(r"[A-Za-z_][A-Za-z_.]*+\Z")
"""A name of a program, not a value: `self.token`."""
_CALL: Final = re.compile(r"[A-Za-z_][\w.]*+[(\[]")
_SIGNS: Final = re.compile(r"[!@#$%^&*+~?=]")
_MIN_PASSWORD, _MIN_TOKEN, _MIN_PROSE_TOKEN = 4, 8, 12


@dataclass(frozen=True, slots=True)
class _Named:
    """A value with the name before it: in small letters, what kind of name it is, and what stands between."""

    name: str
    is_password: bool
    is_any_key: bool
    sign: str
    value: str


def named_secrets(text: str) -> Iterator[FoundSecret]:
    """Yield the values behind the names of secrets, in no order; they may overlap."""
    for found in _NAMED.finditer(_small(text)):
        group = "bare" if found["quoted"] is None else "quoted"
        start, end = found.span(group)
        named = _Named(
            name=found["password"] or found["token"] or "",
            is_password=found["password"] is not None,
            is_any_key=found["password"] is None and found["token"] is None,
            sign=found["sign"],
            # right behind an equals sign no sentence ends
            value=text[start:end].rstrip({"quoted": "", "bare": _ENCLOSING if found["sign"] == "=" else _TAIL}[group]),
        )
        if _is_quoted_secret(named) if group == "quoted" else _is_bare_secret(named):
            kind = SecretKind.PASSWORD if named.is_password else SecretKind.TOKEN
            yield FoundSecret(start, start + len(named.value), kind)
    yield from _spoken(text)


def _small(text: str) -> str:
    """Return a text in small letters, as long as before: some letters have none of one character."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(sign.lower() if sign < "\x80" else sign for sign in text)


def _spoken(text: str) -> Iterator[FoundSecret]:
    """Yield what stands behind a Chinese name, and behind an option of a command."""
    for found in _CHINESE_NAMED.finditer(text):
        value, is_written = found["bare"].rstrip(_TAIL), re.search("[:：=]", found["sign"])
        # behind a space alone a short word is as likely the name of a method
        least = _MIN_PASSWORD if found["sign"].strip() else _MIN_TOKEN
        if len(value) >= least and not is_told_already(value) and (is_written or _is_password(value)):
            yield FoundSecret(found.start("bare"), found.start("bare") + len(value), SecretKind.PASSWORD)
    for found in _OPTION.finditer(text):
        value = found["bare"].rstrip(_TAIL)
        if _is_password(value):
            yield FoundSecret(found.start("bare"), found.start("bare") + len(value), SecretKind.PASSWORD)


def _is_quoted_secret(named: _Named) -> bool:
    value = named.value
    if is_told_already(value) or value.lower() == named.name:
        return False
    if named.is_any_key:
        return is_random(value)
    return len(value) >= _MIN_PASSWORD if named.is_password else len(value) >= _MIN_TOKEN and " " not in value


def _is_bare_secret(named: _Named) -> bool:
    value = named.value
    if is_told_already(value) or _CALL.match(value):
        return False
    if named.name == "pwd" and value.startswith(("/", "~")):
        # the folder that a shell is in
        return False
    if named.is_any_key:
        return is_random(value)
    if named.sign != "=":
        return _is_password(value) if named.is_password else _is_token(value)
    if _CODE.match(value) and ("." in value or named.name in value.lower()):
        # an argument that is handed on: `password=self.password`, `token=token`
        return False
    return len(value) >= (_MIN_PASSWORD if named.is_password else _MIN_TOKEN) and not (
        value.isdigit() and not named.is_password
    )


def _is_password(value: str) -> bool:
    """Tell whether a word is no word of a sentence: letters with digits, a sign within, or digits alone."""
    if len(value) < _MIN_PASSWORD or is_told_already(value):
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return value.isdigit() or (has_digit and has_letter) or (len(value) >= 6 and _SIGNS.search(value) is not None)


def _is_token(value: str) -> bool:
    """Tell whether a word is no word of a sentence: made by chance, or of small and large letters and digits."""
    is_varied = all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    return len(value) >= _MIN_PROSE_TOKEN and (is_varied or is_random(value))
