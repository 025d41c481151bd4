"""What a call did, as a line of text: the result of most procedures of Paimon is only ``true``."""

from __future__ import annotations

from collections.abc import Sequence

_MOST = 3
"""Of what a call did, this many parts are told."""


def told(noted: Sequence[object]) -> str:
    """Say in a line what a call did, deleted or rewrote.

    Parameters
    ----------
    noted
        What `Procedure.call` adds to its argument of that name.

    Returns
    -------
    str
        The first lines of the first three; "" if there is nothing to say.

    Examples
    --------
    >>> told(["db.t: compacted 1 bucket", "db.u: nothing to compact"])
    'db.t: compacted 1 bucket; db.u: nothing to compact'
    """
    say_it = [one for one in noted if type(one).__str__ is not object.__str__]
    first_lines = [str(one).partition("\n")[0] for one in say_it]
    more = f"; {len(first_lines) - _MOST:,} more" if len(first_lines) > _MOST else ""
    return "; ".join(first_lines[:_MOST]) + more
