"""Programs of tests as processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]


def start(
    arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start this Python with arguments; what it prints can be read."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | dict(environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def said(
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    timeout_seconds: float = 120,
) -> str:
    """Run this Python with arguments to its end; return what it printed.

    Raises
    ------
    AssertionError
        If it ends with an error, whose last lines are shown, or not in time.
    """
    process = start(arguments, environment)
    try:
        out, err = process.communicate(timeout=timeout_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"it did not end: {out[-1000:]}{err[-3000:]}") from None
    assert process.returncode == 0, f"{process.returncode}: {out[-1000:]}{err[-3000:]}"
    return out
