"""Starting the program that searches, giving it an artifact, and ending it when it takes too long."""

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from clew.errors import Unavailable

SEARCH_TIMEOUT_S: Final = 10.0
# The program looks at the clock itself between lines; only one that hangs inside a line is ended from here.
GRACE_S: Final = 2.0
ANSWER_LINE_MAX_BYTES: Final = 4 * 1024 * 1024
_PROGRAM: Final = str(Path(__file__).with_name("seeker.py"))
# What an interpreter may need to start. It gets nothing else of the environment, where secrets are.
_VARIABLES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PATH")


class TookTooLong(Exception):
    """The search was ended."""


async def ask(
    request: dict[str, Any], chunks: AsyncIterator[bytes], *, seconds: float = SEARCH_TIMEOUT_S
) -> list[dict[str, Any]]:
    """What the program answers about an artifact; `TookTooLong` when it had to be ended."""
    process = await _start()
    feeding = asyncio.create_task(_feed(process, {**request, "seconds": seconds}, chunks))
    try:
        async with asyncio.timeout(seconds + GRACE_S):
            answers = [json.loads(line) async for line in _stdout(process)]
            await feeding
            return answers
    except TimeoutError:
        raise TookTooLong from None
    finally:
        feeding.cancel()
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        await process.wait()


async def _start() -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            _PROGRAM,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={name: os.environ[name] for name in _VARIABLES if name in os.environ},
            limit=ANSWER_LINE_MAX_BYTES,
        )
    except OSError as error:
        raise Unavailable(f"no process can be started to search in: {error.strerror}", fix="Read by lines") from error


def _stdout(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    if process.stdout is None:
        raise TookTooLong
    return process.stdout


async def _feed(process: asyncio.subprocess.Process, request: dict[str, Any], chunks: AsyncIterator[bytes]) -> None:
    stdin = process.stdin
    if stdin is None:
        return
    try:
        stdin.write(json.dumps(request).encode() + b"\n")
        async for chunk in chunks:
            stdin.write(chunk)
            await stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        pass  # it has all it wanted
    finally:
        stdin.close()
