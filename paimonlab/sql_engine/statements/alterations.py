"""ALTER TABLE: columns, options, comments and names of tables."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from paimonlab.errors import AlreadyExistsError
from paimonlab.spec.schema.schema_changes import (
    AddColumn,
    DropColumn,
    MoveColumn,
    RemoveOption,
    RenameColumn,
    SchemaChange,
    SetOption,
    UpdateColumnComment,
    UpdateColumnNullability,
    UpdateColumnType,
    UpdateComment,
)
from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.statements.columns import column_of, fixed_text, type_of
from paimonlab.sql_engine.statements.definitions import properties_of, table_name
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts
from paimonlab.table.table import Table

_COMMENT = "comment"


def alter(tree: exp.Alter, sources: Sources) -> None:
    """Run ALTER TABLE.

    Raises
    ------
    NotTranslatedError
        If a part of it is not proven to do what Spark does.
    """
    check_parts(tree, "this", "kind", "actions")
    if str(tree.args.get("kind")).upper() != "TABLE":
        raise NotTranslatedError(f"ALTER {tree.args.get('kind')}", "ALTER")
    name = table_name(tree.this, sources)
    actions = tree.args["actions"]
    if len(actions) == 1 and isinstance(actions[0], exp.AlterRename):
        sources.catalog.rename_table(name, table_name(actions[0].this, sources))
        return
    table = sources.catalog.table(name)
    changes = [change for action in actions for change in _changes(action, table)]
    sources.catalog.alter_table(name, *changes)


def alter_by_words(text: str, sources: Sources) -> None:
    """Run an ALTER TABLE that sqlglot does not read: UNSET TBLPROPERTIES, columns that move.

    Raises
    ------
    NotTranslatedError
        If it is another one.
    """
    reader = TokenReader(tokenize(text), "ALTER TABLE")
    reader.expect("ALTER", "TABLE")
    name = sources.name_of(reader.names("a table"))
    table = sources.catalog.table(name)
    if reader.take("UNSET", "TBLPROPERTIES"):
        missing_ok = reader.take("IF", "EXISTS")
        reader.expect("(")
        keys = [reader.text("an option")]
        while reader.take(","):
            keys.append(reader.text("an option"))
        reader.expect(")")
        reader.end()
        known = {*table.options, *([_COMMENT] if table.comment else [])}
        if not missing_ok and not known.issuperset(keys):
            raise NotTranslatedError("UNSET of properties that are not set", "UNSET")
        sources.catalog.alter_table(
            name, *(UpdateComment(None) if key == _COMMENT else RemoveOption(key) for key in keys)
        )
        return
    if not reader.take("ALTER", "COLUMN"):
        raise NotTranslatedError("this ALTER TABLE", "ALTER", _instead(reader, name))
    column = _known(reader.name("a column"), table)
    change: SchemaChange
    if reader.take("FIRST"):
        change = MoveColumn(column, first=True)
    elif reader.take("AFTER"):
        change = MoveColumn(column, after=_known(reader.name("a column"), table))
    else:
        raise NotTranslatedError("this ALTER COLUMN", "COLUMN")
    reader.end()
    sources.catalog.alter_table(name, change)


def comment_on(tree: exp.Comment, sources: Sources) -> None:
    """Run COMMENT ON TABLE."""
    check_parts(tree, "this", "kind", "expression")
    if str(tree.args.get("kind")).upper() != "TABLE":
        raise NotTranslatedError(f"COMMENT ON {tree.args.get('kind')}", "COMMENT")
    is_removed = isinstance(tree.expression, exp.Null)
    comment = None if is_removed else fixed_text(tree.expression)
    sources.catalog.alter_table(table_name(tree.this, sources), UpdateComment(comment))


def _changes(action: exp.Expression, table: Table) -> Iterator[SchemaChange]:
    match action:
        case exp.ColumnDef():
            yield _added(action, table)
        case exp.Schema():
            check_parts(action, "expressions")
            yield from (_added(one, table) for one in action.expressions)
        case exp.RenameColumn():
            check_parts(action, "this", "to")
            yield RenameColumn(_path(action.this, table), action.args["to"].name)
        case exp.Drop():
            check_parts(action, "kind", "tables")
            kind = str(action.args.get("kind") or "COLUMN").upper()
            if kind not in ("COLUMN", "COLUMNS"):
                raise NotTranslatedError(f"DROP {kind}", "DROP")
            for one in action.args["tables"]:
                for column in one.expressions if isinstance(one, exp.Schema) else [one]:
                    yield DropColumn(_path(column, table))
        case exp.AlterColumn():
            yield from _altered(action, table)
        case exp.AlterSet():
            yield from _options(action)
        case _:
            raise NotTranslatedError(f"ALTER TABLE … {action.sql('spark')}", "ALTER")


def _options(action: exp.AlterSet) -> Iterator[SchemaChange]:
    check_parts(action, "expressions")
    for properties in action.expressions:
        if not isinstance(properties, exp.Properties):
            raise NotTranslatedError(f"SET {properties.sql('spark')}", "SET")
        if any(one.this is None for one in properties.expressions):  # OPTIONS (…) of BigQuery
            raise NotTranslatedError("SET OPTIONS", "SET", "Write SET TBLPROPERTIES ('a' = 'b')")
        for key, value in properties_of(properties.expressions):
            yield UpdateComment(value) if key == _COMMENT else SetOption(key, value)


def _added(node: exp.Expression, table: Table) -> AddColumn:
    if not isinstance(node, exp.ColumnDef):
        raise NotTranslatedError(f"ADD COLUMN {node.sql('spark')}", "ADD")
    column, is_key = column_of(node, 0)
    if is_key:
        raise NotTranslatedError("ADD COLUMN … PRIMARY KEY", "ADD")
    if column.name.lower() in {name.lower() for name in table.schema.field_names}:
        raise AlreadyExistsError("column", f"{table.name}.{column.name}")
    place = node.args.get("position")
    first = place is not None and place.args.get("position") == "FIRST"
    after = None if place is None or first else _path(place.this, table)
    return AddColumn(column.name, column.type, comment=column.description, first=first, after=after)


def _altered(action: exp.AlterColumn, table: Table) -> Iterator[SchemaChange]:
    name = _path(action.this, table)
    if action.args.get("dtype") is not None:
        check_parts(action, "this", "dtype")
        yield UpdateColumnType(name, type_of(action.args["dtype"]))
    elif action.args.get("comment") is not None:
        check_parts(action, "this", "comment")
        yield UpdateColumnComment(name, fixed_text(action.args["comment"]))
    elif action.args.get("drop") and action.args.get("allow_null"):
        check_parts(action, "this", "drop", "allow_null")
        yield UpdateColumnNullability(name, nullable=True)
    else:
        raise NotTranslatedError(f"ALTER COLUMN {name} so", name)


def _path(node: exp.Expression, table: Table) -> str:
    """Return the name of a column, as the table has it."""
    parts = [part.name for part in node.parts] if isinstance(node, exp.Column) else [node.name]
    if any("." in part for part in parts):
        raise NotTranslatedError(f"the column {'.'.join(parts)} with a dot in its name", parts[-1])
    return ".".join([_known(parts[0], table), *parts[1:]])


def _known(name: str, table: Table) -> str:
    """Return the name of a column as the table writes it; Spark compares them without case."""
    same = [known for known in table.schema.field_names if known.lower() == name.lower()]
    return name if name in same or len(same) != 1 else same[0]


def _instead(reader: TokenReader, table: str) -> str:
    """Say which call does what an ALTER TABLE of tags or branches asks for."""
    for verb in ("CREATE", "DELETE"):
        for what in ("TAG", "BRANCH"):
            if reader.take(verb, what):
                name = "" if reader.is_at_end else reader.name("a name")
                call = f"{verb}_{what}".lower()
                return f"Write CALL sys.{call}(table => '{table}', {what.lower()} => '{name}')"
    return ""
