"""Who PostgreSQL runs as.

PostgreSQL refuses to run as root. When we are root it gets a user id that nobody on this machine has, so that no other
account can signal it, trace it or read its files. That id must still reach binaries and data below folders that only
root may enter (a virtual environment in /root, a private temporary folder). Opening those folders to everyone is not
ours to do; instead the process keeps one Linux capability, to search and read past folder permissions, and loses every
other power of root.
"""

import ctypes
import os
import pwd
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from clew.errors import Misconfigured, Unavailable

# The range systemd reserves for its dynamic users: no distribution hands these out to people.
_FREE_UIDS: Final = range(61184, 65520)
_NOBODY: Final = 65534

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_KEEPCAPS: Final = 8
_PR_SET_SECUREBITS: Final = 28
_SECBIT_NO_SETUID_FIXUP: Final = 1 << 2
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_RAISE: Final = 2
_CAP_DAC_OVERRIDE: Final = 1
_CAP_DAC_READ_SEARCH: Final = 2
_CAPABILITY_VERSION_3: Final = 0x20080522


@dataclass(frozen=True, slots=True)
class Identity:
    """The user and group PostgreSQL's processes have; None means ours."""

    uid: int | None

    @classmethod
    def for_folder(cls, folder: Path) -> Self:
        """The owner of an existing data folder, or an unused id when root makes a new one."""
        if os.geteuid() != 0:
            return cls(None)
        if folder.exists() and (owner := folder.stat().st_uid) != 0:
            return cls(owner)
        first = zlib.crc32(os.fsencode(folder)) % len(_FREE_UIDS)
        for step in range(len(_FREE_UIDS)):
            uid = _FREE_UIDS[(first + step) % len(_FREE_UIDS)]
            if not _has_account(uid):
                return cls(uid)
        raise Unavailable("every user id from 61184 to 65519 is taken", fix="Run Clew as an ordinary user")

    @classmethod
    def with_account(cls) -> Self:
        """One that /etc/passwd knows, which initdb insists on; what it makes is handed over afterwards."""
        if os.geteuid() == 0:
            return cls(_NOBODY)
        if not _has_account(os.geteuid()):
            raise Misconfigured(
                f"user id {os.geteuid()} has no account, and PostgreSQL's initdb insists on one",
                fix="Add it to /etc/passwd, run as another user, or set CLEW_DATABASE_URL",
            )
        return cls(None)

    def own(self, folder: Path) -> None:
        """Hand a folder and all in it to this user."""
        if self.uid is None:
            return
        os.chown(folder, self.uid, self.uid)
        for parent, folders, files in os.walk(folder):
            for name in folders + files:
                os.lchown(Path(parent, name), self.uid, self.uid)

    def become(self, *, die_with_parent: int | None = None) -> None:
        """Turn this process, just forked, into that user; with a signal to get when its parent is gone."""
        if self.uid is not None:
            if sys.platform == "linux":
                _drop_all_but_search(self.uid)
            else:
                _set_ids(self.uid)
        if die_with_parent is not None and sys.platform == "linux":
            # Last: the kernel forgets the signal when a process changes its user.
            _libc().prctl(_PR_SET_PDEATHSIG, die_with_parent, 0, 0, 0)


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _set_ids(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _CapabilityData(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def _drop_all_but_search(uid: int) -> None:
    """Where even this capability is not to be had, PostgreSQL works as far as folder permissions let it."""
    libc = _libc()
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)
    # Without this, access(2), with which PostgreSQL looks for its own programs, disregards capabilities.
    libc.prctl(_PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
    _set_ids(uid)
    # Containers usually grant only the stronger of the two.
    for capability in (_CAP_DAC_READ_SEARCH, _CAP_DAC_OVERRIDE):
        header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
        bits = 1 << capability
        data = (_CapabilityData * 2)(_CapabilityData(bits, bits, bits), _CapabilityData(0, 0, 0))
        if libc.capset(ctypes.byref(header), data) == 0:
            libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0)
            return
