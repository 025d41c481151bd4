"""Take pictures of every view on four tables, to be looked at: they are not kept.

``python -m tools.looks [--views a,b] [--tables small,history] [--widths 600,900,1400] [--forms
interactive,static] [--themes light,dark] [--kept FOLDER]`` writes ``build/looks``: pictures, sheets
of several and ``costs.txt``. It says what is found in each picture: what is too wide, too high,
cut, over each other or hard to read.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tools.looks.pictures import Kinds, pictures, sheets
from tools.looks.shown import VIEWS, shown
from tools.looks.tables import TABLES

TARGET = Path(__file__).parents[2] / "build" / "looks"


def look(browser: Browser, table_name: str, options: argparse.Namespace, folder: Path) -> None:
    """Take the pictures of a table's views; say what a view refuses, costs and gets wrong."""
    table = TABLES[table_name](folder / table_name)
    kinds = Kinds(forms=options.forms, widths=options.widths, themes=options.themes)
    taken: list[Path] = []
    for name, view, cost in shown(table, options.views):
        print(f"{table_name}-{name}: {cost}{' TOO MUCH' * cost.is_over}", flush=True)
        for picture in pictures(browser, view, f"{table_name}-{name}", kinds, TARGET):
            print(f"  {picture.path.name}: drawn in {picture.draw_seconds:.2f} s", flush=True)
            for sentence in picture.found[:8]:
                print(f"    {sentence}")
            taken.append(picture.path)
    name = f"sheet-{table_name}-{'-'.join((*map(str, kinds.widths), *kinds.themes, *kinds.forms))}"
    for path in sheets(
        browser, taken, TARGET / name, columns=options.columns, most=options.columns * 3
    ):
        print(path.name)


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
    parser.add_argument("--kept", type=Path, help="keeps the tables for the next time")
    parser.add_argument("--columns", type=int, default=2, help="pictures beside each other")
    options = parser.parse_args()
    executable = chromium.executable()
    if executable is None:
        raise SystemExit("no Chromium here")
    TARGET.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as playwright:
        folder = options.kept or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        browser = playwright.chromium.launch(executable_path=executable, args=chromium.FLAGS)
        for table_name in options.tables:
            look(browser, table_name, options, folder)
        browser.close()


if __name__ == "__main__":
    main()
