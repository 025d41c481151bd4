"""First words of statements, which tell what a statement does before it is parsed."""

from __future__ import annotations

WRITING = frozenset(
    {
        *("INSERT", "DELETE", "UPDATE", "MERGE"),
        *("CREATE", "DROP", "ALTER", "TRUNCATE", "COMMENT"),
    }
)
"""First words of statements that write. Queries do without the modules that write."""
COPYING = "COPY"
"""First word of ``COPY INTO``, which writes and has an answer."""
