"""A disk that is mounted anew to be read only, as the kernel does after an error of the device."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from paimonlab.errors import PaimonError
from paimonlab.storage import LocalFileIO
from tests.crash.harness import catalog, check_done_again, check_old_or_new, check_told
from tests.outside.conftest import BY_NAME, EACH_KIND_OF_FILE, Prepare
from tests.outside.disks import Disk, mounted


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    disk = mounted("ext4", tmp_path_factory.mktemp("ext4"), "16M")
    yield disk
    disk.unmount()


@pytest.mark.parametrize("name", EACH_KIND_OF_FILE)
def test_nothing_happens_on_a_disk_that_became_read_only(
    name: str, disk: Disk, prepare: Prepare
) -> None:
    whole = prepare(BY_NAME[name])
    shutil.rmtree(disk.warehouse, ignore_errors=True)
    shutil.copytree(whole.made, disk.warehouse)
    opened = catalog(disk.warehouse, LocalFileIO())
    opened.table("db.t").scan().to_arrow()

    disk.allow_writing(writing=False)
    try:
        with pytest.raises(PaimonError) as raised:
            whole.operation.act(opened)
        where = f"{name}: {raised.value!r}"
        found = check_old_or_new(whole, disk.warehouse, where)
        check_told(whole, disk.warehouse, found, raised.value, where)
    finally:
        disk.allow_writing(writing=True)

    check_done_again(whole, disk.warehouse, where)
