"""Messages of eight formats of Kafka: what the parsers of Paimon's actions make of them, ours do.

What is otherwise on purpose is listed here; see docs/ingest-kafka.md. ``make interop`` asks the
parsers themselves (``mysql/test_java_action.py``).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import numpy as np

from paimonlab.ingest.changes import RowChanges, Unreadable
from paimonlab.ingest.formats import FormatSettings, decoder_of
from paimonlab.ingest.formats.messages import messages_of
from paimonlab.spec.row_kind import SYMBOLS
from paimonlab.spec.types.text import format_type
from tests.ingest.formats.java_samples import Sample, samples

DIFFERENT = {
    "time": "a time has milliseconds here: TIME(3), theirs is TIME(0)",
    "null": "null is null here, and the text 'null' there",
    "not null": "columns that the source says are NOT NULL are so here",
    "case": "a key in another case than its column is that column",
    "topic": "rows without a table are one named after the topic",
    "zeros": "a number that becomes a text keeps its zeros",
    "lacks": "an old row that lacks a column has null in it; theirs has the new value",
    "no before": "an update without the old row replaces the row of its key",
    "date": "a DATE with a time of day is a dead letter here, and ends the action",
}


def _ours(sample: Sample) -> list[Any]:
    key = None if sample.key is None else sample.key.encode()
    decode = decoder_of(sample.format, FormatSettings())
    return [*_records(decode(messages_of([sample.value.encode()], keys=[key])))]


def _records(events: Any) -> Iterator[Any]:
    for event in events:
        if isinstance(event, Unreadable):
            yield event.errors[0].as_py()
            continue
        assert isinstance(event, RowChanges)
        types = {column.name: format_type(column.type) for column in event.schema.columns}
        keys = list(event.schema.primary_keys)
        kinds = [0] * event.rows.num_rows if event.kinds is None else event.kinds.to_pylist()
        for kind, row in zip(kinds, event.rows.to_pylist(), strict=True):
            yield {
                "table": event.table,
                "keys": keys,
                "types": types,
                "kind": SYMBOLS[kind],
                "row": row,
            }


def _meant(value: Any, kind: str) -> Any:  # noqa: C901, PLR0911 - one a type
    """Return a value that Java wrote as a text."""
    if value is None or isinstance(value, dict | list):
        return value
    name = kind.partition("(")[0].removesuffix(" NOT NULL")
    match name:
        case "BOOLEAN":
            return value == "true"
        case "TINYINT" | "SMALLINT" | "INT" | "BIGINT":
            return int(value)
        case "FLOAT":
            return float(np.float32(value))
        case "DOUBLE":
            return float(value)
        case "DECIMAL":
            return Decimal(value)
        case "DATE":
            return dt.date(1970, 1, 1) + dt.timedelta(int(value))
        case "TIME":
            return (dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=int(value))).time()
        case "TIMESTAMP":
            return dt.datetime.fromisoformat(value)
        case "BYTES" | "VARBINARY" | "BINARY":
            return bytes.fromhex(value)
        case _:
            return value


def _differences(sample: Sample, theirs: list[Any], ours: list[Any]) -> Iterator[str]:
    """Yield which differences of `DIFFERENT` there are; anything else fails."""
    if len(ours) == 1 and isinstance(ours[0], str):
        assert "a date has a time of day" in ours[0]
        assert any(isinstance(value, dict) for value in theirs[0]["row"].values())
        yield "date"
        return
    if len(theirs) == len(ours) + 1 and ours[0]["kind"] == "+U":
        assert theirs[0]["kind"] == "-D"
        assert [*theirs[0]["row"]] == theirs[0]["keys"]
        yield "no before"
        theirs = theirs[1:]
    for left, right in zip(theirs, ours, strict=True):
        kind = right["kind"]
        if sample.format != "aliyun-json":  # theirs takes an update for a delete and an insert
            kind = {"-U": "-D", "+U": "+I"}.get(kind, kind)
        assert left["kind"] == kind
        if left["table"] == "null.null":
            assert right["table"] == "kafka.topic"
            yield "topic"
        else:
            assert left["table"] == right["table"]
        if left["keys"] != right["keys"]:
            assert [key.lower() for key in right["keys"]] == left["keys"]
            yield "case"
        yield from _of_columns(left, right)


def _of_columns(left: Mapping[str, Any], right: Mapping[str, Any]) -> Iterator[str]:
    for name, ours_said in right["types"].items():
        theirs = left["types"].get(name)
        if theirs is None:  # of rows that lack it
            assert right["row"][name] is None
            continue
        value, wanted = right["row"][name], _meant(left["row"].get(name), theirs)
        ours = ours_said.removesuffix(" NOT NULL")
        if ours != ours_said:
            yield "not null"
        if (theirs, ours) == ("TIME(0)", "TIME(3)"):
            yield "time"
        else:
            assert theirs == ours
        if (wanted, value) == ("null", None):
            yield "null"
        elif right["kind"] == "-U" and value is None and wanted is not None:
            yield "lacks"
        elif ours == "STRING" and wanted != value:
            assert value.rstrip("0") == wanted.rstrip("0")
            yield "zeros"
        else:
            assert (wanted, type(wanted)) == (value, type(value)), name
    assert left["types"].keys() <= right["types"].keys()


def test_rows_are_those_of_paimons_parsers() -> None:
    found: set[str] = set()
    for sample in samples():
        ours = _ours(sample)
        assert isinstance(sample.java, list), sample
        assert ours or not sample.java
        found.update(_differences(sample, sample.java, ours))
    assert found == {*DIFFERENT}
