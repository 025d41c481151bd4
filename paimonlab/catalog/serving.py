"""Serving a catalog by Paimon's REST protocol."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimonlab.catalog.served import StoreRole
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.secrets import is_secret
from paimonlab.storage.schemes import STORE_PREFIXES

if TYPE_CHECKING:
    from paimonlab.catalog.rest_server.authorising import User
    from paimonlab.catalog.rest_server.serving import Server


class UsersError(PaimonError):
    """A file of users cannot be read; names the file and what is wrong in it."""


def serve(
    catalog: Any,
    *,
    port: int = 0,
    host: str = "127.0.0.1",
    token: str | None = None,
    users: str | Sequence[Any] | None = None,
    name: str | None = None,
    read_only: bool = False,
    audit_log: str | None = None,
    certificate: tuple[str, str] | None = None,
    role: StoreRole | None = None,
) -> Server:
    """Begin to serve a catalog; see `paimonlab.Catalog.serve`."""
    try:
        from paimonlab.catalog.rest_server import authorising, serving  # noqa: PLC0415 - Tornado
    except ModuleNotFoundError as error:
        if error.name != "tornado":
            raise
        raise UnsupportedError(
            "serving a catalog without tornado", "pip install 'paimonlab[serve]'"
        ) from None
    known: list[User]
    if users is None:
        known = [authorising.User(name="user", token=token or serving.new_token())]
    elif token is not None:
        raise ValueError("give a token, or users who have their own, not both")
    elif isinstance(users, str):
        known = users_in(users)
    else:
        known = [*users]
    options = serving.ServeOptions(
        host=host,
        port=port,
        warehouse=name or catalog.path.rstrip("/").rpartition("/")[2] or "paimon",
        is_read_only=read_only,
        audit_log=audit_log,
        certificate=certificate,
        defaults=_told(catalog.options),
        role=role,
    )
    return serving.Server(catalog, known, options).start()


def users_in(path: str) -> list[User]:
    """Read users from a file of TOML.

    Raises
    ------
    UsersError
        If the file cannot be read, or does not say who somebody is.
    """
    from paimonlab.catalog.rest_server.authorising import users_from  # noqa: PLC0415 - Tornado

    try:
        return users_from(tomllib.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError) as error:
        raise UsersError(f"{path} cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:  # its text would show a line, and with it a secret
        raise UsersError(f"{path} is not TOML: {str(error).rpartition('(')[2].rstrip(')')}") from (
            None
        )
    except (TypeError, ValueError) as error:
        raise UsersError(f"{path}: {error}") from None


def _told(options: Mapping[str, str]) -> dict[str, str]:
    """Return how clients reach the store: what is no secret."""
    return {
        key: value
        for key, value in options.items()
        if key.startswith(STORE_PREFIXES) and not is_secret(key)
    }
