"""What is in each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimonlab.on_use import attributes_on_use

if TYPE_CHECKING:
    from paimonlab.notebook.views.profile import profile_columns as profile_columns

__getattr__, __dir__ = attributes_on_use(__name__, "profile_columns")
