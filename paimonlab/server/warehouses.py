"""Which warehouses the panel may open: configured ones, and folders below the server's root.

A warehouse is named ``connection:NAME`` or ``folder:PATH``, a path relative to the root with ``/``.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from paimonlab.catalog import Catalog, connect, settings
from paimonlab.catalog.format_tables import FormatTableCatalog, format_tables_of
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import NotFoundError, PaimonError, ViewNotFoundError
from paimonlab.secrets import without_credentials
from paimonlab.spec.identifier import Identifier
from paimonlab.spec.view import View
from paimonlab.table.format_tables.format_table import FormatTable
from paimonlab.table.table import Table

CONNECTION = "connection:"
FOLDER = "folder:"
DATABASE_SUFFIX = ".db"
MOST_FOLDERS = 2_000
"""Folders that are looked at for warehouses."""
_DEPTH = 2


class OutsideError(PaimonError):
    """What was asked for lies outside of the folders that the panel may read."""


class Warehouse(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A warehouse that can be opened."""

    key: str
    """What requests name it by."""
    name: str
    place: str
    """Its path or URI, as it may be shown."""
    is_read_only: bool = False
    problem: str = ""
    """Why it cannot be opened; empty: it can."""
    insert: str = ""
    """The line that connects a notebook to it."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A warehouse that was opened, and the folder that all it reads must be in."""

    catalog: Catalog
    root: Path | None
    """None: a configured connection may be anywhere."""

    def table(self, database: str, name: str) -> Table:
        """Open a table.

        Raises
        ------
        OutsideError
            If a link leads out of the root.
        NotFoundError
            If there is no such table.
        """
        self.check(database, name)
        table = self.catalog.relation(str(Identifier(database, name)))
        if not isinstance(table, Table):
            raise NotFoundError(f"{database}.{name} is a system table")
        return table

    def format_tables(self, database: str) -> list[str]:
        """List the format tables of a database; none where the catalog keeps none."""
        self.check(database)
        return format_tables_of(self.catalog, database)

    def format_table(self, database: str, name: str) -> FormatTable | None:
        """Return a format table; None if there is no format table of this name."""
        self.check(database, name)
        full = str(Identifier(database, name))
        if not isinstance(self.catalog, FormatTableCatalog):
            return None
        return self.catalog.format_table(full) if self.catalog.has_format_table(full) else None

    def views(self, database: str) -> list[str]:
        """List the views of a database; none where the catalog keeps none."""
        self.check(database)
        return self.catalog.views(database) if isinstance(self.catalog, ViewCatalog) else []

    def view(self, database: str, name: str) -> View | None:
        """Return a view; None if there is no view of this name."""
        self.check(database, name)
        if not isinstance(self.catalog, ViewCatalog):
            return None
        try:
            return self.catalog.view(str(Identifier(database, name)))
        except ViewNotFoundError:
            return None

    def check(self, database: str, table: str = "") -> None:
        """Refuse a database, or a table of it, that a link leads out of the root."""
        if self.root is None:
            return
        folder = Path(self.catalog.path) / f"{database}{DATABASE_SUFFIX}" / table
        if not _is_within(Path(os.path.realpath(folder)), self.root):
            raise OutsideError(f"{database}{'.' * bool(table)}{table} lies outside of {self.root}")


def warehouses(root: Path, added: tuple[str, ...] = ()) -> list[Warehouse]:
    """List configured warehouses, those below the root, and folders that were added by hand.

    Parameters
    ----------
    root
        The folder that Jupyter Server shows.
    added
        Keys of warehouses that the panel remembers; those that may not be read have a problem.
    """
    listed = [_configured(name, setting) for name, setting in settings.read().items()]
    found = [FOLDER + path for path in _found(root)]
    found += [key for key in added if key.startswith(FOLDER)]
    return listed + [_folder(root, key) for key in dict.fromkeys(found)]


def opened(root: Path, key: str) -> Opened:
    """Open a warehouse.

    Raises
    ------
    OutsideError
        If it is a folder that is hidden, or not below the root.
    NotFoundError
        If there is no such connection or folder.
    """
    if key.startswith(CONNECTION):
        name = key.removeprefix(CONNECTION)
        setting = settings.read().get(name)
        if setting is None or "warehouse" not in setting.options:
            raise NotFoundError(f"no configured connection {name} with a warehouse")
        return Opened(connect(setting.resolved()), None)
    path = folder_of(root, key)
    if not path.is_dir():
        raise NotFoundError(f"there is no folder {key.removeprefix(FOLDER)}")
    return Opened(connect(path), Path(os.path.realpath(root)))


def folder_of(root: Path, key: str) -> Path:
    """Return the folder that a key names.

    Raises
    ------
    OutsideError
        If it is not below the root, whatever links are on the way, or if it is hidden.
    """
    relative = key.removeprefix(FOLDER)
    parts = Path(relative).parts
    is_plain = key.startswith(FOLDER) and "\0" not in relative and not Path(relative).is_absolute()
    if not is_plain or any(part == ".." or part.startswith(".") for part in parts):
        raise OutsideError(f"{relative or key} is not a folder below the server's root")
    path = Path(os.path.realpath(root / relative))
    if not _is_within(path, Path(os.path.realpath(root))):
        raise OutsideError(f"{relative} lies outside of the server's root")
    return path


def _is_within(path: Path, root: Path) -> bool:
    return path == root or root in path.parents


def _configured(name: str, setting: settings.Setting) -> Warehouse:
    key, place = CONNECTION + name, setting.place
    if "warehouse" not in setting.options:
        problem = "it names a Spark Connect server and no warehouse: its tables cannot be read here"
        return Warehouse(key=key, name=name, place=place, problem=problem)
    try:
        catalog = connect(setting.resolved())
    except (PaimonError, ValueError) as error:
        return Warehouse(key=key, name=name, place=place, problem=str(error))
    shown = place if setting.is_from_environment else without_credentials(catalog.path)
    return Warehouse(
        key=key,
        name=name,
        place=shown,
        is_read_only=catalog.is_read_only,
        insert=f"%paimon_connect --use {name}",
    )


def _folder(root: Path, key: str) -> Warehouse:
    relative = key.removeprefix(FOLDER)
    name = relative if relative not in {"", "."} else Path(os.path.realpath(root)).name
    insert = ""
    try:
        folder = folder_of(root, key)
        problem = "" if folder.is_dir() else "there is no such folder any more"
        insert = f"%paimon_connect {shlex.quote(str(folder))}"
    except OutsideError as error:
        problem = str(error)
    return Warehouse(key=key, name=name, place=relative or ".", problem=problem, insert=insert)


def _found(root: Path) -> Iterator[str]:
    """Yield folders below the root that contain a database, the uppermost first."""
    left = MOST_FOLDERS
    waiting = [(root, 0)]
    while waiting and left > 0:
        folder, depth = waiting.pop(0)
        left -= 1
        inside = _folders(folder)
        if any(name.endswith(DATABASE_SUFFIX) for name in inside):
            yield folder.relative_to(root).as_posix()
        elif depth < _DEPTH:
            waiting += [(folder / name, depth + 1) for name in inside]


def _folders(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(name for name in names if not name.startswith("."))[:MOST_FOLDERS]
