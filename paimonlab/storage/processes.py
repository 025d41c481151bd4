"""Which process did something, and whether it may still run."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path


def this_machine() -> str:
    """Name the machine, or the container: where a number means one process."""
    numbers = ""
    with suppress(OSError):
        numbers = f" {Path('/proc/self/ns/pid').readlink()}"
    return socket.gethostname() + numbers


def began(process: int) -> str:
    """Return when a process of this machine began, as the system counts.

    Empty: unknown. ``dead`` of one that ended and whose parent has not asked for that yet.
    """
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()
    if len(fields) <= 19:
        return ""
    return "dead" if fields[0] in ("Z", "X") else fields[19]


def may_run(process: int, began_at: str) -> bool:
    """Whether a process of this machine that began then may still run."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not began_at or began(process) in ("", began_at)
