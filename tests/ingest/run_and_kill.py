"""Programs that run a job, print when it has begun and ended, and are killed in between.

``PAIMONLAB_KILLS_LOG=FILE`` gets a line for each kill: the program, whether it was still at work,
and after how many seconds.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_LIMIT_SECONDS = 120


def run_and_kill(command: Sequence[str], seconds: float | None) -> bool:
    """Run a job; kill it some time after it has begun.

    Parameters
    ----------
    command
        Prints ``begun`` when the job has, and ``ended`` when it is through.
    seconds
        From its beginning to the kill; None: it has to come to its end.

    Returns
    -------
    bool
        Whether the job came to its end.
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        if seconds is not None:
            time.sleep(seconds)
            process.kill()
        told = process.stdout.read()
        code = process.wait(_LIMIT_SECONDS)
    if seconds is not None and (log := os.environ.get("PAIMONLAB_KILLS_LOG")):
        was_hit = code == -signal.SIGKILL and told == ""
        with Path(log).open("a", encoding="utf-8") as lines:
            lines.write(f"{command[2]} {'hit' if was_hit else 'over'} {seconds:.2f}\n")
    assert seconds is not None or code == 0, f"it ended with code {code} after {told!r}"
    return told == "ended\n"
