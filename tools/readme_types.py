"""Checks the types of the README's script, as a user's own check would: ``make lint`` calls it."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from mypy import api

OPTIONS = (
    "--strict",
    "--warn-unreachable",
    "--ignore-missing-imports",
    "--config-file",
    os.devnull,
)
README = Path(__file__).parents[1] / "README.md"


def main() -> int:
    """Check the first script; print what is wrong."""
    script = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)[0]
    found, problems, status = api.run([*OPTIONS, "-c", script])
    if status:
        sys.stderr.write(found.replace("<string>", README.name) + problems)
    return status


if __name__ == "__main__":
    sys.exit(main())
