"""A page of help."""

from __future__ import annotations

import msgspec


class HelpEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One thing to type, and what it does."""

    syntax: str
    meaning: str


class HelpPage(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A topic of ``%paimon_help``."""

    topic: str
    entries: tuple[HelpEntry, ...]
    other_topics: tuple[str, ...]
