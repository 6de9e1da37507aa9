"""The process that runs PostgreSQL while anybody holds a lease, and stops it after the last one.

A lease is a shared lock on `users.lock`, which the kernel releases however its holder ends. The keeper holds
`keeper.lock`, so there is one; it restarts PostgreSQL when that dies, and stops it when it can take `users.lock` for
itself. Should the keeper be killed, the kernel tells PostgreSQL to shut down, and the next lease starts another keeper.

Started by server.py as `python -m clew.store.embedded.keeper HOME`.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from typing import Final

import psutil

from clew.errors import ClewError, Unavailable
from clew.limits import SERVER_MAX_CRASHES_PER_MINUTE, SERVER_START_TIMEOUT_S, SERVER_STOP_TIMEOUT_S
from clew.store.embedded.cluster import ENVIRONMENT, PORT, Cluster, binary
from clew.store.embedded.identity import Identity

_POLL_S: Final = 0.1


def main() -> None:
    """Go into the background and keep the server whose home is the first argument."""
    cluster = Cluster(Path(sys.argv[1]))
    lock = os.open(cluster.home / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
    if not _took(lock, patience_s=1.0):
        return
    # The lock belongs to the open file, which the child inherits: whoever started us sees it held when we return.
    if os.fork():
        os._exit(0)
    os.setsid()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        keep(cluster)
    except (ClewError, OSError, psutil.Error) as error:
        cluster.failure.write_text(str(error), encoding="utf-8")


def keep(cluster: Cluster) -> None:
    """Run the server until nobody wants it."""
    cluster.failure.unlink(missing_ok=True)
    _forget_last_run(cluster)
    if not cluster.exists():
        cluster.create()
    sockets = cluster.make_socket_folder()
    users = os.open(cluster.home / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
    crashes: deque[float] = deque(maxlen=SERVER_MAX_CRASHES_PER_MINUTE)
    server = _start(cluster, sockets)
    try:
        while not _took(users):
            time.sleep(_POLL_S)
            if server.poll() is not None:
                cluster.state.unlink(missing_ok=True)
                _refuse_crash_loop(cluster, crashes)
                server = _start(cluster, sockets)
    finally:
        cluster.state.unlink(missing_ok=True)
        _stop(server)
        cluster.drop_socket_folder(sockets)


def _took(descriptor: int, patience_s: float = 0.0) -> bool:
    """Lock a file for ourselves alone, if nobody else holds it; those who only probe it let go at once."""
    deadline = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.005)


def _start(cluster: Cluster, sockets: Path) -> subprocess.Popen[bytes]:
    """A server that accepts connections, after whatever recovery it needs."""
    deadline = time.monotonic() + SERVER_START_TIMEOUT_S
    while True:
        _end_strays(cluster)
        _disown_pid_file(cluster)
        (sockets / f".s.PGSQL.{PORT}.lock").unlink(missing_ok=True)
        server = _launch(cluster, sockets)
        while server.poll() is None and time.monotonic() < deadline:
            if _is_ready(cluster, server.pid):
                _announce(cluster, sockets, server.pid)
                return server
            time.sleep(0.01)
        # Backends of a killed server may hold its shared memory a moment longer than it lived: try again.
        if time.monotonic() > deadline or "shared memory block" not in cluster.log_tail():
            _stop(server)
            raise Unavailable(f"PostgreSQL does not start. Its log, {cluster.log}, ends:\n{cluster.log_tail()}")
        time.sleep(_POLL_S)


def _launch(cluster: Cluster, sockets: Path) -> subprocess.Popen[bytes]:
    identity = Identity.for_folder(cluster.data)
    settings = {
        "listen_addresses": "",
        "port": str(PORT),
        "unix_socket_directories": str(sockets),
        "unix_socket_permissions": "0700",
        "max_connections": "200",
        "log_line_prefix": "%m [%p] ",
        # A backend that is not reading notices that its client has gone, and frees its locks.
        "client_connection_check_interval": "5s",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with cluster.open_log() as log:
        return subprocess.Popen(
            [binary("postgres"), "-D", cluster.data, *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=ENVIRONMENT,
            # Safe here: the keeper has one thread.
            preexec_fn=lambda: identity.become(die_with_parent=signal.SIGINT),  # noqa: PLW1509
        )


def _is_ready(cluster: Cluster, pid: int) -> bool:
    """PostgreSQL writes its state into the eighth line of its pid file; pg_ctl waits for the same."""
    try:
        lines = (cluster.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def _announce(cluster: Cluster, sockets: Path, pid: int) -> None:
    draft = cluster.state.with_suffix(".draft")
    draft.write_text(json.dumps({"host": str(sockets), "keeper_pid": os.getpid(), "server_pid": pid}), encoding="utf-8")
    draft.rename(cluster.state)


def _refuse_crash_loop(cluster: Cluster, crashes: deque[float]) -> None:
    now = time.monotonic()
    crashes.append(now)
    if len(crashes) == crashes.maxlen and now - crashes[0] < 60:
        raise Unavailable(f"PostgreSQL crashed {len(crashes)} times in a minute. Its log ends:\n{cluster.log_tail()}")


def _forget_last_run(cluster: Cluster) -> None:
    """Clear what a keeper that was killed could not."""
    with contextlib.suppress(FileNotFoundError, ValueError, KeyError):
        cluster.drop_socket_folder(Path(json.loads(cluster.state.read_text(encoding="utf-8"))["host"]))
    cluster.state.unlink(missing_ok=True)


def _end_strays(cluster: Cluster) -> None:
    """End processes of an earlier server in this data folder: two of them must never share it."""
    strays = []
    for process in psutil.process_iter(["name"]):
        with contextlib.suppress(psutil.Error):
            if process.info["name"] == "postgres" and process.cwd() == str(cluster.data.resolve()):
                process.send_signal(signal.SIGQUIT)
                strays.append(process)
    _, alive = psutil.wait_procs(strays, timeout=SERVER_STOP_TIMEOUT_S / 3)
    for process in alive:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(alive, timeout=SERVER_STOP_TIMEOUT_S / 3)


def _disown_pid_file(cluster: Cluster) -> None:
    """The pid in a stale one may be a zombie's, or by now a stranger's: PostgreSQL takes either for a living server.

    Our own, its parent's, it passes over; and it still looks at the shared memory that the file names.
    """
    path = cluster.data / "postmaster.pid"
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except FileNotFoundError:
        return
    if lines:
        path.write_text("".join([f"{os.getpid()}\n", *lines[1:]]), encoding="utf-8")
    else:
        path.unlink()


def _stop(server: subprocess.Popen[bytes]) -> None:
    """Shut down, politely first: SIGINT rolls back what is open and checkpoints, SIGQUIT leaves it to recovery."""
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if server.poll() is not None:
            return
        server.send_signal(how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(SERVER_STOP_TIMEOUT_S / 3)


if __name__ == "__main__":
    main()
