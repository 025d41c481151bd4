"""What a manifest list says of each manifest is what Java says of the same entries."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paimonlab.formats.manifests.manifest import read_manifest_list
from paimonlab.metadata.layout import TableLayout
from paimonlab.metadata.manifests import ManifestOptions, ManifestStore
from paimonlab.spec.manifests.manifest import ManifestFileMeta
from paimonlab.spec.schema.definition import TableSchema
from paimonlab.storage import LocalFileIO
from tests.golden import RELEASES, golden

OPTIONS = ManifestOptions()
WITH_ROW_IDS = {("java-1.4.2", "rowtrack"), ("java-1.4.2", "dataevo")}
"""Tables whose rows have ids, of releases that list them."""


@pytest.mark.parametrize("name", ["rowtrack", "dataevo", "pk_part", "append_part", "evo_parquet"])
@pytest.mark.parametrize("writer", RELEASES)
def test_manifests_are_described_as_java_describes_them(
    writer: str, name: str, tmp_path: Path
) -> None:
    folder = golden(writer) / "wh/db.db" / name
    schema = TableSchema.from_json((folder / "schema/schema-0").read_bytes(), path=name)
    partition = [schema.field(key) for key in schema.partition_keys]
    theirs = ManifestStore(LocalFileIO(), TableLayout(str(folder)))
    (tmp_path / "manifest").mkdir()
    ours = ManifestStore(LocalFileIO(), TableLayout(str(tmp_path)))
    listed = {
        meta.file_name: meta
        for path in sorted(folder.glob("manifest/manifest-list-*"))
        for meta in read_manifest_list(path.read_bytes(), path=str(path))
    }
    with_ids = 0

    for meta in listed.values():
        (entries,) = theirs.read([meta], referrer=name)
        (made,) = ours.write(entries, partition, OPTIONS)
        with_ids += meta.min_row_id is not None
        if writer == "java-1.3.1":
            made = msgspec.structs.replace(made, min_row_id=None, max_row_id=None)
        assert unnamed(made) == unnamed(meta)

    assert bool(with_ids) == ((writer, name) in WITH_ROW_IDS)


def unnamed(meta: ManifestFileMeta) -> ManifestFileMeta:
    """Forget how the file is called and compressed."""
    return msgspec.structs.replace(meta, file_name="", file_size_bytes=0)
