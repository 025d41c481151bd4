"""Following a table: its rows, then what every commit changes, for as long as one likes.

Answers where a follower starts, what it reads next, and how far it came. What comes next is decided
in `paimonlab.scan.following`; the modules here look, read, wait and record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.following import follow as follow

__getattr__, __dir__ = attributes_on_use(__name__, "follow")
