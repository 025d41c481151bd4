"""UPDATE and DELETE that no engine runs: which MERGE INTO does what they want."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paimonlab.spec.sql_text.joined_changes import changed_name, joined_change, name_refusal
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.tables import Sources
from paimonlab.table.table import Table


@contextmanager
def told_of_merges(text: str, sources: Sources) -> Iterator[None]:
    """Refuse with a MERGE INTO what is refused here and has no meaning in Spark's SQL either.

    Raises
    ------
    UnsupportedError
        For UPDATE with FROM, DELETE with USING, LIMIT in both, and for names of WITH as targets.
    """
    try:
        yield
    except NotTranslatedError as error:
        tokens = tokenize(text)
        if statement := changed_name(tokens):
            raise name_refusal(statement) from error
        change = joined_change(tokens, text)
        if change is None:
            raise
        table = sources.catalog.relation(sources.name_of(change.table))
        if not isinstance(table, Table):
            raise
        raise change.refusal(table.primary_keys) from error
