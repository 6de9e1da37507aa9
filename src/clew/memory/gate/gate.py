"""The gate itself: the checks, in the order in which their reasons count."""

from collections.abc import Sequence
from typing import Final, get_args

from clew.errors import InvalidInput
from clew.memory.gate.junk import is_junk
from clew.memory.gate.personal import personal_spans
from clew.memory.gate.policy import Policy, Treatment, checked
from clew.memory.gate.recalled import says_nothing_new
from clew.memory.gate.secrets import SECRET_KINDS, secret_spans
from clew.memory.gate.spans import Span, kinds, without
from clew.memory.gate.steering import steers
from clew.memory.gate.verdict import Reason, Source, Verdict
from clew.memory.gate.wishes import overreaches

CONTENT_MAX_CHARS: Final = 20_000
# What a redaction leaves is looked at again until nothing more is found. Two rounds are the rule; a text that needs
# more than this was made to, and is refused. So is one that its redactions make too long.
ROUNDS_MAX: Final = 6

_DEFAULT: Final = Policy()
_SOURCES: Final = get_args(Source)


class Gate:
    """Says of each content whether it may be kept, and in which words. It has no state and looks nothing up."""

    def __init__(self, policy: Policy = _DEFAULT) -> None:
        self._policy = checked(policy)

    @property
    def policy(self) -> Policy:
        """What it does with secrets and personal data."""
        return self._policy

    def check(self, content: str, *, recalled: Sequence[str] = (), source: Source = "user") -> Verdict:
        """What may be kept of a content; `recalled` are the texts that the model was shown.

        A content that was kept is kept again, unchanged, when what came out is checked once more.
        """
        _check_arguments(recalled, source)
        if not _readable(content):
            return Verdict(None, "unreadable")
        redacted: tuple[str, ...] = ()
        for _ in range(ROUNDS_MAX):
            reason, spans = self._look(content, source)
            if reason is not None:
                return Verdict(None, _first_reason(reason, redacted))
            if not spans:
                return _last_look(content, recalled, redacted)
            content = without(content, spans)
            redacted = tuple(dict.fromkeys(redacted + kinds(spans)))
            if len(content) > CONTENT_MAX_CHARS:
                break
        return Verdict(None, _group(redacted))

    def check_wish(self, text: str, *, forbids: bool = False) -> Verdict:
        """Whether what a user wants of every answer may stand in the system message: style and manner, and no more."""
        if not _readable(text):
            return Verdict(None, "unreadable")
        return Verdict(None, "instruction") if overreaches(text, forbids=forbids) else Verdict(text)

    def _look(self, content: str, source: Source) -> tuple[Reason | None, list[Span]]:
        """Why it is refused, or else what has to be taken out first."""
        if steers(content, source):
            return "instruction", []
        reason, spans = _treat(content, self._policy.secrets, "secret")
        if reason or spans:
            return reason, spans
        if is_junk(content):
            return "junk", []
        return _treat(content, self._policy.personal, "personal_data")


def _treat(content: str, treatment: Treatment, group: Reason) -> tuple[Reason | None, list[Span]]:
    if treatment == "keep":
        return None, []
    spans = secret_spans(content) if group == "secret" else personal_spans(content)
    return (group, []) if spans and treatment == "refuse" else (None, spans)


def _last_look(content: str, recalled: Sequence[str], redacted: tuple[str, ...]) -> Verdict:
    if says_nothing_new(content, recalled):
        return Verdict(None, "recalled")
    return Verdict(content, redacted=redacted)


def _first_reason(reason: Reason, redacted: tuple[str, ...]) -> Reason:
    """Where a redaction leaves nothing to keep, what was redacted is the reason, not the emptiness."""
    return _group(redacted) if reason == "junk" and redacted else reason


def _group(redacted: tuple[str, ...]) -> Reason:
    return "secret" if redacted[0] in SECRET_KINDS else "personal_data"


def _readable(content: object) -> bool:
    if not isinstance(content, str) or len(content) > CONTENT_MAX_CHARS or "\0" in content:
        return False
    return not any("\ud800" <= char <= "\udfff" for char in content) if not content.isascii() else True


def _check_arguments(recalled: object, source: object) -> None:
    if isinstance(recalled, str) or not isinstance(recalled, Sequence):
        raise InvalidInput("expected a list of texts", where="recalled", fix="Give the texts that the model was shown")
    if source not in _SOURCES:
        raise InvalidInput(
            f"{ascii(source)[:40]} is not a source", where="source", fix='Give "user", "tool" or "agent"'
        )
