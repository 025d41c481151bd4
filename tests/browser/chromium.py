"""Find Chromium, or get Debian's; where it cannot be had, tests that need it are skipped."""

from __future__ import annotations

import functools
import shutil

from tests.debian import is_installed

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--in-process-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    "--disable-dev-shm-usage",
]


@functools.cache
def executable() -> str | None:
    """Return the path of Chromium; None where it is neither there nor to be had."""
    return _on_path() or (_on_path() if is_installed("chromium") else None)


def _on_path() -> str | None:
    found = (shutil.which(name) for name in _NAMES)
    return next((path for path in found if path), None)
