"""Functions in FROM that read what commits changed, and those of others that do not.

Source: apache/paimon@5dacde5 ``PaimonTableValuedFunctions``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from paimonlab.errors import UnsupportedError


class IncrementalFunction(Struct, frozen=True):
    """A function of a table and what chooses commits."""

    name: str
    option: str
    """The read option that means the same."""
    arguments: tuple[str, ...]
    """What comes after the table."""

    @property
    def usage(self) -> str:
        """How it is called."""
        return f"{self.name}('database.table', {', '.join(self.arguments)})"

    def options(self, points: Sequence[str]) -> dict[str, str]:
        """Return the read options that mean a call.

        Parameters
        ----------
        points
            The arguments after the table, as texts.
        """
        return {self.option: ",".join(points)}

    def check(self, count: int) -> None:
        """Check that a call has as many arguments as it takes.

        Raises
        ------
        UnsupportedError
            If there are more or fewer.
        """
        if count != 1 + len(self.arguments):
            raise UnsupportedError(
                f"{self.name} with {count} arguments", f"call it as {self.usage}"
            )

    def not_constant(self, argument: str) -> UnsupportedError:
        """Make the error of an argument that is not a constant."""
        return UnsupportedError(
            f"the argument {argument} of {self.name}", f"give constants: {self.usage}"
        )


FUNCTIONS = (
    IncrementalFunction("paimon_incremental_query", "incremental-between", ("start", "end")),
    IncrementalFunction(
        "paimon_incremental_between_timestamp", "incremental-between-timestamp", ("start", "end")
    ),
    IncrementalFunction("paimon_incremental_to_auto_tag", "incremental-to-auto-tag", ("tag",)),
)
"""All there are."""
_NO_INDEXES = "global indexes are not implemented"
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("vector_search", "full_text_search", "hybrid_search"), _NO_INDEXES),
        "table_changes": "paimon_incremental_query('db.t', 2, 5) has the rows of snapshots 3 to 5; "
        "of `t$audit_log` it has them with their kinds: +I, -U, +U, -D",
    }
)
"""Functions that Java Paimon's connector has as well, and one of Delta: what to say."""
