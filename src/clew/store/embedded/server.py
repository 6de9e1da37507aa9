"""What a process that wants the embedded server does: take a lease, see that the server runs, learn how to reach it."""

import contextlib
import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from psycopg.conninfo import make_conninfo

from clew.errors import Unavailable
from clew.limits import SERVER_START_TIMEOUT_S
from clew.store.embedded.cluster import DATABASE, PORT, Cluster

_POLL_S: Final = 0.02
_KEEPER_STARTS: Final = 3


class EmbeddedServer:
    """A lease on the embedded server below a data folder. Every method may block for as long as PostgreSQL needs."""

    def __init__(self, data_dir: Path) -> None:
        self._cluster = Cluster(data_dir.absolute() / "postgres")
        self._lease: int | None = None

    @property
    def held(self) -> bool:
        """Whether this is a lease at the moment."""
        return self._lease is not None

    def acquire(self) -> None:
        """Hold the server up until `release`, or until this process ends in whatever way."""
        if self._lease is not None:
            return
        self._cluster.make_home()
        self._cluster.check_version()
        self._lease = os.open(self._cluster.home / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
        with contextlib.ExitStack() as undo:
            undo.callback(self.release)
            self._lock(self._lease)
            self.ensure()
            undo.pop_all()

    def release(self) -> None:
        """Give the lease back; the server stops if it was the last."""
        if self._lease is not None:
            os.close(self._lease)
            self._lease = None

    def ensure(self) -> str:
        """The folder of the socket that the running server listens on, after starting it if need be."""
        if self._lease is None:
            raise Unavailable("the embedded server was released", fix="Open the database again")
        deadline = time.monotonic() + SERVER_START_TIMEOUT_S
        keepers = 0
        while time.monotonic() < deadline:
            if self._kept():
                if (host := self._host()) and _answers(host):
                    return host
            elif keepers and self._cluster.failure.exists():
                raise Unavailable(self._cluster.failure.read_text(encoding="utf-8"))
            elif keepers < _KEEPER_STARTS:
                self._start_keeper()
                keepers += 1
            else:
                break
            time.sleep(_POLL_S)
        raise Unavailable(f"PostgreSQL did not start. Its log, {self._cluster.log}, ends:\n{self._cluster.log_tail()}")

    def conninfo(self, host: str, role: str) -> str:
        """How to connect as a role, once `ensure` said where."""
        return make_conninfo(
            host=host,
            port=PORT,
            dbname=DATABASE,
            user=role,
            password=self._cluster.password(role),
            # Said here so that PGHOSTADDR, PGOPTIONS and PGSSLMODE in the environment, meant for others, say nothing.
            hostaddr="",
            options="",
            sslmode="disable",
        )

    def _lock(self, lease: int) -> None:
        # A keeper that is stopping its server holds this lock; it takes a moment.
        deadline = time.monotonic() + SERVER_START_TIMEOUT_S
        while True:
            try:
                fcntl.flock(lease, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise Unavailable(f"a server below {self._cluster.home} has been stopping for too long") from None
                time.sleep(_POLL_S)

    def _kept(self) -> bool:
        """Whether a keeper lives: it holds its lock for as long as it does."""
        descriptor = os.open(self._cluster.home / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def _host(self) -> str | None:
        try:
            return str(json.loads(self._cluster.state.read_text(encoding="utf-8"))["host"])
        except (FileNotFoundError, ValueError, KeyError):
            return None

    def _start_keeper(self) -> None:
        """Start one and come back when it holds its lock, or found that another one does."""
        self._cluster.failure.unlink(missing_ok=True)
        with self._cluster.open_log() as log:
            subprocess.run(
                [sys.executable, "-m", "clew.store.embedded.keeper", str(self._cluster.home)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                check=False,  # whoever waits sees that nobody holds the lock, and has the log
                cwd="/",
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )


def _answers(host: str) -> bool:
    """Whether somebody listens there: a keeper needs a moment to notice that its server was killed."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(f"{host}/.s.PGSQL.{PORT}")
        except OSError:
            return False
    return True
