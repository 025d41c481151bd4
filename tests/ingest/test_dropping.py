"""Jobs that are dropped: what they have goes, their tables stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import paimonlab as pm
from paimonlab.errors import IngestRunningError, NotFoundError, SourceError
from paimonlab.ingest import batches, drop_noted, noted_jobs, table_changes
from paimonlab.ingest.changes import Held, JsonValue
from paimonlab.ingest.epochs import JobFiles
from tests.ingest.logged_shop import KEYED, PLAIN, Shop
from tests.waiting import until


class Kept(Shop):
    """A source that has something at its server."""

    def __init__(self, schemas: dict[str, str]) -> None:
        super().__init__(schemas)
        self.is_there = self.answers = True
        self.refuses: dict[str, str] = {}

    @property
    def address(self) -> Mapping[str, JsonValue]:
        return {}

    def holds(self) -> Sequence[Held]:
        return [Held(what="slot s", where="server", by_hand="DROP s")]

    def held(self) -> Sequence[Held]:
        if not self.answers:
            raise SourceError("server", "it does not answer")
        return self.holds() if self.is_there else []

    def drop(self) -> Mapping[str, str]:
        self.is_there = bool(self.refuses)
        return self.refuses


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


@pytest.fixture
def shop() -> Kept:
    made = Kept({"a.keyed": KEYED, "a.log": PLAIN})
    made.insert("a.keyed", (1, "a"), (2, "b"))
    made.insert("a.log", (1, "x"))
    return made


def _job(catalog: pm.Catalog, shop: Any, **told: Any) -> Any:
    given: dict[str, Any] = {"into": "ods", "name": "job", "interval": 0.0} | told
    return catalog.ingest(shop, **given)


def _files(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_a_dry_run_says_what_goes_and_changes_nothing(
    catalog: pm.Catalog, shop: Kept, tmp_path: Path
) -> None:
    job = _job(catalog, shop, tags=2)
    job.run()
    before = _files(tmp_path)

    plan = job.drop(dry_run=True)

    assert _files(tmp_path) == before
    assert shop.is_there
    assert plan.consumers == plan.tables == ("ods.keyed", "ods.log")
    assert plan.at_source == (Held(what="slot s", where="server", by_hand="DROP s"),)
    said = str(plan)
    assert said.startswith(f"drop ingest job job\n  notes in {job.folder}\n  consumer ingest-job ")
    assert "slot s at server" in said
    assert "tables that stay: ods.keyed, ods.log" in said


def test_what_a_job_has_goes_and_its_tables_stay(catalog: pm.Catalog, shop: Kept) -> None:
    job = _job(catalog, shop, tags=2)
    job.run()
    before = {name: catalog.table(name).scan().to_arrow() for name in ("ods.keyed", "ods.log")}

    dropped = job.drop()

    assert not dropped.is_dry_run
    assert not shop.is_there
    assert not Path(job.folder).exists()
    assert noted_jobs(catalog) == []
    for name, rows in before.items():
        table = catalog.table(name)
        assert table.scan().to_arrow() == rows
        assert (table.consumers.list(), dict(table.tags.list())) == ({}, {})
        assert table.maintenance.expire_snapshots(retain_max=1, retain_min=1) is not None
    with pytest.raises(NotFoundError):
        drop_noted(catalog, "job")


@pytest.mark.parametrize("goes", [False, True])
def test_rows_that_were_set_aside_stay_unless_asked(
    catalog: pm.Catalog, shop: Kept, goes: bool
) -> None:
    catalog.create_database("ods")
    catalog.create_table(
        "ods.keyed",
        {"id": "BIGINT NOT NULL", "v": "VARCHAR(1)"},
        primary_keys=["id"],
        options={"bucket": "1"},
    )
    shop.schemas["a.keyed"] = "id BIGINT NOT NULL, v VARCHAR(1) KEY(id)"
    shop.insert("a.keyed", (3, "long"))
    job = _job(catalog, shop, max_dead=1)
    job.run()
    assert catalog.table("ods.job__dead").scan().count() == 1

    dropped = job.drop(dead_letters=goes)

    assert dropped.dead_letters == "ods.job__dead"
    assert catalog.has_table("ods.job__dead") is not goes
    if not goes:
        assert catalog.table("ods.job__dead").consumers.list() == {}


def test_a_source_that_is_gone_is_named_with_what_stays_there(
    catalog: pm.Catalog, shop: Kept
) -> None:
    job = _job(catalog, shop)
    job.run()
    shop.answers = False

    dropped = job.drop()

    assert noted_jobs(catalog) == []
    (left,) = dropped.left
    assert str(left) == (
        "slot s stays at server (server: it does not answer). Delete it there: DROP s"
    )
    assert dropped.at_source == ()


def test_notes_alone_name_what_stays(catalog: pm.Catalog, shop: Kept) -> None:
    _job(catalog, shop).run()

    dropped = drop_noted(catalog, "job")

    assert [str(left) for left in dropped.left] == [
        "slot s stays at server (its notes do not say how it is reached). Delete it there: DROP s"
    ]
    assert shop.is_there
    assert dropped.consumers == ("ods.keyed", "ods.log")


def test_what_rights_do_not_suffice_for_is_left(catalog: pm.Catalog, shop: Kept) -> None:
    job = _job(catalog, shop)
    job.run()
    shop.refuses = {"slot s": "must be owner"}

    dropped = job.drop()

    assert [left.reason for left in dropped.left] == ["must be owner"]
    assert dropped.at_source == ()


def test_an_epoch_that_was_not_finished_is_committed_first(
    catalog: pm.Catalog, shop: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that was killed after it wrote the epoch, before its commits."""
    job = _job(catalog, shop)
    job.run()
    shop.insert("a.keyed", (7, "late"))
    published = JobFiles.publish

    def killed(files: JobFiles, epoch: Any) -> None:
        published(files, epoch)
        raise KeyboardInterrupt

    monkeypatch.setattr(JobFiles, "publish", killed)
    with pytest.raises(KeyboardInterrupt):
        _job(catalog, shop).run()
    monkeypatch.undo()
    assert catalog.table("ods.keyed").scan().count() == 2

    plan = drop_noted(catalog, "job", dry_run=True)
    assert plan.unfinished_epoch == noted_jobs(catalog)[0].epoch
    assert "is committed to all of its tables first" in str(plan)
    drop_noted(catalog, "job")

    assert catalog.table("ods.keyed").scan().count() == 3


def test_a_job_that_runs_is_not_dropped(catalog: pm.Catalog, shop: Kept) -> None:
    job = _job(catalog, shop)
    job.run()
    job.start()
    try:
        until(lambda: job.drop(dry_run=True).running is not None)
        with pytest.raises(IngestRunningError, match="stop it there"):
            drop_noted(catalog, "job")
        assert "it runs, and must be stopped before" in str(job.drop(dry_run=True))
        assert shop.is_there
    finally:
        job.stop()
    job.drop()


def test_a_table_that_was_followed_may_expire_its_snapshots_again(
    catalog: pm.Catalog, tmp_path: Path
) -> None:
    other = pm.connect(tmp_path / "other")
    other.create_database("src")
    other.write_table("src.t", [{"id": 1}])
    job = _job(catalog, table_changes(other.table("src.t"), consumer="copy"))
    job.run()
    assert other.table("src.t").consumers.list() == {"copy": 2}

    dropped = job.drop()

    assert [one.what for one in dropped.at_source] == ["consumer copy"]
    assert other.table("src.t").consumers.list() == {}


@pytest.mark.parametrize("is_elsewhere", [False, True])
def test_notes_alone_say_which_table_was_followed(
    catalog: pm.Catalog, tmp_path: Path, *, is_elsewhere: bool
) -> None:
    other = pm.connect(tmp_path / "other")
    for one in (catalog, other):
        one.create_database("src")
        one.write_table("src.t", [{"id": 1}])
        one.table("src.t").consumers.reset("copy", 2)
    home, alike = (other, catalog) if is_elsewhere else (catalog, other)
    _job(catalog, table_changes(home.table("src.t"), consumer="copy")).run()

    planned = drop_noted(catalog, "job", dry_run=True)
    assert "consumer copy at table src.t" in str(planned)
    assert home.table("src.t").consumers.list() == {"copy": 2}
    dropped = drop_noted(catalog, "job")

    assert [one.what for one in dropped.at_source] == ["consumer copy"]
    assert home.table("src.t").consumers.list() == {}
    assert alike.table("src.t").consumers.list() == {"copy": 2}


def test_a_followed_table_that_went_away_is_named(catalog: pm.Catalog, tmp_path: Path) -> None:
    other = pm.connect(tmp_path / "other")
    other.create_database("src")
    other.write_table("src.t", [{"id": 1}])
    _job(catalog, table_changes(other.table("src.t"), consumer="copy")).run()
    (tmp_path / "other").rename(tmp_path / "moved")

    (left,) = drop_noted(catalog, "job").left

    assert "there is no table src.t in" in left.reason
    assert noted_jobs(catalog) == []
    moved = pm.connect(tmp_path / "moved").table("src.t")
    assert moved.consumers.list() == {"copy": 2}


def test_a_source_that_holds_nothing_is_not_asked(catalog: pm.Catalog) -> None:
    job = _job(catalog, batches([[{"id": 1}]], table="a.t"))
    job.run()
    assert job.drop().at_source == ()
    assert catalog.table("ods.t").consumers.list() == {}


def test_a_table_that_cannot_take_the_unfinished_epoch_is_named(
    catalog: pm.Catalog, shop: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = JobFiles.publish

    def killed(files: JobFiles, epoch: Any) -> None:
        published(files, epoch)
        raise KeyboardInterrupt

    job = _job(catalog, shop)
    job.run()
    shop.insert("a.keyed", (3, "c"))
    with monkeypatch.context() as patched:
        patched.setattr(JobFiles, "publish", killed)
        with pytest.raises(KeyboardInterrupt):
            _job(catalog, shop).run()
    catalog.drop_table("ods.keyed")

    dropped = drop_noted(catalog, "job")

    (said,) = dropped.not_committed
    assert said.startswith("ods.keyed: ")
    assert f"epoch {dropped.unfinished_epoch} is lacking: ods.keyed" in str(dropped)
    assert "is committed to all" not in str(dropped)
