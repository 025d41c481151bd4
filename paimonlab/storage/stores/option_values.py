"""Values of options of stores: whether, how many, and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OptionValues:
    """Options of one store, by their names without prefix."""

    values: Mapping[str, str]
    keys: Mapping[str, str]
    """As they were given."""

    def text(self, name: str) -> str | None:
        """Return a value; None if it is missing or empty."""
        return self.values.get(name) or None

    def boolean(self, name: str) -> bool | None:
        """Return whether; None if nothing is said.

        Raises
        ------
        ValueError
            If it is neither true nor false.
        """
        value = self.values.get(name)
        if value is not None and value.lower() not in ("true", "false"):
            raise ValueError(f"{self.keys[name]} = {value!r} is neither true nor false")
        return None if value is None else value.lower() == "true"

    def number(self, name: str, default: int) -> int:
        """Return a whole number.

        Raises
        ------
        ValueError
            If it is none.
        """
        value = self.values.get(name)
        if value is None:
            return default
        if not value.isdecimal():
            raise ValueError(f"{self.keys[name]} = {value!r} is not a whole number")
        return int(value)

    def address(self, name: str, *, has_ssl: bool | None = None) -> str | None:
        """Return the address of a host with its scheme; None if there is none.

        Raises
        ------
        ValueError
            If it is something else.
        """
        address = self.values.get(name, "").rstrip("/")
        if not address:
            return None
        if "://" not in address:
            address = f"{'http' if has_ssl is False else 'https'}://{address}"
        if not address.startswith(("http://", "https://")) or "@" in address:
            raise ValueError(f"{self.keys[name]} is not the address of a host")
        return address
