"""What all errors have in common."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from paimonlab.secrets import without_secrets


def close_matches(name: str, known: Iterable[str]) -> str:
    """Say which known names look like ``name``: `` Did you mean 'a' or 'b'?``, or nothing."""
    candidates = {candidate.lower(): candidate for candidate in known}
    matches = difflib.get_close_matches(name.lower(), list(candidates), n=3, cutoff=0.6)
    if not matches:
        return ""
    return " Did you mean " + " or ".join(repr(candidates[match]) for match in matches) + "?"


class PaimonError(Exception):
    """Base of all errors that a caller may want to handle."""

    def __repr__(self) -> str:
        return without_secrets(super().__repr__())
