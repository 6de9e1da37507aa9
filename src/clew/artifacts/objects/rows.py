"""From rows to references, and from a tenant to its folder in the object store."""

import base64
import hashlib
from datetime import UTC
from typing import Any

from clew.artifacts.ref import ArtifactRef, Lifetime


def tenant_folder(tenant_id: str) -> str:
    """A tenant's folder: a digest, so that no tenant's name can lead out of it or into another's."""
    return base64.b32encode(hashlib.sha256(tenant_id.encode()).digest()).decode().lower()[:20]


def blob_key(tenant_id: str, blob_id: str) -> str:
    """Where an object is. Nothing in it comes from outside."""
    return f"{tenant_folder(tenant_id)}/{blob_id}"


def ref_of(row: tuple[Any, ...], sha256: bytes, size: int) -> ArtifactRef:
    """The reference in a row's first seven columns."""
    artifact_id, media_type, name, created_at, details, keep, keep_seconds = row[:7]
    moment = created_at.astimezone(UTC)
    return ArtifactRef(
        artifact_id, media_type, size, bytes(sha256).hex(), name, moment, details, Lifetime(keep, keep_seconds)
    )
