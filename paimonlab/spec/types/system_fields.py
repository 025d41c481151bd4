"""System fields: columns of data files that are not columns of the table.

Field ids and names are on disk: never rename or renumber them.

Source: apache/paimon@1.3.1 ``org.apache.paimon.table.SpecialFields``.
"""

from __future__ import annotations

SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
VALUE_KIND = "_VALUE_KIND"
LEVEL = "_LEVEL"
ROW_ID = "_ROW_ID"
ROWKIND = "rowkind"
KEY_PREFIX = "_KEY_"

SYSTEM_FIELDS = frozenset({SEQUENCE_NUMBER, VALUE_KIND, LEVEL, ROW_ID, ROWKIND})

KEY_FIELD_ID_START = 1073741823
"""``_KEY_<column>`` has this plus the id of the column; ids from here on are system ids."""
SEQUENCE_NUMBER_ID = 2147483646
VALUE_KIND_ID = 2147483645
ROW_ID_ID = 2147483642
COLLECTION_ID_BASE = 536870911
"""Ids inside files of array elements and map keys and values start around this."""


def key_column(name: str) -> str:
    """Name inside a primary-key data file of the key copy of column ``name``."""
    return KEY_PREFIX + name
