"""Temporary folders of runs: gone when nobody holds them, and when the process ends, however it ends.

====================================  ======================================================================
the folder goes                       by
====================================  ======================================================================
with its last holder, at exit         a finalizer
on SIGTERM                            a handler, where the program has none of its own
after SIGKILL, a crash or power cut   the next process of the same user that makes a temporary folder
====================================  ======================================================================

Folders are on disk, where ``TMPDIR`` or ``tempfile.gettempdir()`` says, never in ``/dev/shm``: what a killed process leaves there is lost memory.
Each holds a file ``owner`` that its process keeps locked. The system gives the lock back when the process ends, so a folder whose
lock can be taken has no owner any more. Nothing in such a folder waits for the disk: it need not survive a power cut, so it costs what files in memory cost.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Dict, Optional, Tuple

from . import _austerity

try:
    import fcntl
except ImportError:  # Windows: finalizers only
    fcntl = None  # type: ignore[assignment]

_PREFIX = "austerity-"
_OWNER = "owner"
#: A folder that is being removed.
_GONE = ".gone"

#: Folders of this process, with the file that says so.
_alive: "Dict[Path, Tuple[int, Optional[io.TextIOWrapper]]]" = {}


class Temporary:
    """A temporary folder that lives as long as somebody holds this object, and no longer than this process."""

    def __init__(self) -> None:
        _on_terminate()
        _sweep(Path(tempfile.gettempdir()))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        owner = None
        if fcntl is not None:
            # Locked before it has its name: nobody finds it unlocked.
            owner = open(self.path / "owner.part", "w")
            _lock(owner)
            os.rename(owner.name, self.path / _OWNER)
        _alive[self.path] = (os.getpid(), owner)
        _austerity.volatile(self.path)
        self._finalizer = weakref.finalize(self, _remove, self.path)


def _lock(file: io.TextIOWrapper) -> bool:
    """Whether the lock of a folder could be taken."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(path: Path) -> None:
    """Removes a folder of this process; a copy of the process by fork leaves it alone."""
    process, owner = _alive.get(path, (0, None))
    if process != os.getpid():
        return
    del _alive[path]
    _discard(path)
    if owner is not None:
        owner.close()


def _discard(path: Path) -> None:
    """Moves a folder away first, so that no thread of a run adds to it while it is removed."""
    gone = path.with_name(path.name + _GONE)
    try:
        path.rename(gone)
    except OSError:
        gone = path
    shutil.rmtree(gone, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Removes folders of this user whose process has ended."""
    if fcntl is None:
        return
    for path in parent.glob(_PREFIX + "*"):
        try:
            if path.is_symlink() or path.stat().st_uid != os.getuid():
                continue
            if path.name.endswith(_GONE):
                shutil.rmtree(path, ignore_errors=True)
                continue
            # One without the file is not ours, or is just being made.
            with open(path / _OWNER, "r+") as owner:
                if _lock(owner):
                    _discard(path)
        except OSError:
            continue


def _on_terminate() -> None:
    """Lets SIGTERM remove the folders first, unless the program handles it, or this is not the thread that may say so."""
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _terminated(number: int, _frame: object) -> None:
    """Removes all folders, then ends the process as it would have ended."""
    for path in list(_alive):
        _remove(path)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
