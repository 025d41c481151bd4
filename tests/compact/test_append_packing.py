from __future__ import annotations

import re

import pytest

from paimonlab.compact.append_packing import (
    AppendPackingOptions,
    Files,
    FileVector,
    in_order,
    is_worth_packing,
    pack,
    pick_bucket,
    pick_neighbours,
)
from paimonlab.spec.manifests.data_file import DataFileMeta
from paimonlab.spec.options.table_options import Options
from tests.small_tables import data_file
from tests.support import cases

OPTIONS = AppendPackingOptions(
    target_file_size_bytes=100, open_file_cost_bytes=4, least_files=3, delete_ratio_threshold=0.2
)
_FILE = re.compile(r"(?P<name>\w+):(?P<size>\d+)(@(?P<index>\w+)~(?P<deleted>\d+|\?))?")


def drawn(words: str) -> tuple[list[DataFileMeta], dict[str, FileVector]]:
    files: list[DataFileMeta] = []
    vectors: dict[str, FileVector] = {}
    for number, match in enumerate(_FILE.finditer(words)):
        name, size = match["name"], int(match["size"])
        files.append(data_file(name, file_size_bytes=size, min_sequence_number=10 * number))
        if match["index"]:
            deleted = None if match["deleted"] == "?" else int(match["deleted"])
            vectors[name] = FileVector(match["index"], deleted)
    return files, vectors


def all_neighbours(files: Files) -> list[Files]:
    found = []
    picked, later = pick_neighbours(files, OPTIONS)
    while picked:
        found.append(picked)
        picked, later = pick_neighbours(later, OPTIONS)
    return found


@pytest.mark.parametrize(("title", "given", "expected"), cases("append_packing"))
def test_case_file(title: str, given: str, expected: str) -> None:
    files, found = drawn(given)
    how = given[: given.index(":") - 1]
    vectors = found if "vectors" in how else None

    if "partition" in how:
        tasks = pack(files, OPTIONS, vectors=vectors, full="full" in how)
    elif "full" in how:
        chosen = pick_bucket(in_order(reversed(files)), OPTIONS, with_vectors=vectors)
        tasks = [chosen] if chosen else []
    else:
        tasks = all_neighbours(in_order(reversed(files)))

    drawing = " | ".join(" ".join(file.file_name for file in task) for task in tasks)
    assert (drawing or "nothing") == expected, title


def test_options_come_from_the_table() -> None:
    options = Options(
        {
            "target-file-size": "1 mb",
            "compaction.min.file-num": "2",
            "compaction.delete-ratio-threshold": "0.5",
            "compaction.force-rewrite-all-files": "true",
        }
    ).slice(AppendPackingOptions)

    file = data_file("a", file_size_bytes=1 << 20)
    assert not is_worth_packing(file, FileVector("i", 5), options)
    assert is_worth_packing(file, FileVector("i", 6), options)
    assert options.small_file_size_bytes == (1 << 20) // 10 * 7
    assert pick_bucket((file,), options) == (file,)
    assert pack([file, file], options, full=True) == [(file, file)]
    assert pack([file, file], options) == []
