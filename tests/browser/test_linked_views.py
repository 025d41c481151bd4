"""All views of a table on one page: they follow what is chosen in one, and Python knows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from paimonlab import notebook
from paimonlab.notebook import views
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.kernel import browser_modules
from paimonlab.notebook.kernel.selection import Selection
from paimonlab.table.table import Table
from tests.browser.conftest import watched_page
from tests.browser.test_every_view import WAYS

LOAD = """
async (widgets) => {
  globalThis.models = {};
  for (const [kind, source, data] of widgets) {
    const values = { data, can_answer: false };
    models[kind] = { values, save_changes() {}, on() {}, off() {}, send() {},
      get: (name) => values[name], set: (name, value) => { values[name] = value; } };
    const el = document.createElement("div");
    el.id = kind;
    document.body.append(el);
    const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
    (await import(address)).default.render({ model: models[kind], el });
  }
}
"""


@dataclass(frozen=True)
class Shown:
    """A page with every view of a table, each as its widget."""

    page: Page
    drawn: dict[str, Drawn[Any]]

    def view(self, kind: str) -> Locator:
        return self.page.locator(f"#{kind} .frame")

    def says(self, kind: str, text: str) -> None:
        expect(self.view(kind).locator(".status")).to_contain_text(text)

    def selection(self, kind: str) -> Selection:
        """Return what Python knows after the widget of a view told it."""
        view = self.drawn[kind]
        view.widget().selected = self.page.evaluate(f"models.{kind}.values.selected")
        return view.selection

    def value(self, kind: str) -> Any:
        return self.drawn[kind].value


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Shown]:
    table = notebook.demo(tmp_path_factory.mktemp("demo")).catalog.table("demo.orders")
    assert isinstance(table, Table)
    drawn = {kind: way.show(table) for kind, way in WAYS.items()}
    widgets = [
        [kind, browser_modules.widget_module(kind), view.data()] for kind, view in drawn.items()
    ]
    with watched_page(browser, viewport={"width": 1000, "height": 900}) as page:
        page.evaluate(LOAD, widgets)
        yield Shown(page, drawn)
    connections.disconnect()


def test_a_snapshot_is_followed(shown: Shown) -> None:
    run = shown.value("compaction").runs[-1]
    id = run.snapshot_id

    shown.view("timeline").get_by_role("option", name=f"snapshot {id},").first.click()

    assert shown.selection("timeline") == Selection(snapshot=id)
    shown.says("log", f"version {id}, ")
    shown.says("compaction", f"snapshot {id}: {run.read.files} files")
    step = next(one for one in shown.value("travel").steps if one.snapshot_id == id)
    shown.says("travel", f"snapshot {id}: {step.row_count} rows")
    expect(shown.view("lsm").get_by_role("slider", name="step")).to_have_attribute(
        "aria-valuetext", f"snapshot {id} compact"
    )
    used = [one.id for one in shown.value("schemas").versions if _uses(one, id)]
    shown.says("schemas", f"schema {used[0]}: ")
    for kind in ("manifests", "heatmap", "files"):
        shown.says(kind, f"snapshot {id} was chosen: %paimon_{kind} demo.orders --snapshot {id}")


def test_a_range_is_followed(shown: Shown) -> None:
    shown.view("timeline").get_by_role("option", name="snapshot 5,").first.click()
    for _ in range(2):
        shown.page.keyboard.press("Shift+ArrowLeft")

    assert shown.selection("timeline") == Selection(range=(3, 5))
    shown.says("log", "versions 3 to 5")
    expect(shown.view("log").locator("tr[aria-selected=true]")).to_have_count(3)
    shown.says("compaction", "snapshot 4: ")
    shown.says("travel", "snapshot 5: ")
    shown.says("diff", "%paimon_diff demo.orders 3 5 shows them")
    shown.says("changes", "%paimon_changes demo.orders 3 5 shows them")


def test_a_partition_is_followed(shown: Shown) -> None:
    tile = next(one for one in shown.value("files").tiles if one.parent == -1)

    shown.view("files").get_by_role("option").first.click()

    assert shown.selection("files") == Selection(partition=tile.name)
    entries = _entries(shown.value("manifests"))
    there = sum(one.partition == tile.name for one in entries)
    shown.says("manifests", f"{there} of the {len(entries)} entries here match, in {tile.name}")
    marked = shown.view("heatmap").get_by_role("gridcell", selected=True)
    expect(marked).to_have_count(len(shown.value("heatmap").columns))
    rows = shown.value("changes").rows
    changed = sum(one.partition == tile.name for one in rows)
    shown.says("changes", f"{tile.name}: {changed} of the {len(rows)} rows here")
    groups = sum(one.partition == tile.name for one in shown.value("diff").groups)
    shown.says("diff", f"{tile.name}: {groups} of the rows")
    expect(shown.view("lsm").locator("h4")).to_contain_text(tile.name)


def test_a_bucket_is_followed(shown: Shown) -> None:
    shown.page.evaluate("globalThis.scrollTo(0, 0)")
    row = shown.value("heatmap").rows[-1]

    shown.view("heatmap").get_by_role("gridcell", name=f"{row.partition}, bucket 1:").click()

    place = (row.partition, 1)
    assert shown.selection("heatmap") == Selection(partition=row.partition, bucket=1)
    entries = _entries(shown.value("manifests"))
    there = sum((one.partition, one.bucket) == place for one in entries)
    text = f"{there} of the {len(entries)} entries here match, in {row.partition} bucket 1"
    shown.says("manifests", text)
    expect(shown.view("lsm").locator("h4")).to_have_text(f"{row.partition} bucket 1")
    shown.says("files", "bucket 1: ")
    picks = sum((one.partition, one.bucket) == place for one in shown.value("compaction").picks)
    shown.says("compaction", f"{picks} of the picks")
    found = [one.where for one in shown.value("health").tables[0].findings]
    shown.says("health", f"{found.count(f'{row.partition}, bucket 1')} of the findings are there")
    shown.view("manifests").get_by_role("button", name="only").click()
    expect(shown.view("manifests").get_by_role("button", name="only")).to_have_count(0)


def test_a_file_is_followed(shown: Shown) -> None:
    shown.view("lsm").locator("tbody tr").first.click()
    bucket = shown.value("lsm").buckets[0]
    last = len(bucket.steps) - 1
    file = next(one for one in bucket.files if one.born <= last < one.died)

    shown.view("lsm").locator(".lsm-bar").first.click()

    told = Selection(partition=bucket.partition, bucket=bucket.bucket, file=file.name)
    assert shown.selection("lsm") == told
    shown.says("manifests", "1 of the ")
    expect(shown.view("manifests").get_by_role("searchbox")).to_have_value(file.name)
    shown.says("files", f"{file.name}: 1 file, {file.rows} rows")
    shown.says("diff", f"{file.name} is in both or in neither")
    other = f"{file.name} was chosen: %paimon_file demo.orders {file.name} shows it"
    if shown.value("file").file != file.name:
        shown.says("file", other)


def test_a_view_tells_its_table_only(shown: Shown) -> None:
    shown.page.evaluate("models.log.values.selected = null")

    shown.view("result").get_by_role("gridcell").first.click()

    assert shown.page.evaluate("models.result.values.selected ?? null") is None
    assert shown.page.evaluate("models.log.values.selected") is None, "following tells nothing"


def _entries(tree: views.ManifestTree) -> list[views.EntryNode]:
    every = [manifest for one in tree.lists for manifest in one.manifests]
    return [entry for manifest in every for entry in manifest.entries]


def _uses(version: views.SchemaVersion, snapshot: int) -> bool:
    used = version.used_by
    return used is not None and used.first_snapshot <= snapshot <= used.last_snapshot
