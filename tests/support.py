"""A little notation for rows, so that a case fits on a line a person can check.

A row is ``key@sequence:kind=value``; a run is one line, older runs first.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa

from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND
from paimonlab.table.table import Table

_ROW = re.compile(r"(?P<key>\S+)@(?P<sequence>-?\d+):(?P<kind>[+-][IUD])=(?P<value>\S+)")

ROW_SCHEMA = pa.schema(
    [
        ("key", pa.string()),
        (SEQUENCE_NUMBER, pa.int64()),
        (VALUE_KIND, pa.int8()),
        ("value", pa.string()),
    ]
)


def cases(name: str) -> list[tuple[str, str, str]]:
    """Read ``cases/<name>.txt``: blocks of title, given, ``----``, expected.

    Lines with ``#`` before the first block are a comment.
    """
    text = (Path(__file__).parent / "cases" / f"{name}.txt").read_text(encoding="utf-8")
    text = re.sub(r"\A(#.*\n|\s*\n)*", "", text)
    blocks = re.findall(r"(?ms)^(\S[^\n]*)\n(.*?)^----\n(.*?)(?=^\S|\Z)", text)
    assert blocks, f"no cases in {name}"
    return [(title, given, " ".join(expected.split())) for title, given, expected in blocks]


def rows(drawing: str) -> pa.Table:
    """Make a table of the rows drawn, in their order."""
    found = [match.groupdict() for match in _ROW.finditer(drawing)]
    assert len(found) == len(drawing.split()), f"not a drawing of rows: {drawing!r}"
    return pa.table(
        [
            [row["key"] for row in found],
            [int(row["sequence"]) for row in found],
            [SYMBOLS.index(row["kind"]) for row in found],
            [row["value"] for row in found],
        ],
        schema=ROW_SCHEMA,
    )


def draw(table: pa.Table) -> str:
    """Draw rows on one line, a blank apart, in their order."""
    return " ".join(
        f"{row['key']}@{row[SEQUENCE_NUMBER]}:{SYMBOLS[row[VALUE_KIND]]}={row['value']}"
        for row in table.to_pylist()
    )


def partition_by_name(text: str, table: Table) -> str:
    """Write ``{1, null}`` of Java as later releases do: ``a=1/b=__DEFAULT_PARTITION__``."""
    no_value = table.options.get("partition.default-name", "__DEFAULT_PARTITION__")
    texts = text[1:-1].split(", ") if table.partition_keys else []
    return "/".join(
        f"{key}={no_value if value in ('', 'null') else value}"
        for key, value in zip(table.partition_keys, texts, strict=True)
    )
