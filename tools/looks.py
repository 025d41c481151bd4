"""Take pictures of every view on four tables, to be looked at: they are not kept.

``python -m tools.looks [--views a,b] [--tables small,history] [--widths 600,900,1400] [--forms
interactive,static] [--themes light,dark]`` writes ``build/looks`` and says what `look.js` finds in
each picture.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from playwright.sync_api import Browser, sync_playwright

import paimonlab as pl
from benchmarks.growth.planning import name_files
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.errors import PaimonError
from paimonlab.notebook import demo, views
from paimonlab.notebook.connections import connection
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.display.page import page as page_of
from paimonlab.notebook.views.doctor.drawing import draw as draw_doctor
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.spark.sessions.doctor import checks
from paimonlab.spark.sessions.environment import measured
from paimonlab.table.table import Table
from tests.browser import chromium
from tests.notebook.results.test_result import make

TARGET = Path(__file__).parents[1] / "build" / "looks"
LOOK = Path(__file__).parents[1] / "tests" / "browser" / "look.js"
SNAPSHOTS = 300
COLUMNS = 120
FILES = 100_000

MakeTable = Callable[[Path], Table]
_Show = Callable[[Table], Any]
VIEWS: dict[str, _Show] = {
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
    "result": lambda table: make(table.scan(limit=40).to_arrow()).view,
}


def small(_folder: Path) -> Table:
    """Return the demo's table."""
    return _demo_table("demo.orders")


def history(folder: Path) -> Table:
    """Make a table of 300 snapshots and 120 columns with long names."""
    names = [
        f"measured_value_of_the_sensor.number_{at:03}_in_hall_{at % 7}" for at in range(COLUMNS)
    ]
    columns = {"identifier_of_the_device": "BIGINT NOT NULL", **dict.fromkeys(names, "DOUBLE")}
    table = _catalog(folder).create_table(
        "db.every_measurement_of_all_sensors_in_the_northern_plant",
        columns,
        primary_keys=["identifier_of_the_device"],
        options={"bucket": "2"},
    )
    chance = np.random.default_rng(1)
    for number in range(SNAPSHOTS):
        if (table.refresh().snapshots.ids() or [0])[-1] >= SNAPSHOTS:
            break
        ids = np.arange(number, number + 20)
        rows = {name: chance.normal(size=20) * 10 ** (number % 9) for name in names}
        table.write(pa.table({"identifier_of_the_device": ids, **rows}))
        if number == SNAPSHOTS // 3:
            table.tags.create("the_last_one_before_the_migration")
    return table


def many(folder: Path) -> Table:
    """Make a table whose metadata names 100,000 files; there are none."""
    catalog = _catalog(folder)
    name_files(catalog, "db.files", FILES)
    table = catalog.table("db.files")
    assert isinstance(table, Table)
    return table


def empty(folder: Path) -> Table:
    """Make a table that nothing was written to."""
    return _catalog(folder).create_table("db.empty", {"id": "BIGINT NOT NULL", "v": "STRING"})


TABLES: dict[str, MakeTable] = {
    "small": small,
    "history": history,
    "many": many,
    "empty": empty,
}


def _catalog(folder: Path) -> pl.Catalog:
    catalog = pl.connect(folder)
    catalog.create_database("db")
    return catalog


def _demo_table(name: str) -> Table:
    demo()
    table = connection.current().catalog.table(name)
    assert isinstance(table, Table)
    return table


def _two_points(table: Table) -> tuple[int, int]:
    ids = table.snapshots.ids()
    return (ids[max(0, len(ids) - 6)], ids[-1]) if ids else (0, 1)


def _a_row(table: Table) -> str:
    if table.name == "demo.orders":
        return "dt = '2026-01-03' AND order_id = 89"
    return f"{(table.primary_keys or ('id',))[0]} = 7"


def _a_file(table: Table) -> str:
    files: list[str] = table.scan().plan_here().files["file_name"].to_pylist()
    return files[-1] if files else "none.parquet"


def shown(table: Table, names: Sequence[str]) -> Iterator[tuple[str, Drawn[Any]]]:
    """Make views; those that a table refuses, and what reads files that are not there, are said."""
    for name in names:
        try:
            yield name, VIEWS[name](table)
        except (PaimonError, ValueError, LookupError) as error:
            print(f"{name}: {type(error).__name__}: {str(error)[:100]}")


def pictures(
    browser: Browser, view: Drawn[Any], name: str, options: argparse.Namespace
) -> Iterator[tuple[Path, list[str]]]:
    """Take the pictures of one view; yield each with what is wrong with it."""
    pages = {form: TARGET / f"{name}-{form}.html" for form in options.forms}
    for form, path in pages.items():
        data = view.data() if form == "interactive" and view.kind else None
        path.write_text(page_of(view.grid.caption, view.to_html(), data), encoding="utf-8")
    look = LOOK.read_text(encoding="utf-8")
    for (form, path), width, theme in product(pages.items(), options.widths, options.themes):
        page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=theme)
        page.goto(path.as_uri())
        frame = page.locator("#view .frame" if form == "interactive" else "body").first
        frame.wait_for()
        found = frame.evaluate(look)
        target = path.with_name(f"{path.stem}-{width}-{theme}.png")
        frame.screenshot(path=target, animations="disabled")
        page.close()
        yield target, found


def main() -> None:
    """Take what is asked for, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option, known in {
        "views": list(VIEWS),
        "tables": list(TABLES),
        "forms": ["interactive", "static"],
        "themes": ["light", "dark"],
    }.items():
        parser.add_argument(f"--{option}", type=lambda text: text.split(","), default=known)
    parser.add_argument(
        "--widths",
        type=lambda text: [int(part) for part in text.split(",")],
        default=[600, 900, 1400],
    )
    options = parser.parse_args()
    executable = chromium.executable()
    if executable is None:
        raise SystemExit("no Chromium here")
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=chromium.FLAGS)
        for table_name in options.tables:
            table = TABLES[table_name](Path(folder) / table_name)
            for name, view in shown(table, options.views):
                for path, found in pictures(browser, view, f"{table_name}-{name}", options):
                    if found:
                        print(path.name, *found[:5], sep="\n  ")
        browser.close()


if __name__ == "__main__":
    main()
