"""Partition transforms of Iceberg, which Paimon does not have: the columns that stand for them."""

from __future__ import annotations

import re

_CALL = re.compile(r"\s*(\w+)\s*\(\s*(.*?)\s*\)\s*", re.DOTALL)
_TIMES = {
    "year": ("INT", "year({0})"),
    "month": ("STRING", "date_format({0}, 'yyyy-MM')"),
    "day": ("DATE", "CAST({0} AS DATE)"),
    "date": ("DATE", "CAST({0} AS DATE)"),
    "hour": ("STRING", "date_format({0}, 'yyyy-MM-dd HH')"),
}
"""By transform: the type of the column that stands for it, and its value in SQL."""


def instead_of(partition_key: str) -> str:
    """Say which column or option does what a transform would; empty: this is no transform.

    Examples
    --------
    >>> instead_of("days(ts)").partition(", and ")[0]
    "Partitions are values of columns: add {'day': 'DATE'} to the columns, partition by 'day'"
    >>> print(instead_of("bucket(16, id)"))
    Buckets are options: {'bucket': '16', 'bucket-key': 'id'}
    >>> instead_of("ts")
    ''
    """
    call = _CALL.fullmatch(partition_key)
    if call is None:
        return ""
    name = call[1].lower()
    given = [one.strip() for one in call[2].split(",")]
    if name == "bucket" and len(given) == 2:
        number, column = given if given[0].isdigit() else reversed(given)
        return f"Buckets are options: {{'bucket': '{number}', 'bucket-key': '{column}'}}"
    if name == "truncate" and len(given) == 2:
        number, column = given if given[0].isdigit() else reversed(given)
        return _said(f"{column}_start", "STRING", f"substr({column}, 1, {number})")
    name = name.removesuffix("s")
    if name in _TIMES and len(given) == 1:
        data_type, value = _TIMES[name]
        return _said("day" if name == "date" else name, data_type, value.format(given[0]))
    return ""


def _said(column: str, data_type: str, value: str) -> str:
    return (
        f"Partitions are values of columns: add {{'{column}': '{data_type}'}} to the columns, "
        f"partition by '{column}', and write rows with it, {value} in SQL"
    )
