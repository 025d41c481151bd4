"""What the rows of files are, in a word: those of a reader, or more."""

from __future__ import annotations

from collections.abc import Sequence

from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

BEFORE_MERGING = "rows before merging"


class _RowOptions(OptionSlice):
    """The table options by which files have rows that readers do not see."""

    deletion_vectors: bool = option_field("deletion-vectors.enabled", "boolean", default=False)
    """``deletion-vectors.enabled``"""
    data_evolution: bool = option_field("data-evolution.enabled", "boolean", default=False)
    """``data-evolution.enabled``"""


def rows_are(primary_keys: Sequence[str], options: Options) -> str:
    """Say what the sum of the rows of a table's files counts.

    Parameters
    ----------
    primary_keys
        Columns of its primary key; none in an append table.
    options
        Its options.

    Returns
    -------
    str
        ``rows before merging`` where a reader merges files: those of a key, or the columns of a
        row; ``rows before deletes`` where deletion vectors hide rows of append tables; ``rows``
        where each row of the files is one of the table.
    """
    known = options.slice(_RowOptions)
    if primary_keys or known.data_evolution:
        return BEFORE_MERGING
    return "rows before deletes" if known.deletion_vectors else "rows"
