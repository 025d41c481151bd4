"""Each interactive view by mouse and by keyboard, in light and in dark, to be read by everybody.

What is chosen is compared with the data of the view. `audit.js` looks at contrast, names and
roles, room and motion, `look.js` at columns, numbers and labels, whatever a view shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from paimonlab import notebook
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.maintenance.fsck.report import Finding
from paimonlab.notebook import views
from paimonlab.notebook.cell.stream_statement import StreamState
from paimonlab.notebook.connections import connection as connections
from paimonlab.notebook.display.drawn import Drawn
from paimonlab.notebook.views.fsck.drawing import draw as draw_fsck
from paimonlab.notebook.views.ingest.drawing import draw_ingest
from paimonlab.notebook.views.statements.drawing import draw_statements
from paimonlab.notebook.views.streams.drawing import draw_streams
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.table.table import Table
from tests.browser.conftest import PageOf
from tests.browser.test_heatmap import LISTEN
from tests.notebook.results.test_result import make

AUDIT = (Path(__file__).parent / "audit.js").read_text(encoding="utf-8")
LOOK = (Path(__file__).parent / "look.js").read_text(encoding="utf-8")
NARROW = {"width": 600, "height": 2400}
FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}"""
RING = """(element) => {
  const isSeen = (one) => {
    const { outlineStyle, outlineWidth, stroke, strokeWidth, visibility } = getComputedStyle(one);
    if (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) return true;
    return visibility === "visible" && stroke !== "none" && parseFloat(strokeWidth) >= 3;
  };
  return [element, ...element.querySelectorAll("*")].some(isSeen);
}"""


@dataclass(frozen=True, kw_only=True)
class Said:
    """What choosing must lead to."""

    text: str
    """Part of the line that is read aloud."""
    told: dict[str, Any] | None = None
    """What the other views hear last; None: nothing new."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """How a view is used."""

    show: Callable[[Table], Drawn[Any]]
    item: str
    """The first thing that can be chosen; a click there is what the mouse does."""
    by_mouse: Callable[[Any], Said]
    keys: Sequence[str]
    """Pressed when Tab came to something that ``stop`` finds."""
    by_keys: Callable[[Any], Said]
    stop: str = ""
    """Empty: the same as ``item``, wherever its tab stop is."""
    roles: Sequence[str]
    """Each must be there."""
    at: tuple[float, float] | None = None
    """Where in the item the mouse clicks; None: in its middle."""


def _entry(tree: views.ManifestTree) -> Said:
    first = next(one for one in tree.lists if one.manifests).manifests[0]
    entry = first.entries[0]
    place = {"partition": entry.partition, "bucket": entry.bucket, "file": entry.file}
    return Said(text=f"{entry.file}, ", told=place)


def _base(tree: views.ManifestTree) -> Said:
    return Said(text=f"base {tree.lists[0].name}, {len(tree.lists[0].manifests)} manifest")


def _cell(column: int) -> Callable[[views.Heatmap], Said]:
    def said(heatmap: views.Heatmap) -> Said:
        largest = max(heatmap.rows, key=lambda row: sum(size or 0 for size in row.bytes))
        bucket = heatmap.columns[column].first
        told = {"partition": largest.partition, "bucket": bucket}
        return Said(text=f"{largest.partition}, bucket {bucket}: ", told=told)

    return said


def _tile(depth: int) -> Callable[[views.FileMap], Said]:
    def said(files: views.FileMap) -> Said:
        at = next(at for at, tile in enumerate(files.tiles) if tile.parent == -1)
        told: dict[str, Any] = {"partition": files.tiles[at].name}
        for level in range(depth):
            at = next(place for place, tile in enumerate(files.tiles) if tile.parent == at)
            if level < depth - 1:
                told["bucket"] = int(files.tiles[at].name or "")
        # It opens, and the first area inside has the focus.
        name = files.tiles[at].name or ""
        shown = f"bucket {name}" if files.tiles[at].kind == "bucket" else name
        return Said(text=f"{shown}: {files.tiles[at].files} file", told=told)

    return said


def _bar(place: int) -> Callable[[views.Lsm], Said]:
    def said(lsm: views.Lsm) -> Said:
        bucket = lsm.buckets[0]
        last = len(bucket.steps) - 1
        live = [file for file in bucket.files if file.born <= last < file.died]
        told = {
            "file": live[place].name,
            "partition": bucket.partition,
            "bucket": bucket.bucket,
        }
        return Said(text=f"{live[place].name}, level {live[place].level}", told=told)

    return said


def _change(place: int) -> Callable[[views.ChangeList], Said]:
    def said(changes: views.ChangeList) -> Said:
        row = changes.rows[place]
        word = {"+": "inserted", "-": "deleted", "~": "updated"}[row.mark]
        key = ", ".join(str(row.cells[column]) for column in changes.key)
        return Said(text=f"{word}: {key}", told={"partition": row.partition, "bucket": row.bucket})

    return said


def _finding(place: int) -> Callable[[views.Health], Said]:
    def said(health: views.Health) -> Said:
        finding = health.tables[0].findings[place]
        told = None
        if ", bucket " in finding.where:
            partition, _, bucket = finding.where.rpartition(", bucket ")
            told = {"partition": partition, "bucket": int(bucket)}
        return Said(text=f"{health.tables[0].table}: {finding.message}", told=told)

    return said


def _simulated(place: int) -> Callable[[views.Simulator], Said]:
    def said(simulator: views.Simulator) -> Said:
        chosen = [slider.own for slider in simulator.sliders]
        chosen[0] = place % len(simulator.sliders[0].values)
        at = 0
        for slider, value in zip(simulator.sliders, chosen, strict=True):
            at = at * len(slider.values) + value
        amount = f"{simulator.simulations[at].write_amplification:.2f}".removesuffix(".00")
        return Said(text=f"write amplification {amount}")

    return said


def _used(schemas: views.SchemaHistory, place: int) -> dict[str, Any]:
    used = schemas.versions[place].used_by
    assert used is not None
    return {"range": [used.first_snapshot, used.last_snapshot]}


def _travelled(place: int) -> Callable[[views.Travel], Said]:
    def said(travel: views.Travel) -> Said:
        step = sorted(travel.steps, key=lambda step: step.snapshot_id)[place]
        text = f"snapshot {step.snapshot_id}: {step.row_count:,} rows"
        return Said(text=text, told={"snapshot": step.snapshot_id})

    return said


def _listed(_table: Table) -> Drawn[Any]:
    listed = notebook.commands.tables()
    assert isinstance(listed, Drawn)
    return listed


DAMAGED = views.Fsck(
    table="demo.orders",
    summary="demo.orders: 1 error, 1 warning",
    findings=(
        Finding(severity="error", file="a", referrer="tag-b", problem="is gone", advice="c"),
        Finding(severity="warning", file="d", referrer="", problem="is large", advice="e"),
    ),
)
RUN = views.Statements(
    entries=tuple(
        views.StatementEntry(
            number=number,
            time_millis=1_700_000_000_000,
            alias="demo",
            sql="SELECT * FROM demo.orders WHERE a_long_name_of_a_column = 'with a long value'",
            row_count=rows,
            snapshots="demo.orders@13",
            duration_millis=1200,
            status=status,
        )
        for number, status, rows in ((2, "failed", None), (1, "done", 12))
    ),
    older_count=3,
)
STATES: tuple[tuple[str, StreamState, str | None], ...] = (
    ("stream 1", "running", None),
    ("stream 2", "failed", "[CAST_INVALID_INPUT] The value 'x' cannot be cast. " * 4),
    ("stream 3", "ended", None),
)
STREAMED = views.StreamList(
    streams=tuple(
        views.StreamEntry(
            id=name,
            name=name,
            source="demo.orders",
            sink="demo.totals_of_every_day",
            state=state,
            batch=1200,
            rows=1_234_567,
            rows_per_second=98_765.4,
            snapshots_behind=2,
            millis_behind=1500,
            state_rows=12,
            state_bytes=12_345,
            watermark="2026-01-31T12:00:00.000Z",
            error=error,
        )
        for name, state, error in STATES
    )
)
INGESTED = views.IngestJobs(
    is_one=False,
    jobs=tuple(
        views.IngestEntry(
            name=name,
            source="mysql 127.0.0.1:3306 shop\\.orders|shop\\.items",
            phase=phase,
            is_running=phase == "stream",
            epoch=1_200,
            position="",
            rows=1_234_567,
            dead=2,
            pending_rows=12,
            pending_bytes=12_345,
            rows_per_second=9_876.5,
            lag_millis=800,
            behind=12_345_678,
            behind_unit="bytes",
            committed_millis=1_700_000_000_000,
            snapshot_rows=1_234_567 if phase == "stream" else None,
            snapshot_total=5_000_000 if phase == "stream" else None,
            tables=(),
            commits=(),
            events=(),
            warnings=(),
            error=error,
        )
        for name, phase, error in (
            ("shop", "stream", None),
            ("items", "failed", "ingest job items: the log that comes next is not there. " * 3),
        )
    ),
)
GRID = ("[role=grid]", "table caption", "th[scope=col]")
WAYS: dict[str, Way] = {
    "timeline": Way(
        show=lambda table: table.show.timeline(),
        item="svg [role=option]",
        by_mouse=lambda line: Said(
            text=f"snapshot {line.points[0].id}, {line.points[0].commit_kind.lower()}",
            told={"snapshot": line.points[0].id},
        ),
        keys=("End", "Home", "ArrowRight", "Enter"),
        by_keys=lambda line: Said(
            text=f"snapshot {line.points[1].id}, {line.points[1].commit_kind.lower()}",
            told={"snapshot": line.points[1].id},
        ),
        roles=("svg[role=listbox][aria-multiselectable=true]", "input[type=range][aria-valuetext]"),
    ),
    "log": Way(
        show=lambda table: table.show.log(),
        item="tbody tr",
        by_mouse=lambda log: Said(
            text=f"version {log.entries[0].version}, {log.entries[0].operation.lower()}",
            told={"snapshot": log.entries[0].version},
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda log: Said(
            text=f"version {log.entries[1].version}, {log.entries[1].operation.lower()}",
            told={"snapshot": log.entries[1].version},
        ),
        roles=GRID,
    ),
    "row": Way(
        show=lambda table: table.show.row("dt = '2026-01-03' AND order_id = 89"),
        item="tbody tr",
        by_mouse=lambda life: Said(
            text=f"snapshot {life.steps[-1].snapshot_id}, {life.steps[-1].what}",
            told={"snapshot": life.steps[-1].snapshot_id},
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda life: Said(
            text=f"snapshot {life.steps[-2].snapshot_id}, {life.steps[-2].what}",
            told={"snapshot": life.steps[-2].snapshot_id},
        ),
        roles=GRID,
    ),
    "watch": Way(
        show=lambda table: draw_watch(Watcher(table).value("stopped")),
        item="tbody tr",
        by_mouse=lambda watch: Said(
            text=f"snapshot {watch.commits[-1].snapshot_id}",
            told={"snapshot": watch.commits[-1].snapshot_id},
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda watch: Said(
            text=f"snapshot {watch.commits[-2].snapshot_id}",
            told={"snapshot": watch.commits[-2].snapshot_id},
        ),
        roles=("[role=grid]", "svg[role=img][aria-label^='rows of']", "th[scope=col]"),
    ),
    "schemas": Way(
        show=lambda table: table.show.schemas(),
        item="[role=option]",
        by_mouse=lambda schemas: Said(
            text=f"schema {schemas.versions[-1].id}: ", told=_used(schemas, -1)
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda schemas: Said(
            text=f"schema {schemas.versions[-2].id}: ", told=_used(schemas, -2)
        ),
        roles=("[role=listbox][aria-label]",),
    ),
    "manifests": Way(
        show=lambda table: table.show.manifests(),
        item="tbody tr",
        by_mouse=_base,
        keys=("End", "Home", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"),
        by_keys=_entry,
        roles=("[role=treegrid] [role=row][aria-level]", "th[scope=col]", "[aria-expanded=true]"),
    ),
    "heatmap": Way(
        show=lambda table: table.show.heatmap(),
        item="td[tabindex]",
        by_mouse=_cell(0),
        keys=("ArrowDown", "ArrowUp", "End", "Enter"),
        by_keys=_cell(-1),
        roles=("[role=grid] [role=gridcell][aria-selected]", "th[scope=row]", "th[scope=col]"),
    ),
    "files": Way(
        show=lambda table: table.show.files(),
        item="svg [role=option]",
        by_mouse=_tile(1),
        keys=("ArrowDown", "Home", "Enter"),
        by_keys=_tile(2),
        roles=("svg[role=listbox][aria-label]", "table caption", "th[scope=col]"),
    ),
    "file": Way(
        show=lambda table: table.show.file(
            table.scan().plan_here().files["file_name"].to_pylist()[-1]
        ),
        item="tbody tr",
        by_mouse=lambda file: Said(text=f"column {file.columns[0].name} {file.columns[0].type}: "),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda file: Said(text=f"column {file.columns[1].name} {file.columns[1].type}: "),
        roles=GRID,
    ),
    "diff": Way(
        show=lambda table: table.show.diff(3, 7),
        item="[role=tabpanel] tbody tr",
        by_mouse=lambda diff: Said(
            text=f"{diff.groups[0].partition} bucket {diff.groups[0].bucket}",
            told={"partition": diff.groups[0].partition, "bucket": diff.groups[0].bucket},
        ),
        keys=("ArrowDown", "ArrowDown", "ArrowUp", "Enter"),
        by_keys=lambda diff: Said(
            text=f"{diff.groups[1].partition} bucket {diff.groups[1].bucket}",
            told={"partition": diff.groups[1].partition, "bucket": diff.groups[1].bucket},
        ),
        roles=(*GRID, "[role=tablist] [role=tab][aria-selected=true]", "[role=tabpanel]"),
    ),
    "lsm": Way(
        show=lambda table: table.show.lsm(),
        item=".lsm-bar",
        by_mouse=_bar(0),
        keys=("End", "Home", "ArrowRight", "Enter"),
        by_keys=_bar(1),
        roles=(
            *GRID,
            "svg[role=listbox]",
            "[role=listbox] [role=option][aria-selected=true]",
            "input[type=range][aria-valuetext]",
        ),
    ),
    "compaction": Way(
        show=lambda table: table.show.compaction(),
        item="tbody tr",
        by_mouse=lambda value: Said(
            text=f"snapshot {value.runs[0].snapshot_id}: {value.runs[0].read.files} files",
            told={"snapshot": value.runs[0].snapshot_id},
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda value: Said(
            text=f"snapshot {value.runs[1].snapshot_id}: {value.runs[1].read.files} files",
            told={"snapshot": value.runs[1].snapshot_id},
        ),
        roles=(*GRID, "svg[role=img][aria-label*=before]"),
    ),
    "changes": Way(
        show=lambda table: table.show.changes(4, 7),
        item="tbody tr",
        by_mouse=_change(0),
        keys=("ArrowDown", "Enter"),
        by_keys=_change(1),
        roles=(*GRID, "input[type=search][aria-label]", "button[aria-pressed=true]"),
    ),
    "travel": Way(
        show=lambda table: table.show.travel(),
        item="button[aria-label='one earlier']",
        by_mouse=_travelled(-2),
        stop="input[type=range]",
        keys=("End", "Home", "ArrowRight"),
        by_keys=_travelled(1),
        roles=(*GRID, "input[type=range][aria-valuetext]", "svg[role=img][aria-label^=rows]"),
    ),
    "simulator": Way(
        show=lambda table: table.show.simulator(),
        item="input[type=range]",
        at=(2, 8),
        by_mouse=_simulated(0),
        keys=("End",),
        by_keys=_simulated(-1),
        roles=("input[type=range][aria-valuetext]", "table caption", "th[scope=col]"),
    ),
    "health": Way(
        show=lambda table: table.show.health(),
        item="tbody tr",
        by_mouse=_finding(0),
        keys=("ArrowDown", "Home", "Space"),
        by_keys=_finding(0),
        roles=GRID,
    ),
    "profile": Way(
        show=lambda table: table.show.profile(),
        item="tbody tr",
        by_mouse=lambda profile: Said(
            text=f"{profile.columns[0].name}: 0 % null, "
            f"{profile.columns[0].distinct_count} distinct"
        ),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda profile: Said(
            text=f"{profile.columns[1].name}: 0 % null, "
            f"{profile.columns[1].distinct_count} distinct"
        ),
        roles=("th[scope=col][aria-sort]", "[role=region]"),
    ),
    "doctor": Way(
        show=lambda _table: notebook.doctor(),
        item="tbody tr",
        by_mouse=lambda doctor: Said(text=f"{doctor.checks[0].name}: "),
        keys=("ArrowDown", "End", "Enter"),
        by_keys=lambda doctor: Said(text=f"{doctor.checks[-1].name}: "),
        roles=GRID,
    ),
    "fsck": Way(
        show=lambda _table: draw_fsck(DAMAGED),
        item="tbody tr",
        by_mouse=lambda fsck: Said(text=f"file {fsck.findings[0].file}, severity error"),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda fsck: Said(text=f"file {fsck.findings[1].file}, severity warning"),
        roles=GRID,
    ),
    "statements": Way(
        show=lambda _table: draw_statements(RUN),
        item="tbody tr",
        by_mouse=lambda run: Said(text=f"number {run.entries[0].number}, status failed"),
        keys=("ArrowDown", "Space"),
        by_keys=lambda run: Said(text=f"number {run.entries[1].number}, status done, rows 12"),
        roles=GRID,
    ),
    "tables": Way(
        show=_listed,
        item="tbody tr",
        by_mouse=lambda listed: Said(text="table demo.events"),
        keys=("End", "Enter"),
        by_keys=lambda listed: Said(text="table demo.orders, primary key dt, order_id"),
        roles=GRID,
    ),
    "streams": Way(
        show=lambda _table: draw_streams(STREAMED),
        item="tbody tr",
        by_mouse=lambda listed: Said(text=f"stream {listed.streams[0].name}, running"),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda listed: Said(text=f"stream {listed.streams[1].name}, failed"),
        roles=GRID,
    ),
    "ingest": Way(
        show=lambda _table: draw_ingest(INGESTED),
        item="tbody tr",
        by_mouse=lambda listed: Said(text=f"job {listed.jobs[0].name}"),
        keys=("ArrowDown", "Enter"),
        by_keys=lambda listed: Said(text=f"job {listed.jobs[1].name}"),
        roles=GRID,
    ),
    "result": Way(
        show=lambda table: make(table.scan().to_arrow()).view,
        item="button.sort",
        by_mouse=lambda result: Said(text=f"sorted by {result.columns[0].name}, ascending"),
        keys=("Space",),
        by_keys=lambda result: Said(text=f"sorted by {result.columns[0].name}, descending"),
        roles=("[role=grid][aria-rowcount]", "th[scope=col][aria-sort]", "input[type=search]"),
    ),
}
"""How each view is used."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Drawn[Any]]]:
    table = notebook.demo(tmp_path_factory.mktemp("demo")).catalog.table("demo.orders")
    assert isinstance(table, Table)
    yield {kind: way.show(table) for kind, way in WAYS.items()}
    connections.disconnect()


def test_every_interactive_view_is_here() -> None:
    assert {value.__struct_config__.tag for value in views.INTERACTIVE} == set(WAYS)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", WAYS)
def test_a_view_is_used_and_read_by_everybody(
    kind: str, scheme: str, shown: dict[str, Drawn[Any]], page_of: PageOf
) -> None:
    view, way = shown[kind], WAYS[kind]
    page = page_of(view, color_scheme=scheme, viewport=NARROW, reduced_motion="reduce")
    page.evaluate(LISTEN)
    frame = page.locator("#view .frame")
    expect(frame).to_have_attribute("data-theme", scheme)
    for role in way.roles:
        assert frame.locator(role).count(), f"{role} is there"
    assert frame.evaluate(AUDIT) == []
    assert frame.evaluate(LOOK) == []

    x, y = way.at or (None, None)
    item = frame.locator(way.item).first
    item.click(position=None if x is None or y is None else {"x": x, "y": y})
    said(page, frame, way.by_mouse(view.value))
    assert frame.evaluate(AUDIT) == [], "after the mouse"

    page.mouse.click(1, 1)  # Tab begins at the top
    reach(page, way.stop or way.item)
    assert page.evaluate(f"({RING})(({FOCUSED})())"), "its focus is seen"
    for key in way.keys:
        page.keyboard.press(key)
    said(page, frame, way.by_keys(view.value))
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement === document.body"), "Escape leaves"

    page.emulate_media(forced_colors="active")
    assert frame.evaluate(AUDIT) == [], "with forced colours"


def said(page: Page, frame: Locator, wanted: Said) -> None:
    expect(frame.locator(".status")).to_contain_text(wanted.text)
    if wanted.told is not None:
        assert page.evaluate("heard.at(-1)") == wanted.told


def reach(page: Page, selector: str) -> None:
    """Press Tab until something that the selector finds has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate(f"{FOCUSED}()?.matches({selector!r})".replace(FOCUSED, f"({FOCUSED})")):
            return
    raise AssertionError(f"Tab does not come to {selector}")
