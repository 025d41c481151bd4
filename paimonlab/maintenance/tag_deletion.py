"""Deleting a tag, and the files that only it kept.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.TagManager.deleteTag``; where Java looks at
the neighbours of a tag, all tags, branches and changelogs are looked at here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial

from paimonlab.maintenance.deletion import delete_files
from paimonlab.maintenance.needed import needed
from paimonlab.maintenance.references import References
from paimonlab.maintenance.roots import kept_by_others
from paimonlab.maintenance.table_history import TableHistory
from paimonlab.maintenance.tag_success import success_file


@dataclass(frozen=True, slots=True, kw_only=True)
class TagDeletion:
    """What deleting a tag deletes."""

    tag: str
    snapshot_id: int
    files: References = field(default_factory=References, repr=False)
    """Files that nothing needs any more; none while the tag's snapshot exists."""

    @property
    def file_count(self) -> int:
        """How many files are deleted besides the tag."""
        return len(self.files.all)

    def __str__(self) -> str:
        """Say which tag goes, and with how many files."""
        return f"tag {self.tag} of snapshot {self.snapshot_id}, {self.file_count:,} files"


def delete_tag(
    name: str, history: TableHistory, *, dry_run: bool = False, after: Collection[str] = ()
) -> TagDeletion:
    """Delete a tag; if its snapshot has expired, the files that nothing else needs as well.

    Parameters
    ----------
    name, history
        The tag, and the branch that it is of.
    dry_run
        Delete nothing, only return what would be deleted.
    after
        For a dry run: tags that would be deleted before.

    Raises
    ------
    TagNotFoundError
        If there is no such tag.
    CorruptMetadataError
        If a manifest that tells what is needed cannot be read: the tag is deleted by then, its
        files are left to orphan file cleaning.
    """
    deletion = _deletion(name, history, dry_run=dry_run, after=after)
    if not dry_run:
        history.file_io.delete(success_file(name, history.layout))
    return deletion


def _deletion(
    name: str, history: TableHistory, *, dry_run: bool, after: Collection[str]
) -> TagDeletion:
    tag = history.tags.get(name)
    is_kept = history.snapshots.has(tag.id)
    candidates = References() if is_kept else history.reader.of_state(tag.to_snapshot())
    if not dry_run:
        history.show_tag(name, None)  # before its files may be deleted
        history.tags.delete(name)
    deletion = TagDeletion(tag=name, snapshot_id=tag.id)
    if is_kept:
        return deletion
    # What was created meanwhile counts, so that all is read once the tag is deleted.
    keeping = needed(
        partial(kept_by_others, history, but_tags={name, *after}),
        history.reader,
        history.file_io,
        data_names=candidates.data_names,
    )
    unneeded = candidates.without(keeping)
    if not dry_run:
        delete_files(unneeded, history.file_io, table=history.name)
        history.reader.manifests.forget(unneeded.manifests)
    return replace(deletion, files=unneeded)
