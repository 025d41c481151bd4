"""Who connects to which server of PostgreSQL; passwords are only referred to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from paimonlab.errors import SourceError
from paimonlab.ingest.sources.login_options import check_options
from paimonlab.secrets import hides_secrets

_OURS = {
    "host": "give it as host=",
    "port": "give it as port=",
    "dbname": "give it as dbname=",
    "user": "give it as user=",
    "options": "settings that decide how values are written are the source's",
    "client_encoding": "it is UTF8",
    "replication": "the source makes such connections itself",
}
_SECRETS = ("password", "sslpassword", "passfile")

_SETTINGS = {
    "datestyle": "ISO",
    "intervalstyle": "postgres",
    "extra_float_digits": "3",
    "timezone": "UTC",
    "bytea_output": "hex",
    "xmlbinary": "base64",
    "row_security": "off",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "wal_sender_timeout": "300000",
}
"""Of each session: values are written the same way by COPY and by pgoutput. Rows that a policy
would hide are an error. A commit may take longer than the minute that servers wait by default."""


@hides_secrets
@dataclass(frozen=True, kw_only=True)
class Login:
    """How a database is reached."""

    host: str
    port: int
    dbname: str
    user: str
    password_env: str | None = None
    """Environment variable with the password; None: from `password_file`, or none is needed."""
    password_file: str | None = None
    """Local file with the password in its first line."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of libpq: ``sslmode``, ``sslrootcert`` …"""

    def __post_init__(self) -> None:
        check_options(
            "PostgreSQL",
            self.options,
            ours=_OURS,
            secrets=_SECRETS,
            instead="name where the password is: password_env= or password_file=",
        )
        if self.password_env is not None and self.password_file is not None:
            raise ValueError("give password_env or password_file, not both")

    @property
    def place(self) -> str:
        """Host, port and database."""
        return f"{self.host}:{self.port}/{self.dbname}"

    def parameters(self, *, replication: bool) -> dict[str, str]:
        """Return what libpq is told.

        Parameters
        ----------
        replication
            Whether the connection speaks the replication protocol.

        Raises
        ------
        SourceError
            If the password is not where it should be.
        """
        told = {
            "connect_timeout": "8",
            "application_name": "paimonlab",
            "keepalives_idle": "30",
            "keepalives_interval": "10",
            "keepalives_count": "3",
            "tcp_user_timeout": "60000",
            **self.options,
            "host": self.host,
            "port": str(self.port),
            "dbname": self.dbname,
            "user": self.user,
            "client_encoding": "UTF8",
            "options": " ".join(f"-c {name}={value}" for name, value in _SETTINGS.items()),
        }
        if replication:
            told["replication"] = "database"
        if (password := self._password()) is not None:
            told["password"] = password
        return told

    def _password(self) -> str | None:
        name = f"postgres {self.place}"
        if self.password_env is not None:
            if self.password_env not in os.environ:
                raise SourceError(
                    name, f"{self.password_env} is not in the environment: PostgreSQL's password"
                )
            return os.environ[self.password_env]
        if self.password_file is None:
            return None
        try:
            return Path(self.password_file).read_text(encoding="utf-8").partition("\n")[0]
        except OSError as error:
            raise SourceError(name, f"its password cannot be read: {error}") from error
