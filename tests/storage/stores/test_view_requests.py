"""How many requests the views of a table in a store take; see ``docs/stores-tests.md``.

A budget here is what is measured. Whoever makes it less lowers the number in both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.analysis.snapshots.watching import Watcher
from paimonlab.formats.parquet.footers import shared_footers
from paimonlab.metadata.manifest_cache import shared_cache
from paimonlab.notebook.accessor import Show  # and `Table.show`
from paimonlab.notebook.views.watch.drawing import draw as draw_watch
from paimonlab.storage import together
from paimonlab.storage.stores.object_inputs import recent_tails
from paimonlab.table.table import Table
from tests.storage.stores.proxy import Proxy, proxy_of
from tests.storage.stores.scripted import TOKEN, serving
from tests.storage.stores.test_requests import Requests, counting, opened

SNAPSHOTS = 7
"""Of the table: six writes, and a compaction."""
VIEWS: dict[str, tuple[Callable[[Table], Any], int, int, int]] = {
    "changes": (lambda table: table.show.changes(2, 4), 0, 5 + 16, 1),
    "compaction": (lambda table: table.show.compaction(), 0, SNAPSHOTS + 12, 4),
    "diff": (lambda table: table.show.diff(2, 4), 0, 2, 1),
    "file": (lambda table: table.show.file(a_file_of(table)), 0, 3 + 1, 1),
    "files": (lambda table: table.show.files(), 0, 3, 1),
    "fsck": (lambda table: table.show.fsck(), 9, 4 * SNAPSHOTS + 3, 8),
    "health": (lambda table: table.show.health(), 2, SNAPSHOTS, 1),
    "heatmap": (lambda table: table.show.heatmap(), 0, 3, 1),
    "log": (lambda table: table.show.log(), 4, SNAPSHOTS, 2),
    "lsm": (lambda table: table.show.lsm(), 0, SNAPSHOTS + 2, 2),
    "manifests": (lambda table: table.show.manifests(), 0, 4, 2),
    "profile": (lambda table: table.show.profile(), 0, 3 + 12, 1),
    "row": (lambda table: table.show.row("id = 5 AND p = 1"), 3, SNAPSHOTS + 6, 2),
    "schemas": (lambda table: table.show.schemas(), 2, SNAPSHOTS, 1),
    "simulator": (lambda table: table.show.simulator(), 0, SNAPSHOTS + 2, 2),
    "timeline": (lambda table: table.show.timeline(), 8, SNAPSHOTS, 2),
    "travel": (lambda table: table.show.travel(), 4, SNAPSHOTS + 28, 2),
    "watch": (lambda table: draw_watch(Watcher(table).value("stopped")), 1, SNAPSHOTS + 3, 1),
}
"""How each is drawn; listings; other requests, of which ``+ 6`` and so on are of data files; and
round trips without those of data files, as what is asked together waits once."""
BUDGETS = {
    "changes": 3 + 2,
    "compaction": 5,
    "diff": 2,
    "file": 2 + 2,
    "files": 2,
    "fsck": 11,
    "health": 2,
    "heatmap": 2,
    "log": 3,
    "lsm": 3,
    "manifests": 3,
    "profile": 2 + 2,
    "row": 3 + 2,
    "schemas": 2,
    "simulator": 3,
    "timeline": 3,
    "travel": 3 + 2 * 2,
    "watch": 2,
}
"""Round trips that a view may take by what it has to look at: 2 for the latest snapshot (the hint,
then it), for the rows of a snapshot (ends of files, then columns) and for a folder whose documents
are read; 1 more for tags, which are listed once more. ``benchmarks/remote_views.py`` allows 30 ms
for each."""


@pytest.fixture(scope="module")
def remote() -> Iterator[Proxy]:
    """A proxy before a store with a table, whose manifests this process knows."""
    with (
        serving("gcs") as service,
        proxy_of(service.url) as proxy,
        pytest.MonkeyPatch.context() as m,
    ):
        m.setenv("GOOGLE_BEARER_TOKEN", TOKEN)
        write(proxy)
        yield proxy


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch, _no_keys_of_the_user: None) -> None:
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", TOKEN)


def write(proxy: Proxy) -> None:
    write_table(pl.connect({"warehouse": "gs://lake/w", "gs.storage.root.url": proxy.url}))
    a_file_of(opened(proxy))


def write_table(catalog: pl.Catalog) -> None:
    catalog.create_database("db")
    made = catalog.create_table(
        "db.t",
        {"id": "BIGINT NOT NULL", "p": "INT NOT NULL", "v": "STRING"},
        primary_keys=["id", "p"],
        partition_keys=["p"],
        options={"bucket": "2", "num-sorted-run.compaction-trigger": "4"},
    )
    for turn in range(6):
        parts = pa.array([key % 2 for key in range(40)], pa.int32())
        made.write(pa.table({"id": range(turn, turn + 40), "p": parts, "v": [f"{turn}"] * 40}))
    assert made.snapshots.latest_id() == SNAPSHOTS


_files: dict[str, str] = {}


def a_file_of(table: Table) -> str:
    """Return the name of a file, which is looked for once: who asks for a file knows its name."""
    if table.path not in _files:
        _files[table.path] = str(table.scan().plan_here().files["file_name"][-1].as_py())
    return _files[table.path]


def of_metadata(requests: Requests) -> int:
    rows = sum(kind != "LIST" and "/bucket-" in path for kind, path in requests.asked)
    return len(requests.asked) - rows


@dataclass
class Saved:
    """Round trips that nobody waits for, since they are made while others are."""

    count: int = 0


@contextmanager
def in_turn(requests: Requests) -> Iterator[Saved]:
    """Ask one after the other what would be asked together, and count what that saves."""
    saved = Saved()

    class Pool:
        def __init__(self, threads: int) -> None:
            self.threads = threads
            self.took: list[int] = []

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            for start in range(0, len(self.took), self.threads):
                at_once = self.took[start : start + self.threads]
                saved.count += sum(at_once) - max(at_once)

        def submit(self, ask: Callable[..., Any], *given: Any) -> Future[Any]:
            before = of_metadata(requests) - saved.count
            asked = Future[Any]()
            try:
                asked.set_result(ask(*given))
            except Exception as error:  # noqa: BLE001 - as a pool does
                asked.set_exception(error)
            self.took.append(of_metadata(requests) - saved.count - before)
            return asked

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(together, "ThreadPoolExecutor", Pool)
        yield saved


def test_each_view_has_a_budget() -> None:
    own = {name for name in vars(Show) if not name.startswith("_")}

    assert own == {*VIEWS} == {*BUDGETS}
    assert all(VIEWS[name][3] <= budget for name, budget in BUDGETS.items())


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_takes_no_more_requests_than_its_budget(remote: Proxy, name: str) -> None:
    """Each is of a table that was just opened, as the first view of a notebook is."""
    draw, listings, others, round_trips = VIEWS[name]
    shared_footers.clear()
    recent_tails.clear()
    table = opened(remote)

    with counting(remote) as requests, in_turn(requests) as saved:
        shown = draw(table)

    assert shown is not None
    assert of_metadata(requests) - saved.count <= round_trips
    assert len(requests.listed()) <= listings
    assert len(requests.asked) - len(requests.listed()) <= others
    assert not {kind for kind, _ in requests.asked} & {"PUT", "POST", "DELETE"}


def test_a_plan_takes_three_requests_and_one_for_each_manifest_at_first(remote: Proxy) -> None:
    """However many files there are: the budget is 10 where manifests are known."""
    shared_cache.clear()
    for manifests in (True, False):
        table = opened(remote)
        with counting(remote) as requests:
            table.scan().plan()
        assert requests.listed() == []
        assert (requests.of("/manifest/") > 0) is manifests
        assert requests.of("/manifest/") <= 2 + SNAPSHOTS
        assert len(requests.asked) - requests.of("/manifest/") == 3
