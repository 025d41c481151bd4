"""Waiting until the file system makes folders at its usual pace.

ext4 without a journal does not use inodes again for a minute after they were freed, five minutes
more while they wait to be written, and looks at each of them whenever it makes a file or a folder:
250 µs instead of 20.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

_FOLDERS = 64
_SLOW_MICROS = 40.0
"""Of the processor, for a folder: twice what one takes else."""
_LONGEST_SECONDS = 420.0
_PAUSE_SECONDS = 15.0


def wait_until_settled(parent: Path) -> None:
    """Wait until folders are made fast below ``parent``; say so where they never are.

    The folders that are made to find out stay there: their inodes are not to be freed now.
    """
    end = time.monotonic() + _LONGEST_SECONDS
    probes = Path(tempfile.mkdtemp(dir=parent, prefix="probe-"))
    number = 0
    while (cost := _micros(probes / str(number))) > _SLOW_MICROS and time.monotonic() < end:
        number += 1
        time.sleep(_PAUSE_SECONDS)
    if cost > _SLOW_MICROS:
        print(f"a folder takes {cost:.0f} µs here: works of many files look slow", flush=True)


def _micros(folder: Path) -> float:
    folder.mkdir()
    start = time.process_time()
    for number in range(_FOLDERS):
        os.mkdir(f"{folder}/{number}")  # noqa: PTH102 - what `Path` adds is not to be measured
    return (time.process_time() - start) / _FOLDERS * 1e6
