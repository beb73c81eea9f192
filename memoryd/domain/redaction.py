"""Redaction of secrets before a text is stored: turns, transcripts, captures and logs pass through here.

A long token keeps its first six and last four characters, so that a person can identify it, as in OpenClaw. Passwords
and private keys are masked completely.

Secrets are recognised by their form (keys of known providers, tokens, private keys, passwords in addresses, cards) or
by the name before them: `password=…`, `"token": "…"`, `--api-key …`, `密码：…`. How much a value after a name must look
like a secret depends on its notation: a quoted value, or one directly after an equals sign, is accepted; a word after
a colon or `is` may be prose, and needs a digit or a special character. `is_random` separates tokens from prose, dates,
versions and hashes.

Every pattern is bounded or possessive, so that the time depends only on the length of the text.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, expression


class SecretKind(StrEnum):
    """Kind of a secret, which decides how much of it stays visible."""

    TOKEN = "token"
    PASSWORD = "password"
    PRIVATE_KEY = "private key"
    CARD = "card"


class SecretSpan(Struct, frozen=True, order=True):
    """A secret in a text: the characters from `start` to `end`, `end` excluded."""

    start: int
    end: int
    kind: SecretKind


_FIRST, _LAST = 6, 4
_MIN_HIDDEN = 16
"""Least number of hidden characters; a shorter token is masked completely."""
_HIDDEN = "***"
_PASSES = 6
_BETWEEN = "\0"


def redact(text: str) -> str:
    """Return the text with every secret masked; values that are masked already stay unchanged.

    Redact before a text is split into pieces, since half a secret is not recognised.
    """
    for _ in range(_PASSES):
        # a mask may uncover its neighbour: `…curl -u` is a command, `AbCcurl -u` was not
        masked = _without(text, secrets_in(text))
        if masked == text:
            break
        text = masked
    return text


def redact_pieces(pieces: Sequence[str]) -> str:
    """Return the pieces of a text joined, with every secret in one piece or across several pieces masked.

    So text removed between the pieces cannot hide a secret: a colour code may begin before a secret, or within one.
    """
    joined, apart = "".join(pieces), _BETWEEN.join(pieces)
    cuts = [at for at, sign in enumerate(apart) if sign == _BETWEEN]
    moved = [
        SecretSpan(
            secret.start - bisect_left(cuts, secret.start), secret.end - bisect_left(cuts, secret.end), secret.kind
        )
        for secret in (secrets_in(apart) if cuts else ())
    ]
    return redact(_without(joined, _apart(sorted([*secrets_in(joined), *moved]))))


def secrets_in(text: str) -> list[SecretSpan]:
    """Return the secrets of a text in order, with overlapping ones joined."""
    secrets = chain(known_secrets(text), named_secrets(text))
    return list(_apart(sorted(secret for secret in secrets if secret.start < secret.end)))


def _without(text: str, secrets: Iterable[SecretSpan]) -> str:
    pieces, at = [], 0
    for secret in secrets:
        pieces += [text[at : secret.start], _mask(text[secret.start : secret.end], secret.kind)]
        at = secret.end
    return "".join([*pieces, text[at:]])


def _apart(secrets: Iterable[SecretSpan]) -> Iterable[SecretSpan]:
    """Yield the secrets with overlapping ones joined; their kind is one that is masked completely.

    Secrets with equal start and end stay one secret of the first kind.
    """
    last: SecretSpan | None = None
    for secret in secrets:
        if last is None or secret.start >= last.end:
            if last is not None:
                yield last
            last = secret
        elif (secret.start, secret.end) != (last.start, last.end):
            is_within = secret.end <= last.end and last.kind is SecretKind.PRIVATE_KEY
            kind = last.kind if is_within else SecretKind.PASSWORD
            last = SecretSpan(last.start, max(last.end, secret.end), kind)
    if last is not None:
        yield last


def _mask(secret: str, kind: SecretKind) -> str:
    if kind is SecretKind.PRIVATE_KEY:
        return "…"
    if kind is SecretKind.CARD:
        return f"…{secret[-_LAST:]}"
    if kind is SecretKind.TOKEN and len(secret) >= _FIRST + _LAST + _MIN_HIDDEN:
        return f"{secret[:_FIRST]}…{secret[-_LAST:]}"
    return _HIDDEN


_PREFIXES = (
    # model providers: OpenAI, Anthropic, DeepSeek, OpenRouter, Moonshot; Groq, xAI, Perplexity, Hugging Face, …
    r"sk-|gsk_|xai-|pplx-|hf_|r8_|jina_|tvly-|nvapi-|fw_|csk-|esecret_|tgp_v1_|bce-v3/ALTAK-|LTAI|AKID|AKLT",
    # code and packages: GitHub, GitLab, npm, PyPI, Docker, Atlassian, Postman, Figma, Linear, Notion
    r"gh[pousr]_|github_pat_|gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-|npm_|pypi-|dckr_(?:pat|oat)_|ATATT|PMAK-"
    r"|figd_|lin_(?:api|oauth)_|ntn_|secret_",
    # chat: Slack; money: Stripe, Square, Shopify
    r"xox[abeoprs]-|xapp-|whsec_|(?:sk|rk)_(?:live|test|prod)_|sq0(?:atp|csp)-|shp(?:at|ca|pa|ss)_",
    # clouds: Google, DigitalOcean, Databricks, Vault, Supabase, Netlify, Grafana, Sentry, New Relic, SendGrid, age
    r"AIza|GOCSPX-|ya29\.|1//0|do[opr]_v1_|dapi|hv[sb]\.|sbp_|nfp_|gl(?:sa|c)_|sntry[su]_|NRAK-|SG\.|dp\.(?:pt|st)\."
    r"|AGE-SECRET-KEY-1",
)
_BEGUN = rf"(?<![A-Za-z0-9])(?:{'|'.join(_PREFIXES)})"
_KNOWN = expression(rf"{_BEGUN}[A-Za-z0-9_./+=-]{{12,}}+")
"""Keys with the prefix of a known provider."""
_BROKEN = expression(rf"{_BEGUN}[A-Za-z0-9_./+=-]{{0,11}}+(?=\r?\n)")
"""A key that a line end cuts off too early to be recognised."""
_NEXT_LINE = expression(r"\r?\n[ \t]{0,8}+(?P<rest>[A-Za-z0-9_./+=-]{8,}+)(?!\S)")
"""A line of one word, which may continue a key."""
_LONG = expression(r"(?<![A-Za-z0-9])(?:pa-[A-Za-z0-9_-]{40,}+|key-[0-9a-f]{32}(?![0-9a-z]))")
"""Keys of Voyage and Mailgun, whose prefixes are common."""
_AWS = expression(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")
_DOTTED = expression(r"(?<![A-Za-z0-9])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])")
"""Keys of Zhipu."""
_WEB_TOKEN = expression(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}")
"""JSON Web Tokens, RFC 7519: two objects in base64url, each beginning with `{"`."""
_BOT = expression(r"(?<![A-Za-z0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}+")
"""Bot tokens of Telegram."""
_DISCORD = expression(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,30}+\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+")
_HOOK = expression(
    r"(?:hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/[0-9]{1,24}/"
    r"|/open-apis/bot/v2/hook/)(?P<secret>[A-Za-z0-9_/-]{16,}+)"
)
_HEADER = expression(
    r"(?i:authorization)\\{0,4}[\"']?\s{0,8}[:=]\s{0,8}\\{0,4}[\"']?(?i:(?:bearer|basic|token|bot|apikey)\s{1,8})"
    r"(?P<secret>[^\s\"',;\\]{6,}+)"
)
_BEARER = expression(r"(?<![A-Za-z0-9])(?i:bearer)\s{1,8}(?P<secret>[A-Za-z0-9._~+/=-]{16,}+)")
_COOKIE = expression(r"(?<![\w-])(?i:(?:set-)?cookie)\s{0,8}:\s{0,8}(?P<secret>[^\s=;]{1,64}=[^\r\n\"']++)")
_TOKENS = (_KNOWN, _LONG, _AWS, _WEB_TOKEN, _BOT, _DOTTED, _DISCORD, _HOOK, _HEADER, _BEARER)
_SURE = frozenset({_AWS, _DOTTED, _WEB_TOKEN, _DISCORD, _HEADER})
"""Patterns that match nothing but secrets; a match of the others must contain a random part."""

_ADDRESS = expression(r"(?<=://)[^\s/@:?#\"'<>]{0,100}+:(?P<secret>[^\s/@\"'<>]{1,200}+)@")
"""The password of a URL, RFC 3986 section 3.2.1."""
_ADDRESS_TOKEN = expression(r"(?<=://)(?P<secret>[A-Za-z0-9_-]{16,200}+)@")
_QUERY = expression(r"[?&](?i:key|sig|signature|auth|x-amz-signature|code)=(?P<secret>[^&\s#\"'<>]{16,}+)")
_USER = expression(r"(?<![\w-])curl(?=\s)[^\n]{0,200}?\s-u\s{1,4}[\"']?[^\s:\"']{1,64}+:(?P<secret>[^\s\"']{1,200}+)")
_ARGUMENT = expression(
    r"(?<![\w-])(?:sshpass\s{1,4}-p|redis-cli(?=\s)[^\n]{0,80}?\s-a)\s{0,4}[\"']?(?P<secret>[^\s\"']{1,200}+)"
)

_BEGIN = expression(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = expression(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINES = expression(r"(?:\s|\\[nr]|[A-Za-z-]{4,16}: [^\n]{0,80}\n|[A-Za-z0-9+/=]{12,}+)*+")
"""Lines after the first line of a private key whose last line was cut off, RFC 7468."""

_CARD = expression(
    r"(?<![0-9A-Za-z.,_/-])(?:[2-6][0-9]{3}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}|3[47][0-9]{2}([ -]?)[0-9]{6}\2[0-9]{5})"
    r"(?![0-9A-Za-z_/-])(?![.,][0-9])"
)
_CARD_STARTS = expression(r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|6(?:011|22|4[4-9]|5)|62")
"""Visa, Mastercard, American Express, Discover, UnionPay: ISO/IEC 7812 issuer numbers."""

_CHANCE = expression(r"[A-Za-z0-9]{10,}+")


def is_random(text: str) -> bool:
    """Return whether a part of a text looks random: 10 letters and digits in a row, or 20 letters or digits."""
    return any(len(run) >= 20 or _is_mixed(run) for run in _CHANCE.findall(text))


def known_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield the secrets recognised by their form alone, in no order; they may overlap."""
    yield from _tokens(text)
    yield from _broken_tokens(text)
    for match in chain(*(pattern.finditer(text) for pattern in (_ADDRESS, _USER, _ARGUMENT, _COOKIE))):
        if not is_masked(match["secret"]):
            yield SecretSpan(*match.span("secret"), SecretKind.PASSWORD)
    for match in chain(_ADDRESS_TOKEN.finditer(text), _QUERY.finditer(text)):
        if is_random(match["secret"]):
            yield SecretSpan(*match.span("secret"), SecretKind.TOKEN)
    yield from _private_keys(text)
    for match in _CARD.finditer(text):
        digits = re.sub("[ -]", "", match.group())
        if _CARD_STARTS.match(digits) and _is_checked(digits):
            yield SecretSpan(*match.span(), SecretKind.CARD)


def _tokens(text: str) -> Iterator[SecretSpan]:
    for pattern in _TOKENS:
        for match in pattern.finditer(text):
            start, end = _secret(match)
            value = text[start:end]
            if not is_masked(value) and (pattern in _SURE or is_random(value)):
                yield SecretSpan(start, end, SecretKind.TOKEN)


def _broken_tokens(text: str) -> Iterator[SecretSpan]:
    """Yield keys that continue in the next lines, as terminals and mails wrap them."""
    for pattern in (_KNOWN, _BROKEN):
        reached = 0
        for match in pattern.finditer(text):
            end = match.end()
            # a key within the lines of the previous match was examined with it
            while match.start() >= reached and (more := _NEXT_LINE.match(text, end)) and is_random(more["rest"]):
                if _KNOWN.match(text, more.start("rest")):
                    # a list of keys, one per line
                    break
                end = more.end()
            if end > match.end():
                reached = end
                yield SecretSpan(match.start(), end, SecretKind.TOKEN)


def is_masked(value: str) -> bool:
    """Return whether a value is not a secret but a mask, such as asterisks, or a placeholder."""
    return _PLACEHOLDER.match(value) is not None


_PLACEHOLDER = expression(
    r"(?:[*•·#.-]{3,}|[xX]{3,}|\S{6}…\S{4}|…\S{4}|…)\Z|[<$%{\[(]|(?i:your[-_ ]|my[-_ ]|example|changeme|redacted)"
    r"|(?i:none|null|nil|true|false|undefined|string|str|bytes|int|secretstr|optional|required|any|yes|no)\b"
)


def _secret(match: TextMatch) -> tuple[int, int]:
    start, end = match.span("secret") if "secret" in match.re.groupindex else match.span()
    # without the punctuation of a sentence
    return start, start + len(match.string[start:end].rstrip(".,/+-"))


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _private_keys(text: str) -> Iterator[SecretSpan]:
    """Yield the text between the first and the last line of each key, or up to its last key line if that is missing."""
    at = 0
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end())
        if end is None:
            for cut in _BEGIN.finditer(text, begin.start()):
                lines = _KEY_LINES.match(text, start := cut.end())
                stop = start + len(lines.group().rstrip()) if lines else start
                yield SecretSpan(start, stop, SecretKind.PRIVATE_KEY)
            return
        yield SecretSpan(begin.end(), end.start(), SecretKind.PRIVATE_KEY)
        at = end.end()


def _is_checked(digits: str) -> bool:
    """Return whether the last digit is the check digit of the others (Luhn, ISO/IEC 7812-1 annex B)."""
    doubled = [int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


# each alternative begins with a literal letter, so that the search can skip other letters
_PASSWORD = r"password|passwort|kennwort|pw(?<![a-z0-9_]pw)|passwd|passcode|passphrase|pwd(?<![a-z]pwd)|_pwd|_pass"
_TOKEN = (
    r"secret(?:[_-]?(?:access[_-]?)?key(?:[_-]base)?)?|token|credential|api[_ -]?key|access[_ -]?key|private[_ -]?key"
    r"|auth[_ -]?key|account[_ -]?key|encryption[_ -]?key|signing[_ -]?key|master[_ -]?key"
)
_ANY_KEY = r"_key|-key"
"""Names that may be keys of databases and maps; so the value must look random."""
_CHINESE = "密码|口令|密钥|私钥|令牌"
_QUOTE = r"\\{0,4}[\"'`]"
_BARE = r"(?:[!-~…](?<![\"'`&\\])|&(?![\w.-]{1,40}=)){1,4096}+"
"""Printable ASCII up to a quotation mark, or the next parameter of an address; `…` as masked values have it."""
_ANOTHER_NAME = (
    rf"(?:{_PASSWORD}|{_TOKEN})(?:{_QUOTE})?+\]?+(?:[ \t]{{1,8}}+(?:[:：=]|is[ \t:])|(?:=>|:=|==?|[:：])[ \t])"
)
"""Another name in place of a value: `my pw is password: …`."""
_NAMED = expression(
    rf"(?:(?P<password>{_PASSWORD})|(?P<token>{_TOKEN})|{_ANY_KEY})(?:{_QUOTE})?+\]?+"
    rf"(?P<sign>[ \t]{{0,8}}+(?:=>|:=|==?+|[:：])[ \t]{{0,8}}+|[ \t]{{1,4}}+is[ \t:]{{1,4}}+)"
    rf"(?:{_QUOTE}(?P<quoted>[^\"'`\r\n\\]{{1,512}}+){_QUOTE}|(?!{_ANOTHER_NAME})(?P<bare>{_BARE}))"
)
"""Matches text in lower case."""
_CHINESE_NAMED = expression(
    rf"(?:{_CHINESE})(?P<sign>[ \t]{{0,8}}(?:[:：=]|是|为|改成|改为|设为|设成|[ \t])[ \t]{{0,8}}[:：]?[ \t]{{0,4}})"
    rf"[\"'`“「]?(?P<bare>{_BARE})"
)
_OPTION = expression(
    r"(?<![\w-])--?[a-z-]{0,24}?(?:password|passwd|passphrase|token|secret|api-?key)[ \t]{1,4}"
    rf"(?P<bare>(?!-){_BARE})"
)
_TAIL = ".,;:!?)]}>"
_ENCLOSING = ".,;)]}>"
_CODE = expression(r"[A-Za-z_][A-Za-z_.]*+\Z")
"""An identifier of a program, not a value: `self.token`."""
_CALL = expression(r"[A-Za-z_][\w.]*+[(\[]")
_CHARS = expression(r"[!@#$%^&*+~?=]")
_MIN_PASSWORD, _MIN_TOKEN, _MIN_PROSE_TOKEN = 4, 8, 12


def named_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield the values after the names of secrets, in no order; they may overlap."""
    for match in _NAMED.finditer(_lower(text)):
        start, end = match.span("quoted" if match["quoted"] else "bare")
        value, is_secret = text[start:end], _is_quoted_secret
        if not match["quoted"]:
            # `!?:` directly after an equals sign do not end a sentence
            value, is_secret = value.rstrip(_ENCLOSING if match["sign"] == "=" else _TAIL), _is_bare_secret
        if not is_masked(value) and is_secret(value, match):
            kind = SecretKind.PASSWORD if match["password"] else SecretKind.TOKEN
            yield SecretSpan(start, start + len(value), kind)
    yield from _other_named_secrets(text)


def _lower(text: str) -> str:
    """Return a text of the same length in lower case: some non-ASCII letters would become several characters."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(sign.lower() if sign < "\x80" else sign for sign in text)


def _other_named_secrets(text: str) -> Iterator[SecretSpan]:
    """Yield the values after Chinese names, and after options of commands."""
    for match in _CHINESE_NAMED.finditer(text):
        value, is_assigned = match["bare"].rstrip(_TAIL), re.search("[:：=]", match["sign"])
        # after a space alone, a short word is as likely the name of a method
        least = _MIN_PASSWORD if match["sign"].strip() else _MIN_TOKEN
        if len(value) >= least and not is_masked(value) and (is_assigned or _is_password(value)):
            yield SecretSpan(match.start("bare"), match.start("bare") + len(value), SecretKind.PASSWORD)
    for match in _OPTION.finditer(text):
        value = match["bare"].rstrip(_TAIL)
        if _is_password(value):
            yield SecretSpan(match.start("bare"), match.start("bare") + len(value), SecretKind.PASSWORD)


def _is_quoted_secret(value: str, match: TextMatch) -> bool:
    if not (name := match["password"] or match["token"]):
        return is_random(value)
    if value.lower() == name:
        return False
    return len(value) >= _MIN_PASSWORD if match["password"] else len(value) >= _MIN_TOKEN and " " not in value


def _is_bare_secret(value: str, match: TextMatch) -> bool:
    name, is_password = match["password"] or match["token"], match["password"] is not None
    if _CALL.match(value) or (name == "pwd" and value.startswith(("/", "~"))):
        # a call, or the current folder of a shell
        return False
    if not name:
        return is_random(value)
    if match["sign"] != "=":
        return _is_password(value) if is_password else _is_token(value)
    if _CODE.match(value) and ("." in value or name in value.lower()):
        # an argument that is passed on: `password=self.password`, `token=token`
        return False
    return len(value) >= _MIN_PASSWORD if is_password else len(value) >= _MIN_TOKEN and not value.isdigit()


def _is_password(value: str) -> bool:
    """Return whether a value is not a word of prose: letters with digits, a special character, or digits alone."""
    if len(value) < _MIN_PASSWORD or is_masked(value):
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return value.isdigit() or (has_digit and has_letter) or (len(value) >= 6 and _CHARS.search(value) is not None)


def _is_token(value: str) -> bool:
    """Return whether a value is not a word of prose: random, or with lower case, upper case and digits."""
    is_varied = all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    return len(value) >= _MIN_PROSE_TOKEN and (is_varied or is_random(value))
