"""Tenants: the same bytes are two objects, and an id of another's is an id of nobody's."""

import pytest

from clew.errors import NotFound

SECRET = b"the same bytes in both tenants"


async def test_another_tenants_id_is_not_found_everywhere(store, tenant, other):
    ref = await store.put(SECRET, media_type="text/plain", tenant_id=tenant)
    for call in (store.get, store.stat, store.read):
        with pytest.raises(NotFound) as theirs:
            await call(ref.artifact_id, tenant_id=other)
        with pytest.raises(NotFound) as nobodys:
            await call("art_" + "a" * 16, tenant_id=other)
        assert str(theirs.value).replace(ref.artifact_id, "…") == str(nobodys.value).replace("art_" + "a" * 16, "…")
        assert await call(ref.artifact_id, tenant_id=tenant), "its own tenant finds it"
    with pytest.raises(NotFound):
        async for _ in store.stream(ref.artifact_id, tenant_id=other):
            pass
    assert await store.list(tenant_id=other) == []
    assert len(await store.list(tenant_id=tenant)) == 1


async def test_the_same_bytes_of_two_tenants_are_two_objects_in_two_folders(store, tenant, other, objects):
    mine = await store.put(SECRET, media_type="text/plain", tenant_id=tenant)
    theirs = await store.put(SECRET, media_type="text/plain", tenant_id=other)
    assert mine.artifact_id == theirs.artifact_id, "the id comes from the bytes, so it tells nothing of who has them"
    paths = objects()
    assert len(paths) == len({path.parent for path in paths}) == 2
    assert not any(tenant in str(path) or other in str(path) for path in paths)


async def test_what_one_tenant_loses_the_other_keeps(store, eager, tenant, other, objects):
    mine = await store.put(SECRET, media_type="text/plain", tenant_id=tenant, keep="ttl:0s")
    theirs = await store.put(SECRET, media_type="text/plain", tenant_id=other, keep="ttl:0s")
    done = await eager.collect(tenant_id=tenant, deep=True)
    assert done.expired == (mine.artifact_id,)
    assert len(objects()) == 1
    assert (await store.get(theirs.artifact_id, tenant_id=other)).data == SECRET
    with pytest.raises(NotFound):
        await store.get(mine.artifact_id, tenant_id=tenant)


async def test_a_damaged_object_of_one_is_no_damage_of_the_other(store, tenant, other, objects):
    mine = await store.put(SECRET, media_type="text/plain", tenant_id=tenant)
    [path] = objects()
    await store.put(SECRET, media_type="text/plain", tenant_id=other)
    path.unlink()
    assert (await store.get(mine.artifact_id, tenant_id=other)).data == SECRET
