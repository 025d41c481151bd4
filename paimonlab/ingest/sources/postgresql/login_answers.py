"""Why a server refuses a login, as a code, whatever language it speaks.

libpq gives the SQLSTATE of a statement that failed, but only the words of a login that did. It can
write down what server and client tell each other, which is read here: into memory, as what is told
may have the password.

Source: PostgreSQL's documentation, "Protocol Flow, Start-up" and libpq's ``PQtrace``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn

_STATE = re.compile(rb'\tErrorResponse\t S "[^"]*"(?: V "[A-Z]*")? C "([0-9A-Z]{5})"')
_MOST_BYTES = 1 << 20


def state_of(connection: PGconn, made: Callable[[], object]) -> str | None:
    """Make a connection and return the SQLSTATE by which it is refused.

    Each call takes some kB that libpq does not give back, so connections that succeed are not made
    so.

    Parameters
    ----------
    connection
        That was begun, and is not made yet.
    made
        Waits until it is made, or refused.

    Returns
    -------
    str or None
        None: it was made, no server answered, or it is not known, as on other systems than Linux.
    """
    from psycopg import NotSupportedError, pq  # noqa: PLC0415 - an extra

    if not hasattr(os, "memfd_create"):
        return None
    file = os.memfd_create("paimonlab-login")
    try:
        connection.trace(file)
        try:
            connection.set_trace_flags(pq.Trace.SUPPRESS_TIMESTAMPS | pq.Trace.REGRESS_MODE)
            made()
        except NotSupportedError:  # before libpq 14
            return None
        finally:
            connection.untrace()  # which writes what it still has
        found = _STATE.findall(os.pread(file, _MOST_BYTES, 0))
    finally:
        os.close(file)
    return found[-1].decode() if found else None
