"""Packages of Debian that tests take, installed as a machine for tests lets one: by root."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from pathlib import Path


@functools.cache
def is_installed(package: str) -> bool:
    """Install a package; return whether that worked.

    Parts of the suite run at the same time, and apt-get fails beside another: they take turns. The
    lists of packages are fetched where there are none yet, or they name what has gone.
    """
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}

    def works(*command: str) -> bool:
        done = subprocess.run([apt, *command], env=environment, capture_output=True, check=False)
        return done.returncode == 0

    install = ("install", "-q", "-y", "--no-install-recommends", package)
    with Path("/tmp/paimonlab-tests-apt.lock").open("w") as lock:  # not in a folder of one part
        fcntl.flock(lock, fcntl.LOCK_EX)
        return works(*install) or (works("update", "-q") and works(*install))
