"""Which object store a URL means."""

from pathlib import Path

import pytest

from clew import Settings
from clew.artifacts import ArtifactStore
from clew.artifacts.objects.blobs import LocalBlobs
from clew.artifacts.objects.places import _options, check_url, open_blobs
from clew.errors import InvalidInput
from clew.settings import mask_url


def test_a_folder_may_be_named_plainly_or_as_a_url(tmp_path):
    for url in (str(tmp_path / "a b"), f"file://{tmp_path}/a%20b"):
        blobs = open_blobs(check_url(url))
        assert isinstance(blobs, LocalBlobs)
        assert blobs.address == str(tmp_path / "a b")


def test_without_a_url_it_is_a_folder_in_the_data_folder(tmp_path):
    store = ArtifactStore(settings=Settings(data_dir=tmp_path, database_url="postgresql:///x"))
    assert store._url == str(tmp_path / "artifacts")
    elsewhere = Settings(data_dir=tmp_path, database_url="postgresql:///x", artifacts_url="memory://there")
    assert ArtifactStore(settings=elsewhere)._url == "memory://there"
    assert ArtifactStore(settings=elsewhere, url="memory://here")._url == "memory://here"
    assert not (tmp_path / "artifacts").exists(), "nothing is made before something is stored"


@pytest.mark.parametrize(
    "url",
    [
        "s3://bucket/prefix?region=eu-central-1",
        "s3://bucket?endpoint=https://project.supabase.co/storage/v1/s3&region=eu-central-1&access_key_id=A&secret_access_key=hunter2+%2F",
        "gs://bucket/prefix",
        "az://container/prefix?account_name=acme&account_key=aHVudGVyMg==",
    ],
)
def test_an_address_in_errors_and_logs_holds_no_query(url):
    blobs = open_blobs(check_url(url))
    assert blobs.address == url.partition("?")[0]
    assert "hunter2" not in f"{blobs!r} {vars(blobs)}"
    assert "hunter2" not in mask_url(url)


@pytest.mark.parametrize(
    "url", ["http://x", "s3:", "gs:///x", "", "  ", "a\0b", "s3://[::1", 7, None, Path("x")], ids=ascii
)
def test_what_is_no_object_store_is_refused_at_once(url):
    with pytest.raises(InvalidInput):
        check_url(url)


def test_a_key_with_a_plus_in_it_stays_what_it_is():
    assert _options("secret_access_key=a+b/c%2Bd=&region=x") == {"secret_access_key": "a+b/c+d=", "region": "x"}


def test_in_memory_a_name_means_the_same_store_every_time():
    assert open_blobs("memory://one")._store is open_blobs("memory://one")._store
    assert open_blobs("memory://one")._store is not open_blobs("memory://two")._store
