"""What may be deleted, and deleting it.

Answers: which files nothing needs once a snapshot or a tag is deleted. Knows snapshots, tags,
branches and the files they refer to; decides as pure functions over names. Must not know catalogs
or rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.maintenance import fsck as fsck

__getattr__, __dir__ = attributes_on_use(__name__, "fsck")
