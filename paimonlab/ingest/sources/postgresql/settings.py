"""What a source of PostgreSQL reads, and how."""

from __future__ import annotations

from dataclasses import dataclass

from paimonlab.ingest.sources.postgresql.connections import Connection
from paimonlab.ingest.sources.postgresql.logins import Login
from paimonlab.ingest.sources.postgresql.publishing import Pattern
from paimonlab.ingest.sources.postgresql.types import Rules


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a source reads, and how."""

    login: Login
    slot: str
    publication: str
    pattern: Pattern
    rules: Rules
    start: str
    """``initial``: copies tables first; ``latest``: only what changes from now on."""

    @property
    def name(self) -> str:
        """Say what is read in one line."""
        return f"postgres {self.login.place} {self.pattern}"

    @property
    def drops_specials(self) -> bool:
        """Whether NaN and infinity become null."""
        return "special-to-null" in self.rules.type_mapping

    def connect(self, *, replication: bool = False) -> Connection:
        """Make a connection."""
        return Connection(self.login, self.name, replication=replication)
