"""What a completer offers."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Candidate(Struct, frozen=True):
    """Something that can be typed at the cursor."""

    text: str
    """Replaces the whole word."""
    about: str
    """A few words: what it is, its type, its value."""


def starting(word: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    """Keep what begins with the word, whatever its case; each text once."""
    by_text = {
        candidate.text: candidate
        for candidate in candidates
        if candidate.text.lower().startswith(word.lower())
    }
    return list(by_text.values())
