"""Saying on one line what cannot be done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from paimonlab.errors import DatabaseNotFoundError, PaimonError


class RefusedError(click.ClickException):
    """What was asked for cannot be done: said on one line, without how the command is used."""

    exit_code = 2


@contextmanager
def refused() -> Iterator[None]:
    """Turn what is wrong with arguments into an error that click shows, exit code 2."""
    try:
        yield
    except (PaimonError, ValueError, TypeError) as error:
        raise RefusedError(told(error)) from error


def told(error: Exception) -> str:
    """Say what is wrong; where the next step is a method of Python, say the command."""
    said = str(error)
    if isinstance(error, DatabaseNotFoundError) and not error.known:
        return said.replace("create_database", f"'paimonlab create {error.database}'", 1)
    return said
