"""Rows -> buckets -> files -> commit messages.

Answers: what a writer of rows does, on the driver or on an executor. Must not know commits and
later snapshots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.write import expressions as expressions
    from paimonlab.write import frames as frames

__getattr__, __dir__ = attributes_on_use(__name__, "expressions", "frames")
