"""Folders of partitions and buckets: ``dt=2024-01-02/h=7/bucket-0``.

A path names a partition, but does not tell its values: null and blank texts share a folder,
and dates stand there as days since 1970. The values are in the manifests.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.PartitionPathUtils``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from paimonlab.spec.options.table_options import OptionSlice, option_field
from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.value_text import display_texts, internal_texts

DEFAULT_PARTITION = "__DEFAULT_PARTITION__"
BUCKET_PREFIX = "bucket-"
"""Of the names of folders of buckets."""
POSTPONE_BUCKET = -2

_ESCAPED = re.compile(r"""[\x00-\x1f\x7f"#%'*/:=?\\{}\[\]^]""")
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
# Python calls these blank, Java does not.
_NO_BLANKS = "\x85\xa0\u2007\u202f"


def relative_folder(text: str) -> str:
    """Check a folder that stands below another, ``a/b``, and return it without slashes around.

    Raises
    ------
    ValueError
        If it is absolute or leads out of the other one.
    """
    parts = text.rstrip("/").split("/")
    if any(part in {"", ".", ".."} or "\\" in part for part in parts):
        raise ValueError("must be a folder below the table's, like 'data'")
    return "/".join(parts)


class PartitionOptions(OptionSlice):
    """The table options that name folders."""

    default_name: str = option_field("partition.default-name", "string", DEFAULT_PARTITION)
    """``partition.default-name``: folder of null and of blank texts."""
    legacy_name: bool = option_field("partition.legacy-name", "boolean", default=True)
    """``partition.legacy-name``: dates as days since 1970, timestamps with a T."""
    data_directory: str = option_field(
        "data-file.path-directory", "string", "", parse=relative_folder
    )
    """``data-file.path-directory``: folder of all data files, below the table's; "": that one."""


def escape(text: str) -> str:
    r"""Escape what must not stand in the name of a folder: ``:`` becomes ``%3A``.

    Escaped are the control characters of ASCII and ``"#%'*/:=?\{}[]^``.

    Examples
    --------
    >>> escape("a/b: é"), unescape("a%2Fb%3A é")
    ('a%2Fb%3A é', 'a/b: é')
    """
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)


def unescape(text: str) -> str:
    """Undo `escape`; a ``%`` without two hexadecimal digits stays."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)


def partition_texts(
    rows: Sequence[pa.Array], types: Sequence[DataType], options: PartitionOptions
) -> list[list[str | None]]:
    """Return the values of partitions as texts, one list per row.

    Parameters
    ----------
    rows
        One array of n values per column.
    types
        Types of the columns.
    options
        How dates and timestamps are written.

    Returns
    -------
    (n,) list of lists
        A text per column, None for null.
    """
    texts = internal_texts if options.legacy_name else display_texts
    columns = [texts(values, data_type) for values, data_type in zip(rows, types, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def partition_path(
    names: Sequence[str], texts: Sequence[str | None], default_name: str = DEFAULT_PARTITION
) -> str:
    """Return the folder of a partition below the table's, with a slash at the end.

    Parameters
    ----------
    names
        The partition keys; () gives "".
    texts
        The text of each value (`partition_texts`); None and blank ones become ``default_name``.
    default_name
        ``partition.default-name``.

    Examples
    --------
    >>> partition_path(["dt", "h"], ["2024:1", None])
    'dt=2024%3A1/h=__DEFAULT_PARTITION__/'
    """
    return "".join(
        f"{escape(name)}={escape(default_name if text is None or _is_blank(text) else text)}/"
        for name, text in zip(names, texts, strict=True)
    )


def partition_label(
    names: Sequence[str], texts: Sequence[str | None], default_name: str = DEFAULT_PARTITION
) -> str:
    """Return a partition as people read it: like `partition_path`, with nothing escaped.

    Examples
    --------
    >>> partition_label(["dt", "h"], ["2024:1", None])
    'dt=2024:1/h=__DEFAULT_PARTITION__'
    """
    return "/".join(
        f"{name}={default_name if text is None or _is_blank(text) else text}"
        for name, text in zip(names, texts, strict=True)
    )


def _is_blank(text: str) -> bool:
    return all(part.isspace() and part not in _NO_BLANKS for part in text)


def partition_paths(
    names: Sequence[str],
    rows: Sequence[pa.Array],
    types: Sequence[DataType],
    options: PartitionOptions,
) -> list[str]:
    """Return the folders of n partitions; for ``names``, ``rows``, ``types`` see above.

    Without partition keys there is one partition, and its folder is "".
    """
    if not names:
        return [""]
    texts = partition_texts(rows, types, options)
    return [partition_path(names, row, options.default_name) for row in texts]


def bucket_path(partition: str, bucket: int, data_directory: str = "") -> str:
    """Return the folder of a bucket below the table's.

    Examples
    --------
    >>> bucket_path("dt=x/", 0), bucket_path("", POSTPONE_BUCKET, "data")
    ('dt=x/bucket-0', 'data/bucket-postpone')
    """
    name = "postpone" if bucket == POSTPONE_BUCKET else bucket
    folder = f"{data_directory}/" if data_directory else ""
    return f"{folder}{partition}{BUCKET_PREFIX}{name}"
