"""Tenants as Graphiti's groups. A group's id holds letters, digits, `-` and `_` only; a tenant's may hold more."""

import re
from typing import Final

from clew.errors import InvalidInput
from clew.ids import check_tenant_id

_ESCAPED: Final = re.compile(r"_([0-9a-f]{2})")
_PLAIN: Final = re.compile(r"[A-Za-z0-9-]")


def group_of(tenant_id: str) -> str:
    """The group of a tenant, which no other tenant has: what a group may not hold is `_` and its code in hex.

    `_` itself is written so too, so that nothing but an escape begins with it; FalkorDB's default group is a bare `_`.
    """
    checked = check_tenant_id(tenant_id)
    return "".join(one if _PLAIN.fullmatch(one) else f"_{ord(one):02x}" for one in checked)


def tenant_of(group_id: str) -> str:
    """The tenant whose group this is; a group that no tenant can have is `InvalidInput`."""
    tenant_id = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), group_id)
    if group_of(tenant_id) != group_id:
        raise InvalidInput("is not a tenant's group", where="group_id")
    return tenant_id
