"""pypaimon's REST client, told what to do by lines of JSON, in an environment of its own."""

from __future__ import annotations

import json
import sys
from typing import Any

import pyarrow as pa
from pypaimon import CatalogFactory, Schema
from pypaimon.common.identifier import Identifier

_TYPES = {"id": pa.int64(), "v": pa.string(), "p": pa.string()}


def _rows(rows: list[dict[str, Any]]) -> pa.Table:
    names = [*rows[0]]
    return pa.table({n: pa.array([row[n] for row in rows], _TYPES[n]) for n in names})


class Client:
    """One catalog."""

    def __init__(self, options: dict[str, str]) -> None:
        self.catalog = CatalogFactory.create(options)

    def databases(self) -> list[str]:
        return sorted(self.catalog.list_databases())

    def tables(self, database: str) -> list[str]:
        return sorted(self.catalog.list_tables(database))

    def create_database(self, database: str) -> None:
        self.catalog.create_database(database, False)

    def create(
        self, table: str, keys: list[str], partitions: list[str], options: dict[str, str]
    ) -> None:
        fields = [pa.field(n, kind, nullable=n not in keys) for n, kind in _TYPES.items()]
        schema = Schema.from_pyarrow_schema(
            pa.schema(fields), partition_keys=partitions, primary_keys=keys or None, options=options
        )
        self.catalog.create_table(table, schema, False)

    def write(self, table: str, rows: list[dict[str, Any]], overwrite: bool = False) -> None:
        builder = self.catalog.get_table(table).new_batch_write_builder()
        if overwrite:
            builder = builder.overwrite()
        writer, commit = builder.new_write(), builder.new_commit()
        writer.write_arrow(_rows(rows))
        commit.commit(writer.prepare_commit())
        writer.close()
        commit.close()

    def read(self, table: str, options: dict[str, str] | None = None) -> list[dict[str, Any]]:
        found = self.catalog.get_table(table)
        builder = (found.copy(options) if options else found).new_read_builder()
        read = builder.new_read().to_arrow(builder.new_scan().plan().splits())
        return [] if read is None else read.to_pylist()

    def call(self, method: str, arguments: list[Any]) -> Any:
        given = [
            Identifier.from_string(a[1:]) if isinstance(a, str) and a[:1] == "@" else a
            for a in arguments
        ]
        answer = getattr(self.catalog, method)(*given)
        return answer if isinstance(answer, (list, str, int, type(None))) else str(answer)

    def tags(self, table: str) -> list[str]:
        return sorted(self.catalog.list_tags_paged(Identifier.from_string(table)).elements)


def main() -> None:
    """Answer each line by one."""
    client: Client | None = None
    for line in sys.stdin:
        method, arguments = json.loads(line)
        try:
            if method == "connect":
                client, answer = Client(**arguments), None
            else:
                answer = getattr(client, method)(**arguments)
            print(json.dumps({"answer": answer}), flush=True)  # noqa: T201 - its parent reads it
        except Exception as error:  # noqa: BLE001 - told
            told = f"{type(error).__name__}: {error}"
            print(json.dumps({"error": told}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
