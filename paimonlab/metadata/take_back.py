"""Removing a published file that must not stay."""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable

from paimonlab.storage import FileIO

logger = logging.getLogger(__name__)


def take_back(
    file_io: FileIO,
    path: str,
    is_ours: Callable[[bytes], bool],
    *,
    may_go: Callable[[], bool] = lambda: True,
    aside: str | None = None,
) -> bool:
    """Delete a file if it is still ours, never one that others put in its place.

    Parameters
    ----------
    file_io, path
        The file.
    is_ours
        Tells from its bytes whether it is ours.
    may_go
        Tells, once it was moved aside, whether it may be deleted.
    aside
        Where it is moved to, a path that nobody else uses; None: beside it, under a hidden name.

    Returns
    -------
    bool
        False if it is gone, was replaced, or must stay.

    Notes
    -----
    No store deletes a file on condition of its bytes. So it is moved aside, which succeeds for only
    one process, looked at, and put back if it is not ours.
    """
    try:
        if not is_ours(file_io.read(path)):
            return False
        folder, _, name = path.rpartition("/")
        beside = f"{folder}/.{name}.{uuid.uuid4()}.tmp"
        aside = aside or beside
        file_io.rename(path, aside, durable=False)
    except FileNotFoundError:
        return False
    try:
        data = file_io.read(aside)
        is_to_go = is_ours(data) and may_go()
    except BaseException:
        # Takes no room and no descriptor; not where others made it anew.
        with contextlib.suppress(OSError):
            file_io.rename(aside, path, durable=False)
        raise
    if is_to_go:
        file_io.delete(aside)
        return True
    if file_io.publish(path, data):
        file_io.delete(aside)
    else:
        if aside != beside:  # it keeps nothing: it is not what the table has
            file_io.rename(aside, beside, durable=False)
        logger.error("%s: what was there is now %s, as others made it anew", path, beside)
    return False
