"""Packages of Debian that tests take, installed as a machine for tests lets one: by root."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess


@functools.cache
def is_installed(package: str) -> bool:
    """Install a package; return whether that worked.

    Parts of the suite run at the same time: the second waits for the first one's lock.
    """
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    commands = (
        ["update", "-q"],
        ["install", "-q", "-y", "--no-install-recommends", package],
    )
    return all(
        subprocess.run(
            [apt, "-o", "DPkg::Lock::Timeout=600", *command],
            env=environment,
            capture_output=True,
            check=False,
        ).returncode
        == 0
        for command in commands
    )
