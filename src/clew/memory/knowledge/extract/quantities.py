"""Quantities: numbers with units, money and percentages, in one spelling that can be compared."""

import re
from dataclasses import dataclass
from typing import Final

# A figure in another unit was rounded by whoever converted it: 10 km are “6.2 miles”.
CONVERTED_TOLERANCE: Final = 0.01
# Whether a terabyte is 1,000 or 1,024 gigabytes, nobody says.
DATA_TOLERANCE: Final = 0.05
_EXACT: Final = 1e-9

_SCALES: Final = {
    "k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "mm": 1e6, "million": 1e6, "millions": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9, "t": 1e12, "tn": 1e12, "trillion": 1e12,
}  # fmt: skip
_CURRENCIES: Final = {
    "$": "usd", "us$": "usd", "usd": "usd", "dollar": "usd", "dollars": "usd", "€": "eur", "eur": "eur", "euro": "eur",
    "euros": "eur", "£": "gbp", "gbp": "gbp", "pound": "gbp", "pounds": "gbp", "¥": "jpy", "jpy": "jpy", "yen": "jpy",
    "chf": "chf", "francs": "chf", "₹": "inr", "inr": "inr", "rupees": "inr", "cad": "cad", "aud": "aud",
}  # fmt: skip
_DAY: Final = 86_400.0
# Each unit by its dimension and how many of the dimension's base unit it is.
_UNITS: Final[dict[str, tuple[str, float]]] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), ("time", 1e-3)),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), ("time", 1.0)),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), ("time", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("time", 3600.0)),
    **dict.fromkeys(("d", "day", "days", "night", "nights"), ("time", _DAY)),
    **dict.fromkeys(("week", "weeks"), ("time", 7 * _DAY)),
    **dict.fromkeys(("month", "months"), ("time", 365.25 / 12 * _DAY)),
    **dict.fromkeys(("quarter", "quarters"), ("time", 365.25 / 4 * _DAY)),
    **dict.fromkeys(("year", "years", "yr", "yrs"), ("time", 365.25 * _DAY)),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetres"), ("length", 1e-3)),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetres"), ("length", 1e-2)),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres"), ("length", 1.0)),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), ("length", 1e3)),
    **dict.fromkeys(("mi", "mile", "miles"), ("length", 1609.344)),
    **dict.fromkeys(("ft", "foot", "feet"), ("length", 0.3048)),
    **dict.fromkeys(("in", "inch", "inches"), ("length", 0.0254)),
    **dict.fromkeys(("yd", "yard", "yards"), ("length", 0.9144)),
    **dict.fromkeys(("mcg", "µg", "microgram", "micrograms"), ("mass", 1e-9)),
    **dict.fromkeys(("mg", "milligram", "milligrams"), ("mass", 1e-6)),
    **dict.fromkeys(("g", "gram", "grams"), ("mass", 1e-3)),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), ("mass", 1.0)),
    **dict.fromkeys(("t", "ton", "tons", "tonne", "tonnes"), ("mass", 1e3)),
    **dict.fromkeys(("lb", "lbs"), ("mass", 0.45359237)),
    **dict.fromkeys(("oz", "ounce", "ounces"), ("mass", 0.028349523)),
    **dict.fromkeys(("ml", "milliliter", "milliliters", "millilitres"), ("volume", 1e-3)),
    **dict.fromkeys(("cl", "centiliter", "centiliters", "centilitres"), ("volume", 1e-2)),
    **dict.fromkeys(("l", "liter", "liters", "litre", "litres"), ("volume", 1.0)),
    **dict.fromkeys(("gal", "gallon", "gallons"), ("volume", 3.785411784)),
    **dict.fromkeys(("byte", "bytes"), ("data", 1.0)),
    **dict.fromkeys(("kb", "kib", "kilobytes"), ("data", 1024.0)),
    **dict.fromkeys(("mb", "mib", "megabytes"), ("data", 1024.0**2)),
    **dict.fromkeys(("gb", "gib", "gigabytes"), ("data", 1024.0**3)),
    **dict.fromkeys(("tb", "tib", "terabytes"), ("data", 1024.0**4)),
    **dict.fromkeys(("w", "watt", "watts"), ("power", 1e-3)),
    **dict.fromkeys(("kw", "kilowatt", "kilowatts"), ("power", 1.0)),
    **dict.fromkeys(("mw", "megawatts"), ("power", 1e3)),
    **dict.fromkeys(("wh", "watt hours"), ("energy", 1e-3)),
    **dict.fromkeys(("kwh", "kilowatt hours"), ("energy", 1.0)),
    **dict.fromkeys(("mwh", "megawatt hours"), ("energy", 1e3)),
    **dict.fromkeys(("j", "joule", "joules"), ("heat", 1.0)),
    **dict.fromkeys(("kj", "kilojoule", "kilojoules"), ("heat", 1e3)),
    **dict.fromkeys(("kcal", "calories", "kilocalories"), ("heat", 4184.0)),
    **dict.fromkeys(("hp", "horsepower"), ("power", 0.7457)),
    **dict.fromkeys(("pa", "pascal"), ("pressure", 1.0)),
    **dict.fromkeys(("hpa", "mbar", "millibar"), ("pressure", 1e2)),
    **dict.fromkeys(("kpa",), ("pressure", 1e3)),
    **dict.fromkeys(("psi",), ("pressure", 6894.757)),
    **dict.fromkeys(("bar", "bars"), ("pressure", 1e5)),
    **dict.fromkeys(("m²", "sqm", "square meter", "square meters", "square metres"), ("area", 1.0)),
    **dict.fromkeys(("sq ft", "sqft", "square foot", "square feet"), ("area", 0.09290304)),
    **dict.fromkeys(("acre", "acres"), ("area", 4046.856)),
    **dict.fromkeys(("ha", "hectare", "hectares"), ("area", 1e4)),
    **dict.fromkeys(("km²", "square kilometer", "square kilometers", "square kilometres"), ("area", 1e6)),
    **dict.fromkeys(("square mile", "square miles"), ("area", 2.589988e6)),
    **dict.fromkeys(("m³", "cubic meter", "cubic meters", "cubic metres"), ("volume", 1e3)),
    **dict.fromkeys(("kbps", "kbit/s"), ("bandwidth", 1e-3)),
    **dict.fromkeys(("mbps", "mbit/s"), ("bandwidth", 1.0)),
    **dict.fromkeys(("gbps", "gbit/s"), ("bandwidth", 1e3)),
    **dict.fromkeys(("hz", "hertz"), ("frequency", 1.0)),
    **dict.fromkeys(("khz", "kilohertz"), ("frequency", 1e3)),
    **dict.fromkeys(("mhz", "megahertz"), ("frequency", 1e6)),
    **dict.fromkeys(("ghz", "gigahertz"), ("frequency", 1e9)),
    **dict.fromkeys(("km/h", "kph", "kmh"), ("speed", 1.0)),
    **dict.fromkeys(("mph",), ("speed", 1.609344)),
    **dict.fromkeys(("°c", "celsius", "degrees celsius"), ("temperature", 1.0)),
    **dict.fromkeys(("°f", "fahrenheit", "degrees fahrenheit"), ("temperature", 5 / 9)),
    **dict.fromkeys(("%", "percent", "per cent", "pct"), ("percent", 1.0)),
    **dict.fromkeys(("percentage points", "points", "pp"), ("points", 1.0)),
}
_WORDS: Final = {
    "zero": 0, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
    "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "half a": 0.5, "half an": 0.5, "a dozen": 12,
}  # fmt: skip
_TENS: Final = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_JOINING: Final = "for|in|of|on|at|with|against|to|from|by|and|or|the|than|as|but|if|when|per|not|an?|each|every"
_UNIT_WORD: Final = rf"(?:km/h|[kmg]bit/s|µg|(?!(?:{_JOINING})\b)[a-z][a-z-]*[²³]?)"
# Whoever is counted, it is people.
_PEOPLE: Final = frozenset(
    {"people", "person", "employee", "staff", "worker", "inhabitant", "resident", "staff member"}
)
_QUANTITY: Final = re.compile(
    r"(?P<about>(?:about|around|roughly|approximately|approx\.?|nearly|almost|just over|just under|over|under|some|~"
    r"|up to|at least|at most)\s*)?"
    r"(?P<before>us\$|[$€£¥₹]|(?:usd|eur|gbp|chf|jpy|inr|cad|aud)\s)?\s*"
    r"(?P<number>[-+]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|[-+]?\d+(?:\.\d+)?|half an?\b|a dozen\b"
    rf"|(?:{_TENS})[- ](?:one|two|three|four|five|six|seven|eight|nine)\b|[a-z]+)"
    r"(?:(?P<tight>k|m|mn|mm|bn|b|t)(?![a-z])|\s*-?\s*(?P<scale>thousand|millions?|billions?|trillion|mn|bn)\b)?"
    rf"\s*-?(?P<unit>°\s?[cf]|%|{_UNIT_WORD}(?:\s+{_UNIT_WORD}){{0,2}})?"
    r"(?:(?:\s*/\s*|\s+(?:per|an?|each|every)\s+)(?P<per>[a-z]+))?",
    re.IGNORECASE,
)


# “2 hours 30 minutes”, “5 feet and 10 inches”: two figures that add up to one.
_COMPOUND: Final = re.compile(
    r"(?P<first>\d[\d.,]*\s?[a-z]+)(?:\s+|\s*,\s*|\s+and\s+)(?P<second>\d[\d.,]*\s?[a-z]+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of something. `amount` is in the base unit of its `kind`, and per second where it is a rate."""

    kind: str
    amount: float
    unit: str
    noun: str = ""
    rate: bool = False

    def same(self, other: "Quantity") -> bool:
        """Whether two texts tell one quantity, however each is written."""
        if (self.kind, self.rate) != (other.kind, other.rate) or (self.noun and other.noun and self.noun != other.noun):
            return False
        converted = DATA_TOLERANCE if self.kind == "data" else CONVERTED_TOLERANCE
        tolerance = _EXACT if self.unit == other.unit else converted
        return abs(self.amount - other.amount) <= tolerance * max(abs(self.amount), abs(other.amount), 1e-12)

    @property
    def slot_kind(self) -> str:
        """What keeps values apart that can't contradict each other: five hours and five kilometres."""
        return "money" if self.kind.startswith("money") else self.kind


def read_quantity(text: str) -> Quantity | None:
    """The quantity that a text is; None when it is anything else, or more."""
    match = _QUANTITY.fullmatch(text.strip().rstrip("."))
    if match is None:
        return _compound(text.strip().rstrip("."))
    said = match["number"].lower()
    number = _number(said)
    unit = re.sub(r"\s+", " ", (match["unit"] or "").strip().lower())
    if _named(match["unit"] or "") or number is None or (said in ("a", "an") and unit not in _UNITS):
        return None
    currency = _CURRENCIES.get((match["before"] or "").strip().lower())
    scale, unit = _scale(match, unit, money=currency is not None)
    return _quantity(number * scale, unit, currency, match["per"].lower() if match["per"] else None)


def _compound(text: str) -> Quantity | None:
    match = _COMPOUND.fullmatch(text)
    first, second = (read_quantity(match["first"]), read_quantity(match["second"])) if match else (None, None)
    if first is None or second is None or first.kind != second.kind or first.kind == "count":
        return None
    return Quantity(first.kind, first.amount + second.amount, f"{first.unit}+{second.unit}")


def _named(unit: str) -> bool:
    """Whether what follows a number is a name: 48 Elm Avenue is an address."""
    return any(
        word[:1].isupper() and word.lower() not in _UNITS and word.lower() not in _CURRENCIES for word in unit.split()
    )


def _number(text: str) -> float | None:
    if text in _WORDS:
        return float(_WORDS[text])
    tens, _, ones = text.replace("-", " ").partition(" ")
    if tens in _WORDS and ones in _WORDS:
        return float(_WORDS[tens] + _WORDS[ones])
    try:
        return float(text.replace(",", "").replace(" ", ""))
    except ValueError:
        return None


def _scale(match: re.Match[str], unit: str, *, money: bool) -> tuple[float, str]:
    """How many the number is of, and the unit that is left. `5m` is metres, `$5m` and `5M` are millions."""
    tight = match["tight"]
    if tight:
        metres = tight == "m" and not money and not unit
        return (1.0, "m") if metres else (_SCALES[tight.lower()], unit)
    return (_SCALES[match["scale"].lower()] if match["scale"] else 1.0), unit


def _quantity(number: float, unit: str, currency: str | None, per: str | None) -> Quantity | None:
    rate = per is not None
    seconds = 1.0
    if per is not None:
        dimension, seconds = _UNITS.get(per, ("", 1.0))
        if dimension and dimension != "time":
            return None
    if currency is None and unit in _CURRENCIES:
        currency, unit = _CURRENCIES[unit], ""
    if currency is not None:
        return Quantity(f"money:{currency}", number / seconds, f"{unit}/{per}", unit, rate)
    if unit in _UNITS or unit.replace(" ", "") in _UNITS:
        kind, factor = _UNITS[unit if unit in _UNITS else unit.replace(" ", "")]
        shift = 32.0 if factor == 5 / 9 and kind == "temperature" else 0.0
        return Quantity(kind, (number - shift) * factor / seconds, f"{unit}/{per}", "", rate)
    if len(unit.split()) > 3:
        return None
    noun = unit.rstrip("s")
    return Quantity("count", number / seconds, f"{unit}/{per}", "people" if noun in _PEOPLE else noun, rate)
