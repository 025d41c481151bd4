"""What one branch gives up and takes over to go on with what another one has.

Source: apache/paimon@1.3.1 ``org.apache.paimon.utils.FileSystemBranchManager``. That older
snapshots are deleted where the other branch does not go on from them is ours.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct


class Forward(Struct, frozen=True, kw_only=True):
    """What a branch gives up and takes over, in this order."""

    tags_to_delete: tuple[str, ...]
    snapshots_to_delete: tuple[int, ...]
    """Newest first; the one that the other branch begins with is replaced."""
    schemas_to_delete: tuple[int, ...]
    schemas_to_copy: tuple[int, ...]
    snapshots_to_copy: tuple[int, ...]
    """Oldest first, at least one."""
    tags_to_copy: tuple[str, ...]
    snapshots_to_drop: tuple[int, ...]
    """Oldest first: what the other branch does not go on from."""
    earliest: int | None
    """The new oldest snapshot; None: it stays."""


def plan_forward(
    *,
    ours: Sequence[int],
    theirs: Sequence[int],
    goes_on: bool,
    first_schema: int,
    our_schemas: Sequence[int],
    their_schemas: Sequence[int],
    our_tags: dict[str, int],
    their_tags: Sequence[str],
) -> Forward:
    """Decide what a branch gives up and takes over in a fast-forward.

    Parameters
    ----------
    ours, theirs
        Ids of the snapshots, ascending; the other branch has at least one.
    goes_on
        Whether what the other branch begins with goes on from the snapshot of this one before it.
    first_schema
        Schema of the other's first snapshot.
    our_schemas, their_schemas
        Ids.
    our_tags
        Snapshot ids by tag.
    their_tags
        Names.
    """
    first = theirs[0]
    older = tuple(id for id in ours if id < first)
    is_kept = goes_on and first - 1 in older
    return Forward(
        tags_to_delete=tuple(name for name, id in our_tags.items() if id >= first),
        snapshots_to_delete=tuple(id for id in reversed(ours) if id > first),
        schemas_to_delete=tuple(
            id for id in our_schemas if id >= first_schema and id not in their_schemas
        ),
        schemas_to_copy=tuple(id for id in their_schemas if id >= first_schema),
        snapshots_to_copy=tuple(theirs),
        tags_to_copy=tuple(their_tags),
        snapshots_to_drop=() if is_kept else older,
        earliest=None if is_kept else first,
    )
