from __future__ import annotations

import json
import uuid
from pathlib import Path

import pyarrow as pa
import pytest

import paimonlab as pl
from paimonlab.formats.manifests.entry_rows import entries_to_table
from paimonlab.maintenance.fsck.check import fsck
from paimonlab.maintenance.fsck.report import FsckReport
from paimonlab.metadata.layout import TableLayout
from paimonlab.storage import LocalFileIO
from paimonlab.table.inside import store_of
from paimonlab.table.table import Table
from tests.golden import RELEASES, golden
from tests.small_tables import SmallTable, entry

WRITERS = (*RELEASES, "java-0.9")
TABLES = [
    (writer, path.name)
    for writer in WRITERS
    for path in sorted((golden(writer) / "wh/db.db").iterdir())
]
NOT_READ = "types_"
"""Tables with values that Arrow cannot hold."""


def check(path: Path, *, deep: bool = False) -> FsckReport:
    return fsck("db.t", LocalFileIO(), TableLayout(str(path)), deep=deep)


@pytest.mark.parametrize(("writer", "name"), TABLES)
def test_tables_that_java_wrote_are_sound(writer: str, name: str) -> None:
    report = check(golden(writer) / "wh/db.db" / name, deep=True)

    serious = [one for one in report.findings if one.severity == "error"]
    assert not serious
    if not name.startswith(NOT_READ):
        assert report.is_clean, str(report)
    assert report.checked.schemas > 0


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A primary-key table with two snapshots, a tag, a branch and statistics."""
    catalog = pl.connect(str(tmp_path))
    catalog.create_database("db")
    table = catalog.create_table(
        "db.t",
        {"dt": "STRING NOT NULL", "id": "INT NOT NULL", "v": "STRING"},
        primary_keys=["dt", "id"],
        partition_keys=["dt"],
        options={"bucket": "1"},
    )
    for start in (0, 5):
        ids = pa.array(range(start, start + 10), pa.int32())
        table.write(pa.table({"dt": ["a"] * 10, "id": ids, "v": ["x"] * 10}))
    table.tags.create("kept")
    return table


def test_a_sound_table_has_no_findings(table: Table) -> None:
    report = table.fsck(deep=True)

    assert report.is_clean
    assert bool(report)
    assert (report.checked.snapshots, report.checked.tags, report.checked.rows) == (2, 1, 20)
    assert str(report).startswith("db.t: nothing found (1 branch, 1 schema, 2 snapshots, 1 tag")


def test_progress_is_told(table: Table) -> None:
    calls: list[tuple[int, int, str]] = []
    table.fsck(progress=lambda *call: calls.append(call))

    assert calls == [(1, 3, "snapshots"), (2, 3, "snapshots"), (3, 3, "snapshots")]


def only(report: FsckReport) -> str:
    (finding,) = report.findings
    return f"{finding.severity} {finding.file} {finding.referrer} {finding.problem}"


def test_a_missing_data_file_is_found_and_said_who_wants_it(table: Table) -> None:
    file = next(Path(table.path).glob("dt=a/bucket-0/data-*"))
    file.unlink()

    found = only(table.fsck())

    assert found.startswith(f"error dt=a/bucket-0/{file.name} snapshot-")
    assert found.endswith("the file is missing")


def test_a_data_file_of_another_size_is_found(table: Table) -> None:
    file = next(Path(table.path).glob("dt=a/bucket-0/data-*"))
    file.write_bytes(file.read_bytes() + b"x")

    assert "expected were" in only(table.fsck())


def test_a_bit_that_flipped_in_a_page_is_found_by_reading(table: Table) -> None:
    file = next(Path(table.path).glob("dt=a/bucket-0/data-*"))
    data = bytearray(file.read_bytes())
    data[60] ^= 1
    file.write_bytes(data)

    assert table.fsck().is_clean
    assert file.name in only(table.fsck(deep=True))


def test_holes_are_found(table: Table) -> None:
    table.write(pa.table({"dt": ["a"], "id": pa.array([1], pa.int32()), "v": ["y"]}))
    Path(table.path, "snapshot/snapshot-2").unlink()

    assert only(table.fsck()) == "error snapshot/snapshot-2  the file is missing"


def test_a_schema_that_is_gone_is_found(table: Table) -> None:
    pl.connect(str(Path(table.path).parents[1])).alter_table("db.t", pl.AddColumn("w", "INT"))
    Path(table.path, "schema/schema-0").unlink()

    files = {one.file for one in table.fsck().findings}

    assert "schema/schema-0" in files


@pytest.mark.parametrize(
    ("hint", "text", "expected"),
    [
        ("LATEST", "9", "error snapshot/LATEST  it names snapshot 9, but the newest is 2"),
        ("LATEST", "x", "warning snapshot/LATEST  it holds b'x', not the id of a snapshot"),
        ("EARLIEST", "2", "warning snapshot/EARLIEST  it names snapshot 2, but the oldest is 1"),
    ],
)
def test_hints_that_mislead_are_found(table: Table, hint: str, text: str, expected: str) -> None:
    Path(table.path, "snapshot", hint).write_text(text)

    assert only(table.fsck()) == expected


def _change_json(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_counts_that_do_not_add_up_are_found(table: Table) -> None:
    _change_json(Path(table.path, "snapshot/snapshot-2"), totalRecordCount=21, deltaRecordCount=11)

    problems = {one.problem for one in table.fsck().findings}

    assert problems == {
        "it says that it has 21 rows, its files have 20",
        "it says that it has 11 rows more than before, its files have 10",
    }


def test_rows_that_do_not_follow_from_the_snapshot_before_are_found(table: Table) -> None:
    _change_json(Path(table.path, "snapshot/snapshot-1"), totalRecordCount=11)

    problems = [one.problem for one in table.fsck().findings]

    assert "by snapshot-1 and its own changes there are 21" in problems[0]


def test_a_snapshot_that_says_to_be_another_is_found(table: Table) -> None:
    _change_json(Path(table.path, "snapshot/snapshot-2"), id=7)

    assert any("it says that it is snapshot 7" in one.problem for one in table.fsck().findings)


def test_statistics_that_are_gone_are_found(table: Table) -> None:
    _change_json(Path(table.path, "snapshot/snapshot-2"), statistics="stat-x")

    assert only(table.fsck()) == "error statistics/stat-x snapshot-2 the file is missing"


def test_files_of_one_level_that_share_keys_are_found(tmp_path: Path) -> None:
    small = SmallTable(
        tmp_path, columns={"id": "INT NOT NULL"}, primary_keys=["id"], options={"bucket": "1"}
    ).create()
    small.append("a", level=5, total_buckets=1, **small.key_range([1], [5]))
    small.append("b", level=4, total_buckets=1, **small.key_range([5], [9]))
    assert not any("shares keys" in one.problem for one in check(tmp_path).findings)

    entries = entries_to_table([entry("c", level=5, total_buckets=1, **small.key_range([4], [6]))])
    metas = small.manifests.write(entries, [], small.commit_options.manifests)
    name, size = small.manifests.write_list(metas, small.commit_options.manifests)
    small.rewrite_latest(
        base_manifest_list=name,
        base_manifest_list_size=size,
        delta_manifest_list=small.snapshots.get(1).delta_manifest_list,
        delta_manifest_list_size=None,
    )

    problems = [one.problem for one in check(tmp_path).findings]
    assert "it shares keys with c, both are in level 5" in problems


def test_numbers_that_cannot_be_are_found(tmp_path: Path) -> None:
    small = SmallTable(tmp_path).create()
    small.append("a", min_sequence_number=9, max_sequence_number=3)
    small.append("b", delete_row_count=11)
    small.append("c", schema_id=3)

    problems = [one.problem for one in check(tmp_path).findings]

    for expected in (
        "metadata says that it has a smallest sequence number above the greatest",
        "metadata says that it has more deleted rows than rows",
        "metadata says that it has a schema that is not there",
    ):
        assert expected in problems
    assert problems.count("the file is missing") == 3


def test_a_file_that_would_be_elsewhere_hides_no_other_problem(tmp_path: Path) -> None:
    small = SmallTable(tmp_path).create()
    small.append("a", delete_row_count=11)
    small.append("../b")
    small.append("c", delete_row_count=11)

    findings = check(tmp_path).findings

    assert [one.referrer for one in findings if "more deleted rows" in one.problem] == [
        "snapshot-1",
        "snapshot-3",
    ]
    assert any("leads out of the table" in one.problem for one in findings)


def test_a_missing_file_takes_no_look_beside_the_list_of_its_folder(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file in Path(table.path).glob("dt=a/bucket-0/data-*"):
        file.unlink()
    sizes: list[str] = []
    monkeypatch.setattr(LocalFileIO, "size_bytes", lambda _self, path: sizes.append(path))

    report = check(Path(table.path))

    assert {finding.problem for finding in report.findings} == {"the file is missing"}
    assert not [path for path in sizes if "/bucket-0/" in path]


def test_a_file_behind_a_link_is_followed(table: Table, tmp_path: Path) -> None:
    file = next(Path(table.path).glob("dt=a/bucket-0/data-*"))
    (tmp_path / "moved").mkdir()
    elsewhere = file.rename(tmp_path / "moved" / file.name)
    file.symlink_to(elsewhere)

    assert "the file is missing" not in str(table.fsck())


@pytest.mark.parametrize(
    ("moved", "gone", "file", "problem", "advice"),
    [
        (2, (), "snapshot/snapshot-2", "its only copy is", "Move the copy there; who"),
        (4, (), "snapshot/snapshot-4", "its only copy is", "Move the copy there if"),
        (1, (), "tag/.tag-1.", "which came before the oldest", "Delete it"),
        (3, (1, 2, 4), "snapshot/snapshot-3", "its only copy is", ""),
    ],
)
def test_a_snapshot_whose_only_copy_was_moved_aside_is_named(
    tmp_path: Path, moved: int, gone: tuple[int, ...], file: str, problem: str, advice: str
) -> None:
    table = of_four_snapshots(tmp_path)
    folder = Path(table.path)
    (folder / "tag").mkdir()
    guard = folder / "tag" / f".tag-{moved}.{uuid.uuid4()}.guard.tmp"
    for snapshot_id in gone:
        (folder / "snapshot" / f"snapshot-{snapshot_id}").unlink()
    (folder / "snapshot" / f"snapshot-{moved}").rename(guard)

    found = [one for one in check(folder).findings if "LATEST" not in one.file]

    assert [one.file.startswith(file) and problem in one.problem for one in found] == [True]
    assert advice in found[0].advice
    assert found[0].severity == ("error" if moved == 2 else "warning")
    if problem == "its only copy is":
        assert str(guard) in found[0].problem
        guard.rename(folder / "snapshot" / f"snapshot-{moved}")
        assert not [one for one in check(folder).findings if one.file == file]


def test_a_copy_of_a_snapshot_that_is_left_over_is_named(tmp_path: Path) -> None:
    table = of_four_snapshots(tmp_path)
    history = store_of(table)
    with history.tags.guarded([history.snapshots.get(2)]):
        [found] = check(Path(table.path)).findings
        assert table.scan().count() == 4

    assert (found.severity, found.problem) == (
        "warning",
        "it is a copy of snapshot 2, which is there",
    )
    assert check(Path(table.path)).is_clean


def of_four_snapshots(path: Path) -> Table:
    catalog = pl.connect(path)
    catalog.create_database("db")
    table = catalog.create_table("db.t", {"a": "INT"})
    for number in range(4):
        table.write([{"a": number}])
    return table
