"""How commits changed the number of rows, in words."""

from __future__ import annotations

from paimonlab.spec.plurals import many


def rows_said(kind: str, added: int) -> str:
    """Say how a commit changed the number of rows before merging.

    Parameters
    ----------
    kind
        As snapshots name it, in large letters or small ones.
    added
        Rows added minus rows deleted.

    Examples
    --------
    >>> rows_said("APPEND", 1000)
    '+1,000 rows'
    >>> rows_said("COMPACT", -1)  # nobody loses a row
    '1 old version of rows merged away'
    """
    if kind.upper() == "COMPACT" and added < 0:
        return f"{many(-added, 'old version')} of rows merged away"
    return f"{added:+,} row{'s'[: abs(added) != 1]}"
