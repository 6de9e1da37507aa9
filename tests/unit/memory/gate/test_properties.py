"""What holds for every text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.memory.gate import Gate, Policy

from .labelled import SECRETS, labelled

PERSONAL = {
    "email": "ana.lopez@example.com",
    "card_number": "4242424242424242",
    "iban": "DE89370400440532013000",
    "ssn": "219-09-9999",
    "ip_address": "84.215.17.9",
    "phone_number": "+47 912 34 567",
}
SOURCES = st.sampled_from(["user", "tool", "agent"])
TREATMENTS = st.sampled_from(["keep", "redact", "refuse"])
POLICIES = st.builds(Policy, secrets=TREATMENTS, personal=TREATMENTS)
FORMS = sorted(
    set(SECRETS) - {"token", "aws_secret", "basic", "slack_hook", "db_url", "redis_url", "mongo_url", "amqp_url"}
)
CONTENTS = st.text() | st.sampled_from([row["content"] for row in labelled()])
REDACTS = Gate(Policy(secrets="redact", personal="redact"))


@given(CONTENTS, st.lists(CONTENTS, max_size=3), SOURCES, POLICIES)
@example("\ud800", ["\ud800"], "user", Policy())
def test_any_text_gets_a_verdict_and_the_same_one_again(content, recalled, source, policy):
    gate = Gate(policy)
    verdict = gate.check(content, recalled=recalled, source=source)
    assert (verdict.content is None) == (verdict.reason is not None)
    assert verdict == Gate(policy).check(content, recalled=list(recalled), source=source)


@given(st.lists(CONTENTS | st.sampled_from([*SECRETS.values(), *PERSONAL.values()]), max_size=4), SOURCES, POLICIES)
def test_what_was_kept_is_kept_again_unchanged(parts, source, policy):
    gate = Gate(policy)
    kept = gate.check(" ".join(parts), source=source).content
    if kept is not None:
        again = gate.check(kept, source=source)
        assert (again.content, again.redacted) == (kept, ())


@given(st.text(), st.sampled_from(FORMS), st.text())
def test_a_redaction_never_leaves_the_secret(before, form, after):
    secret = SECRETS[form]
    verdict = REDACTS.check(f"{before} {secret} {after}")
    assert verdict.content is None or secret not in verdict.content


@given(st.text(), st.sampled_from(sorted(PERSONAL)), st.text())
def test_a_redaction_never_leaves_the_personal_data(before, kind, after):
    verdict = REDACTS.check(f"{before} mine: {PERSONAL[kind]} {after}")
    assert verdict.content is None or PERSONAL[kind] not in verdict.content


@pytest.mark.parametrize(
    "row",
    [row for row in labelled() if row["expected"] in {"secret", "personal_data"}],
    ids=lambda r: r["content"][:20],
)
def test_every_labelled_secret_and_datum_can_be_redacted(row):
    verdict = REDACTS.check(row["content"], source=row["source"])
    assert verdict.reason == row["expected"] or verdict.redacted
    assert verdict.content is None or verdict.content != row["content"]
    assert not any(secret in (verdict.content or "") for secret in SECRETS.values())


@given(st.text(min_size=1), st.lists(st.text(), max_size=2))
def test_a_content_among_the_recalled_is_never_kept_unless_it_says_nothing(content, others):
    verdict = Gate().check(content, recalled=[*others, content])
    assert verdict.content is None or not any(char.isalnum() for char in verdict.content)
