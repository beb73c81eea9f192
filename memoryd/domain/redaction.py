"""Take secrets out of a text before anything of it is kept: turns, transcripts, captures and logs pass here.

Of a long token its first six and last four characters stay, so that a person knows which one it was, as in OpenClaw;
of passwords and private keys nothing stays.

Secrets are known by their shape (keys of known providers, tokens, private keys, passwords in addresses, cards) or by
the name before them: `password=…`, `"token": "…"`, `--api-key …`, `密码：…`. How much a value behind a name must look
like a secret depends on how it is written: what is quoted, or right behind an equals sign, is believed; a word behind
a colon or `is` may be prose and needs a digit or a sign in it. Prose, dates, versions and hashes are told apart by
`is_random`.

Every pattern is bounded or possessive, so that the time grows with the length of a text and nothing else.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain

from msgspec import Struct

from memoryd.domain.expressions import TextMatch, expression


class SecretKind(StrEnum):
    """What a secret is; it decides how much of it may be told."""

    TOKEN = "token"
    PASSWORD = "password"
    PRIVATE_KEY = "private key"
    CARD = "card"


class FoundSecret(Struct, frozen=True, order=True):
    """A secret in a text: the characters from `start` to before `end`."""

    start: int
    end: int
    kind: SecretKind


_FIRST, _LAST = 6, 4
_MIN_HIDDEN = 16
"""A token of which fewer characters would stay hidden is hidden whole."""
_HIDDEN = "***"
_PASSES = 6
_BETWEEN = "\0"


def redacted(text: str) -> str:
    """Return the text with every secret masked; what is masked already stays as it is.

    Redact before a text is cut into pieces: a half of a secret looks like nothing. The time grows with the length of
    the text alone.
    """
    for _ in range(_PASSES):
        # what is masked may bare its neighbour: `…curl -u` is a command where `AbCcurl -u` was none
        masked = _without(text, secrets_in(text))
        if masked == text:
            break
        text = masked
    return text


def redacted_joined(pieces: Sequence[str]) -> str:
    """Return the pieces of a text put together, with every secret masked of one or of several of them.

    So nothing hides behind what was taken out between them: a colour may begin right before a secret, or within one.
    """
    joined, apart = "".join(pieces), _BETWEEN.join(pieces)
    cuts = [at for at, sign in enumerate(apart) if sign == _BETWEEN]
    moved = [
        FoundSecret(one.start - bisect_left(cuts, one.start), one.end - bisect_left(cuts, one.end), one.kind)
        for one in (secrets_in(apart) if cuts else ())
    ]
    return redacted(_without(joined, _apart(sorted([*secrets_in(joined), *moved]))))


def secrets_in(text: str) -> list[FoundSecret]:
    """Return the secrets of a text in order, apart from each other."""
    found = chain(known_secrets(text), named_secrets(text))
    return list(_apart(sorted(secret for secret in found if secret.start < secret.end)))


def _without(text: str, secrets: Iterable[FoundSecret]) -> str:
    pieces, at = [], 0
    for secret in secrets:
        pieces += [text[at : secret.start], _mask(text[secret.start : secret.end], secret.kind)]
        at = secret.end
    return "".join([*pieces, text[at:]])


def _apart(secrets: Iterable[FoundSecret]) -> Iterable[FoundSecret]:
    """Join those that overlap, as a kind of which nothing is told unless all cover the same characters."""
    last: FoundSecret | None = None
    for secret in secrets:
        if last is None or secret.start >= last.end:
            if last is not None:
                yield last
            last = secret
        elif (secret.start, secret.end) != (last.start, last.end):
            is_within = secret.end <= last.end and last.kind is SecretKind.PRIVATE_KEY
            kind = last.kind if is_within else SecretKind.PASSWORD
            last = FoundSecret(last.start, max(last.end, secret.end), kind)
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
"""Keys that say by their first letters whose they are."""
_BROKEN = expression(rf"{_BEGUN}[A-Za-z0-9_./+=-]{{0,11}}+(?=\r?\n)")
"""One of which the end of a line has left too little to tell."""
_NEXT_LINE = expression(r"\r?\n[ \t]{0,8}+(?P<rest>[A-Za-z0-9_./+=-]{8,}+)(?!\S)")
"""A line of one word, which a key may go on in."""
_LONG = expression(r"(?<![A-Za-z0-9])(?:pa-[A-Za-z0-9_-]{40,}+|key-[0-9a-f]{32}(?![0-9a-z]))")
"""Voyage's and Mailgun's begin as much else does."""
_AWS = expression(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])")
_DOTTED = expression(r"(?<![A-Za-z0-9])[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![A-Za-z0-9])")
"""Zhipu's."""
_WEB_TOKEN = expression(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]*+){0,3}")
"""JSON Web Tokens, RFC 7519: two objects in base64url, of which each begins with `{"`."""
_BOT = expression(r"(?<![A-Za-z0-9])[0-9]{6,12}:[A-Za-z0-9_-]{30,}+")
"""Telegram's."""
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
"""What has such a form is nothing else; of the others a part must look as chance made it."""

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
"""What stands behind a first line whose last line was cut off, RFC 7468."""

_CARD = expression(
    r"(?<![0-9A-Za-z.,_/-])(?:[2-6][0-9]{3}([ -]?)[0-9]{4}\1[0-9]{4}\1[0-9]{4}|3[47][0-9]{2}([ -]?)[0-9]{6}\2[0-9]{5})"
    r"(?![0-9A-Za-z_/-])(?![.,][0-9])"
)
_CARD_STARTS = expression(r"4|5[1-5]|2(?:2[2-9]|[3-6]|7[01]|720)|3[47]|6(?:011|22|4[4-9]|5)|62")
"""Visa, Mastercard, American Express, Discover, UnionPay: ISO/IEC 7812 issuer numbers."""

_CHANCE = expression(r"[A-Za-z0-9]{10,}+")


def is_random(text: str) -> bool:
    """Tell whether a part of a text looks as chance made it: ten letters with digits in a row, or twenty of either."""
    return any(len(run) >= 20 or _is_mixed(run) for run in _CHANCE.findall(text))


def known_secrets(text: str) -> Iterator[FoundSecret]:
    """Yield what is a secret by its form alone, in no order; they may overlap."""
    yield from _tokens(text)
    yield from _broken_tokens(text)
    for found in chain(*(one.finditer(text) for one in (_ADDRESS, _USER, _ARGUMENT, _COOKIE))):
        if not is_masked(found["secret"]):
            yield FoundSecret(*found.span("secret"), SecretKind.PASSWORD)
    for found in chain(_ADDRESS_TOKEN.finditer(text), _QUERY.finditer(text)):
        if is_random(found["secret"]):
            yield FoundSecret(*found.span("secret"), SecretKind.TOKEN)
    yield from _private_keys(text)
    for found in _CARD.finditer(text):
        digits = re.sub("[ -]", "", found.group())
        if _CARD_STARTS.match(digits) and _is_checked(digits):
            yield FoundSecret(*found.span(), SecretKind.CARD)


def _tokens(text: str) -> Iterator[FoundSecret]:
    for pattern in _TOKENS:
        for found in pattern.finditer(text):
            start, end = _secret(found)
            value = text[start:end]
            if not is_masked(value) and (pattern in _SURE or is_random(value)):
                yield FoundSecret(start, end, SecretKind.TOKEN)


def _broken_tokens(text: str) -> Iterator[FoundSecret]:
    """Yield keys that go on in the next lines, as terminals and mails break them."""
    for pattern in (_KNOWN, _BROKEN):
        reached = 0
        for found in pattern.finditer(text):
            end = found.end()
            # one that stands in the lines of another was looked at with that
            while found.start() >= reached and (more := _NEXT_LINE.match(text, end)) and is_random(more["rest"]):
                if _KNOWN.match(text, more.start("rest")):
                    # a list of keys has one in each line
                    break
                end = more.end()
            if end > found.end():
                reached = end
                yield FoundSecret(found.start(), end, SecretKind.TOKEN)


def is_masked(value: str) -> bool:
    """Tell whether a value is what stands for a secret: asterisks, a masked one, or a placeholder."""
    return _PLACEHOLDER.match(value) is not None


_PLACEHOLDER = expression(
    r"(?:[*•·#.-]{3,}|[xX]{3,}|\S{6}…\S{4}|…\S{4}|…)\Z|[<$%{\[(]|(?i:your[-_ ]|my[-_ ]|example|changeme|redacted)"
    r"|(?i:none|null|nil|true|false|undefined|string|str|bytes|int|secretstr|optional|required|any|yes|no)\b"
)


def _secret(found: TextMatch) -> tuple[int, int]:
    start, end = found.span("secret") if "secret" in found.re.groupindex else found.span()
    # the end of a sentence is no part of it
    return start, start + len(found.string[start:end].rstrip(".,/+-"))


def _is_mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _private_keys(text: str) -> Iterator[FoundSecret]:
    """Yield what stands between the first and the last line of each; to the end of its lines if the last is missing."""
    at = 0
    while begin := _BEGIN.search(text, at):
        end = _END.search(text, begin.end())
        if end is None:
            for cut in _BEGIN.finditer(text, begin.start()):
                lines = _KEY_LINES.match(text, start := cut.end())
                stop = start + len(lines.group().rstrip()) if lines else start
                yield FoundSecret(start, stop, SecretKind.PRIVATE_KEY)
            return
        yield FoundSecret(begin.end(), end.start(), SecretKind.PRIVATE_KEY)
        at = end.end()


def _is_checked(digits: str) -> bool:
    """Tell whether the last digit is the check digit of the others (Luhn, ISO/IEC 7812-1 annex B)."""
    doubled = [int(digit) * (1 + at % 2) for at, digit in enumerate(reversed(digits))]
    return sum(value - 9 * (value > 9) for value in doubled) % 10 == 0


# every alternative begins with a letter of its own: so the search skips what none begins with
_PASSWORD = r"password|passwort|kennwort|pw(?<![a-z0-9_]pw)|passwd|passcode|passphrase|pwd(?<![a-z]pwd)|_pwd|_pass"
_TOKEN = (
    r"secret(?:[_-]?(?:access[_-]?)?key(?:[_-]base)?)?|token|credential|api[_ -]?key|access[_ -]?key|private[_ -]?key"
    r"|auth[_ -]?key|account[_ -]?key|encryption[_ -]?key|signing[_ -]?key|master[_ -]?key"
)
_ANY_KEY = r"_key|-key"
"""Keys of databases and maps are no secrets; so this value must look like one."""
_CHINESE = "密码|口令|密钥|私钥|令牌"
_QUOTE = r"\\{0,4}[\"'`]"
_BARE = r"(?:[!-~…](?<![\"'`&\\])|&(?![\w.-]{1,40}=)){1,4096}+"
"""Printable ASCII up to a quotation mark, or the next parameter of an address; `…` as masked values have it."""
_ANOTHER_NAME = (
    rf"(?:{_PASSWORD}|{_TOKEN})(?:{_QUOTE})?+\]?+(?:[ \t]{{1,8}}+(?:[:：=]|is[ \t:])|(?:=>|:=|==?|[:：])[ \t])"
)
"""What is no value, but names one: `my pw is password: …`."""
_NAMED = expression(
    rf"(?:(?P<password>{_PASSWORD})|(?P<token>{_TOKEN})|{_ANY_KEY})(?:{_QUOTE})?+\]?+"
    rf"(?P<sign>[ \t]{{0,8}}+(?:=>|:=|==?+|[:：])[ \t]{{0,8}}+|[ \t]{{1,4}}+is[ \t:]{{1,4}}+)"
    rf"(?:{_QUOTE}(?P<quoted>[^\"'`\r\n\\]{{1,512}}+){_QUOTE}|(?!{_ANOTHER_NAME})(?P<bare>{_BARE}))"
)
"""Of a text in small letters."""
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
"""A name of a program, not a value: `self.token`."""
_CALL = expression(r"[A-Za-z_][\w.]*+[(\[]")
_CHARS = expression(r"[!@#$%^&*+~?=]")
_MIN_PASSWORD, _MIN_TOKEN, _MIN_PROSE_TOKEN = 4, 8, 12


def named_secrets(text: str) -> Iterator[FoundSecret]:
    """Yield the values behind the names of secrets, in no order; they may overlap."""
    for found in _NAMED.finditer(_small(text)):
        start, end = found.span("bare" if found["quoted"] is None else "quoted")
        value = text[start:end]
        if found["quoted"] is None:
            # right behind an equals sign no sentence ends
            value = value.rstrip(_ENCLOSING if found["sign"] == "=" else _TAIL)
        if not is_masked(value) and (_is_bare_secret if found["quoted"] is None else _is_quoted_secret)(value, found):
            kind = SecretKind.PASSWORD if found["password"] else SecretKind.TOKEN
            yield FoundSecret(start, start + len(value), kind)
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
        if len(value) >= least and not is_masked(value) and (is_written or _is_password(value)):
            yield FoundSecret(found.start("bare"), found.start("bare") + len(value), SecretKind.PASSWORD)
    for found in _OPTION.finditer(text):
        value = found["bare"].rstrip(_TAIL)
        if _is_password(value):
            yield FoundSecret(found.start("bare"), found.start("bare") + len(value), SecretKind.PASSWORD)


def _is_quoted_secret(value: str, found: TextMatch) -> bool:
    if not (name := found["password"] or found["token"]):
        return is_random(value)
    if value.lower() == name:
        return False
    return len(value) >= _MIN_PASSWORD if found["password"] else len(value) >= _MIN_TOKEN and " " not in value


def _is_bare_secret(value: str, found: TextMatch) -> bool:
    name, is_password = found["password"] or found["token"], found["password"] is not None
    if _CALL.match(value) or (name == "pwd" and value.startswith(("/", "~"))):
        # a call, or the folder that a shell is in
        return False
    if not name:
        return is_random(value)
    if found["sign"] != "=":
        return _is_password(value) if is_password else _is_token(value)
    if _CODE.match(value) and ("." in value or name in value.lower()):
        # an argument that is handed on: `password=self.password`, `token=token`
        return False
    return len(value) >= _MIN_PASSWORD if is_password else len(value) >= _MIN_TOKEN and not value.isdigit()


def _is_password(value: str) -> bool:
    """Tell whether a word is no word of a sentence: letters with digits, a sign within, or digits alone."""
    if len(value) < _MIN_PASSWORD or is_masked(value):
        return False
    has_letter, has_digit = any(map(str.isalpha, value)), any(map(str.isdigit, value))
    return value.isdigit() or (has_digit and has_letter) or (len(value) >= 6 and _CHARS.search(value) is not None)


def _is_token(value: str) -> bool:
    """Tell whether a word is no word of a sentence: made by chance, or of small and large letters and digits."""
    is_varied = all(any(map(test, value)) for test in (str.islower, str.isupper, str.isdigit))
    return len(value) >= _MIN_PROSE_TOKEN and (is_varied or is_random(value))
