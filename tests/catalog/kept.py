"""A catalog that keeps views and functions, for tests of what stands on such catalogs."""

from __future__ import annotations

from typing import Any

from paimonlab.catalog import FileSystemCatalog
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.names import parse
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import (
    AlreadyExistsError,
    FunctionNotFoundError,
    ViewNotFoundError,
)
from paimonlab.spec.function import Function
from paimonlab.spec.view import View
from paimonlab.table.table import Table


class KeepingCatalog(ViewCatalog, FunctionCatalog, FileSystemCatalog):
    """Tables in files; views and functions as the JSON that other catalogs keep, in memory."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._documents: dict[str, bytes] = {}
        self._functions: dict[str, bytes] = {}

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
