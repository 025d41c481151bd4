"""Table options that a Spark session sets: ``SET spark.paimon.<option>=…`` in SQL.

``spark.paimon.<catalog>.<database>.<table>.<option>`` is for one table, ``*`` stands for any
name; it goes before an option for all tables.

Source: https://paimon.apache.org/docs/master/spark/auxiliary/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimonlab.spark.bridge import Bridge
from paimonlab.spec.options import check_known, find_option

PREFIX = "spark.paimon."


def session_options(bridge: Bridge, name: Sequence[str]) -> dict[str, str]:
    """Return the options that the session sets for a table.

    Parameters
    ----------
    bridge
        The session.
    name
        Catalog, database and table.

    Raises
    ------
    SchemaError
        If an option is not known.
    """
    return options_for(bridge.settings(), name)


def options_for(settings: Mapping[str, str], name: Sequence[str]) -> dict[str, str]:
    """Pick the options for a table out of all settings of a session.

    Examples
    --------
    >>> settings = {"spark.paimon.write-only": "true", "spark.paimon.*.db.*.scan.snapshot-id": "3"}
    >>> options_for(settings, ["paimon", "db", "t"])
    {'write-only': 'true', 'scan.snapshot-id': '3'}
    >>> options_for(settings, ["paimon", "other", "t"])
    {'write-only': 'true'}
    """
    for_all: dict[str, str] = {}
    for_one: dict[str, str] = {}
    for key, value in settings.items():
        if not key.startswith(PREFIX):
            continue
        option = key.removeprefix(PREFIX)
        *pattern, rest = option.split(".", 3)
        if find_option(option) is not None:
            for_all[option] = value
        elif len(pattern) == 3 and find_option(rest) is not None:
            if all(part in {"*", own} for part, own in zip(pattern, name, strict=True)):
                for_one[rest] = value
        else:
            check_known([option])
    return for_all | for_one
