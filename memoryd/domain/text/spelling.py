"""One way of writing for what is often written in several: widths, quotation marks, wrapped lines, emphasis.

What might be a fact stays as it is: case, accents, signs, digits, passwords.
"""

import re
import unicodedata

HAN = "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese and Japanese, which wrap without a space: for use between brackets of a pattern."""
_SECRETS = (
    *("password", "passphrase", "passcode", "passwd", "secret", "token", "login", "log-in", "wifi", "wi-fi", "ssid"),
    *("api key", "license key", "licence key", "private key", "code word", "codeword", "pin", "username", "user name"),
    *("passwort", "kennwort", "mot de passe", "contraseña", "senha", "lösenord", "пароль"),
    *("密码", "密碼", "口令", "密钥", "暗号", "パスワード"),
)
_WIDE = {
    code: unicodedata.normalize("NFKC", chr(code))
    for code in range(0xFF01, 0xFFEF)
    if unicodedata.decomposition(chr(code)).startswith(("<wide>", "<narrow>"))
}
_QUOTES = dict.fromkeys(map(ord, "“”„‟«»"), '"') | dict.fromkeys(map(ord, "‘’‚‛"), "'")
_INVISIBLE = dict.fromkeys((0xAD, 0x200B, 0x2060, 0xFEFF))
_ONE_SIGN = {chr(code): sign or "" for code, sign in (_WIDE | _QUOTES | _INVISIBLE | {0x3000: " "}).items()}
_OTHER_SIGN = re.compile(f"[{''.join(_ONE_SIGN)}]")

_MARK_BEFORE, _MARK_AFTER = rf"(?<![^\s\"'(\[{HAN}、。])", rf"(?![^\s\"')\],.;:!?{HAN}、。])"
_STARS = re.compile(rf"{_MARK_BEFORE}(\*{{1,3}})(?=[^\W_]|[\"'(\[{HAN}])([^*\n]*[^\s*])\1{_MARK_AFTER}")
_UNDERLINES = re.compile(rf"{_MARK_BEFORE}(_{{1,3}})(?=[^\W_])([^_\n]*\s[^_\n]*[^\s_])\1{_MARK_AFTER}")
WRAP = "\v"
"""Stands where a line is wrapped."""
_SPACE = f"[ {WRAP}]"
_IDLE_SPACE = re.compile(
    rf"{_SPACE}(?:(?<=[{HAN}]{_SPACE})(?=[A-Za-z0-9,.;:!?()])|(?<=[A-Za-z0-9,.;:!?()。、]{_SPACE})(?=[{HAN}]))"
    rf"|{WRAP}(?<=[{HAN}]{WRAP})(?=[{HAN}])"
)
_LETTERS_OF_A_WORD = 2


def one_sign(text: str) -> str:
    """Return the text with plain widths and quotation marks, composed, without invisible signs."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _OTHER_SIGN.sub(lambda match: _ONE_SIGN[match[0]], text))


def is_secret(text: str) -> bool:
    """Tell whether a text speaks of passwords and the like, so that each sign may matter."""
    folded = text.lower()
    return any(word in folded for word in _SECRETS)


def without_emphasis(text: str) -> str:
    """Return the text without the marks of bold and italic words; those of products, powers and names stay."""
    bare = _STARS.sub(_inner, text) if "*" in text else text
    return _UNDERLINES.sub(r"\2", bare) if "_" in bare else bare


def unwrapped(text: str) -> str:
    """Return the text with a space at each WRAP, and with none where Chinese wraps or meets another script."""
    return (text if text.isascii() else _IDLE_SPACE.sub("", text)).replace(WRAP, " ")


def _inner(match: re.Match[str]) -> str:
    # a number or a letter between single stars may be a factor
    is_doubtful = len(match[1]) == 1 and sum(map(str.isalpha, match[2])) < _LETTERS_OF_A_WORD
    return match[0] if is_doubtful else match[2]
