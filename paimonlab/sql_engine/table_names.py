"""Whether a query names a table of a catalog, or only files and data frames."""

from __future__ import annotations

from sqlglot import exp

from paimonlab.errors import PaimonError
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine.explaining import explained_query
from paimonlab.sql_engine.tables import Known, is_file
from paimonlab.sql_engine.tree import parse


def needs_catalog(text: str, frames: Known) -> bool:
    """Tell whether a statement takes a catalog: one that is no query, or names a table.

    Parameters
    ----------
    text
        In Spark's dialect. If it cannot be read it takes none if it names a file: running it
        says what is wrong with it.
    frames
        Finds data frames by name.

    Examples
    --------
    >>> [needs_catalog(f"SELECT * FROM {name}", lambda _: None) for name in ("'a.csv'", "db.t")]
    [False, True]
    """
    try:
        tree = parse(explained_query(text) or text)
    except PaimonError:
        return not any(is_file(token.text[1:-1]) for token in tokenize(text))
    if not isinstance(tree, exp.Query):
        return True
    named = {one.alias.lower() for one in tree.find_all(exp.CTE)}
    return any(_is_of_catalog(table, named, frames) for table in tree.find_all(exp.Table))


def _is_of_catalog(table: exp.Table, named: set[str], frames: Known) -> bool:
    if isinstance(table.this, exp.Anonymous):
        return str(table.this.this).lower() != "range"
    parts = [part.name for part in table.parts]
    if len(parts) == 1:
        (name,) = parts
        return not (name.lower() in named or is_file(name) or frames(name) is not None)
    return not (len(parts) == 2 and parts[0].lower() == "parquet" and "/" in parts[1])
