"""Lost connections to MySQL: which errors another one mends."""

from __future__ import annotations

from paimonlab.ingest.sources.mysql.connection import GONE, ServerError
from paimonlab.ingest.sources.silence import ConnectionEndedError

_LOST = (2006, 2013, 2003, 1053, 1927, 1158, 1159, 1160, 1161, 1152, 1317)
"""Codes of errors after which another connection may be had."""


def is_loss(error: Exception) -> bool:
    """Say whether another connection may mend an error."""
    if isinstance(error, ServerError):
        return error.code in _LOST
    return isinstance(error, (*GONE, ConnectionEndedError))
