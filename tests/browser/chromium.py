"""Find Chromium, or get Debian's; where it cannot be had, tests that need it are skipped."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
]


@functools.cache
def executable() -> str | None:
    """Return the path of Chromium; None where it is neither there nor to be had."""
    return _on_path() or (_on_path() if _installed() else None)


def _on_path() -> str | None:
    found = (shutil.which(name) for name in _NAMES)
    return next((path for path in found if path), None)


def _installed() -> bool:
    """Install it as a machine for tests lets one: as root, from Debian."""
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return False
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["update", "-q"],
        ["install", "-q", "-y", "--no-install-recommends", "chromium"],
    ):
        done = subprocess.run([apt, *command], env=environment, capture_output=True, check=False)
        if done.returncode != 0:
            return False
    return True
