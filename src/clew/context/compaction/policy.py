"""When a view is compacted, how deep the cut goes, and what a summary may cost."""

from dataclasses import dataclass
from typing import Final

from clew.errors import InvalidInput
from clew.limits import check_count

MESSAGES_MAX: Final = 1_000_000
TOKENS_MAX: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Policy:
    """The thresholds of a compaction and what it must keep. Equal policies compact equal logs equally."""

    threshold_messages: int = 20
    """A view with more messages than this after its summary is due."""
    keep_recent: int = 10
    """The newest messages of the log, which stay word for word."""
    threshold_tokens: int = 100_000
    """A view that costs more than this is due."""
    keep_share: float = 0.9
    """The share of the probes that a summary must keep."""
    exact_numbers: int = 40
    """Up to so many numbers in what it replaces, a summary must keep every one; beyond, `keep_share` of them."""
    target_share: float = 0.5
    """The share of `threshold_tokens` at which clearing results is enough, so that the next cut is far off."""
    least_saved_share: float = 0.05
    """The share of `threshold_tokens` that a cut for tokens alone must save: a cut costs the provider's cache."""
    summary_share: float = 0.3
    """How much of what it newly replaces a summary may cost."""
    summary_min_tokens: int = 260
    """What a summary may grow by even when that share is less, while it stays smaller than what it replaces."""
    summary_max_tokens: int = 4_000
    """What it never grows past."""

    def __post_init__(self) -> None:
        check_count(self.threshold_messages, "threshold_messages", least=2, most=MESSAGES_MAX)
        check_count(self.keep_recent, "keep_recent", most=MESSAGES_MAX)
        check_count(self.threshold_tokens, "threshold_tokens", most=TOKENS_MAX)
        check_count(self.exact_numbers, "exact_numbers", least=0, most=MESSAGES_MAX)
        check_count(self.summary_min_tokens, "summary_min_tokens", most=TOKENS_MAX)
        check_count(self.summary_max_tokens, "summary_max_tokens", least=self.summary_min_tokens, most=TOKENS_MAX)
        for name in ("keep_share", "target_share", "least_saved_share", "summary_share"):
            _check_share(getattr(self, name), name)
        if self.keep_recent >= self.threshold_messages:
            raise InvalidInput(
                f"{self.keep_recent:,} messages are kept, and a view is due past {self.threshold_messages:,}",
                where="keep_recent",
                fix="Keep fewer messages than the threshold, or nothing can ever be replaced",
            )

    @property
    def target_tokens(self) -> int:
        """Where clearing results may stop."""
        return int(self.threshold_tokens * self.target_share)

    @property
    def least_replaced(self) -> int:
        """How many messages a cut for their number must replace: half of what it usually does."""
        return -(-(self.threshold_messages - self.keep_recent) // 2)

    @property
    def least_saved_tokens(self) -> int:
        """What a cut for tokens alone must save."""
        return max(1, int(self.threshold_tokens * self.least_saved_share))


def _check_share(value: object, where: str) -> None:
    # A NaN is in no range.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"{ascii(value)[:40]} is not a share", where=where, fix="Use a number from 0 to 1")
