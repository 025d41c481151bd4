"""Options of the libraries that talk to servers: what is set here, and what is a secret."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from paimonlab.errors import UnsupportedError


def check_options(
    system: str,
    options: Collection[str],
    *,
    ours: Mapping[str, str],
    secrets: Collection[str],
    instead: str,
) -> None:
    """Refuse options that a source sets itself, and secrets in the text of a program.

    Parameters
    ----------
    system
        How messages call the server.
    options
        Names of those that were given.
    ours
        Names of those that are set here, and what to do.
    secrets
        Names of those whose values are secrets.
    instead
        What to do about secrets.

    Raises
    ------
    UnsupportedError
        Names the option.
    """
    for name in options:
        if name in ours:
            raise UnsupportedError(f"option {name!r} of {system}", ours[name])
        if name in secrets:
            raise UnsupportedError(f"option {name!r} of {system} in the text of a program", instead)
