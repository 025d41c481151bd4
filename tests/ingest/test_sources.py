from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimonlab as pm
from paimonlab.errors import (
    DataError,
    IngestDataError,
    IngestSchemaError,
    IngestStateError,
    UnsupportedError,
)
from paimonlab.ingest import batches, files, table_changes
from paimonlab.ingest.changes import Boundary, Phase, RowChanges
from paimonlab.ingest.sources.files import FileSource
from paimonlab.ingest.sources.folders import LocalFolder
from tests.waiting import until


@pytest.fixture
def catalog(tmp_path: Path) -> pm.Catalog:
    return pm.connect(tmp_path / "warehouse")


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


def _ingest(catalog: pm.Catalog, source: Any, **told: Any) -> Any:
    return catalog.ingest(source, **({"into": "ods", "name": "job"} | told))


def _rows(catalog: pm.Catalog, name: str) -> list[tuple[Any, ...]]:
    found = catalog.table(name).scan().to_arrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


def _put(folder: Path, name: str, text: str, *, age: int = 60) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    at = time.time() - age
    os.utime(path, (at, at))
    return path


# Batches of Python


def test_batches_of_a_function_are_read_from_where_they_were_left(catalog: pm.Catalog) -> None:
    asked = []

    def made(count: int) -> Any:
        asked.append(count)
        return ([{"id": number}] for number in range(count, 5 if len(asked) < 2 else 8))

    source = batches(made, table="app.t", columns={"id": "BIGINT"})
    _ingest(catalog, source).run()
    _ingest(catalog, source).run()

    assert _rows(catalog, "ods.t") == [(number,) for number in range(8)]
    assert asked == [0, 5]


def test_batches_of_a_list_and_their_columns(catalog: pm.Catalog) -> None:
    made = [[{"id": 1, "v": "a"}], [{"id": 2}], [{"id": 1, "v": "b", "n": 1.5}]]
    source = batches(made, table="app.t", primary_keys=["id"])

    _ingest(catalog, source, evolve="exact").run()

    assert _rows(catalog, "ods.t") == [(1, "b", 1.5), (2, None, None)]


def test_an_iterator_that_is_used_up_cannot_go_back(catalog: pm.Catalog) -> None:
    source = batches(iter([[{"id": 1}], [{"id": 2}]]), table="app.t")
    _ingest(catalog, source).run()

    with pytest.raises(IngestStateError, match="give a function that makes it"):
        _ingest(catalog, source, into="other", name="again").run()

    assert _rows(catalog, "ods.t") == [(1,), (2,)]


def test_a_batch_that_was_left_half_way_is_read_again() -> None:
    made = iter([[{"id": 1}], [{"id": 2}], [{"id": 3}]])
    source = batches(made, table="app.t")
    events = source.read(None, lambda _: True)
    found = [next(events) for _ in range(3)]
    assert [type(event) for event in found] == [RowChanges, Boundary, RowChanges]
    events.close()  # type: ignore[attr-defined]

    again = [event for event in source.read(1, lambda _: True) if isinstance(event, RowChanges)]

    assert [event.rows.to_pylist() for event in again] == [[{"id": 2}], [{"id": 3}]]


def test_a_batch_that_can_be_read_only_once_is_not_left_half_way_in_silence() -> None:
    source = batches([pa.table({"id": [1]}).to_reader()], table="app.t", columns={"id": "BIGINT"})
    events = source.read(None, lambda _: True)
    next(events)
    events.close()  # type: ignore[attr-defined]

    with pytest.raises(IngestStateError, match="can be read only once was left half way"):
        next(source.read(None, lambda _: True))


def test_kinds_of_rows_are_taken_from_a_column(catalog: pm.Catalog) -> None:
    made = [
        pa.table({"op": ["+I", "+I"], "id": [1, 2], "v": ["a", "b"]}),
        pa.table({"op": ["-D", "+U"], "id": [1, 2], "v": [None, "c"]}),
    ]
    source = batches(made, table="app.t", primary_keys=["id"], row_kinds="op")

    _ingest(catalog, source).run()

    assert _rows(catalog, "ods.t") == [(2, "c")]


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (pa.table({"op": ["+X"], "id": [1]}), r"'\+X' is no kind of row"),
        (pa.table({"op": [7], "id": [1]}), "7 is no kind of row"),
        (pa.table({"id": [1]}), "there is no column 'op'"),
        (pa.table({"op": ["+I"], "id": [1], "x": [1]}), "column 'x' is not declared"),
        (pa.table({"op": ["+I"], "id": ["a"]}), "column 'id'"),
    ],
)
def test_batches_that_are_wrong_are_named(
    catalog: pm.Catalog, batch: pa.Table, message: str
) -> None:
    source = batches([batch], table="app.t", columns={"id": "BIGINT"}, row_kinds="op")

    with pytest.raises(DataError, match=message):
        _ingest(catalog, source).run()


# Files


def test_each_file_is_read_once(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "b.csv", "id,v\n1,a\n2,b\n")
    _put(inbox, "sub/a.csv", "id,v\n3,\n", age=50)
    source = files(inbox)
    _ingest(catalog, source).run()
    _ingest(catalog, source).run()
    _put(inbox, "a.csv", "id,v\n4,d\n", age=90)  # older than those that were read

    status = _ingest(catalog, files(inbox)).run()

    assert _rows(catalog, "ods.in") == [(1, "a"), (2, "b"), (3, None), (4, "d")]
    assert (status.epoch, status.rows, status.behind) == (2, 4, 0)


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_formats(catalog: pm.Catalog, inbox: Path, form: str) -> None:
    rows = [{"id": 1, "v": "a", "x": 1.5}, {"id": 2, "v": None, "x": None}]
    if form == "csv":
        _put(inbox, "a.csv", "id,v,x\n1,a,1.5\n2,,\n")
    elif form == "json":
        _put(inbox, "a.json", "\n".join(map(json.dumps, rows)))
    else:
        pq.write_table(pa.Table.from_pylist(rows), inbox / "a.parquet")

    _ingest(catalog, files(inbox, table="f.t", settle=0)).run()

    assert _rows(catalog, "ods.t") == [(1, "a", 1.5), (2, None, None)]


def test_types_that_were_declared_are_those_of_the_table(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.csv", "id,d,p\n7,2026-01-02,1.50\n")
    columns = {"id": "INT NOT NULL", "d": "DATE", "p": "DECIMAL(5, 2)"}

    _ingest(catalog, files(inbox, table="f.t", columns=columns, primary_keys=["id"])).run()

    kinds = [field.type for field in catalog.table("ods.t").arrow_schema]
    assert kinds == [pa.int32(), pa.date32(), pa.decimal128(5, 2)]


def test_columns_of_later_files_are_added(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.json", '{"id": 1, "v": "a"}\n')
    source = files(inbox, table="f.t", primary_keys=["id"])
    _ingest(catalog, source).run()
    _put(inbox, "b.json", '{"id": 2, "n": 5}\n{"id": 3, "n": 6, "v": "c"}\n')

    _ingest(catalog, source).run()

    assert _rows(catalog, "ods.t") == [(1, "a", None), (2, None, 5), (3, "c", 6)]


def test_a_text_stays_a_text_whatever_later_files_look_like(
    catalog: pm.Catalog, inbox: Path
) -> None:
    _put(inbox, "a.csv", "code\nx1\n")
    _ingest(catalog, files(inbox, table="f.t")).run()
    _put(inbox, "b.csv", "code\n007\n", age=50)

    _ingest(catalog, files(inbox, table="f.t")).run()

    assert _rows(catalog, "ods.t") == [("007",), ("x1",)]


def test_a_type_that_does_not_fit_stops_the_table(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.csv", "n\n1\n")
    _put(inbox, "b.csv", "n\nmany\n", age=50)

    with pytest.raises(IngestSchemaError, match="'n' is BIGINT, which cannot become STRING"):
        _ingest(catalog, files(inbox, table="f.t")).run()

    assert _rows(catalog, "ods.t") == [(1,)]


def test_a_broken_file_ends_the_job_or_is_set_aside(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.json", '{"id": 1}\n')
    broken = '{"id": 2\n' + 200_000 * " "
    _put(inbox, "b.json", broken, age=50)
    _put(inbox, "c.json", '{"id": 3}\n', age=40)

    with pytest.raises(IngestDataError, match=r"b\.json"):
        _ingest(catalog, files(inbox, table="f.t")).run()
    _ingest(catalog, files(inbox, table="f.t"), max_dead=1).run()

    assert _rows(catalog, "ods.t") == [(1,), (3,)]
    dead = catalog.table("ods.job__dead").scan().to_arrow().to_pylist()
    assert [(row["position"], row["raw"]) for row in dead] == [("b.json", broken.encode())]


def test_files_are_left_until_they_are_finished(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.csv", "id\n1\n")
    for name in (".b.csv", "_c.csv", "d.csv.tmp", "e.csv.part", "_tmp/f.csv"):
        _put(inbox, name, "id\n2\n")
    _put(inbox, "new.csv", "id\n3\n", age=-60)
    source = files(inbox, table="f.t", settle=0.1)
    events = source.read(None, lambda _: True)

    found = [event for event, _ in zip(events, range(4), strict=False)]

    assert [event.rows.num_rows for event in found if isinstance(event, RowChanges)] == [1]
    phases = [event.phase for event in found if isinstance(event, Boundary)]
    assert Phase.CAUGHT_UP not in phases


def test_a_file_that_changes_while_it_is_read_is_refused(catalog: pm.Catalog, inbox: Path) -> None:
    path = _put(inbox, "a.csv", "id\n1\n")
    events = files(inbox, table="f.t").read(None, lambda _: True)
    next(events)
    with path.open("a") as file:
        file.write("2\n")

    with pytest.raises(IngestStateError, match="changed while it was read"):
        next(events)


def test_a_file_that_changed_after_it_was_read_is_refused(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.csv", "id\n1\n")
    _ingest(catalog, files(inbox, table="f.t")).run()
    _put(inbox, "a.csv", "id\n1\n2\n")

    with pytest.raises(IngestStateError, match="was read with 5 bytes and has 7 now"):
        _ingest(catalog, files(inbox, table="f.t")).run()


def test_files_that_get_other_names_or_come_back_are_known(
    catalog: pm.Catalog, inbox: Path, tmp_path: Path
) -> None:
    _put(inbox, "sub/a.csv", "id\n1\n")
    _put(inbox, "b.csv", "id\n2\n")
    job = _ingest(catalog, files(inbox, table="f.t"))
    job.run()
    (inbox / "b.csv").rename(inbox / "c.csv")
    (inbox / "sub").rename(tmp_path / "aside")
    job.run()
    (tmp_path / "aside").rename(inbox / "sub")
    (inbox / "c.csv").unlink()
    job.run()
    _put(inbox, "b.csv", "id\n3\n")  # another one

    job.run()

    assert _rows(catalog, "ods.t") == [(1,), (2,), (3,)]


def test_a_file_that_was_written_again_with_as_many_bytes_is_told(
    catalog: pm.Catalog, inbox: Path
) -> None:
    job = _ingest(catalog, files(inbox, table="f.t"))
    for number in (1, 2):
        _put(inbox, "a.csv", f"id\n{number}\n", age=60 - number)
        job.run()

    assert _rows(catalog, "ods.t") == [(1,)]
    assert "a.csv was written again" in " ".join(job.status.warnings)


def test_what_is_no_file_that_can_be_read_ends_no_job(
    catalog: pm.Catalog, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inbox / "round.csv").symlink_to(inbox / "round.csv")
    os.mkfifo(inbox / "pipe.csv")
    _put(inbox, "ahead.csv", "id\n1\n", age=-3600)
    _put(inbox, "gone.csv", "id\n2\n")
    seen = LocalFolder.files
    monkeypatch.setattr(LocalFolder, "files", lambda folder: list(seen(folder)))
    read = FileSource._batches

    def batches(source: FileSource, path: str) -> Any:
        if path == "gone.csv":
            (inbox / path).rename(inbox / "other.csv")
        return read(source, path)

    monkeypatch.setattr(FileSource, "_batches", batches)

    _ingest(catalog, files(inbox, table="f.t", settle=0.01)).run()

    assert _rows(catalog, "ods.t") == [(1,), (2,)]


def test_folders_and_files_that_cannot_be_read_are_no_files_that_went(
    inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _put(inbox, "a.csv", "id\n1\n")
    (inbox / "sub").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", _refuses(os.scandir, "sub"))
        with pytest.raises(PermissionError, match="sub"):
            list(files(inbox, table="f.t").read(None, lambda _: True))
    text = os.fsencode(inbox) + b"/\xff.csv"
    Path(os.fsdecode(text)).touch()
    with pytest.raises(DataError, match="not UTF-8"):
        files(inbox, table="f.t").tables()


def _refuses(call: Any, name: str) -> Any:
    def scandir(path: Any) -> Any:
        if os.path.basename(path) == name:  # noqa: PTH119 - as it is called
            raise PermissionError(13, "Permission denied", path)
        return call(path)

    return scandir


def test_thousands_of_small_files_are_read_without_all_names_after_each(inbox: Path) -> None:
    for number in range(300):
        _put(inbox, f"{number:03}.csv", f"id\n{number}\n")
    events = files(inbox, table="f.t").read(None, lambda _: True)
    found = []
    for event in events:
        found.append(event)
        if isinstance(event, Boundary) and event.phase is Phase.CAUGHT_UP:
            break

    assert sum(isinstance(event, RowChanges) for event in found) == 300
    places: list[Any] = [event.position for event in found if isinstance(event, Boundary)]
    assert len(places) < 200
    assert len(places[-1]["files"]) == 300


def test_a_broken_first_file_is_set_aside(catalog: pm.Catalog, inbox: Path) -> None:
    _put(inbox, "a.json", '{"id": 2\n')
    _put(inbox, "b.json", '{"id": 1}\n', age=50)

    _ingest(catalog, files(inbox, table="f.t"), max_dead=1).run()

    assert _rows(catalog, "ods.t") == [(1,)]


def test_a_large_file_is_committed_in_parts_and_read_on(
    catalog: pm.Catalog, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("paimonlab.ingest.sources.files._LARGE_BYTES", 1)
    monkeypatch.setattr("paimonlab.formats.source_files._BLOCK_BYTES", 1 << 10)
    _put(inbox, "a.csv", "id\n" + "".join(f"{number}\n" for number in range(2_000)))
    job = _ingest(catalog, files(inbox, table="f.t"), max_rows=1)

    job.run(rows=500)
    some = len(_rows(catalog, "ods.t"))
    status = _ingest(catalog, files(inbox, table="f.t")).run()

    assert 500 <= some < 2_000
    assert status.rows == 2_000
    assert [row[0] for row in _rows(catalog, "ods.t")] == sorted(
        range(2_000), key=lambda n: f"({n},"
    )


def test_files_go_away_after_they_are_committed(
    catalog: pm.Catalog, inbox: Path, tmp_path: Path
) -> None:
    _put(inbox, "a.csv", "id\n1\n")
    _ingest(catalog, files(inbox, table="f.t", after="delete")).run()
    _put(inbox, "sub/b.csv", "id\n2\n")
    done = tmp_path / "done"
    _ingest(catalog, files(inbox, table="f.t", after=done)).run()
    _put(inbox, "a.csv", "id\n3\n")  # a new file of an old name
    _put(inbox, "sub/b.csv", "id\n4\n", age=50)
    _ingest(catalog, files(inbox, table="f.t", after=done)).run()
    assert (done / "sub/b.csv").read_text() == "id\n2\n"
    assert (done / "sub/b.1.csv").read_text() == "id\n4\n"
    with pytest.raises(ValueError, match="would be read again"):
        files(inbox, table="f.t", after=inbox / "done")

    status = _ingest(catalog, files(inbox, table="f.t", after="delete")).run()

    assert _rows(catalog, "ods.t") == [(1,), (2,), (3,), (4,)]
    assert list(inbox.rglob("*.csv")) == []
    assert set(status.position.get("files", {})) <= {"a.csv"}


def test_files_that_are_still_there_are_read_anew(catalog: pm.Catalog, inbox: Path) -> None:
    for number in range(3):
        _put(inbox, f"{number}.csv", f"id\n{number}\n", age=90 - number)
    job = _ingest(catalog, files(inbox, table="f.t"))
    job.run()
    (inbox / "1.csv").unlink()
    _put(inbox, "3.csv", "id\n3\n")
    job.resnapshot("t")
    job.run()
    assert _rows(catalog, "ods.t") == [(0,), (2,), (3,)]
    last = catalog.table("ods.t").snapshot
    assert last is not None
    assert last.commit_kind is pm.CommitKind.OVERWRITE
    _put(inbox, "4.csv", "id\n4\n")
    job.run()
    assert _rows(catalog, "ods.t") == [(0,), (2,), (3,), (4,)]


def test_another_table_is_read_anew(catalog: pm.Catalog) -> None:
    catalog.create_database("src")
    catalog.write_table("src.t", [{"id": 1}, {"id": 2}])
    told = catalog.table("src.t")
    job = _ingest(catalog, table_changes(told))
    job.run()
    catalog.table("ods.t").write([{"id": 99}])
    told.write([{"id": 3}])
    job.resnapshot("t")
    job.run()
    assert _rows(catalog, "ods.t") == [(1,), (2,), (3,)]
    told.write([{"id": 4}])
    job.run()
    assert _rows(catalog, "ods.t") == [(1,), (2,), (3,), (4,)]


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"folder": "http://host/in"}, UnsupportedError),
        ({"options": {"s3.endpoint": "x"}}, ValueError),
        ({"after": "forget"}, ValueError),
        ({"delimiter": ";;"}, ValueError),
        ({"table": "t"}, ValueError),
    ],
)
def test_what_files_cannot_be_told(
    inbox: Path, told: dict[str, Any], error: type[Exception]
) -> None:
    given = {"folder": inbox} | told
    with pytest.raises(error):
        files(given.pop("folder"), **given)


def test_a_folder_and_names_that_tell_nothing(catalog: pm.Catalog, inbox: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        _ingest(catalog, files(inbox / "no", table="f.t")).run()
    _put(inbox, "a.txt", "id\n1\n")
    with pytest.raises(DataError, match="does not tell the format"):
        _ingest(catalog, files(inbox, table="f.t")).run()
    _ingest(catalog, files(inbox, table="f.t", format="csv")).run()

    assert _rows(catalog, "ods.t") == [(1,)]


# Another table


def _source_table(catalog: pm.Catalog, **options: str) -> pm.Table:
    catalog.create_database("src", exist_ok=True)
    return catalog.create_table(
        "src.t",
        {"id": "BIGINT", "v": "STRING"},
        primary_keys=["id"],
        options={"bucket": "1", **options},
    )


def test_a_table_is_followed(catalog: pm.Catalog) -> None:
    table = _source_table(catalog, **{"changelog-producer": "input"})
    table.write([{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    source = table_changes(table, consumer="copy")

    _ingest(catalog, source).run()
    table.write([{"id": 1, "v": "c"}, {"id": 3, "v": "d"}])
    table.write(pa.table({"k": ["-D"], "id": [2], "v": ["b"]}), row_kinds="k")
    status = _ingest(catalog, source).run()

    assert _rows(catalog, "ods.t") == [(1, "c"), (3, "d")]
    assert status.tables[0].rows == 3
    assert catalog.table("ods.t").primary_keys == ("id",)
    assert table.consumers.list()["copy"] == 4


@pytest.mark.parametrize("while_it_runs", [False, True])
def test_a_table_that_is_altered_is_followed_exactly(
    catalog: pm.Catalog, *, while_it_runs: bool
) -> None:
    _source_table(catalog)
    table = catalog.alter_table("src.t", pm.AddColumn("again", "INT"))
    table.write([{"id": 1, "v": "a", "again": 1}])
    job = _ingest(catalog, table_changes(catalog.table("src.t")), evolve="exact", interval=0)
    if while_it_runs:
        job.start()
        until(lambda: job.status.rows == 1)
    else:
        job.run()
    table = catalog.alter_table(
        "src.t", pm.RenameColumn("v", "w"), pm.AddColumn("n", "INT", "how many")
    )
    table = catalog.alter_table("src.t", pm.DropColumn("again"))
    table = catalog.alter_table("src.t", pm.AddColumn("again", "INT"))
    table.write([{"id": 2, "w": "b", "n": 5, "again": 2}])
    if while_it_runs:
        until(lambda: job.status.rows == 2)
        job.stop()
    else:
        _ingest(catalog, table_changes(catalog.table("src.t")), evolve="exact").run()

    target = catalog.table("ods.t")
    assert target.schema.field_names == ("id", "w", "n", "again")
    assert target.schema.field("n").description == "how many"
    assert _rows(catalog, "ods.t") == [(1, "a", None, None), (2, "b", 5, 2)]


def test_only_what_changes_from_now_on(catalog: pm.Catalog) -> None:
    table = _source_table(catalog)
    table.write([{"id": 1, "v": "a"}])
    source = table_changes(table, start="latest")
    _ingest(catalog, source).run()
    table.write([{"id": 2, "v": "b"}])

    _ingest(catalog, source).run()

    assert _rows(catalog, "ods.t") == [(2, "b")]
