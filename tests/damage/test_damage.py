"""Every kind of file, damaged in every way: a right answer, or an error that names the file.

What no program can tell:

- Snapshots, schemas, tags and statistics are JSON documents without a checksum: a flipped bit in
  a number or a name may make another valid document. Here damage is where `DAMAGES` says.
- A tag that is gone was perhaps deleted, and a tag does not say its own name. Snapshots give no
  size of their index manifest, and an index manifest does not say whose it is.
- A table without any schema is no table.
- ORC files have no checksums, Avro files and manifests of others have none that are of use: a
  flipped bit may make other values. What is compressed mostly notices.
- In Parquet files pages have checksums, their headers have none; damage there is noticed when it
  matters.
- Hash indexes have no checksums.
- Two files of one kind, size and number of entries in each other's place.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import paimonlab as pl
from paimonlab.errors import (
    CorruptDataError,
    CorruptMetadataError,
    PaimonError,
    TableNotFoundError,
)
from paimonlab.maintenance.fsck.check import fsck
from paimonlab.metadata.layout import TableLayout
from paimonlab.storage import LocalFileIO
from paimonlab.table.table import Table
from tests.damage.tables import DAMAGES, MAKERS, Answers, Rows, answers, reads

KINDS: dict[str, tuple[str, str]] = {
    "snapshot": ("append", "snapshot/snapshot-*"),
    "schema": ("append", "schema/schema-*"),
    "latest hint": ("append", "snapshot/LATEST"),
    "earliest hint": ("append", "snapshot/EARLIEST"),
    "tag": ("append", "tag/tag-*"),
    "statistics": ("append", "statistics/stat-*"),
    "manifest list": ("append", "manifest/manifest-list-*"),
    "manifest": ("append", "manifest/manifest-[!l]*"),
    "index manifest": ("vectors", "manifest/index-manifest-*"),
    "index manifest of hashes": ("keyed", "manifest/index-manifest-*"),
    "deletion vectors": ("vectors", "index/index-*"),
    "hash index": ("keyed", "index/index-*"),
    "data": ("append", "dt=*/bucket-*/data-*.parquet"),
    "data with keys": ("keyed", "dt=*/bucket-*/data-*.parquet"),
    "orc data": ("orc", "dt=*/bucket-*/data-*.orc"),
    "avro data": ("avro", "dt=*/bucket-*/data-*.avro"),
    "file index": ("index", "bucket-*/*.index"),
    "parquet manifest": ("parquet manifests", "manifest/manifest-[!l]*"),
    "orc manifest": ("orc manifests", "manifest/manifest-[!l]*"),
}
NO_CHECKSUM = {"orc data", "avro data", "orc manifest", "parquet manifest"}
"""Formats in which a flipped bit may go unnoticed, or is noticed by chance."""
DOCUMENTS = {"snapshot", "schema", "tag", "statistics"}
"""JSON."""
CASES = [
    (kind, damage)
    for kind in KINDS
    for damage in DAMAGES
    if not (damage == "swapped" and "hint" in kind)  # there is one of each
]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Answers]]:
    """Make each table once, with what it answers."""
    made: dict[str, tuple[Path, Answers]] = {}

    def get(name: str) -> tuple[Path, Answers]:
        if name not in made:
            folder = tmp_path_factory.mktemp("sound")
            MAKERS[name](folder)
            made[name] = (folder, answers(folder))
        return made[name]

    return get


def damaged(folder: Path, kind: str, damage: str) -> Path:
    """Damage the last file of a kind; return it."""
    files = sorted(
        (folder / "db.db/t").glob(KINDS[kind][1]), key=lambda path: path.stat().st_mtime_ns
    )
    victim = files[-1]
    if kind == "schema":
        victim = files[0]
    data = victim.read_bytes()
    others = [one.read_bytes() for one in files if one != victim]
    others = [other for other in others if other != data]
    changed = DAMAGES[damage](data, others[-1] if others else b"")
    if changed is None:
        victim.unlink()
    else:
        assert changed != data
        victim.write_bytes(changed)
    return victim


def names(text: object, file: Path) -> bool:
    """Whether a text names a file: by its name, or by the number or name it is about."""
    word = re.escape(file.name).replace(r"\-", "[- ]'?")
    return re.search(word, str(text)) is not None


def is_told(error: PaimonError, kind: str, damage: str, file: Path) -> bool:
    """Whether an error says which file is to blame, as far as that can be known."""
    if kind in DOCUMENTS and "bit" in damage:
        return True  # it names another file that is not there
    if kind == "schema" and damage == "missing":
        return isinstance(error, TableNotFoundError)
    if kind == "manifest" and damage == "swapped":
        return "twice" in str(error) or names(error, file)
    return names(error, file)


@pytest.mark.parametrize(("kind", "damage"), CASES)
def test_a_read_is_right_or_an_error_names_the_file(
    tmp_path: Path, sound: Callable[[str], tuple[Path, Answers]], kind: str, damage: str
) -> None:
    source, expected = sound(KINDS[kind][0])
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    ways = reads(folder)
    file = damaged(folder, kind, damage)

    for way, read in ways.items():
        found, error = outcome(read)
        if error is not None:
            assert is_told(error, kind, damage, file), f"{way}: {error}"
            assert not isinstance(error, CorruptDataError) or error.referrer
        elif not may_be_wrong(kind, damage):
            assert found == expected[way], way


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_in_the_place_of_a_file_is_named(
    tmp_path: Path, sound: Callable[[str], tuple[Path, Answers]], kind: str
) -> None:
    """The store fails then, and no error of its own comes through."""
    source, expected = sound(KINDS[kind][0])
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    ways = reads(folder)
    file = damaged(folder, kind, "missing")
    file.mkdir()

    for way, read in ways.items():
        found, error = outcome(read)
        if error is None:
            assert found == expected[way], way
        else:
            assert names(error, file), f"{way}: {error}"


def outcome(read: Callable[[], Rows]) -> tuple[Rows | None, PaimonError | None]:
    """Read; errors that paimonlab does not raise on purpose go through."""
    try:
        return read(), None
    except PaimonError as error:
        return None, error


def may_be_wrong(kind: str, damage: str) -> bool:
    """Whether the format gives no way to tell."""
    if damage == "swapped":
        return kind in {"tag", "index manifest"}
    return kind in NO_CHECKSUM and "bit" in damage


@pytest.mark.parametrize(("kind", "damage"), CASES)
def test_fsck_finds_it(
    tmp_path: Path, sound: Callable[[str], tuple[Path, Answers]], kind: str, damage: str
) -> None:
    source, _ = sound(KINDS[kind][0])
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    file = damaged(folder, kind, damage)

    report = fsck("db.t", LocalFileIO(), TableLayout(str(folder / "db.db/t")), deep=True)

    if report.is_clean:
        assert may_go_unnoticed(kind, damage)
    elif not (kind in DOCUMENTS and "bit" in damage) and damage != "swapped":
        assert any(names(one, file) for one in report.findings), str(report)


def may_go_unnoticed(kind: str, damage: str) -> bool:
    """Whether it does no harm, or no program could tell."""
    if "hint" in kind:  # one that is missing, or of an older snapshot, costs a listing
        return True
    if kind in DOCUMENTS and ("bit" in damage or damage == "swapped"):
        return True
    if kind == "file index":
        return damage != "missing"
    if kind.startswith("data"):  # reads are right all the same, says the test above
        return "bit" in damage
    if (kind, damage) == ("tag", "missing") or may_be_wrong(kind, damage):
        return True
    return kind == "index manifest of hashes" and damage == "swapped"


@pytest.mark.parametrize("which", ["baseManifestList", "deltaManifestList"])
def test_a_tag_that_names_a_wrong_file_is_to_blame(
    tmp_path: Path, sound: Callable[[str], tuple[Path, Answers]], which: str
) -> None:
    """Its snapshot is sound, and its error does not speak of it."""
    folder = tmp_path / "damaged"
    shutil.copytree(sound("append")[0], folder)
    tag = folder / "db.db/t/tag/tag-t1"
    text = tag.read_text()
    tag.write_text(re.sub(rf'"{which}": "(.*)-(.)"', rf'"{which}": "\1+\2"', text))
    assert tag.read_text() != text
    table = pl.connect(str(folder)).table("db.t")

    with pytest.raises(CorruptMetadataError, match=r"referred to by tag-t1\)$"):
        table.scan(tag="t1").to_arrow()
    assert table.scan(snapshot=1).count() == 10


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "one byte short"])
@pytest.mark.parametrize("kind", ["hash index", "index manifest of hashes"])
def test_a_write_without_the_index_of_its_buckets_is_refused(
    tmp_path: Path, sound: Callable[[str], tuple[Path, Answers]], kind: str, damage: str
) -> None:
    """Keys would get a second bucket, and then there would be two rows of a key."""
    source, _ = sound("keyed")
    folder = tmp_path / "damaged"
    shutil.copytree(source, folder)
    sound_table = pl.connect(str(source)).table("db.t")
    assert isinstance(sound_table, Table)
    again = sound_table.scan().to_arrow()
    file = damaged(folder, kind, damage)
    table = pl.connect(str(folder)).table("db.t")
    assert isinstance(table, Table)

    files = sorted(folder.rglob("*"))
    with pytest.raises(CorruptMetadataError) as caught:
        table.write(again)

    assert names(caught.value, file)
    assert sorted(folder.rglob("*")) == files
