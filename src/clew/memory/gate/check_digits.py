"""Numbers that prove themselves: cards by Luhn's sum and their issuer's range, IBANs by the remainder of 97."""

from typing import Final

# Issuers as (first prefix, last prefix, lengths); a number of another issuer is taken for some other number.
_ISSUERS: Final = (
    (4, 4, (13, 16, 19)),
    (51, 55, (16,)),
    (2221, 2720, (16,)),
    (34, 34, (15,)),
    (37, 37, (15,)),
    (6011, 6011, (16, 19)),
    (644, 649, (16, 19)),
    (65, 65, (16, 19)),
    (300, 305, (14,)),
    (36, 36, (14,)),
    (38, 39, (14, 16)),
    (3528, 3589, (16,)),
    (62, 62, (16, 19)),
)
_IBAN_LENGTHS: Final = {
    country: size
    for size, countries in {
        15: "NO",
        16: "BE",
        18: "DK FI FO GL NL SD",
        19: "MK SI",
        20: "AT BA EE KZ LT LU XK",
        21: "CH HR LI LV",
        22: "BG BH CR DE GB GE IE ME RS VA",
        23: "AE GI IL IQ OM TL",
        24: "AD CZ ES MD PK RO SA SE SK TN VG",
        25: "LY PT ST",
        26: "IS TR",
        27: "BI DJ FR GR IT MC MR SM",
        28: "AL AZ BY CY DO GT HU LB NI PL SV",
        29: "BR EG PS QA UA",
        30: "JO KW MU",
        31: "MT SC",
        32: "LC",
        33: "RU",
    }.items()
    for country in countries.split()
}


def is_card_number(digits: str) -> bool:
    """Whether these digits can be a payment card's."""
    issued = any(
        low <= int(digits[: len(str(low))]) <= high and len(digits) in lengths for low, high, lengths in _ISSUERS
    )
    return issued and _luhn(digits)


def iban_length(country: str) -> int | None:
    """How long a country's IBANs are; None where it has none."""
    return _IBAN_LENGTHS.get(country.upper())


def is_iban(code: str) -> bool:
    """Whether an IBAN without spaces has the right check digits."""
    turned = (code[4:] + code[:4]).upper()
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _luhn(digits: str) -> bool:
    doubled = [sum(divmod(int(digit) * 2, 10)) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(map(int, digits[-1::-2]))) % 10 == 0
