"""Secrets: keys, tokens, passwords. Told by their form, or by the word before them and how random they look."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from clew.memory.gate.folding import folded
from clew.memory.gate.spans import Span, apart

SECRET_KINDS: Final = frozenset({"api_key", "access_token", "private_key", "password"})

_API_KEYS: Final = (
    r"sk-(?:ant-|proj-|or-v1-|svcacct-|admin-|live-|test-)?[\w-]{16,300}"
    r"|(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}"
    r"|AIza[\w-]{30,45}|GOCSPX-[\w-]{20,40}"
    r"|(?:sk|rk|pk)_(?:live|test)_\w{10,200}|whsec_[\w+/=]{16,100}"
    r"|SG\.[\w-]{16,40}\.[\w-]{16,80}|SK[0-9a-f]{32}|key-[0-9a-f]{32}"
    r"|(?:gsk_|r8_|xai-|pplx-|hf_|npm_|pypi-|dapi|dop_v1_|shpat_|shpss_|NRAK-|lin_api_|PMAK-|figd_"
    r"|sq0csp-)[\w-]{20,300}"
)
_ACCESS_TOKENS: Final = (
    r"gh[pousr]_\w{20,255}|github_pat_\w{20,255}|glpat-[\w-]{16,64}|xox[abeoprs]-[\w-]{10,250}|xapp-[\w-]{10,250}"
    r"|ya29\.[\w-]{20,300}|EAACEdEose0cBA\w{10,300}|\d{8,10}:AA[\w-]{30,40}"
    r"|eyJ[\w-]{8,4000}\.[\w-]{8,4000}(?:\.[\w-]{0,2000})?"
)
_BY_FORM: Final = (
    ("api_key", re.compile(rf"(?<![A-Za-z0-9_-])(?:{_API_KEYS})")),
    ("access_token", re.compile(rf"(?<![A-Za-z0-9_-])(?:{_ACCESS_TOKENS})")),
    ("access_token", re.compile(r"https?://hooks\.slack\.com/services/[\w/]{10,100}")),
)
_BEARER: Final = re.compile(
    r"\bauthorization\b[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3}([\w.~+/=-]{8,4000})"
    r"|\b(?:bearer|basic)\s{1,3}([\w.~+/=-]{16,4000})",
    re.IGNORECASE,
)

_KEY_WORDS: Final = (
    r"(?:api|access|secret|private|account|auth|encryption|signing|master|service|license|shared|client)[ _-]?"
    r"(?:access[ _-]?)?(?:key|token|secret)|token|secret|apikey|credentials?|key"
)
_ASSIGNED: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_KEY_WORDS})s?[\"']?(?:\s(?:for|of|to|from|in)\s[\w .-]{{1,40}}?)?"
    r"\s{0,3}(?:=>|:=|=|:|\bis\b:?|\bwas\b|->)\s{0,3}[\"'`“]?([\w+/.~=-]{16,400})",
    re.IGNORECASE,
)
_AWS_SECRET: Final = re.compile(r"(?<![\w/+=-])[A-Za-z0-9/+]{40}(?![\w/+=-])")
_PEM: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,30}-----")
_IN_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\[\]]{0,100}:([^\s@/\[\]]{1,200})@", re.IGNORECASE)

_ITS_NAMES: Final = (
    r"(?:pass(?:word|wd|code)|pwd|pw|psw|login code|senha|contraseña|mot de passe|passwort|kennwort|пароль|密码|密碼"
    r"|パスワード|비밀번호|كلمة (?:السر|المرور))"
)
_FOR_WHAT: Final = r"(?:\s(?:for|of|to|on|da|do|de|del|para|für|pour)\s[^\n.:=!?]{1,40}?)?"
_SAID: Final = re.compile(
    rf"(?<![a-z]){_ITS_NAMES}(?![a-z]){_FOR_WHAT},?\s{{0,3}}(?:\b(?:(?:is|was|has been|got|is being)\s(?:now\s)?)?"
    r"(?:set|changed|reset|updated)\sto\b|\b(?:is|was|é|es|ist|est|هي)\b:?(?:\s(?:now|still|currently|just)\b)?"
    r"|是|为|は|[은는])\s{0,3}(?:([\"'`“”«])([^\"'`“”»\n]{1,80})[\"'`”»]|([^\s\[\]<>]{3,128}))",
    re.IGNORECASE,
)
_WRITTEN: Final = re.compile(
    rf"{_ITS_NAMES}[\"']?{_FOR_WHAT}\s{{0,3}}(?:=>|:=|=|:|：)\s{{0,3}}"
    r"(?:([\"'`“”])([^\"'`“”\n]{1,80})[\"'`”]|([^\s\[\]<>,;\"']{3,128}))",
    re.IGNORECASE,
)
_CREDENTIAL_FLAG: Final = re.compile(r"(?:--password|--pass|--token|--api-key)[= ]([^\s\[\]<>-][^\s\[\]<>]{3,128})")
_BESIDE: Final = re.compile(rf"(?<![a-z]){_ITS_NAMES}\s([^\s\[\]<>]{{6,64}})", re.IGNORECASE)
_LOGIN_FLAG: Final = re.compile(r"(?:^|\s)(?:-u|--user)\s{1,2}[^\s:]{1,64}:([^\s\[\]]{4,128})")
_PASS: Final = re.compile(r"\bpass\s?[:=]\s{0,2}([^\s\[\]<>,;]{4,128})", re.IGNORECASE)
_PHRASE: Final = re.compile(
    r"\b(?:passphrase|seed phrase|recovery phrase|mnemonic(?: phrase)?|backup phrase)\s{0,3}(?:is|was|:|=)\s{0,3}"
    r"([^\n.\[\]]{8,300})",
    re.IGNORECASE,
)
_PIN: Final = re.compile(
    r"\b(?:pin(?! code\b[^\n\d]{0,60}\d{6}(?!\d))|passcode|door code|alarm code|gate code|cvv|cvc|security code"
    r"|access code)(?: code| number)?"
    r"(?:\sfor\s[^\n.:=]{1,40}?|\sof\s[^\n.:=]{1,40}?)?\s{0,3}(?:is|was|:|=)\s{0,3}#?(\d{3,8})(?!\w|[.,]\d|-\d)",
    re.IGNORECASE,
)
# What is said of a password instead of the password.
_NOT_VALUES_LIST: Final = """
a about all already also always an and any as at available based before being blank by case-sensitive changed
confidential correct default different disabled due empty enabled encrypted enough exactly expired expiring fine for
forgotten from good gone hashed hidden important in incorrect invalid kept known leaked less limited locked long
longer lost mandatory masked missing more must my needed never new no none not null ok okay old on only optional our
out over par per private protected public recommended required reset rotated safe same saved secret secure sent set
shared short should shown six still stored strong stronger temporary that the there this to too true twelve undefined
under unique unknown unset until up updated used valid very via visible weak what when where which with without wrong
yes your n/a tbd todo obrigatória obligatoria requise erforderlich
"""
_NOT_VALUES: Final = frozenset(_NOT_VALUES_LIST.split())
_PARTICIPLE: Final = re.compile(r"[a-z]{2,}(?:ed|ing|able|ible|ly)", re.IGNORECASE)
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_COUNT: Final = re.compile(r"\d{1,3}(?:[-–+]\d{0,3})?")
_MASKED: Final = re.compile(r"[*•.xX_?…-]{2,}|\$\{?\w+\}?|%\w+%|\{\{?\w*\}?\}?")
_ENTROPY_MIN_BITS: Final = 2.8


def secret_spans(text: str) -> list[Span]:
    """Where secrets are, in the order of the text."""
    plain = folded(text)
    return apart(Span(*plain.span(start, end), kind) for start, end, kind in _found(plain.text))


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    yield from _by_form(text)
    yield from _private_keys(text)
    for match in _BEARER.finditer(text):
        if match[1] or _random(match[2]):
            yield *match.span(1 if match[1] else 2), "access_token"
    for match in _ASSIGNED.finditer(text):
        if _random(match[1].rstrip(".")):
            yield match.start(1), match.end(1), "api_key"
    for match in _IN_URL.finditer(text):
        if not _MASKED.fullmatch(match[1]):
            yield match.start(1), match.end(1), "password"
    yield from _passwords(text)


def _by_form(text: str) -> Iterator[tuple[int, int, str]]:
    for kind, form in _BY_FORM:
        for match in form.finditer(text):
            if _mixed(match[0]) or match[0].startswith("http"):
                yield match.start(), match.end(), kind
    if "AKIA" in text or "ASIA" in text or "aws" in text.lower():
        for match in _AWS_SECRET.finditer(text):
            if _mixed(match[0]) and match[0].lower() != match[0] != match[0].upper():
                yield match.start(), match.end(), "api_key"


def _private_keys(text: str) -> Iterator[tuple[int, int, str]]:
    at = 0
    while begins := _PEM.search(text, at):
        ends = _PEM_END.search(text, begins.end())
        at = ends.end() if ends else len(text)
        yield begins.start(), at, "private_key"


def _passwords(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _SAID.finditer(text):
        if match[2] or _said_value(match[3], text[match.end() :]):
            yield *_value_span(match), "password"
    for match in _WRITTEN.finditer(text):
        if match[2] or _said_value(match[3], text[match.end() :]):
            yield *_value_span(match), "password"
    yield from _passwords_alone(text)
    for match in _PHRASE.finditer(text):
        words = match[1].split()
        if len(words) >= 3 and words[0].lower() not in _NOT_VALUES - {"correct"}:
            yield match.start(1), match.end(1), "password"
    for match in _PIN.finditer(text):
        yield match.start(1), match.end(1), "password"


def _passwords_alone(text: str) -> Iterator[tuple[int, int, str]]:
    """Without "is" or a colon between: a flag of a command, or a word with capitals, small letters and figures."""
    for pattern in (_CREDENTIAL_FLAG, _LOGIN_FLAG):
        for match in pattern.finditer(text):
            if not _MASKED.fullmatch(match[1]):
                yield match.start(1), match.end(1), "password"
    for pattern in (_BESIDE, _PASS):
        for match in pattern.finditer(text):
            bare = _bare(match[1])
            if _mixed(bare) and bare.lower() != bare != bare.upper():
                yield match.start(1), match.start(1) + len(bare), "password"


def _value_span(match: re.Match[str]) -> tuple[int, int]:
    if match[2]:
        return match.start(2), match.end(2)
    return match.start(3), match.start(3) + len(_bare(match[3]))


def _bare(value: str) -> str:
    """Without the full stop or comma that ends the sentence; an exclamation mark may well belong to a password."""
    return value.rstrip(".,;:)\"'")


def _said_value(value: str, rest: str) -> bool:
    """Whether "the password is …" is followed by the password, and not by something about it."""
    bare = _bare(value)
    if not _could_be_one(bare):
        return False
    if not _WORDS.fullmatch(bare):
        return True
    inside = bare[1:]
    ends_here = value != bare or not rest.strip() or rest.lstrip()[0] in ".,;!\n)"
    return inside.lower() != inside or (ends_here and not _PARTICIPLE.fullmatch(_last_part(bare)))


def _last_part(bare: str) -> str:
    return bare.rsplit("-", 1)[-1]


def _could_be_one(bare: str) -> bool:
    if len(bare) < 3 or {bare.lower(), _last_part(bare).lower()} & _NOT_VALUES or _MASKED.fullmatch(bare):
        return False
    return not _COUNT.fullmatch(bare) and not bare.lower().startswith(("http://", "https://", "case-"))


def _mixed(token: str) -> bool:
    """Letters and digits, as keys have and names like `sk-learn-contributors` don't."""
    return any(char.isdigit() for char in token) and any(char.isalpha() for char in token)


def _random(token: str) -> bool:
    """Whether it was drawn and not written: letters and digits mixed, and few of them repeated."""
    if not _mixed(token) or token.lower().startswith(("http", "www.")):
        return False
    digits = sum(char.isdigit() for char in token)
    if digits < 2 or max(map(len, re.split(r"[\W\d_]", token))) > len(token) * 0.6:
        return False
    counts = Counter(token)
    bits = -sum(count / len(token) * math.log2(count / len(token)) for count in counts.values())
    return bits >= _ENTROPY_MIN_BITS
