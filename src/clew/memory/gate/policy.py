"""What to do with secrets and with personal data."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from clew.errors import InvalidInput

Treatment = Literal["keep", "redact", "refuse"]
_TREATMENTS: Final = get_args(Treatment)


@dataclass(frozen=True, slots=True)
class Policy:
    """Keep, redact or refuse, for each of the two groups.

    Secrets are refused unless said otherwise, because a key in a memory is a key in every prompt that recalls it.
    Personal data is kept, because "Ana's number is …" is what people ask a memory to hold.
    """

    secrets: Treatment = "refuse"
    personal: Treatment = "keep"


def checked(policy: object) -> Policy:
    """The policy itself, when it is one."""
    if not isinstance(policy, Policy):
        raise InvalidInput(
            f"expected a Policy, got {type(policy).__name__}", where="policy", fix='Give Policy(personal="redact")'
        )
    for name in ("secrets", "personal"):
        value = getattr(policy, name)
        if not isinstance(value, str) or value not in _TREATMENTS:
            raise InvalidInput(
                f"{ascii(value)[:40]} is not a treatment",
                where=f"policy.{name}",
                fix='Give "keep", "redact" or "refuse"',
            )
    return policy
