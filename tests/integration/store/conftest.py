"""Processes that share an embedded server, folders to keep one in, plain servers, a proxy that cuts lines."""

import asyncio
import contextlib
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from clew.store.embedded.cluster import binary
from clew.store.embedded.identity import Identity
from clew.store.jobs import Jobs

from .recorder import Recorder

# Generous: a busy machine may need most of it, an idle one needs none.
PATIENCE_S = 60.0


def eventually(holds: Callable[[], Any], what: str = "", patience_s: float = PATIENCE_S) -> Any:
    """Wait until something holds, and return it; fail with what was hoped for."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if value := holds():
            return value
        time.sleep(0.02)
    pytest.fail(f"not within {patience_s:.0f} s: {what or holds}")


@dataclass
class Folder:
    """A data folder, and the processes that live off it."""

    data_dir: Path

    @property
    def home(self) -> Path:
        return self.data_dir / "postgres"

    def processes(self) -> list[psutil.Process]:
        """Every PostgreSQL process that works in this folder."""
        found = []
        for process in psutil.process_iter(["name"]):
            with contextlib.suppress(psutil.Error):
                if process.info["name"] == "postgres" and process.cwd() == str((self.home / "data").resolve()):
                    found.append(process)
        return found

    def postmasters(self) -> list[int]:
        """Those that no other PostgreSQL process started, the parents of the rest."""
        found = self.processes()
        pids = {process.pid for process in found}
        masters = []
        for process in found:
            # A backend whose postmaster was killed has a new parent; its title tells it from a postmaster.
            with contextlib.suppress(psutil.Error):
                if process.ppid() not in pids and "-D" in process.cmdline():
                    masters.append(process.pid)
        return masters

    def keepers(self) -> list[int]:
        """The processes that run the server for everybody."""
        found = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                command = process.cmdline()
                if "clew.store.embedded.keeper" in command and command[-1] == str(self.home):
                    found.append(process.pid)
        return found

    def kill_tree(self) -> None:
        """The postmaster first: it would bury its children and start anew."""
        for pid in self.postmasters():
            kill(pid)
        for process in self.processes():
            kill(process.pid)

    def is_idle(self) -> bool:
        return not self.processes() and not self.keepers()

    def state(self) -> dict[str, Any]:
        return json.loads((self.home / "server.json").read_text())

    def modes(self) -> dict[str, int]:
        """The permissions and owner of every folder above the data folder."""
        return {
            str(parent): (parent.stat().st_mode, parent.stat().st_uid, parent.stat().st_gid)
            for parent in self.data_dir.parents
        }

    def clear(self) -> None:
        """Wait for the server to end by itself, and see to it if it does not."""
        with contextlib.suppress(pytest.fail.Exception):
            eventually(self.is_idle, "everybody has gone", patience_s=15)
        for pid in self.keepers():
            kill(pid)
        self.kill_tree()


def kill(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


class User:
    """A process of user_process.py."""

    def __init__(self, data_dir: Path, *, python: str = sys.executable, uid: int | None = None, **env: str) -> None:
        path = os.pathsep.join(filter(None, sys.path))
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("CLEW_")}
        ids: dict[str, Any] = {} if uid is None else {"user": uid, "group": uid, "extra_groups": []}
        self.process = subprocess.Popen(
            [python, str(Path(__file__).with_name("user_process.py")), str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**inherited, "PYTHONPATH": path, **env},
            **ids,
        )

    @property
    def pid(self) -> int:
        return self.process.pid

    def ready(self) -> int:
        """The pid of the postmaster that this process was served by when it had opened the database."""
        line = self.process.stdout.readline()
        if not line.startswith("ready "):
            pytest.fail(f"a user did not start: {line}{self.process.stderr.read()}")
        return int(line.split()[1])

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def quit(self) -> int:
        """Leave as one should; the exit status."""
        _, errors = self.process.communicate("quit\n", timeout=PATIENCE_S)
        return self.process.returncode if not errors else pytest.fail(errors)

    def die(self) -> None:
        """Leave without a word."""
        kill(self.pid)
        self.process.communicate()


@pytest.fixture(scope="session")
def wait_until() -> Callable[..., Any]:
    return eventually


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Folder]:
    """A data folder that does not exist yet; whatever ran in it has ended when the test has."""
    folder = Folder(tmp_path / "clew")
    yield folder
    folder.clear()


@pytest.fixture
def folder_at(open_folder: Path) -> Iterator[Callable[[Path], Folder]]:
    """Such a folder, wherever one likes; it asks for `open_folder`, so that this is removed after the server ended."""
    folders: list[Folder] = []

    def at(path: Path) -> Folder:
        folders.append(Folder(path))
        return folders[-1]

    yield at
    for folder in folders:
        folder.clear()


@pytest.fixture
def start_user(folder: Folder) -> Iterator[Callable[..., User]]:
    """Starts processes that open the embedded database; those still alive when the test ends are killed.

    It asks for `folder`, so that they have gone before the folder is cleared.
    """
    users: list[User] = []

    def start(data_dir: Path, **options: Any) -> User:
        users.append(User(data_dir, **options))
        return users[-1]

    yield start
    for user in users:
        user.die()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A new folder that every account on the machine may enter, as tmp_path is not."""
    path = Path(tempfile.mkdtemp(prefix="clew-test-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Account:
    """Somebody else on this machine, and a Python that they can run."""

    uid: int
    python: str


@pytest.fixture(scope="session")
def other_account() -> Account:
    """Only root can become somebody else; and that somebody must be able to start Python."""
    if os.geteuid() != 0:
        pytest.skip("only root can act as another user")
    try:
        uid = pwd.getpwnam("nobody").pw_uid
    except KeyError:
        pytest.skip("no account named nobody")
    minor = f"python3.{sys.version_info.minor}"
    for python in filter(None, (sys.executable, shutil.which(minor, path="/usr/bin:/usr/local/bin"))):
        with contextlib.suppress(OSError):
            found = subprocess.run(
                [python, "-c", "import psycopg, clew"],
                user=uid,
                group=uid,
                extra_groups=[],
                cwd="/",
                env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                capture_output=True,
                check=False,
            )
            if found.returncode == 0:
                return Account(uid, python)
    pytest.skip(f"no {minor} with our packages that another user can run")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class PlainServer:
    """A PostgreSQL like one that others run: it trusts its socket, and listens on a port of 127.0.0.1 as well."""

    folder: Path
    programs: Path
    identity: Identity
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    def run(self, name: str, *arguments: str) -> None:
        # What initdb makes must be its own from the start, and initdb insists on an account.
        subprocess.run(
            [self.programs / name, *arguments],
            check=True,
            capture_output=True,
            cwd="/",
            preexec_fn=self.identity.become,
            timeout=PATIENCE_S,
        )

    def create(self) -> None:
        self.folder.mkdir(mode=0o700)
        self.identity.own(self.folder)
        self.run(
            *("initdb", "-D", str(self.folder / "data"), "-U", "postgres", "--auth=trust", "--encoding=UTF8"),
            *("--locale=C", "--no-sync"),
        )

    def start(self) -> None:
        options = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "fsync": "off",
        }
        self.process = subprocess.Popen(
            [
                *(self.programs / "postgres", "-D", str(self.folder / "data")),
                *(word for name, value in options.items() for word in ("-c", f"{name}={value}")),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            preexec_fn=self.identity.become,  # noqa: PLW1509 - as in the product
        )
        eventually(self.answers, "PostgreSQL accepts connections")

    def answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "PostgreSQL ended"
        try:
            psycopg.connect(self.url(), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """SIGINT is a fast shutdown, SIGQUIT an immediate one, SIGKILL a crash."""
        assert self.process is not None
        self.process.send_signal(how)
        self.process.wait(PATIENCE_S)

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        self.stop(how)
        self.start()

    def url(self, user: str = "postgres", dbname: str = "postgres", host: str | None = None) -> str:
        return f"postgresql://{user}@/{dbname}?host={host or self.folder}&port={self.port}"

    def admin(self, statement: str, dbname: str = "postgres") -> list[Any]:
        with psycopg.connect(self.url(dbname=dbname), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def new_database(self, owner: str = "postgres") -> str:
        """The name of a new, empty database."""
        name = f"db_{os.urandom(4).hex()}"
        self.admin(f"CREATE DATABASE {name} OWNER {owner}")
        return name


def _plain_server(major: int, programs: Path, **more: Any) -> Iterator[PlainServer]:
    # Short: a socket's address holds 107 bytes.
    parent = Path(tempfile.mkdtemp(prefix=f"clew-pg{major}-"))
    server = PlainServer(parent / "pg", programs, Identity.with_account(), **more)
    try:
        server.create()
        server.start()
        yield server
    finally:
        if server.process is not None and server.process.poll() is None:
            server.stop(signal.SIGQUIT)
        shutil.rmtree(parent, ignore_errors=True)


def programs_of(major: int) -> Path:
    """The folder of PostgreSQL's programs of one major version, from where the embedded ones come, or from Debian."""
    package = binary("postgres").parents[2]
    for folder in (package / f"pginstall{major}", package / "pginstall", Path(f"/usr/lib/postgresql/{major}")):
        program = folder / "bin" / "postgres"
        if program.exists():
            answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"\b{major}\.", answer):
                return folder / "bin"
    pytest.skip(f"no PostgreSQL {major} on this machine")


@pytest.fixture(scope="session")
def postgres_15() -> Iterator[PlainServer]:
    yield from _plain_server(15, programs_of(15))


@pytest.fixture(scope="session")
def postgres_16() -> Iterator[PlainServer]:
    yield from _plain_server(16, programs_of(16))


@pytest.fixture(scope="session")
def postgres_18() -> Iterator[PlainServer]:
    yield from _plain_server(18, programs_of(18))


@pytest.fixture(params=[16, 18])
def plain_server(request: pytest.FixtureRequest) -> PlainServer:
    """The oldest and the newest server that Clew works with."""
    return request.getfixturevalue(f"postgres_{request.param}")


@pytest.fixture
def restartable() -> Iterator[PlainServer]:
    """A server of a test's own, to stop and start."""
    yield from _plain_server(18, programs_of(18))


class Wire:
    """A proxy on 127.0.0.1 between a client and PostgreSQL, which can do something else with the next COMMIT."""

    def __init__(self, server: PlainServer) -> None:
        self._server = server
        self._tasks: set[asyncio.Task[None]] = set()
        self.at_commit: Callable[..., Any] | None = None
        self.port = 0

    def url(self, user: str, dbname: str) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{dbname}?sslmode=disable&gssencmode=disable"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        upstream = await asyncio.open_connection("127.0.0.1", self._server.port)
        back = asyncio.create_task(self._pump(upstream[0], writer))
        self._tasks.add(back)
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if self.at_commit is not None and b"COMMIT" in data:
                    act, self.at_commit = self.at_commit, None
                    back.cancel()
                    # Until it has ended it still waits for what `act` is about to read.
                    await asyncio.wait([back])
                    await act(data, upstream, writer)
                    break
                upstream[1].write(data)
                await upstream[1].drain()
        for end in (writer, upstream[1]):
            end.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        writer.close()


@pytest.fixture
async def wire(postgres_18: PlainServer) -> AsyncIterator[Wire]:
    wire = Wire(postgres_18)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    async with server:
        yield wire


@pytest.fixture
async def jobs(database) -> AsyncIterator[Jobs]:
    """Without a worker in this process: `run(until_idle=True)` is one."""
    jobs = Jobs(database, in_process=False, retry_s=0.05)
    yield jobs
    await jobs.close()


@pytest.fixture
async def here(database) -> AsyncIterator[Jobs]:
    """With a worker in this process."""
    jobs = Jobs(database, in_process=True, retry_s=0.05, close_within_s=0.3)
    yield jobs
    await jobs.close()


@pytest.fixture
def work() -> Recorder:
    return Recorder()
