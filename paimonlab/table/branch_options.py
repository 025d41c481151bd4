"""The table options that choose a branch."""

from __future__ import annotations

from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.options.table_options import OptionSlice, option_field


class BranchOptions(OptionSlice):
    """The table options that choose a branch."""

    branch: str = option_field("branch", "string", MAIN_BRANCH)
    """``branch``"""
    fallback: str | None = option_field("scan.fallback-branch", "string", None)
    """``scan.fallback-branch``: has the partitions that this branch does not have."""
