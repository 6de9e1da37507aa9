"""Numbers that prove themselves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.memory.gate.check_digits import is_card_number, is_iban

CARDS = [
    "4242424242424242",
    "5555555555554444",
    "378282246310005",
    "30569309025904",
    "6011111111111117",
    "3530111333300000",
]
IBANS = ["DE89370400440532013000", "GB82WEST12345698765432", "NO9386011117947", "FR1420041010050500013M02606"]


@pytest.mark.parametrize("number", CARDS)
def test_a_card_with_one_digit_wrong_is_no_card(number):
    assert is_card_number(number)
    wrong = [number[:at] + str((int(digit) + 1) % 10) + number[at + 1 :] for at, digit in enumerate(number)]
    assert not any(map(is_card_number, wrong))


@pytest.mark.parametrize("code", IBANS)
def test_an_iban_with_two_places_swapped_is_no_iban(code):
    assert is_iban(code)
    swapped = [code[:at] + code[at + 1] + code[at] + code[at + 2 :] for at in range(4, len(code) - 1)]
    assert not any(is_iban(other) for other in swapped if other != code)


@given(st.text("0123456789", min_size=1, max_size=20))
def test_any_digits_can_be_asked_about(digits):
    assert is_card_number(digits) in (True, False)
