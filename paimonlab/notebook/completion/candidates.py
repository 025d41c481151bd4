"""What a completer offers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that could stand at the cursor."""

    text: str
    """Takes the place of the whole word."""
    about: str
    """A few words: what it is, its type, its value."""


def starting(word: str, found: Iterable[Candidate]) -> list[Candidate]:
    """Keep what begins with the word, whatever its case; each text once."""
    kept = {one.text: one for one in found if one.text.lower().startswith(word.lower())}
    return list(kept.values())
