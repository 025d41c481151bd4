"""Deleting and updating rows of a table by a condition.

Answers which files and keys a statement touches, and commits what becomes of them; runs the
statement again when others were faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.table.changing import assignments as assignments
    from paimonlab.table.changing import merge as merge
    from paimonlab.table.changing import merge_binding as merge_binding
    from paimonlab.table.changing import planned as planned
    from paimonlab.table.changing import verbs as verbs

__getattr__, __dir__ = attributes_on_use(
    __name__, "assignments", "merge", "merge_binding", "planned", "verbs"
)
