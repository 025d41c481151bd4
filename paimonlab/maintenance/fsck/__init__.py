"""Is a table what its metadata says it is? Looks at every file, changes none.

Answers: which files are missing, damaged, or at odds with others. Knows: the format. Must not
know: tables as objects, catalogs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.maintenance.fsck import check as check

__getattr__, __dir__ = attributes_on_use(__name__, "check")
