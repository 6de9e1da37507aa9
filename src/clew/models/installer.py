"""The package installer of the environment we run in: pip, or uv where there is no pip."""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from clew.errors import Unavailable

INSTALL_TIMEOUT_S: Final = 900.0
_CREDENTIALS: Final = re.compile(r"://[^/@\s]+@")
_SHOWN_LINES: Final = 3


def install(*arguments: str) -> None:
    """Installs what the arguments say; `Unavailable` with the installer's last words when it does not succeed."""
    command = [*_installer(), *arguments]
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"the installer took longer than {INSTALL_TIMEOUT_S:.0f} s") from None
    except subprocess.CalledProcessError as error:
        said = [line.strip() for line in (error.stderr or error.stdout or "").splitlines() if line.strip()]
        # An index's address may carry a password.
        raise Unavailable(
            "the installer failed: " + _CREDENTIALS.sub("://***@", " / ".join(said[-_SHOWN_LINES:]))
        ) from None


def missing(modules: Sequence[str]) -> list[str]:
    """Those of the modules that can't be imported here."""
    importlib.invalidate_caches()
    return [module for module in modules if importlib.util.find_spec(module) is None]


def requirements(extra: str, names: Sequence[str]) -> list[str]:
    """What the package's own metadata demands of these distributions in an extra, such as `onnx>=1.19`."""
    from importlib.metadata import requires

    found = dict.fromkeys(names, "")
    for line in requires("clew") or []:
        requirement, _, marker = line.partition(";")
        name = re.split(r"[^\w.-]", requirement.strip(), maxsplit=1)[0]
        if name in found and re.search(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]", marker):
            found[name] = requirement.strip()
    return [requirement or name for name, requirement in found.items()]


def _installer() -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    beside = Path(sys.executable).with_name("uv")
    uv = str(beside) if os.access(beside, os.X_OK) else shutil.which("uv")
    if uv is None:
        raise Unavailable("neither pip nor uv is here", fix="python -m ensurepip")
    return [uv, "pip", "install", "--python", sys.executable]
