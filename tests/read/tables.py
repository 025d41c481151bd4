"""Data files and splits made by hand, with pyarrow and nothing of the writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paimonlab.read.read_plan import ReadBounds, ReadOptions, ReadPlan
from paimonlab.scan.split import DataSplit
from paimonlab.spec.binary_row.rows import encode
from paimonlab.spec.manifests.data_file import EMPTY_ROW, DataFileMeta
from paimonlab.spec.predicates.predicate import Predicate, bind
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.types.arrow import arrow_schema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.system_fields import SEQUENCE_NUMBER, VALUE_KIND, key_column
from paimonlab.spec.types.text import parse_type
from paimonlab.storage.local import LocalFileIO

TABLE = "db.t"
FILE_IO = LocalFileIO()
BUCKET_PATH = "bucket-0"


def fields(**types: str) -> tuple[DataField, ...]:
    """Make columns with the ids 0, 1, 2 …"""
    return tuple(
        DataField(number, name, parse_type(text))
        for number, (name, text) in enumerate(types.items())
    )


def schema(columns: Sequence[DataField], **keywords: Any) -> TableSchema:
    """Make a schema of columns."""
    highest = max(column.id for column in columns)
    keywords = {"id": 0, "highest_field_id": highest} | keywords
    return TableSchema(fields=tuple(columns), **keywords)


@dataclass
class Files:
    """A table's folder with one bucket."""

    root: Path
    schemas: dict[int, TableSchema]
    options: ReadOptions = field(default_factory=ReadOptions)
    metas: list[DataFileMeta] = field(default_factory=list)
    partition: bytes = EMPTY_ROW

    @property
    def folder(self) -> Path:
        folder = self.root / BUCKET_PATH
        folder.mkdir(exist_ok=True)
        return folder

    def add(
        self,
        rows: Sequence[Mapping[str, Any]] | pa.Table,
        *,
        schema_id: int = 0,
        is_thin: bool = False,
        **changes: Any,
    ) -> DataFileMeta:
        """Write a file of rows as they come, and say of it what a writer would."""
        table_schema = self.schemas[schema_id]
        values = arrow_schema(table_schema.fields)
        keys = table_schema.trimmed_primary_keys
        system = [(SEQUENCE_NUMBER, pa.int64()), (VALUE_KIND, pa.int8())] if keys else []
        wanted = pa.schema([*system, *values])
        table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(list(rows), wanted)
        key_types = [table_schema.field(name).type for name in keys]
        bounds = [EMPTY_ROW, EMPTY_ROW]
        sequence = [0, max(0, table.num_rows - 1)]
        if keys and table.num_rows:
            ends = table.take([0, table.num_rows - 1])
            bounds = encode([ends[name] for name in keys], key_types).to_pylist()
            numbers = table[SEQUENCE_NUMBER].to_pylist()
            sequence = [min(numbers), max(numbers)]
        if not is_thin:
            for number, name in enumerate(keys):
                table = table.add_column(number, key_column(name), table[name])
        name = f"data-{len(self.metas)}.parquet"
        path = self.folder / name
        pq.write_table(table, path, row_group_size=7, write_page_checksum=True)
        kinds = table[VALUE_KIND].to_pylist() if keys else []
        described = {
            "file_name": name,
            "file_size_bytes": path.stat().st_size,
            "row_count": table.num_rows,
            "min_key": bounds[0],
            "max_key": bounds[1],
            "min_sequence_number": sequence[0],
            "max_sequence_number": sequence[1],
            "schema_id": schema_id,
            "delete_row_count": sum(kind in (1, 3) for kind in kinds),
        }
        meta = DataFileMeta(**(described | changes))
        self.metas.append(meta)
        return meta

    def split(self, *, raw_convertible: bool = False) -> DataSplit:
        """Make a split of all files."""
        return DataSplit(
            snapshot_id=1,
            partition=self.partition,
            bucket=0,
            total_buckets=1,
            bucket_path=BUCKET_PATH,
            files=tuple(self.metas),
            raw_convertible=raw_convertible,
        )

    def plan(
        self,
        *columns: str,
        where: Predicate | None = None,
        bounds: ReadBounds | None = None,
    ) -> ReadPlan:
        """Plan a read with the newest schema; without columns all of them."""
        newest = self.schemas[max(self.schemas)]
        return ReadPlan(
            table_path=str(self.root),
            table_name=TABLE,
            schema=newest,
            schemas=self.schemas,
            columns=columns or newest.field_names,
            predicate=None if where is None else bind(where, newest.fields, TABLE),
            options=self.options,
            bounds=bounds or ReadBounds(),
        )
