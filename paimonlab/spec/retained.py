"""How many snapshots and changelogs a table may be asked to keep.

Source: apache/paimon@1.3.1 ``org.apache.paimon.schema.SchemaValidation``.
"""

from __future__ import annotations

from collections.abc import Mapping

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field


class RetainedOptions(OptionSlice):
    """The table options that say how many are kept."""

    retain_max: int = option_field("snapshot.num-retained.max", "int", 2**31 - 1)
    """``snapshot.num-retained.max``"""
    retain_min: int = option_field("snapshot.num-retained.min", "int", 10)
    """``snapshot.num-retained.min``"""
    changelog_retain_max: int | None = option_field("changelog.num-retained.max", "int", None)
    """``changelog.num-retained.max``; None: as of snapshots."""
    changelog_retain_min: int | None = option_field("changelog.num-retained.min", "int", None)
    """``changelog.num-retained.min``; None: as of snapshots."""


def check_retained(options: Mapping[str, str]) -> None:
    """Check that at least one is kept, and that the minimum is not above the maximum.

    Raises
    ------
    SchemaError
        If not; Java opens no such table.
    """
    kept = Options(options).slice(RetainedOptions)
    bounds = (
        ("snapshot", kept.retain_min, kept.retain_max),
        (
            "changelog",
            kept.retain_min if kept.changelog_retain_min is None else kept.changelog_retain_min,
            kept.retain_max if kept.changelog_retain_max is None else kept.changelog_retain_max,
        ),
    )
    for what, low, high in bounds:
        if low < 1 or low > high:
            raise SchemaError(
                f"option '{what}.num-retained.min' = {low} must be at least 1 and not above "
                f"'{what}.num-retained.max' = {high}; set both"
            )
