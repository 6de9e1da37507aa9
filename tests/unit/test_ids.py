import threading
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew import InvalidInput
from clew.ids import check_id, check_tenant_id, id_time, new_id


def test_ids_are_uuid_version_7_of_the_standard_variant():
    parsed = UUID(new_id())
    assert (parsed.version, parsed.variant) == (7, "specified in RFC 4122")


def test_ids_made_in_one_tight_loop_sort_in_the_order_they_were_made():
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)


def test_threads_never_make_the_same_id():
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(new_id() for _ in range(2_000))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 16_000


def test_an_id_knows_when_it_was_made():
    assert abs(id_time(new_id()) - datetime.now(UTC)) < timedelta(seconds=10)


@pytest.mark.parametrize("bad", ["", "x", None, 7, b"x", "c56a4180-65aa-42ec-a945-5fd21dec0538", "\0" * 36, "é" * 36])
def test_what_is_no_id_of_ours_is_refused_with_an_example(bad):
    with pytest.raises(InvalidInput, match=r"is not an id. Ids look like 019"):
        check_id(bad, "memory_id")


@given(st.from_regex(r"[A-Za-z0-9._:-]{1,128}", fullmatch=True))
def test_a_tenant_id_of_the_allowed_characters_is_taken_as_it_is(tenant_id):
    assert check_tenant_id(tenant_id) == tenant_id


@given(st.one_of(st.text(), st.none(), st.integers(), st.binary()))
def test_any_other_tenant_id_is_refused(value):
    allowed = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-")
    if isinstance(value, str) and 1 <= len(value) <= 128 and set(value) <= allowed:
        assert check_tenant_id(value) == value
    else:
        with pytest.raises(InvalidInput, match="is not a tenant id"):
            check_tenant_id(value)


@pytest.mark.parametrize("bad", ["acme\n", "a" * 129, "ａcme", "acme١", "", "a b", "a/b", "a'b", "\0"])
def test_look_alikes_and_line_ends_are_refused_too(bad):
    with pytest.raises(InvalidInput, match="Use 1 to 128 letters"):
        check_tenant_id(bad)
