"""The manifests of a snapshot: a tree that opens in HTML, an indented table in text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paimonlab.analysis.manifests.manifest_nodes import (
    EntryNode,
    EntrySums,
    IndexFileNode,
    IndexNode,
    ManifestListNode,
    ManifestNode,
    ManifestTree,
    VectorNode,
)
from paimonlab.notebook.display.cells import Cell
from paimonlab.notebook.display.characters import escaped
from paimonlab.notebook.display.drawn import Answer, Drawn
from paimonlab.notebook.display.fitting import words
from paimonlab.notebook.display.grid import Align, Column, Grid, texts
from paimonlab.notebook.display.headlines import next_rows
from paimonlab.notebook.display.html import paragraph, short_id, unbroken
from paimonlab.notebook.display.numbers import bytes_text, count, many
from paimonlab.notebook.display.view import rows
from paimonlab.spec.visible_text import visible

_MOST_IN_TEXT = 100
"""Entries that the text shows."""
_COLUMNS = (
    Column("what"),
    Column("added", align=Align.RIGHT),
    Column("deleted", align=Align.RIGHT),
    Column("rows", align=Align.RIGHT),
    Column("bytes", align=Align.RIGHT),
    Column("where and what for"),
)
_MARKS = {"ADD": "+", "DELETE": "-"}


def draw(tree: ManifestTree, *, answer: Answer | None = None) -> Drawn[ManifestTree]:
    """Draw what a snapshot refers to."""
    if tree.snapshot_id is None:
        grid = Grid((), (), f"{tree.table} has no snapshot yet", next_rows(tree.table))
        return Drawn(tree, grid, rows(()), link=tree.table, answer=answer)
    entries = [
        entry
        for manifest_list in tree.lists
        for manifest in manifest_list.manifests
        for entry in manifest.entries
    ]
    grid = Grid(_COLUMNS, list(_text_rows(tree)), _caption(tree), _footer(tree), _headline(tree))
    return Drawn(
        tree,
        grid,
        rows(entries),
        static="".join(_html(tree)),
        link=tree.table,
        answer=answer,
    )


def _caption(tree: ManifestTree) -> str:
    kind = tree.commit_kind.lower()
    return f"{tree.table}: manifests of snapshot {tree.snapshot_id}, {kind}"


def _headline(tree: ManifestTree) -> str:
    shared = ""
    if tree.parent_id is not None:
        shared = f", {tree.shared_count:,} of them also in snapshot {tree.parent_id}"
    entries = "entry" if tree.entry_count == 1 else "entries"
    return f"{many(tree.manifest_count, 'manifest')} with {tree.entry_count:,} {entries}{shared}"


def _footer(tree: ManifestTree) -> str:
    lines = []
    if tree.shown_count < tree.entry_count:
        lines.append(
            f"{tree.shown_count:,} of {tree.entry_count:,} entries; "
            "show.manifests(entries=N) for more"
        )
    if len(tree.columns) < tree.column_count:
        lines.append(f"statistics of {len(tree.columns)} of {tree.column_count} columns")
    return "; ".join(lines)


def _text_rows(tree: ManifestTree) -> Iterator[Sequence[Cell]]:
    left = _MOST_IN_TEXT
    for manifest_list in tree.lists:
        yield _row(
            0,
            f"{manifest_list.role} {manifest_list.name}",
            manifest_list.added,
            manifest_list.deleted,
            _list_note(manifest_list),
        )
        for manifest in manifest_list.manifests:
            note = _manifest_note(manifest)
            yield _row(1, manifest.name, manifest.added, manifest.deleted, note)
            shown = manifest.entries[:left]
            left -= len(shown)
            for entry in shown:
                yield _entry_row(entry)
            hidden = _entry_count(manifest) - len(shown)
            if hidden:
                yield texts([_indented(2, f"… {hidden:,} more"), "", "", "", "", ""])
    if tree.index is not None:
        yield from _index_rows(tree.index)


def _row(depth: int, name: str, added: EntrySums, deleted: EntrySums, note: str) -> Sequence[Cell]:
    size = None if added.bytes is None else added.bytes - (deleted.bytes or 0)
    numbers = [count(added.files), count(deleted.files), f"{added.rows - deleted.rows:+,}"]
    return texts([_indented(depth, name), *numbers, bytes_text(size), note])


def _entry_row(entry: EntryNode) -> Sequence[Cell]:
    is_added = entry.change == "ADD"
    name = f"{_MARKS[entry.change]} {entry.file}"
    numbers = ["1" if is_added else "", "" if is_added else "1", count(entry.rows)]
    return texts([_indented(2, name), *numbers, bytes_text(entry.bytes), _entry_note(entry)])


def _index_rows(index: IndexNode) -> Iterator[Sequence[Cell]]:
    note = _index_note(index)
    yield texts([visible(f"index {index.name}"), index.file_count, "", "", "", note])
    for file in index.files:
        numbers = ["", "", count(file.rows), bytes_text(file.bytes)]
        yield texts([_indented(1, file.name), *numbers, _index_file_note(file)])
        for vector in file.vectors:
            numbers = ["", "", count(vector.deleted_rows), bytes_text(vector.bytes)]
            yield texts([_indented(2, vector.data_file), *numbers, "deleted rows"])
        if file.hidden_count:
            yield texts([_indented(2, f"… {file.hidden_count:,} more"), "", "", "", "", ""])


def _indented(depth: int, text: str) -> str:
    return "  " * depth + visible(text)


def _entry_count(manifest: ManifestNode) -> int:
    return manifest.added.files + manifest.deleted.files


def _list_note(manifest_list: ManifestListNode) -> str:
    hidden = f", {manifest_list.hidden_count:,} not shown" if manifest_list.hidden_count else ""
    number = len(manifest_list.manifests) + manifest_list.hidden_count
    return (
        f"{number:,} manifest{'' if number == 1 else 's'}{hidden}{_size_note(manifest_list.bytes)}"
    )


def _manifest_note(manifest: ManifestNode) -> str:
    parts = ["shared" if manifest.is_shared else "new", f"schema {manifest.schema_id}"]
    if manifest.min_partition:
        low, high = manifest.min_partition, manifest.max_partition or ""
        parts.append(f"partition{'s' * (low != high)} {range_text(low, high)}")
    return visible(", ".join(parts)) + _size_note(manifest.bytes)


def range_text(low: str, high: str) -> str:
    """Say between which partitions: the name of a single key is said once.

    Examples
    --------
    >>> range_text("dt=1", "dt=3"), range_text("dt=1", "dt=1"), range_text("a=1/b=2", "a=3/b=1")
    ('dt=1 to 3', 'dt=1', 'a=1/b=2 to a=3/b=1')
    """
    if low == high:
        return low
    name, _, value = high.partition("=")
    return f"{low} to {value if '/' not in low and low.startswith(f'{name}=') else high}"


def _size_note(size: int | None) -> str:
    return "" if size is None else f", {bytes_text(size)} itself"


def _entry_note(entry: EntryNode) -> str:
    place = f"{entry.partition} " if entry.partition else ""
    keys = "" if entry.min_key is None else f", keys {entry.min_key} to {entry.max_key}"
    return visible(f"{place}bucket {entry.bucket}, level {entry.level}{keys}")


def _index_note(index: IndexNode) -> str:
    shared = "shared" if index.is_shared else "new"
    deleted = f", {many(index.deleted_rows, 'row')} deleted" if index.deleted_rows else ""
    return f"{shared}, {files_text(index.file_count)}{deleted}"


def _index_file_note(file: IndexFileNode) -> str:
    place = f"{file.partition} " if file.partition else ""
    return visible(f"{file.type}, {place}bucket {file.bucket}")


def _html(tree: ManifestTree) -> Iterator[str]:
    yield f'<div style="padding:2px 8px"><b>{_safe(_caption(tree))}</b><br>{_safe(_headline(tree))}'
    for manifest_list in tree.lists:
        sums = _sums_note(manifest_list.added, manifest_list.deleted)
        note = f"{sums}, {_list_note(manifest_list)}"
        summary = f"{manifest_list.role} {manifest_list.name}: {note}"
        inner = "".join(
            _manifest_html(manifest, tree.columns) for manifest in manifest_list.manifests
        )
        yield _details(summary, inner, is_open=True)
    if tree.index is not None:
        inner = "".join(map(_index_html, tree.index.files))
        yield _details(f"index {tree.index.name}: {_index_note(tree.index)}", inner, is_open=True)
    yield "</div>"
    footer = _footer(tree)
    yield paragraph(footer) if footer else ""


def _manifest_html(manifest: ManifestNode, columns: Sequence[str]) -> str:
    note = f"{_sums_note(manifest.added, manifest.deleted)}, {_manifest_note(manifest)}"
    inner = "".join(_entry_html(entry, columns) for entry in manifest.entries)
    hidden = _entry_count(manifest) - len(manifest.entries)
    more = paragraph(f"… {hidden:,} more entries") if hidden else ""
    return _details(f"{manifest.name}: {note}", inner + more)


def _entry_html(entry: EntryNode, columns: Sequence[str]) -> str:
    name = f"{_MARKS[entry.change]} {entry.file}"
    size = bytes_text(entry.bytes)
    numbers = many(entry.rows, "row") + (f", {size}" if size else "")
    return _details(f"{name}: {numbers}, {_entry_note(entry)}", _stats_html(entry, columns))


def _stats_html(entry: EntryNode, columns: Sequence[str]) -> str:
    lines = [
        f"{name}: {_range(low, high)}{'' if nulls is None else f', {nulls:,} nulls'}"
        for name, low, high, nulls in zip(columns, entry.low, entry.high, entry.nulls, strict=True)
    ]
    return "".join(
        f'<div style="margin-left:1.5em"><small>{_safe(line)}</small></div>' for line in lines
    )


def _range(low: str | None, high: str | None) -> str:
    return "bounds unknown" if low is None or high is None else f"{low} to {high}"


def _index_html(file: IndexFileNode) -> str:
    inner = "".join(map(_vector_html, file.vectors))
    more = paragraph(f"… {file.hidden_count:,} more") if file.hidden_count else ""
    size = "" if file.bytes is None else f", {bytes_text(file.bytes)}"
    return _details(
        f"{file.name}: {_index_file_note(file)}, {many(file.rows, 'row')}{size}", inner + more
    )


def _vector_html(vector: VectorNode) -> str:
    deleted = "unknown" if vector.deleted_rows is None else f"{vector.deleted_rows:,}"
    line = f"{vector.data_file}: deleted rows {deleted}"
    return f'<div style="margin-left:1.5em">{_safe(line)}</div>'


def _sums_note(added: EntrySums, deleted: EntrySums) -> str:
    return f"+{_sum_note(added)}" + (f", -{_sum_note(deleted)}" if deleted.files else "")


def _sum_note(sums: EntrySums) -> str:
    size = "" if sums.bytes is None else f", {bytes_text(sums.bytes)}"
    return f"{files_text(sums.files)} ({many(sums.rows, 'row')}{size})"


def files_text(number: int) -> str:
    """Write how many files."""
    return f"{number:,} file" if number == 1 else f"{number:,} files"


def _details(summary: str, inner: str, *, is_open: bool = False) -> str:
    """Draw a line that opens; ids are short, the pointer shows all of them."""
    short = short_id(summary)
    title = f' title="{_safe(summary)}"' if short != summary else ""
    shown = unbroken(_safe(" ".join(words(short))))
    if not inner:
        return f'<div style="margin-left:1em"{title}>{shown}</div>'
    opened = " open" if is_open else ""
    return (
        f'<details{opened} style="margin-left:1em"><summary{title}>{shown}</summary>{inner}'
        "</details>"
    )


def _safe(text: str) -> str:
    return escaped(text)
