"""Files of the local disk as rows of a table, and what is wrong with each.

Texts become values as by Spark's ``try_cast``; a text of which that is not proven ends the
statement. The rows of the files are held in memory, as those of any statement that writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from paimonlab.arrow_values import arrow_array
from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.formats.foreign_files import parquet_columns
from paimonlab.progress import Progress
from paimonlab.spec.sql_text.copy_syntax import CopyFormat, CopyIntoTable
from paimonlab.spec.types.arrow import from_arrow
from paimonlab.spec.types.data_types import MAX_LENGTH, AtomicType, DataField, TypeRoot
from paimonlab.sql_engine import casts, engine, kinds
from paimonlab.sql_engine.copying.places import listed, path_of
from paimonlab.sql_engine.copying.texts import csv_rows, lines_of
from paimonlab.sql_engine.engine import EngineOptions, Planned
from paimonlab.sql_engine.failures import NOT_PROVEN, fails
from paimonlab.sql_engine.kinds import Kind, kind_of, spark_type
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.rows import Part, Stream
from paimonlab.sql_engine.value import Value, quoted
from paimonlab.storage import LocalFileIO
from paimonlab.table.copying.formats import TextRules
from paimonlab.table.copying.loading import SHOWN, FileCounts, SourceFile
from paimonlab.table.inside import writable
from paimonlab.table.table import Table
from paimonlab.table.writing.writers import write_named

_RAW = "copied"
_DIGITS = 15
"""Of a number of JSON, which passes through a double."""
_CUT_SHORT = r"^[^''}NI#/\\\x00-\x1F]*$"
"""Lines that no parser takes for JSON, if a strict one does not: none of what lenient ones take."""


@dataclass(frozen=True, slots=True)
class LocalFiles:
    """Reads the files of one statement; a `LoadEngine`."""

    table: Table
    statement: CopyIntoTable
    options: EngineOptions
    progress: Progress | None

    def list(self, folder: str, pattern: str | None) -> Sequence[SourceFile]:
        """List the files of a folder."""
        return listed(folder, pattern)

    def checked(
        self,
        files: Sequence[SourceFile],
        fields: Sequence[DataField],
        kind: CopyFormat,
        options: Mapping[str, str],
        texts: TextRules,
    ) -> _Rows:
        """Read files, and convert their values.

        Raises
        ------
        NotTranslatedError
            If a column, a file or a value is not proven to be read as by Spark.
        """
        if options.get("multiLine") == "true":
            raise NotTranslatedError("MULTI_LINE = TRUE", "MULTI_LINE")
        given = {field.name for field in fields}
        for field in self.table.schema.fields:
            is_left_out = field.name not in given and field.default_value is None
            if is_left_out and not field.type.nullable:
                raise SchemaError(f"{self.table.name}: {field.name} is NOT NULL and gets no value")
        types = [_kind(field, kind) for field in fields]
        if kind is CopyFormat.CSV:
            raw = _of_files(files, lambda path: csv_rows(path, len(fields), options))
            sources = [Value(f"r{number}", kinds.STRING, "") for number in range(len(fields))]
            malformed = "corrupt"
        elif kind is CopyFormat.JSON:
            raw = _of_files(files, _lines)
            sources = [
                _member(field.name, wanted) for field, wanted in zip(fields, types, strict=True)
            ]
            malformed = _malformed_json()
        else:
            raw, sources = _parquet(files, fields)
            malformed = "NULL"
        if texts.null_texts:
            listed_texts = ", ".join(map(quoted, texts.null_texts))
            sources = [
                Value(
                    f"(CASE WHEN {one.text} NOT IN ({listed_texts}) THEN {one.text} END)",
                    one.kind,
                    "",
                )
                for one in sources
            ]
        return _Rows(
            self, files, tuple(fields), self._computed(raw, fields, types, sources, malformed)
        )

    def _computed(
        self,
        raw: pa.Table,
        fields: Sequence[DataField],
        types: Sequence[Kind],
        sources: Sequence[Value],
        malformed: str,
    ) -> pa.Table:
        """Return the file, what is wrong, and the values ``v0``, ``v1`` … of each row."""
        texts = ", ".join(f"{one.text} AS s{number}" for number, one in enumerate(sources))
        values, errors = [], [f"('malformed record: ' || substring(corrupt, 1, {SHOWN}))"]
        for number, (field, wanted, source) in enumerate(zip(fields, types, sources, strict=True)):
            column = Value(f"s{number}", source.kind, "")
            value = column.text if source.kind == wanted else casts.tried(column, wanted).text
            values.append(f"{value} AS v{number}")
            errors += _errors(number, field, wanted, source.kind)
        inner = f"SELECT file, {malformed} AS corrupt, {texts} FROM {_RAW}"
        middle = f"SELECT *, {', '.join(values)} FROM ({inner})"
        outputs = ", ".join(f"v{number}" for number in range(len(fields)))
        query = f"SELECT file, coalesce({', '.join(errors)}) AS error, {outputs} FROM ({middle})"
        columns: list[tuple[str, Kind]] = [("file", kinds.BIGINT), ("error", kinds.STRING)]
        columns += [(f"v{number}", wanted) for number, wanted in enumerate(types)]
        part = Part("", _RAW, Stream(raw.schema, raw.to_reader))
        return engine.run(Planned(query, columns, [part]), self.options, self.progress)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of files; `CheckedFiles`."""

    engine: LocalFiles
    files: Sequence[SourceFile]
    fields: tuple[DataField, ...]
    rows: pa.Table

    def counts(self) -> Mapping[str, FileCounts]:
        """Count rows and errors."""
        counted = {}
        for number, file in enumerate(self.files):
            errors = self.rows.column("error").filter(pc.equal(self.rows.column("file"), number))
            found = errors.drop_null()
            first = found[0].as_py() if len(found) else None
            counted[file.name] = FileCounts(file.name, len(errors), len(found), first)
        return counted

    def insert(self, but_of: Sequence[str], user: str, check: Callable[[], None]) -> None:
        """Write the good rows in one commit."""
        left_out = [number for number, file in enumerate(self.files) if file.name in but_of]
        is_good = pc.is_null(self.rows.column("error"))
        is_of_others = pc.is_in(self.rows.column("file"), pa.array(left_out, pa.int64()))
        good = self.rows.filter(pc.and_not(is_good, is_of_others)).drop_columns(["file", "error"])
        good = good.rename_columns([field.name for field in self.fields])
        definition, store = writable(self.engine.table)
        write_named(definition, store, good, user=user, check=check)


def _kind(field: DataField, kind: CopyFormat) -> Kind:
    """Return the type that values of a column are converted to.

    Raises
    ------
    NotTranslatedError
        If no conversion to it is proven.
    """
    found = kind_of(field.type)
    is_cut = isinstance(field.type, AtomicType) and (
        (field.type.root is TypeRoot.VARBINARY and field.type.length != MAX_LENGTH)
        or (
            field.type.root in (TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ)
            and field.type.precision != 6
        )
    )
    if found is None or is_cut or not kinds.is_atomic(found):
        shown = spark_type(found) if found is not None and not is_cut else "its type"
        raise NotTranslatedError(
            f"the column {field.name}, {shown}, in COPY INTO from {kind.value}", field.name
        )
    if found == kinds.BINARY and kind is not CopyFormat.PARQUET:
        raise NotTranslatedError(f"the column {field.name}, BINARY, in COPY INTO", field.name)
    return found


def _errors(number: int, field: DataField, wanted: Kind, found: Kind) -> list[str]:
    """Write for each check of a column a text that is NULL if it holds."""
    source, value = f"s{number}", f"v{number}"
    begin = quoted(f"column {field.name!r}: '")
    checks = []
    if found != wanted:
        shown = f"coalesce(substring(CAST({source} AS VARCHAR), 1, {SHOWN}), '?')"
        end = quoted(f"' cannot be converted to {spark_type(wanted)}")
        failed = f"({begin} || {shown} || {end})"
        checks.append(f"(CASE WHEN {source} IS NOT NULL AND {value} IS NULL THEN {failed} END)")
    is_short = isinstance(field.type, AtomicType) and field.type.root is TypeRoot.VARCHAR
    if is_short and isinstance(field.type, AtomicType) and field.type.length != MAX_LENGTH:
        length = field.type.length or 0
        end = quoted(f"' is longer than {length} characters")
        said = f"({begin} || substring({value}, 1, {SHOWN}) || {end})"
        message = fails(
            f"{NOT_PROVEN}: blanks beyond the length of {field.name.replace(chr(39), '')}"
        )
        checks.append(
            f"(CASE WHEN length(rtrim({value}, ' ')) > {length} THEN {said} "
            f"WHEN length({value}) > {length} THEN {message} END)"
        )
    if not field.type.nullable:
        said = quoted(f"column {field.name!r}: NULL in a column that is NOT NULL")
        checks.append(f"(CASE WHEN {source} IS NULL THEN {said} END)")
    return checks


def _of_files(files: Sequence[SourceFile], read: Callable[[str], pa.Table]) -> pa.Table:
    """Read files one after another, and number them."""
    parts = []
    for number, file in enumerate(files):
        rows = read(path_of(file))
        parts.append(
            rows.add_column(0, "file", pa.repeat(pa.scalar(number, pa.int64()), rows.num_rows))
        )
    return pa.concat_tables(parts)


def _lines(path: str) -> pa.Table:
    return pa.table({"line": arrow_array(lines_of(path).decode().split("\n")[:-1], pa.string())})


def _malformed_json() -> str:
    """Return a line that is no JSON; what lenient parsers may take ends the statement."""
    message = fails(f"{NOT_PROVEN}: such a line of JSON")
    return (
        "(CASE WHEN NOT json_valid(line) THEN CASE WHEN regexp_matches(line, "
        f"'{_CUT_SHORT}') THEN line ELSE {message} END "
        "WHEN json_type(line) <> 'OBJECT' "
        "OR len(json_keys(line)) <> len(list_distinct(json_keys(line))) "
        f"THEN {message} END)"
    )


def _member(name: str, wanted: Kind) -> Value:
    """Return a value of a line as the text that Spark reads it as."""
    pointer = quoted("/" + name.replace("~", "~0").replace("/", "~1"))
    text = f"json_extract_string(line, {pointer})"
    message = fails(f"{NOT_PROVEN}: such a value of JSON in {name.replace(chr(39), '')}")
    number = message
    if kinds.is_decimal(wanted) or wanted in (kinds.FLOAT, kinds.DOUBLE):
        plain = f"regexp_matches({text}, ''^-?[0-9]+[.][0-9]+$'') AND length({text}) <= {_DIGITS}"
        number = f"CASE WHEN {plain} THEN {text} ELSE {message} END".replace("''", "'")
    value = (
        f"(CASE WHEN NOT json_valid(line) THEN NULL ELSE CASE json_type(line, {pointer}) "
        f"WHEN 'VARCHAR' THEN {text} WHEN 'BIGINT' THEN {text} WHEN 'UBIGINT' THEN {text} "
        f"WHEN 'BOOLEAN' THEN {text} WHEN 'NULL' THEN NULL WHEN 'DOUBLE' THEN {number} "
        f"WHEN 'OBJECT' THEN {message} WHEN 'ARRAY' THEN {message} ELSE NULL END END)"
    )
    return Value(value, kinds.STRING, "")


def _parquet(
    files: Sequence[SourceFile], fields: Sequence[DataField]
) -> tuple[pa.Table, list[Value]]:
    """Read Parquet files by the names of their columns."""
    names = [field.name for field in fields]
    files_rows: list[pa.Table] = []
    types: dict[str, tuple[pa.DataType, Kind]] = {}
    for file in files:
        rows = parquet_columns(LocalFileIO(), path_of(file), names)
        for column in rows.schema:
            kind = _kind_of_file(column.type, column.name, path_of(file))
            name = column.name.lower()
            if types.setdefault(name, (column.type, kind)) != (column.type, kind):
                raise NotTranslatedError(f"files whose column {name} differs in type", name)
        files_rows.append(rows.rename_columns([name.lower() for name in rows.schema.names]))
    tables = []
    for number, rows in enumerate(files_rows):
        columns = {"file": pa.repeat(pa.scalar(number, pa.int64()), rows.num_rows)}
        for place, name in enumerate(names):
            lowered = name.lower()
            if lowered in rows.schema.names:
                columns[f"r{place}"] = rows.column(lowered)
            else:
                empty = types.get(lowered, (pa.string(), kinds.STRING))[0]
                columns[f"r{place}"] = pa.nulls(rows.num_rows, empty)
        tables.append(pa.table(columns))
    sources = []
    for place, field in enumerate(fields):
        kind = types.get(field.name.lower(), (pa.string(), kinds.STRING))[1]
        wanted = kind_of(field.type)
        is_known = kind in (wanted, kinds.STRING) or (
            kinds.is_whole(kind) and wanted in kinds.WHOLE
        )
        if not is_known:
            shown = f"{spark_type(kind)} of files for {field.name}, {spark_type(wanted or kind)},"
            raise NotTranslatedError(
                shown, field.name, f"Write CAST({field.name} AS …) in an INSERT"
            )
        text = f"CAST(r{place} AS {kinds.duck_type(kind)})"
        sources.append(Value(text, kind, ""))
    return pa.concat_tables(tables), sources


def _kind_of_file(found: pa.DataType, name: str, path: str) -> Kind:
    try:
        kind = kind_of(from_arrow(found))
    except (UnsupportedError, SchemaError):
        kind = None
    if kind is None or not kinds.is_atomic(kind):
        raise NotTranslatedError(f"the column {name} of {path}, {found},", name)
    return kind
