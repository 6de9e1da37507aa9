"""`ArtifactStore`: each tenant's big results, by reference."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from clew.artifacts.objects.blobs import Blobs
from clew.artifacts.objects.checks import check_artifact_id, check_data, check_details, check_media_type, check_name
from clew.artifacts.objects.collecting import ORPHAN_GRACE_S, Collector
from clew.artifacts.objects.deep import DeepCollector
from clew.artifacts.objects.owners import leave_mark
from clew.artifacts.objects.places import check_url, open_blobs
from clew.artifacts.objects.reading import Reader
from clew.artifacts.objects.rows import ref_of
from clew.artifacts.objects.writing import Label, Writer
from clew.artifacts.ref import LIFETIME_MAX_S, Artifact, ArtifactRef, Collected, Lifetime
from clew.artifacts.test_results.watching import Watch, shown_to
from clew.errors import Damaged, InvalidInput
from clew.ids import check_tenant_id, new_id
from clew.limits import check_count
from clew.settings import Settings
from clew.store.database import Database
from clew.store.named_sql import statements
from clew.store.room import Room

LIST_MAX: Final = 1_000
OFFSET_MAX: Final = 1_000_000
POSITION_MAX: Final = 2**62
_SQL: Final = statements("artifacts")

Keep = str | timedelta | Lifetime


class ArtifactStore(Room):
    """Big results, out of the window and one reference away.

        async with clew.ArtifactStore() as artifacts:     # CLEW_ARTIFACTS_URL, else a folder in CLEW_DATA_DIR
            ref = await artifacts.put(screenshot, media_type="image/png", tenant_id="acme")
            same = await artifacts.get(ref.artifact_id, tenant_id="acme")

    The same bytes of a tenant are stored once; two tenants never share any. `url` is a folder, `s3://…`, `gs://…`,
    `az://…` or `memory://`.
    """

    def __init__(
        self,
        database: str | Database | Room | None = None,
        *,
        url: str | None = None,
        settings: Settings | None = None,
        grace_s: int = ORPHAN_GRACE_S,
    ) -> None:
        super().__init__(database, settings=settings)
        chosen = self._database.settings if settings is None else settings
        given = chosen.artifacts_url if url is None else url
        self._url = str(chosen.data_dir / "artifacts") if given is None else check_url(given)
        self._blobs: Blobs | None = None
        self._marked = False
        self.grace_s = check_count(grace_s, "grace_s", least=0, most=LIFETIME_MAX_S)
        """Nothing is collected that was stored or used within so many seconds."""
        self.on_lifetime: Callable[[str, int], Awaitable[None]] | None = None
        """Told the tenant and the seconds when something is stored that will not be kept for ever."""

    async def put(
        self,
        data: bytes | str,
        *,
        media_type: str,
        name: str | None = None,
        tenant_id: str = "default",
        keep: Keep = "forever",
        details: Mapping[str, Any] | None = None,
    ) -> ArtifactRef:
        """Store bytes, or a text as UTF-8; what comes back leads to them for as long as `keep` says, after a crash too.

        The same bytes again are the same artifact, kept for as long as either call wanted.
        """
        label, checked = _label(media_type, name, details, keep), check_data(data)
        return await self._noted(tenant_id, await (await self._writer(tenant_id)).put(checked, label))

    async def put_stream(
        self,
        chunks: AsyncIterable[bytes],
        *,
        media_type: str,
        name: str | None = None,
        tenant_id: str = "default",
        keep: Keep = "forever",
        details: Mapping[str, Any] | None = None,
    ) -> ArtifactRef:
        """The same for bytes that come in pieces and may be more than fit in memory."""
        if not isinstance(chunks, AsyncIterable):
            raise InvalidInput(f"expected an async iterable of bytes, got {type(chunks).__name__}", where="chunks")
        label = _label(media_type, name, details, keep)
        return await self._noted(tenant_id, await (await self._writer(tenant_id)).put_stream(chunks, label))

    async def get(self, artifact_id: str, *, tenant_id: str = "default") -> Artifact:
        """An artifact, whole. `NotFound` when there is none; `Damaged` when its bytes are not what was stored."""
        ref, data = await (await self._reader(artifact_id, tenant_id)).whole()
        return Artifact(ref, data)

    async def stat(self, artifact_id: str, *, tenant_id: str = "default") -> ArtifactRef:
        """What is known of an artifact without reading it."""
        return (await (await self._reader(artifact_id, tenant_id)).found())[0]

    async def read(
        self, artifact_id: str, start: int = 0, length: int | None = None, *, tenant_id: str = "default"
    ) -> bytes:
        """So many bytes from there on, fewer at the end. Only the stretches they are in are fetched, and checked."""
        check_count(start, "start", least=0, most=POSITION_MAX)
        if length is not None:
            check_count(length, "length", least=0, most=POSITION_MAX)
        return await (await self._reader(artifact_id, tenant_id)).part(start, length)

    async def stream(self, artifact_id: str, *, tenant_id: str = "default") -> AsyncIterator[bytes]:
        """An artifact of any size, in pieces that are each checked before they are handed on."""
        async for chunk in (await self._reader(artifact_id, tenant_id)).stream():
            yield chunk

    async def list(self, *, tenant_id: str = "default", limit: int = 50, offset: int = 0) -> "list[ArtifactRef]":
        """The tenant's artifacts, newest first."""
        page = {
            "tenant_id": check_tenant_id(tenant_id),
            "limit": check_count(limit, "limit", most=LIST_MAX),
            "offset": check_count(offset, "offset", least=0, most=OFFSET_MAX),
        }
        async with (await self.opened()).tenant(tenant_id) as connection:
            rows = await (await connection.execute(_SQL.newest, page)).fetchall()
        return [ref_of(row, *row[7:9]) for row in rows]

    async def collect(self, *, tenant_id: str = "default", dry_run: bool = False, deep: bool = False) -> Collected:
        """Remove what is past its lifetime and named by no conversation, and what interrupted work left; what went.

        Nothing goes that was stored or used within the last hour (`grace_s`). `deep` also looks through the objects
        themselves: those without a row go, unless another database keeps its own here too, and artifacts that have
        lost theirs are told in `damaged`.
        """
        check_tenant_id(tenant_id)
        where = (await self.opened(), self._opened_blobs(), tenant_id)
        done = await Collector(*where, grace_s=self.grace_s, dry_run=dry_run).collect()
        if deep:
            done += await DeepCollector(*where, grace_s=self.grace_s, dry_run=dry_run).collect()
        return done

    async def store_test_result(
        self,
        full_result: dict[str, Any],
        *,
        tenant_id: str = "default",
        watch: Watch | None = None,
        keep: Keep = "forever",
    ) -> dict[str, Any]:
        """The same dict made light: images and long texts are artifacts, listed under `_artifact_refs`.

        `watch` gets the full result before anything is stored: a web page can show what no window could hold.
        """
        from clew.artifacts.test_results.light import lighten

        check_tenant_id(tenant_id)
        if not isinstance(full_result, dict):
            raise InvalidInput(f"expected a dict, got {type(full_result).__name__}", where="full_result")
        if watch is not None:
            await shown_to(watch, full_result)
        return await lighten(full_result, partial(self.put, tenant_id=tenant_id, keep=Lifetime.of(keep)))

    async def next_ending_s(self, *, tenant_id: str = "default") -> int | None:
        """The seconds until a lifetime ends; 0 when some have ended, and None when everything is kept for ever."""
        where = {"tenant_id": check_tenant_id(tenant_id)}
        async with (await self.opened()).tenant(tenant_id) as connection:
            row = await (await connection.execute(_SQL.next_ending, where)).fetchone()
        return None if row is None else row[0]

    async def probe(self) -> str:
        """Write, read and delete a small object; where that was. What is wrong with the place is raised."""
        blobs, key, data = self._opened_blobs(), f"probe/{new_id()}", b"Is anybody there?"
        await blobs.write(key, data)
        try:
            if await blobs.read(key, 0, len(data)) != data:
                raise Damaged("the object store gives back other bytes than it was given")
        finally:
            await blobs.delete(key)
        return blobs.address

    async def _noted(self, tenant_id: str, ref: ArtifactRef) -> ArtifactRef:
        if self.on_lifetime is not None and ref.keep.seconds is not None:
            await self.on_lifetime(tenant_id, ref.keep.seconds)
        return ref

    async def _writer(self, tenant_id: str) -> Writer:
        check_tenant_id(tenant_id)
        database, blobs = await self.opened(), self._opened_blobs()
        if not self._marked:
            await leave_mark(database, blobs, tenant_id)
            self._marked = True
        return Writer(database, blobs, tenant_id)

    async def _reader(self, artifact_id: str, tenant_id: str) -> Reader:
        artifact_id, tenant_id = check_artifact_id(artifact_id), check_tenant_id(tenant_id)
        return Reader(await self.opened(), self._opened_blobs(), tenant_id, artifact_id)

    def _opened_blobs(self) -> Blobs:
        if self._blobs is None:
            self._blobs = open_blobs(self._url)
        return self._blobs


def _label(media_type: object, name: object, details: object, keep: Keep) -> Label:
    return Label(check_media_type(media_type), check_name(name), check_details(details), Lifetime.of(keep))
