"""What happened, in a line: said before the details, as the interactive forms say it.

Those say how long ago a commit was; a form that is kept says when.
"""

from __future__ import annotations

import re

from paimonlab.notebook.display.numbers import bytes_text, many, time_text
from paimonlab.spec.visible_text import visible

_ID = re.compile("[0-9a-f]{8}-[0-9a-f]{4}-")
_LONGEST_USER = 40


def commit_text(
    kind: str,
    *,
    written: int | None,
    deleted: int | None,
    files: int | None,
    merged: int | None = None,
    user: str,
) -> str:
    """Say what a commit did.

    Parameters
    ----------
    kind
        ``APPEND`` is not said.
    written, deleted
        Rows; None or 0 is not said.
    files
        Data files that it added.
    merged
        Those that a compaction read, None if it is none.
    user
        Of an id eight letters are said.

    Examples
    --------
    >>> commit_text("APPEND", written=16, deleted=0, files=6, user="spark")
    '+16 rows, 6 files, by spark'
    >>> commit_text("COMPACT", written=0, deleted=0, files=1, merged=5, user="spark")
    'compact, 5 files into 1, by spark'
    """
    changed = [number for number in (written, -(deleted or 0)) if number]
    what = [] if kind == "APPEND" else [kind.lower()]
    if changed:
        noun = "row" if abs(changed[0]) == 1 else "rows"
        what.append(f"{' '.join(f'{number:+,}' for number in changed)} {noun}")
    if merged is not None:
        what.append(f"{many(merged, 'file')} into {files or 0:,}")
    elif files:
        what.append(many(files, "file"))
    return ", ".join([*(what or ["nothing"]), f"by {short_user(user)}"])


def short_user(user: str) -> str:
    """Say who made a commit in few letters.

    Examples
    --------
    >>> short_user("spark"), short_user("86dcb7dd-1f2e-4a6b-9f6e-0c1d2e3f4a5b")
    ('spark', '86dcb7dd')
    """
    return visible(user[:8] if _ID.match(user) else user[:_LONGEST_USER])


def when(millis: int | None) -> str:
    """Say when it was, after a comma; nothing where times are hidden."""
    return "" if millis is None else f", {time_text(millis)} UTC"


def next_rows(table: str) -> str:
    """Say what to do where a table has no rows.

    Examples
    --------
    >>> next_rows("db.t")
    'Rows are added by INSERT INTO db.t VALUES …'
    """
    return "Rows are added by INSERT INTO " + visible(table) + " VALUES …"  # noqa: S608 - is shown


def files_text(files: int, size: int | None, buckets: int) -> str:
    """Say how many files there are, where, and how large they are.

    Examples
    --------
    >>> files_text(2, 3000, 1)
    '2 files in 1 bucket, 3.0 kB, on average 1.5 kB a file'
    """
    known = "" if size is None else f", {bytes_text(size)}"
    average = "" if size is None else f", on average {bytes_text(round(size / files))} a file"
    return f"{many(files, 'file')} in {many(buckets, 'bucket')}{known}{average}"
