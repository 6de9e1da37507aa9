"""Ids, lifetimes, checks and digests: the parts of the store that touch nothing."""

import hashlib
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.artifacts import Artifact, ArtifactRef, Collected, Lifetime
from clew.artifacts.objects.checks import artifact_id_of, check_artifact_id, check_media_type
from clew.artifacts.objects.chunks import CHUNK_BYTES, Digester, digests_of
from clew.artifacts.objects.rows import blob_key, tenant_folder
from clew.errors import Damaged, InvalidInput


@given(st.binary(max_size=50), st.sampled_from(["text/plain", "text/html", "image/png"]))
def test_an_id_is_short_safe_and_says_which_bytes_as_what(data, media_type):
    digest = hashlib.sha256(data).digest()
    made = artifact_id_of(media_type, digest)
    assert re.fullmatch(r"art_[a-z2-7]{16}", made)
    assert check_artifact_id(made) == made == artifact_id_of(media_type, digest)
    assert made != artifact_id_of("other/type", digest)
    assert made != artifact_id_of(media_type, hashlib.sha256(data + b"!").digest())


def test_an_id_stays_what_it_is_from_release_to_release():
    assert artifact_id_of("text/plain", hashlib.sha256(b"hello").digest()) == "art_irwujbuoz2qtoqpe"


@pytest.mark.parametrize(
    ("given", "kind", "seconds", "written"),
    [
        ("forever", "forever", None, "forever"),
        ("ttl:7d", "ttl", 604_800, "ttl:1w"),
        ("ttl:90s", "ttl", 90, "ttl:90s"),
        ("ttl:0s", "ttl", 0, "ttl:0s"),
        ("last_used:30d", "last_used", 2_592_000, "last_used:30d"),
        ("last_used:2h", "last_used", 7_200, "last_used:2h"),
        (timedelta(days=2), "ttl", 172_800, "ttl:2d"),
        (timedelta(milliseconds=1500), "ttl", 2, "ttl:2s"),
        (Lifetime("ttl", 60), "ttl", 60, "ttl:1m"),
    ],
    ids=str,
)
def test_a_lifetime_is_read_and_written(given, kind, seconds, written):
    keep = Lifetime.of(given)
    assert (keep.kind, keep.seconds, str(keep)) == (kind, seconds, written)
    assert Lifetime.of(str(keep)) == keep


@given(st.sampled_from(["ttl", "last_used"]), st.integers(0, 100 * 365 * 86_400))
def test_every_lifetime_survives_being_written(kind, seconds):
    assert Lifetime.of(str(Lifetime(kind, seconds))) == Lifetime(kind, seconds)


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "Forever",
        "ttl",
        "ttl:7",
        "ttl:7y",
        "ttl:1.5d",
        "ttl:٣d",
        "ttl: 7d",
        "last_used:-1d",
        7,
        None,
        True,
        1e400,
        b"x",
    ],
    ids=ascii,
)
def test_what_is_no_lifetime_is_refused(bad):
    with pytest.raises(InvalidInput) as refused:
        Lifetime.of(bad)
    assert refused.value.where == "keep"


@pytest.mark.parametrize(
    "wrong",
    [("forever", 5), ("ttl", None), ("ttl", -1), ("ttl", True), ("ttl", 1.5), ("never", 1), ("ttl", 10**12)],
    ids=str,
)
def test_a_lifetime_cannot_be_made_wrong(wrong):
    with pytest.raises(InvalidInput):
        Lifetime(*wrong)


@pytest.mark.parametrize(
    "fine", ["text/plain", "image/svg+xml", "text/html; charset=utf-8", "application/vnd.api+json", "a/b"]
)
def test_a_media_type_is_a_type_and_a_subtype(fine):
    assert check_media_type(fine) == fine


@pytest.mark.parametrize(
    "bad", ["text", "text/", "/plain", "text/plain\n", "te xt/plain", "text/pläin", "text/html;\x01"], ids=ascii
)
def test_what_is_no_media_type_is_refused(bad):
    with pytest.raises(InvalidInput):
        check_media_type(bad)


@given(st.binary(max_size=300), st.lists(st.integers(1, 40), min_size=1, max_size=10))
def test_the_digests_don_t_depend_on_how_the_bytes_came(data, sizes):
    digester, rest, turn = Digester(), data, 0
    while rest:
        size = sizes[turn % len(sizes)]
        digester.update(rest[:size])
        rest, turn = rest[size:], turn + 1
    assert digester.digests() == digests_of(data)
    assert digests_of(data).sha256 == hashlib.sha256(data).digest()


def test_every_stretch_has_a_digest_of_its_own():
    data = bytes(range(256)) * 4096 * 2 + b"the end"
    whole, pieces = digests_of(data), Digester()
    for start in range(0, len(data), 700_001):
        pieces.update(data[start : start + 700_001])
    assert pieces.digests() == whole
    assert len(whole.chunks) == 1 + 3 * 32
    stretches = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
    assert [whole.check(number, stretch) for number, stretch in enumerate(stretches)] == stretches
    with pytest.raises(Damaged):
        whole.check(2, b"the End")
    with pytest.raises(Damaged):
        whole.check(3, b"")


def test_an_object_of_exactly_some_stretches_has_exactly_their_digests():
    assert len(digests_of(bytes(2 * CHUNK_BYTES)).chunks) == 1 + 2 * 32
    assert len(digests_of(b"").chunks) == 1


def test_a_tenants_folder_says_nothing_of_its_name_and_leads_nowhere():
    assert re.fullmatch(r"[a-z2-7]{20}", tenant_folder("acme"))
    assert tenant_folder("acme") != tenant_folder("Acme")
    assert blob_key("..", "id").count("/") == 1
    assert ".." not in blob_key("..", "id")


def test_a_reference_is_plain_json():
    now = datetime(2026, 1, 2, tzinfo=UTC)
    ref = ArtifactRef("art_" + "a" * 16, "text/plain", 5, "ab" * 32, None, now, {"lines": 1}, Lifetime.of("ttl:1d"))
    plain = json.loads(json.dumps(ref.as_dict()))
    assert plain == ref.as_dict()
    assert (plain["keep"], plain["created_at"]) == ("ttl:1d", "2026-01-02T00:00:00+00:00")
    assert len({ref, ref}) == 1
    artifact = Artifact(ref, b"h\xffi")
    assert artifact.text == "h\ufffdi"
    assert (artifact.artifact_id, artifact.size) == (ref.artifact_id, 5)


def test_collections_add_up():
    first = Collected(expired=("a",), orphans=1, bytes=10, in_use=1)
    second = Collected(expired=("b",), damaged=("c",), bytes=5, foreign=2)
    both = first + second
    assert both == Collected(False, ("a", "b"), 1, 1, 15, ("c",), 2)
    assert json.loads(json.dumps(both.as_dict()))["expired"] == ["a", "b"]
