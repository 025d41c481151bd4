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
_IDS_PER_FIELD = 1024
"""Levels of nested collections a field has ids for."""


def key_column(name: str) -> str:
    """Name inside a primary-key data file of the key copy of column ``name``."""
    return KEY_PREFIX + name


def element_field_id(owner_id: int, depth: int) -> int:
    """Id inside files of the elements of an array, or the values of a map.

    Parameters
    ----------
    owner_id
        Id of the innermost field of a row around it.
    depth
        How many collections it is in, that one included; at least 1.
    """
    return COLLECTION_ID_BASE + _IDS_PER_FIELD * owner_id + depth


def key_field_id(owner_id: int, depth: int) -> int:
    """Id inside files of the keys of a map; parameters as of `element_field_id`."""
    return COLLECTION_ID_BASE - _IDS_PER_FIELD * owner_id - depth
