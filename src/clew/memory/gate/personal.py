"""Personal data: what says who someone is or how to reach them, told by its form, its check digits or its cue."""

import ipaddress
import re
from collections.abc import Callable, Iterator
from typing import Final

from clew.memory.gate.check_digits import iban_length, is_card_number, is_iban
from clew.memory.gate.folding import folded
from clew.memory.gate.spans import Span, apart

PERSONAL_KINDS: Final = frozenset(
    {"email", "phone_number", "card_number", "iban", "ssn", "passport_number", "ip_address", "date_of_birth"}
)
_Found = Iterator[tuple[int, int]]

_EMAIL: Final = re.compile(r"(?<![\w.+%-])[\w.+%'-]{1,64}@(?:[^\W_](?:[\w-]{0,62})\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_CARD: Final = re.compile(
    r"(?<![\w.,$€£-])(?:\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{1,4}(?:[ -]?\d{3})?|3\d{3}[ -]?\d{6}[ -]?\d{4,5})(?![\w-]"
    r"|[.,]\d)"
)
_IBAN: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}\d{2}(?:[ -]?[A-Za-z0-9]{4}){2,7}(?:[ -]?[A-Za-z0-9]{1,4})?")
_SSN: Final = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])")
_SSN_SAID: Final = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?| #)?)\b[^\d\n]{0,20}(\d{3}[ -]?\d{2}[ -]?\d{4})(?!\w)", re.IGNORECASE
)
_PASSPORT: Final = re.compile(
    r"\b(?:passport|passaporte|pasaporte|reisepass)(?:\s(?:no|number|nr|num|id|número))?\b[^\w\n]{0,4}"
    r"(?:(?:is|was|number is|ends in|é|es)\s{1,2})?#?((?=[A-Z]{0,8}\d)[A-Z0-9]{6,10})(?!\w)",
    re.IGNORECASE,
)
_PASSPORT_DIGITS_MIN: Final = 4
_PHONE: Final = re.compile(
    r"(?<![\w$€£¥#.,/:+-])(?:\+\s?)?(?:\(\+?\d{1,5}\)\s?)?\d(?:[ ().\-/]{0,2}\d){5,16}(?![\w%]|[.,:]\d|\s?(?:%|USD"
    r"|EUR))"
)
_IP4: Final = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w-]|\.\d)")
_IP6: Final = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?![\w:])")

_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro"
    r"|dezembro)\.?"
)
_YEAR: Final = r"(?:19|20)\d\d"
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE: Final = (
    rf"(?:{_YEAR}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:{_YEAR}|\d\d)"
    rf"|{_DAY}\s(?:of\s|de\s)?{_MONTH},?\s(?:de\s)?{_YEAR}|{_MONTH}\s{_DAY},?\s{_YEAR}|{_YEAR}年\d{{1,2}}月\d{{1,2}}日)"
)
_BORN: Final = re.compile(
    rf"(?:\b(?:born(?:\son)?|d\.?o\.?b\.?|date of birth|birth ?date|birth ?day|nascid[oa] em|data de nascimento"
    rf"|geboren am|née? le|nacid[oa] el)|出生日期|生日|出生于)(?:\sis|\swas|\son|\s?[:：=是])?[\s,(]{{0,3}}"
    rf"({_DATE})(?!\w)",
    re.IGNORECASE,
)

# A figure behind one of these names a thing, not a person.
_THING: Final = re.compile(
    r"\b(?:order|invoice|ticket|case|ref(?:erence)?|tracking|sku|isbn|issn|doi|imei|serial|part|model|batch|lot|po"
    r"|version"
    r"|release|build|v|article|item|product|patent|contract|job|issue|pr|request|transaction|booking|confirmation"
    r"|policy"
    r"|claim|parcel|shipment|id|uuid|revenue|population|budget|rev|section|chapter|clause|paragraph"
    r"|pedido|encomenda|fatura|factura|commande|facture|bestellung|auftrag|rechnung|ordine|fattura|заказа?|счёт"
    r"|订单号?|运单号?"
    r"|单号|الطلب|طلب|فاتورة)"
    r"(?:\s(?:no|number|nr|num|n[úu]mero|id|code|was|is|of|é|es|est|ist|è|رقم))*\.?\s{0,2}[:#=]?\s{0,2}#?$",
    re.IGNORECASE,
)
_PHONE_CUE: Final = re.compile(
    r"(?:\b(?:phone|tel|telephone|mobile|cell|cellphone|fax|whatsapp|signal|sms|hotline|landline|telefone|celular"
    r"|teléfono|telefon|handy|téléphone|call|ring|text|dial)(?:\s(?:me|us|him|her|them|number|no|line|at|on|is"
    r"|[A-Z]\w*))*"
    r"\.?\s{0,2}[:#=]?|\b(?:reach(?:ed|able)?|contact)\b[^.\n\d]{0,25}\b(?:at|on)|['’]s number is|\bmy number is"
    r"|电话|手机|هاتف|电话是|手机号)[^\w\n]{0,4}(?:是|:|：)?[^\w\n]{0,2}\(?\+?$",
    re.IGNORECASE,
)
_CUE_REACH_CHARS: Final = 48
_DATE_LIKE: Final = re.compile(
    rf"(?:{_YEAR}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.](?:{_YEAR}|\d\d)(?!\d)|{_YEAR}\s?[-/]\s?{_YEAR})"
)
_GROUPED: Final = re.compile(
    r"\(\d{2,5}\)\s?\d{3,5}[ .-]?\d{3,4}|(?:1[ .-])?\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}"
    r"|0\d{1,4}(?:[ -/]\d{2,4}){2,4}|0\d{2,4}[ /-]\d{6,8}"
)
_THOUSANDS: Final = re.compile(r"\+?\s?\d{1,3}(?:[ .]\d{3})+")


def personal_spans(text: str) -> list[Span]:
    """Where personal data is, in the order of the text."""
    plain = folded(text)
    found = ((start, end, kind) for kind, seek in _SEEKERS for start, end in seek(plain.text))
    return apart(Span(*plain.span(start, end), kind) for start, end, kind in found)


def _emails(text: str) -> _Found:
    for match in _EMAIL.finditer(text):
        # Addresses of programs: git@github.com:acme/site, root@web-1.example.
        if not match[0].lower().startswith(("git@", "root@", "noreply@", "no-reply@")):
            yield match.span()


def _cards(text: str) -> _Found:
    for match in _CARD.finditer(text):
        if is_card_number(re.sub(r"\D", "", match[0])) and not _is_thing(text, match.start()):
            yield match.span()


def _ibans(text: str) -> _Found:
    for match in _IBAN.finditer(text):
        size = iban_length(match[0][:2])
        places = [at for at, char in enumerate(match[0]) if char.isalnum()][:size]
        if len(places) == size and is_iban("".join(match[0][at] for at in places)):
            yield match.start(), match.start() + places[-1] + 1


def _ssns(text: str) -> _Found:
    for match in _SSN.finditer(text):
        if not _is_thing(text, match.start()):
            yield match.span()
    for match in _SSN_SAID.finditer(text):
        yield match.span(1)


def _passports(text: str) -> _Found:
    for match in _PASSPORT.finditer(text):
        if sum(char.isdigit() for char in match[1]) >= _PASSPORT_DIGITS_MIN:
            yield match.span(1)


def _groups(pattern: re.Pattern[str]) -> Callable[[str], _Found]:
    def seek(text: str) -> _Found:
        for match in pattern.finditer(text):
            yield match.span(1)

    return seek


def _ip_addresses(text: str) -> _Found:
    for match in [*_IP4.finditer(text), *_IP6.finditer(text)]:
        if _is_address(match[0]) and not _is_thing(text, match.start()):
            yield match.span()


def _is_address(written: str) -> bool:
    if ":" in written and (len(written) < 6 or not re.search(r"\d", written) or not re.search(r"\w{3}", written)):
        return False
    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified or address.is_multicast or written.startswith("255."))


def _phones(text: str) -> _Found:
    for match in _PHONE.finditer(text):
        digits = sum(char.isdigit() for char in match[0])
        if 7 <= digits <= 15 and not _DATE_LIKE.match(match[0]) and _is_phone(text, match, digits):
            yield match.span()


def _is_phone(text: str, match: re.Match[str], digits: int) -> bool:
    number = match[0]
    if _IP4.fullmatch(number) or _is_thing(text, match.start()):
        return False
    if _PHONE_CUE.search(text, max(0, match.start() - _CUE_REACH_CHARS), match.start()):
        return True
    if _THOUSANDS.fullmatch(number) and digits < 11:
        return False
    if number.startswith("+"):
        return digits >= 9
    return _GROUPED.fullmatch(number) is not None and digits >= 9


def _is_thing(text: str, start: int) -> bool:
    return _THING.search(text, max(0, start - _CUE_REACH_CHARS), start) is not None


_SEEKERS: Final[tuple[tuple[str, Callable[[str], _Found]], ...]] = (
    ("email", _emails),
    ("iban", _ibans),
    ("card_number", _cards),
    ("ssn", _ssns),
    ("passport_number", _passports),
    ("date_of_birth", _groups(_BORN)),
    ("ip_address", _ip_addresses),
    ("phone_number", _phones),
)
