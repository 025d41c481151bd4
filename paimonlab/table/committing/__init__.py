"""What all who commit to a table need: committers, users, and what becomes of failures.

Knows nothing of what is committed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.committing import overwrites as overwrites
    from paimonlab.table.committing import users as users

__getattr__, __dir__ = attributes_on_use(__name__, "overwrites", "users")
