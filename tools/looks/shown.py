"""The views that are looked at, of any table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.cards_by_name import CARDS
from paimonlab.errors import PaimonError
from paimonlab.notebook import views
from paimonlab.notebook.connections import connection
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.grid import Grid
from paimonlab.notebook.results.table.result_view import ResultView
from paimonlab.notebook.views.doctor.drawing import draw as draw_doctor
from paimonlab.notebook.views.objects import cards
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.spec.types.data_types import with_nullable
from paimonlab.sql_engine.kinds import simple_type
from paimonlab.table.table import Table
from tests.notebook.results.test_result import make
from tools.looks.costs import Cost, measured_view
from tools.looks.tables import ROW_OF_MANY


def a_result(table: Table) -> ResultView:
    """Make what a cell shows that selects the first rows."""
    types = [simple_type(with_nullable(field.type, nullable=True)) for field in table.schema.fields]
    return make(table.scan(limit=40).to_arrow(), types).view


def _two_points(table: Table) -> tuple[int, int]:
    if table.name == "demo.orders":
        return 3, 7
    ids = table.snapshots.ids()
    return (ids[max(0, len(ids) - 6)], ids[-1]) if ids else (0, 0)


def _a_row(table: Table) -> str:
    if table.name == "demo.orders":
        return "dt = '2026-01-03' AND order_id = 89"
    if not table.primary_keys:
        return f"id = {ROW_OF_MANY}"
    return f"{table.primary_keys[0]} = 7"


def _a_file(table: Table) -> str:
    files: list[str] = table.scan().plan_here().files["file_name"].to_pylist()
    return files[-1] if files else "none.parquet"


def _card(shown: Any) -> str:
    names = ((kind.__module__, kind.__name__) for kind in type(shown).__mro__)
    html: str = getattr(cards, next(CARDS[name] for name in names if name in CARDS))(shown)
    return html


def _objects(table: Table) -> Drawn[Any]:
    """Put under each other what cells show that end with an object."""
    shown = (
        table,
        connection.current().catalog if table.name == "demo.orders" else None,
        table.schema,
        table.snapshot,
        next(iter(table.tags.list().values()), None),
        table.snapshots,
        table.tags,
        table.scan(),
        table.changes(*_two_points(table)),
    )
    html = "".join(_card(each) for each in shown if each is not None)
    return Drawn(None, Grid((), (), "objects"), pa.table({}), static=html)


VIEWS: dict[str, Callable[[Table], Drawn[Any]]] = {
    "timeline": lambda table: table.show.timeline(),
    "watch": lambda table: draw_watch(Watcher(table).value("stopped")),
    "log": lambda table: table.show.log(),
    "schemas": lambda table: table.show.schemas(),
    "manifests": lambda table: table.show.manifests(),
    "heatmap": lambda table: table.show.heatmap(),
    "files": lambda table: table.show.files(),
    "file": lambda table: table.show.file(_a_file(table)),
    "lsm": lambda table: table.show.lsm(),
    "compaction": lambda table: table.show.compaction(),
    "simulator": lambda table: table.show.simulator(),
    "diff": lambda table: table.show.diff(*_two_points(table)),
    "changes": lambda table: table.show.changes(*_two_points(table)),
    "travel": lambda table: table.show.travel(),
    "row": lambda table: table.show.row(_a_row(table)),
    "profile": lambda table: table.show.profile(),
    "health": lambda table: table.show.health(),
    "fsck": lambda table: table.show.fsck(),
    "doctor": lambda _table: draw_doctor(views.Doctor(checks=checks(measured(None)))),
    "result": a_result,
    "objects": _objects,
}


def shown(table: Table, names: Sequence[str]) -> Iterator[tuple[str, Drawn[Any], Cost]]:
    """Make views; those that a table refuses, and what reads files that are not there, are said."""
    for name in names:
        try:
            yield name, *measured_view(partial(VIEWS[name], table))
        except (PaimonError, ValueError, LookupError, FileNotFoundError) as error:
            print(f"{table.name} {name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
