"""Whether readers that follow a table read what overwrites change.

Source: apache/paimon@1.3.1 ``org.apache.paimon.schema.SchemaValidation``.
"""

from __future__ import annotations

from paimonlab.errors import SchemaError
from paimonlab.spec.options.table_options import Options, OptionSlice, option_field

_COMPACTION_PRODUCERS = frozenset({"lookup", "full-compaction"})


class StreamOverwriteOptions(OptionSlice):
    """The table options that let overwrites count as changes."""

    of_keys: bool = option_field("streaming-read-overwrite", "boolean", default=False)
    """``streaming-read-overwrite``: those of a primary-key table."""
    of_appends: bool = option_field("streaming-read-append-overwrite", "boolean", default=False)
    """``streaming-read-append-overwrite``: the files that those of an append table add."""
    producer: str = option_field("changelog-producer", "enum", "none", parse=str.lower)
    """``changelog-producer``"""


def reads_overwrites(options: Options, *, has_key: bool) -> bool:
    """Return whether overwrites count, of a table with or without a primary key.

    Raises
    ------
    SchemaError
        If they would be read twice, or the option is that of the other kind of table.
    """
    chosen = options.slice(StreamOverwriteOptions)
    if chosen.of_keys and not has_key:
        raise SchemaError(
            "'streaming-read-overwrite' needs a primary key; set 'streaming-read-append-overwrite'"
        )
    if chosen.of_keys and chosen.producer in _COMPACTION_PRODUCERS:
        raise SchemaError(
            f"'streaming-read-overwrite' cannot be combined with 'changelog-producer' = "
            f"'{chosen.producer}': changes would be read twice"
        )
    return chosen.of_keys if has_key else chosen.of_appends
