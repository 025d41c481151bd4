"""Partitions as arguments: ``dt=1,hh=2;dt=3``.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.ParameterUtils.getPartitions``.
"""

from __future__ import annotations

from paimonlab.errors import ArgumentError
from paimonlab.procedures.texts import key_values


def partitions(text: str, *, procedure: str) -> list[dict[str, str]]:
    """Read partitions with semicolons between.

    A value may stand in quotes, as it had to in a condition; they do not belong to it.

    Raises
    ------
    ArgumentError
        If a partition says nothing, or not ``column=value``.

    Examples
    --------
    >>> partitions("dt=1, hh='2';dt=3", procedure="compact")
    [{'dt': '1', 'hh': '2'}, {'dt': '3'}]
    """
    chosen = [
        key_values(part, procedure=procedure, argument="partitions")
        for part in text.rstrip(";").split(";")
    ]
    if not all(chosen):
        raise ArgumentError(procedure, f"partitions => {text!r} has an empty partition")
    return [{key: _bare(value) for key, value in partition.items()} for partition in chosen]


def _bare(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value
