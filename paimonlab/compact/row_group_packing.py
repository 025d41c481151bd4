"""Which files of a table with data evolution are put together: columns of rows, and neighbours.

Source: apache/paimon@1.4.2 ``org.apache.paimon.append.dataevolution``,
``DataEvolutionCompactCoordinator``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paimonlab.compact.append_packing import AppendPackingOptions, Files
from paimonlab.errors import CorruptMetadataError
from paimonlab.scan.row_groups import row_groups
from paimonlab.spec.manifests.data_file import DataFileMeta


def pack_row_groups(
    files: Iterable[DataFileMeta], options: AppendPackingOptions, *, full: bool
) -> Iterator[Files]:
    """Choose files that become one each, so that rows keep their ids.

    Parameters
    ----------
    files
        Of a partition. Those without row ids in metadata are left alone.
    options
        Of the table.
    full
        Whether two files are worth a rewrite, else ``compaction.min.file-num`` are.

    Yields
    ------
    tuple of DataFileMeta
        Files whose row ids follow one another without a gap, at least two, by row id. All files
        of the same rows are in one of them, or in none.

    Raises
    ------
    CorruptMetadataError
        If the row ids of files overlap and are not the same.

    Examples
    --------
    >>> def file(name, first, newest):
    ...     return DataFileMeta(file_name=name, file_size_bytes=1, row_count=2, schema_id=0,
    ...         min_sequence_number=newest, max_sequence_number=newest, first_row_id=first)
    >>> files = [file("a", 0, 1), file("b", 2, 1), file("c", 2, 3), file("d", 6, 4)]
    >>> chosen = pack_row_groups(files, AppendPackingOptions(), full=True)
    >>> [[file.file_name for file in task] for task in chosen]
    [['a', 'c', 'b']]
    """
    least = 2 if full else max(options.least_files, 2)
    waiting: list[DataFileMeta] = []
    weight = following = 0
    for group in row_groups([file for file in files if file.first_row_id is not None]):
        first, count = group[0].first_row_id or 0, group[0].row_count
        if first < following or any(file.row_count != count for file in group):
            raise CorruptMetadataError(
                group[0].file_name,
                "its row ids overlap with those of other files and are not the same",
            )
        of_group = sum(max(file.file_size_bytes, options.open_file_cost_bytes) for file in group)
        is_large = of_group > options.target_file_size_bytes
        if waiting and (is_large or first != following):
            if len(waiting) >= least:
                yield tuple(waiting)
            waiting, weight = [], 0
        following = first + count
        waiting += group
        weight += of_group
        if weight > options.target_file_size_bytes:
            if len(waiting) >= least:
                yield tuple(waiting)
            waiting, weight = [], 0
    if len(waiting) >= least:
        yield tuple(waiting)
