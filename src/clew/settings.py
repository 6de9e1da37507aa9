"""One frozen object with every setting, read once, that knows where each value came from."""

import dataclasses
import difflib
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit, urlunsplit

from platformdirs import user_data_path

from clew.errors import InvalidInput

DEFAULT: Final = "default"
ARTIFACT_SCHEMES: Final = ("file", "s3", "gs", "az", "memory")
_MODEL_OVERRIDE: Final = re.compile(r"CLEW_MODEL_([A-Z][A-Z0-9_]*)")


def _boolean(text: str) -> bool:
    match text.strip().lower():
        case "true" | "1" | "yes" | "on":
            return True
        case "false" | "0" | "no" | "off":
            return False
    raise ValueError("write true or false")


def _count(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise ValueError("write a whole number from 1 up")
    return value


def _fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise ValueError("write a number above 0 and up to 1")
    return value


def _folder(text: str) -> Path:
    if not text.strip() or "\0" in text:
        raise ValueError("write the path of a folder")
    return Path(text).expanduser().absolute()


Handling = Literal["keep", "redact", "refuse"]


def postgresql_url(text: str) -> str:
    """The text itself, when it is the URL of a PostgreSQL."""
    if urlsplit(text).scheme not in ("postgresql", "postgres"):
        raise ValueError("write postgresql://user:password@host:port/database")
    return text


def _name(text: str) -> str:
    if not text.strip():
        raise ValueError("write a name")
    return text.strip()


def _store_url(text: str) -> str:
    scheme = urlsplit(text).scheme
    if not text.strip() or (scheme and scheme not in ARTIFACT_SCHEMES):
        raise ValueError(f"write a folder, or a URL that begins with one of {', '.join(ARTIFACT_SCHEMES)}")
    return text


def _worker(text: str) -> str:
    if text not in ("in-process", "separate"):
        raise ValueError("write in-process or separate")
    return text


def _handling(text: str) -> Handling:
    known: dict[str, Handling] = {"keep": "keep", "redact": "redact", "refuse": "refuse"}
    if text not in known:
        raise ValueError("write keep, redact or refuse")
    return known[text]


def _setting(default: Any, parse: Callable[[str], Any], doc: str, *, also: str = "", secret: bool = False) -> Any:
    """A field, the text that documents it, and the other environment variable that sets it, when there is one."""
    made = {"default_factory": default} if callable(default) else {"default": default}
    about = {"parse": parse, "doc": doc, "also": also, "secret": secret}
    return dataclasses.field(**made, repr=not secret, metadata=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set from outside. `Settings.load()` reads the environment; the constructor takes values."""

    database_url: str | None = _setting(
        None, postgresql_url, "PostgreSQL to use; without one, the embedded server.", also="DATABASE_URL", secret=True
    )
    data_dir: Path = _setting(
        lambda: user_data_path("clew"), _folder, "Where the embedded server and downloaded models live."
    )
    pool_size: int = _setting(10, _count, "Connections to PostgreSQL that one process may hold.")
    embedding_model: str = _setting(
        "static", _name, "What turns text into vectors: static, minilm, openai:…, litellm:…"
    )
    reranker: str | None = _setting(
        None, _name, "What puts found memories into a better order: voyage:…, cohere:…, jina:…, local:…"
    )
    artifacts_url: str | None = _setting(
        None,
        _store_url,
        "Where big results are kept: a folder, s3://…, gs://… or az://…; without one, a folder in CLEW_DATA_DIR.",
        secret=True,
    )
    compact_messages: int = _setting(20, _count, "Messages in a thread's view past which older turns are summarised.")
    compact_tokens: int = _setting(100_000, _count, "Tokens in a thread's view past which it is made smaller.")
    compact_keep_recent: int = _setting(10, _count, "The newest messages, which always stay as they are.")
    write_back: bool = _setting(True, _boolean, "Learn facts and standing instructions from what users say in threads.")
    memory_secrets: Handling = _setting(
        "refuse", _handling, "Keys and passwords in what would be learnt: keep, redact or refuse."
    )
    memory_personal_data: Handling = _setting(
        "keep", _handling, "E-mail addresses, phone and card numbers in what would be learnt: keep, redact or refuse."
    )
    worker: str = _setting(
        "in-process", _worker, "Who does background work: in-process, or separate for a `clew worker` of its own."
    )
    models: Path | None = _setting(None, _folder, "The models.yaml to read.")
    enable_lifecycle_management: bool = _setting(
        True, _boolean, "Track agents' windows and hand over when they fill.", also="ENABLE_LIFECYCLE_MANAGEMENT"
    )
    enable_handoff_markdown: bool = _setting(
        False, _boolean, "Also write each handoff as a markdown file.", also="ENABLE_HANDOFF_MARKDOWN"
    )
    handoff_markdown_path: Path | None = _setting(
        None, _folder, "Folder for those markdown files.", also="HANDOFF_MARKDOWN_PATH"
    )
    warning_threshold: float = _setting(
        0.75, _fraction, "Share of the window at which an agent is warned.", also="WARNING_THRESHOLD"
    )
    critical_threshold: float = _setting(
        0.90, _fraction, "Share of the window at which an agent must hand over.", also="CRITICAL_THRESHOLD"
    )
    context_window_limit: int = _setting(200_000, _count, "Tokens in a model's window.", also="CONTEXT_WINDOW_LIMIT")
    model_overrides: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}))
    sources: Mapping[str, str] = dataclasses.field(default_factory=lambda: MappingProxyType({}), compare=False)

    def __post_init__(self) -> None:
        if self.warning_threshold >= self.critical_threshold:
            raise InvalidInput(
                f"WARNING_THRESHOLD ({self.warning_threshold}) must be below "
                f"CRITICAL_THRESHOLD ({self.critical_threshold})"
            )

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """The settings of this environment; a variable that is malformed or unknown stops the start."""
        environ = os.environ if environ is None else environ
        _refuse_unknown(environ)
        values: dict[str, Any] = {}
        sources: dict[str, str] = {}
        for field in described():
            for variable in variables(field):
                if variable in environ:
                    values[field.name] = _parsed(field, variable, environ[variable])
                    sources[field.name] = variable
                    break
        overrides = {found[1].lower(): environ[name] for name in environ if (found := _MODEL_OVERRIDE.fullmatch(name))}
        return cls(**values, model_overrides=MappingProxyType(overrides), sources=MappingProxyType(sources))

    def source(self, name: str) -> str:
        """The environment variable a value came from, or `default`."""
        return self.sources.get(name, DEFAULT)

    def shown(self, name: str) -> str | int | float | bool | None:
        """A value as it may be printed: secrets masked."""
        value = getattr(self, name)
        if value is None or isinstance(value, bool | int | float):
            return value
        return mask_url(str(value)) if name in ("database_url", "artifacts_url") else str(value)


def described() -> list[dataclasses.Field[Any]]:
    """The fields that an environment variable sets, in the order to show them."""
    return [field for field in dataclasses.fields(Settings) if "parse" in field.metadata]


def variables(field: dataclasses.Field[Any]) -> list[str]:
    """The environment variables of a field; the first one set wins."""
    return [f"CLEW_{field.name.upper()}", *filter(None, [field.metadata["also"]])]


def mask_url(url: str) -> str:
    """The URL with its password, and any secret in its query, unreadable."""
    parts = urlsplit(url)
    netloc = re.sub(r":[^:@]*@", ":***@", parts.netloc)
    query = re.sub(r"(?i)((?:ssl)?password=|[^&=]*(?:secret|token|account_key|sas)[^&=]*=)[^&]*", r"\1***", parts.query)
    return urlunsplit(parts._replace(netloc=netloc, query=query))


def _parsed(field: dataclasses.Field[Any], variable: str, text: str) -> Any:
    try:
        return field.metadata["parse"](text)
    except ValueError as error:
        shown = "its value" if field.metadata["secret"] else repr(text)
        raise InvalidInput(f"{shown} won't do: {error}", where=variable) from None


def _refuse_unknown(environ: Mapping[str, str]) -> None:
    known = [variable for field in described() for variable in variables(field)]
    for name in sorted(environ):
        if not name.startswith("CLEW_") or name in known or _MODEL_OVERRIDE.fullmatch(name):
            continue
        nearest = difflib.get_close_matches(name, known, n=1, cutoff=0.0)[0]
        raise InvalidInput(f"{name} is not a setting", fix=f"Did you mean {nearest}? `clew settings` lists them all")
