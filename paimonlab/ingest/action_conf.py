"""Keys of ``--mysql_conf`` and its like, as actions are told them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from paimonlab.errors import UnsupportedError, close_matches

_REFERENCE = re.compile(r"\$\{(\w+)\}")


class Conf:
    """The keys of ``--mysql_conf`` and its like; what is not taken is refused."""

    def __init__(self, kind: str, values: Mapping[str, str]) -> None:
        self._kind = kind
        self._values = dict(values)

    def take(self, key: str) -> str | None:
        """Take a value; None: it was not given."""
        value = self._values.pop(key, None)
        return None if value is None else resolved(f"{self._kind}_conf {key}", value)

    def need(self, key: str) -> str:
        """Take a value that must be given."""
        value = self.take(key)
        if not value:
            raise ValueError(f"--{self._kind}_conf {key} is missing")
        return value

    def login(self, words: dict[str, Any]) -> None:
        """Take where the password is."""
        for key in ("password_env", "password_file"):
            if (value := self.take(key)) is not None:
                words[key] = value
        raw = self._values.pop("password", None)
        if raw is None:
            return
        match = _REFERENCE.fullmatch(raw)
        if match is None:
            raise UnsupportedError(
                f"--{self._kind}_conf password with the password itself",
                "give the key password_env, the name of an environment variable, or password_file",
            )
        words["password_env"] = match[1]

    def starting_with(self, prefix: str) -> dict[str, str]:
        """Take what begins with a prefix, without it."""
        keys = [key for key in self._values if key.startswith(prefix)]
        return {key.removeprefix(prefix): str(self.take(key)) for key in keys}

    def end(self, known: Sequence[str]) -> None:
        """Refuse what is left."""
        for key in self._values:
            close = close_matches(key, known)
            raise UnsupportedError(
                f"--{self._kind}_conf {key}", f"there are {', '.join(known)}.{close}"
            )


def resolved(where: str, value: str) -> str:
    """Put variables of the environment in the place of ``${NAME}``."""

    def variable(match: re.Match[str]) -> str:
        if match[1] not in os.environ:
            raise ValueError(f"--{where}: {match[0]} is not in the environment")
        return os.environ[match[1]]

    return _REFERENCE.sub(variable, value)
