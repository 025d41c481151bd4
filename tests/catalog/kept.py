"""A catalog that keeps views, functions and format tables, for tests of what stands on such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from paimonlab.catalog import FileSystemCatalog
from paimonlab.catalog.catalog import FoundTable
from paimonlab.catalog.format_tables import FormatTableCatalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.names import parse
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import (
    AlreadyExistsError,
    FunctionNotFoundError,
    ReadOnlyError,
    ViewNotFoundError,
)
from paimonlab.spec.function import Function
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.spec.schema.schema_changes import SchemaChange
from paimonlab.spec.view import View
from paimonlab.table.table import Table


class KeepingCatalog(ViewCatalog, FunctionCatalog, FormatTableCatalog, FileSystemCatalog):
    """Tables in files; all else as the JSON that other catalogs keep, in memory."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._documents: dict[str, bytes] = {}
        self._functions: dict[str, bytes] = {}
        self._formats: dict[str, bytes] = {}

    def format_tables(self, database: str) -> list[str]:
        self._check_database(database)
        names = (name.split(".", 1) for name in self._formats)
        return sorted(table for of, table in names if of == database)

    def _table_names(self, database: str) -> list[str]:
        formats = self.format_tables(database)
        return [name for name in super()._table_names(database) if name not in formats]

    def _create_format(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        name = identifier.full_name
        self._check_database(identifier.database)
        if self.is_read_only:
            raise ReadOnlyError(f"creating {name}")
        if name in self._documents:
            raise AlreadyExistsError("view", name)
        if self._found(identifier) is not None:
            return None
        self._formats[name] = schema.to_json()
        found = self._found(identifier)
        assert found is not None
        self.file_io.make_directory(found.path)
        return found

    def _create(self, identifier: Identifier, schema: TableSchema) -> FoundTable | None:
        return (
            None if identifier.full_name in self._formats else super()._create(identifier, schema)
        )

    def _found(self, identifier: Identifier) -> FoundTable | None:
        kept = self._formats.get(identifier.full_name)
        if kept is None:
            return super()._found(identifier)
        schema = TableSchema.from_json(kept, path=identifier.full_name)
        path = schema.options.get("path", self._table_path(identifier))
        return FoundTable(
            identifier=identifier,
            schema=schema,
            path=path.removeprefix("file:"),
            file_io=self.file_io,
        )

    def _alter(self, identifier: Identifier, changes: Sequence[SchemaChange]) -> FoundTable:
        found = self._found(identifier)
        if found is None or identifier.full_name not in self._formats:
            return super()._alter(identifier, changes)
        options = dict(found.schema.options)
        for change in changes:
            if isinstance(change, SetOption):
                options[change.key] = str(change.value)
            elif isinstance(change, RemoveOption):
                options.pop(change.key, None)
        altered = replace(found.schema, id=found.schema.id + 1, options=options)
        self._formats[identifier.full_name] = altered.to_json()
        found = self._found(identifier)
        assert found is not None
        return found

    def _drop(self, identifier: Identifier) -> bool:
        found = self._found(identifier)
        if found is None or self._formats.pop(identifier.full_name, None) is None:
            return super()._drop(identifier)
        if "path" not in found.schema.options:
            self.file_io.delete_directory(found.path)
        return True

    def views(self, database: str) -> list[str]:
        self._check_database(database)
        names = (name.split(".", 1) for name in self._documents)
        return sorted(view for of, view in names if of == database)

    def view(self, name: str) -> View:
        if name not in self._documents:
            raise ViewNotFoundError(name, list(self._documents))
        return View.from_json(self._documents[name], name=name)

    def create_view(self, name: str, view: View, *, exist_ok: bool = False) -> None:
        self._check_database(parse(name).database)
        if exist_ok and name in self._documents:
            return
        self._check_free(name)
        self._documents[name] = view.to_json()

    def replace_view(self, name: str, view: View) -> None:
        self.view(name)
        self._documents[name] = view.to_json()

    def rename_view(self, source: str, target: str) -> None:
        self.view(source)
        self._check_database(parse(target).database)
        self._check_free(target)
        self._documents[target] = self._documents.pop(source)

    def drop_view(self, name: str, *, missing_ok: bool = False) -> None:
        if not missing_ok:
            self.view(name)
        self._documents.pop(name, None)

    def functions(self, database: str) -> list[str]:
        self._check_database(database)
        names = (name.split(".", 1) for name in self._functions)
        return sorted(function for of, function in names if of == database)

    def function(self, name: str) -> Function:
        if name not in self._functions:
            raise FunctionNotFoundError(name, list(self._functions))
        return Function.from_json(self._functions[name], name=name)

    def create_function(self, name: str, function: Function, *, exist_ok: bool = False) -> None:
        self._check_database(parse(name).database)
        if name in self._functions:
            if exist_ok:
                return
            raise AlreadyExistsError("function", name)
        self._functions[name] = function.to_json()

    def replace_function(self, name: str, function: Function) -> None:
        self.function(name)
        self._functions[name] = function.to_json()

    def drop_function(self, name: str, *, missing_ok: bool = False) -> None:
        if not missing_ok:
            self.function(name)
        self._functions.pop(name, None)

    def create_table(self, name: str, *arguments: Any, **options: Any) -> Table:
        if name in self._documents:
            raise AlreadyExistsError("view", name)
        return super().create_table(name, *arguments, **options)

    def _check_free(self, name: str) -> None:
        if name in self._documents:
            raise AlreadyExistsError("view", name)
        if self.has_table(name):
            raise AlreadyExistsError("table", name)
