"""The labelled contents, and the secrets in them: put together here, so that no scanner takes the file for a leak."""

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[3] / "data" / "gate.jsonl"

_RANDOM = "q7Zk2Vw9Xb4Nf8Rt1Ys6Lm3Pd5Hc0JgAeUiOo"
_JWT_HEAD = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
_JWT_BODY = base64.urlsafe_b64encode(b'{"sub":"ana","exp":1893456000}').decode().rstrip("=")
_AWS_ID = "AK" + "IA" + "Q7ZK2VW9XB4NF8RT"
SECRETS = {
    "openai": "s" + "k-" + _RANDOM + "9a8B7c6D5e4F",
    "openai_project": "s" + "k-pr" + "oj-" + _RANDOM + "_" + _RANDOM[::-1],
    "anthropic": "s" + "k-a" + "nt-api03-" + _RANDOM + "-" + _RANDOM[::-1] + "AA",
    "aws_id": _AWS_ID,
    "aws_id_wide": "".join(chr(ord(char) + 0xFEE0) for char in _AWS_ID),
    "aws_secret": _RANDOM[:20] + "/" + _RANDOM[10:29],
    "ghp": "gh" + "p_" + _RANDOM[:36],
    "github_pat": "github" + "_pat_" + _RANDOM[:22] + "_" + _RANDOM,
    "gitlab": "gl" + "pat-" + _RANDOM[:20],
    "slack": "xo" + "xb-" + "123456789012-" + _RANDOM[:24],
    "google": "AI" + "za" + _RANDOM[:35],
    "stripe": "s" + "k_li" + "ve_" + _RANDOM[:24],
    "sendgrid": "S" + "G." + _RANDOM[:22] + "." + _RANDOM + "AbCdEf",
    "huggingface": "h" + "f_" + _RANDOM[:34],
    "jwt": f"{_JWT_HEAD}.{_JWT_BODY}.{_RANDOM}",
    "token": _RANDOM[:32],
    "pem": "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + _RANDOM + "\n" + _RANDOM + "\n-----END RSA PRIV" + "ATE KEY-----",
    "db_url": "postgres://app:" + "Vw9Xb4Nf" + "@db.acme.example:5432/main",
    "mongo_url": "mongodb+srv://crm:" + "Rt1Ys6Lm" + "@cluster0.acme.example/crm",
    "amqp_url": "amqps://worker:" + "Pd5Hc0Jg" + "@mq.acme.example/jobs",
    "basic": base64.b64encode(b"ana:" + b"Vw9Xb4Nf8Rt1").decode(),
    "slack_hook": "slack.com/serv" + "ices/T0Q7ZK2VW/B9XB4NF8R/" + _RANDOM[:24],
    "npm": "np" + "m_" + _RANDOM[:36],
    "pem_ec": "-----BEGIN EC PRIV" + "ATE KEY-----\n" + _RANDOM,
    "whsec": "wh" + "sec_" + _RANDOM[:32],
    "twilio": "S" + "K" + "0123456789abcdef" * 2,
    "redis_url": "redis://:" + "q7Zk2Vw9" + "@cache.acme.example:6379/0",
}
_PLACE = re.compile(r"⟦(\w+)⟧")


@cache
def labelled(*, held_out: bool | None = None) -> tuple[dict[str, Any], ...]:
    """Each with `content`, `source`, `recalled` and the `expected` reason; all, or one of the two halves."""
    rows = [json.loads(line) for line in DATA.read_text().splitlines()]
    for row in rows:
        row["content"] = _PLACE.sub(lambda place: SECRETS[place[1]], row["content"])
        row.setdefault("recalled", [])
    return tuple(row for row in rows if held_out in (None, row["held_out"]))
