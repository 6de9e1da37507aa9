"""Every error a caller can see.

ClewError
├── InvalidInput             400   the request is malformed
├── NotFound                 404   absent, or another tenant's: never say which
├── Conflict                 409   the caller's version is stale
├── BudgetExceeded           422   pinned content alone does not fit the budget
├── ContextWindowExhausted   422   the model's window is full: hand the work over
├── Damaged                  500   stored bytes are gone or no longer what was stored
├── Unavailable              503   not reachable, or outcome unknown: retry with the same idempotency key
└── Misconfigured            500   the installation needs a hand before it can serve
    └── WallDown             500   a wall between tenants is down: Clew refuses to start

Each carries `code` (stable, for programs), `status` (for HTTP) and `retryable`. The text says what is wrong, where, and
what would be right; it never carries a secret or another tenant's name.
"""

from typing import Any, ClassVar


class ClewError(Exception):
    """Something went wrong in Clew."""

    code: ClassVar[str] = "error"
    status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, what: str | None = None, *, where: str | None = None, fix: str | None = None) -> None:
        self.what = what or (type(self).__doc__ or "").splitlines()[0].rstrip(".")
        self.where = where
        self.fix = fix
        super().__init__(self._text())

    def _text(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        return f"{text.rstrip('.')}. {self.fix}" if self.fix else text

    def as_dict(self) -> dict[str, Any]:
        """The one shape that every door renders."""
        return {"code": self.code, "message": str(self), "retryable": self.retryable}


class InvalidInput(ClewError):
    """The request is malformed."""

    code = "invalid_input"
    status = 400


class NotFound(ClewError):
    """There is no such thing here."""

    code = "not_found"
    status = 404


class Conflict(ClewError):
    """Someone else changed this first."""

    code = "conflict"
    status = 409


class BudgetExceeded(ClewError):
    """What must be kept does not fit the token budget."""

    code = "budget_exceeded"
    status = 422


class ContextWindowExhausted(ClewError):
    """The model's context window is full."""

    code = "context_window_exhausted"
    status = 422


class Damaged(ClewError):
    """What was stored can no longer be trusted."""

    code = "damaged"


class Unavailable(ClewError):
    """A service that Clew needs is not reachable."""

    code = "unavailable"
    status = 503
    retryable = True

    def __init__(
        self,
        what: str | None = None,
        *,
        where: str | None = None,
        fix: str | None = None,
        outcome_unknown: bool = False,
    ) -> None:
        self.outcome_unknown = outcome_unknown
        super().__init__(what, where=where, fix=fix)


class Misconfigured(ClewError):
    """The installation needs a hand before it can serve."""

    code = "misconfigured"


class WallDown(Misconfigured):
    """A wall between tenants is down."""

    code = "wall_down"
