"""Errors of systems that changes are read from."""

from __future__ import annotations

from paimonlab.errors.base import PaimonError
from paimonlab.secrets import without_secrets


class SourceError(PaimonError):
    """A system that changes are read from fails, refuses, or lost what was not read yet.

    Parameters
    ----------
    source
        Its name: ``kafka 127.0.0.1:9092 orders``.
    problem
        What is wrong, and what to do. Secrets in both are hidden.
    """

    def __init__(self, source: str, problem: str) -> None:
        self.source = without_secrets(source)
        self.problem = without_secrets(problem)
        super().__init__(self.source, self.problem)

    def __str__(self) -> str:
        return f"{self.source}: {self.problem}"
