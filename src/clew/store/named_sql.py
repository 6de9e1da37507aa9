"""SQL lives in `store/sql/*.sql`; each statement has a name, and a line that says why it is there."""

import re
from functools import cache
from importlib import resources
from typing import Final, LiteralString, cast

_NAME: Final = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


class Statements:
    """The statements of one file, as attributes."""

    def __init__(self, file: str, text: str) -> None:
        parts = _NAME.split(text)
        self._file = file
        self._named = {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}

    def __getattr__(self, name: str) -> LiteralString:
        try:
            # The text ships with the package: it is as literal as if it stood here.
            return cast(LiteralString, self._named[name])
        except KeyError:
            raise AttributeError(f"{self._file} has no statement named {name}") from None

    def __dir__(self) -> list[str]:
        return sorted(self._named)


@cache
def statements(file: str) -> Statements:
    """The statements of `store/sql/<file>.sql`."""
    return Statements(file, resources.files("clew.store").joinpath("sql", f"{file}.sql").read_text(encoding="utf-8"))
