"""Values as lines of a terminal, and as JSON for programs."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import click
import msgspec
import pyarrow as pa
from pyarrow import csv

from paimonlab.spec.types.data_types import DataType
from paimonlab.spec.types.text import format_type

RowFormat: TypeAlias = Literal["table", "json", "csv"]
"""How rows are printed: columns side by side, objects, or lines for other programs."""

_GAP = "  "
_CELL = 64
"""Characters of a cell at most; of a path the last ones."""
_SHOWN = 5
"""Items of a collection that a line names."""


def print_rows(rows: pa.Table, form: RowFormat = "table") -> None:
    """Print rows: a table with aligned columns, a JSON array of objects, or CSV."""
    if form == "csv":
        print_csv(rows, has_head=True)
    elif form == "json":
        click.echo(json_text(records(rows)))
    else:
        click.echo("\n".join(text_lines(rows)))


def print_batches(
    batches: pa.RecordBatchReader, form: RowFormat, *, limit: int | None = None
) -> None:
    """Print rows as they come, all at once as a table, which says that there are more."""
    left = limit
    kept: list[pa.RecordBatch] = []
    is_first, has_more = True, False
    for batch in batches:
        if left is not None and batch.num_rows > left:
            has_more = True
        if left == 0 and has_more:
            break
        rows = batch if left is None else batch.slice(0, left)
        left = None if left is None else left - rows.num_rows
        if form == "json":
            print_json_lines(rows)
        elif form == "csv":
            print_csv(rows, has_head=is_first)
        else:
            kept.append(rows)
        is_first = False
        if has_more or (left == 0 and form != "table"):
            break
    if form == "csv" and is_first:
        print_csv(batches.schema.empty_table(), has_head=True)
    elif form == "table":
        print_rows(pa.Table.from_batches(kept, schema=batches.schema))
        if has_more:
            click.echo(f"more than {limit} rows; -n shows more", err=True)


def print_count(count: int, form: RowFormat) -> None:
    """Print how many rows there are: as a table only the number."""
    if form == "table":
        click.echo(count)
    else:
        print_batches(pa.table({"count": [count]}).to_reader(), form)


def print_csv(rows: pa.Table | pa.RecordBatch, *, has_head: bool) -> None:
    """Print rows as CSV: nulls are empty, empty texts quoted, what is nested is JSON."""
    columns = [_flat(_readable(column)) for column in rows.columns]
    written = io.BytesIO()
    options = csv.WriteOptions(include_header=has_head)
    csv.write_csv(pa.table(columns, names=rows.schema.names), written, options)
    click.echo(written.getvalue(), nl=False)


def _flat(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Write values that CSV has no form for as text."""
    kind = column.type
    if _is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_string(kind):
        return column
    values = column.to_pylist(maps_as_pydicts="lossy")
    return pa.array([None if one is None else _text(one) for one in values], pa.string())


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, dict | list):
        return msgspec.json.encode(value, enc_hook=_plain).decode()
    return str(value)


def print_json_lines(rows: pa.Table | pa.RecordBatch) -> None:
    """Print each row as a JSON object on a line."""
    for record in records(rows):
        print_json_line(record)


def print_json_line(value: Any) -> None:
    """Print a JSON document on one line."""
    click.echo(msgspec.json.encode(value, enc_hook=_plain).decode())


def json_text(value: Any) -> str:
    """Write a JSON document."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=_plain), indent=2).decode()


def records(rows: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """Turn rows into objects for JSON: times as Arrow writes them, maps as objects."""
    columns = [_readable(column) for column in rows.columns]
    names = rows.schema.names
    return [
        dict(zip(names, values, strict=True))
        for values in zip(
            *(column.to_pylist(maps_as_pydicts="lossy") for column in columns), strict=True
        )
    ]


def text_lines(rows: pa.Table) -> Iterable[str]:
    """Draw rows with aligned columns, a line under the head."""
    columns = [
        [_cell(value) for value in _readable(column).to_pylist(maps_as_pydicts="lossy")]
        for column in rows.columns
    ]
    names = rows.schema.names
    widths = [
        max(len(name), *map(len, column)) if column else len(name)
        for name, column in zip(names, columns, strict=True)
    ]
    is_number = [_is_number(field.type) for field in rows.schema]
    yield _GAP.join(map(_aligned, names, widths, is_number)).rstrip()
    yield _GAP.join("-" * width for width in widths)
    for values in zip(*columns, strict=True):
        yield _GAP.join(map(_aligned, values, widths, is_number)).rstrip()


def texts_in_columns(columns: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Draw texts with aligned columns, as `text_lines` does."""
    arrays = {name: pa.array(texts, pa.string()) for name, texts in columns.items()}
    return text_lines(pa.table(arrays))


def type_text(kind: DataType) -> str:
    """Write a type as SQL has it."""
    return format_type(kind)


def described(value: Any) -> Mapping[str, Any]:
    """Turn a result into an object for JSON, without what is not part of its value."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.compare]
        value = {name: getattr(value, name) for name in names}
    plain = msgspec.to_builtins(value, enc_hook=_plain)
    return plain if isinstance(plain, dict) else {"result": plain}


def result_lines(value: Any) -> Iterable[str]:
    """Tell what a result says, a line a field; of collections how many, and the first ones."""
    if "__str__" in vars(type(value)):
        yield from str(value).splitlines()
        return
    for name, part in _fields(value):
        yield f"{name.replace('_', ' ')}: {_summary(part)}"


def _fields(value: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    if dataclasses.is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return [(name, getattr(value, name)) for name in value.__struct_fields__]


def _summary(value: Any) -> str:
    if isinstance(value, str) or value is None:
        return value or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if dataclasses.is_dataclass(value) or isinstance(value, Mapping | msgspec.Struct):
        parts = [(name, part) for name, part in _fields(value) if part]
        return (
            ", ".join(f"{_count(part)} {name.replace('_', ' ')}" for name, part in parts) or "none"
        )
    if isinstance(value, Collection):
        shown = ", ".join(str(item) for item in list(value)[:_SHOWN])
        more = ", …" if len(value) > _SHOWN else ""
        return f"{len(value):,} ({shown}{more})" if value else "none"
    return str(value)


def _count(value: Any) -> str:
    if isinstance(value, Collection) and not isinstance(value, str):
        return f"{len(value):,}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _readable(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Let Arrow write times: Python has no years beyond 9999 and no nanoseconds."""
    if pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type):
        if getattr(column.type, "tz", None) is not None:
            column = column.cast(pa.timestamp(column.type.unit))
            return _with_zone(column.cast(pa.string()))
        return column.cast(pa.string())
    return column


def _with_zone(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.array(
        [None if text is None else f"{text}Z" for text in texts.to_pylist()], pa.string()
    )


def _cell(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = "".join(mark if mark.isprintable() else " " for mark in _text(value))
    if len(text) <= _CELL:
        return text
    return "…" + text[1 - _CELL :] if "/" in text else text[: _CELL - 1] + "…"


def _aligned(text: str, width: int, is_number: bool) -> str:  # noqa: FBT001 - mapped over columns
    return text.rjust(width) if is_number else text.ljust(width)


def _is_number(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_)
    )


def _plain(value: Any) -> Any:
    """Turn what JSON does not have into what it has."""
    if isinstance(value, set | frozenset):
        return sorted(value)
    return str(value)
