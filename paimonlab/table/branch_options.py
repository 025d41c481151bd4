"""The table options that choose a branch."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.spec.identifier import MAIN_BRANCH
from paimonlab.spec.options.table_options import option_field


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchOptions:
    """The table options that choose a branch."""

    branch: str = option_field("branch", "string", MAIN_BRANCH)
    """``branch``"""
    fallback: str | None = option_field("scan.fallback-branch", "string", None)
    """``scan.fallback-branch``: has the partitions that this branch does not have."""
