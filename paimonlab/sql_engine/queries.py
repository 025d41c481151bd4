"""Queries to DuckDB's SQL: select lists, groups, orders, set operations, WITH."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace
from sqlglot import exp

from paimonlab.errors import ColumnNotFoundError, SchemaError
from paimonlab.sql_engine import kinds, time_windows, zeros
from paimonlab.sql_engine.conditions import where_members
from paimonlab.sql_engine.exploding import NAMES as EXPLODING
from paimonlab.sql_engine.exploding import listed
from paimonlab.sql_engine.expressions import Translator, ordering
from paimonlab.sql_engine.from_clause import From
from paimonlab.sql_engine.functions import json_fields
from paimonlab.sql_engine.given import Given
from paimonlab.sql_engine.grouping import (
    check_comparable,
    check_distinct,
    check_grouped,
    check_grouping_id,
    groups,
    has_totals,
)
from paimonlab.sql_engine.kinds import Kind, common, spark_type
from paimonlab.sql_engine.protocols import Translated
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn, used
from paimonlab.sql_engine.stars import is_star, starred
from paimonlab.sql_engine.tables import Sources
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value, cast
from paimonlab.sql_engine.words import STATEMENTS
from paimonlab.sql_engine.written_rows import written_rows

_TAIL = ("order", "limit", "offset", "with_")
_SET_WORDS = {exp.Union: "UNION", exp.Intersect: "INTERSECT", exp.Except: "EXCEPT"}
_SELECT = (
    *("expressions", "from_", "joins", "laterals", "where", "group", "having", "qualify"),
    *("distinct", "windows"),
)


class QueryTranslator(Struct):
    """Translates queries of one statement.

    Parameters
    ----------
    sources
        The tables, data frames and files that it may read.
    given
        Values of its parameters.
    """

    sources: Sources
    given: Given
    _with: list[Mapping[str, Translated]] = field(default_factory=list)
    _number: int = 0
    _names: dict[str, dict[str, None]] = field(default_factory=dict)

    @property
    def tables(self) -> Sources:
        """Everything that the statement may read."""
        return self.sources

    def query(
        self, node: exp.Expression, outer: Scope | None = None, *, most: int | None = None
    ) -> Translated:
        """Translate a query.

        Parameters
        ----------
        node
            Its tree.
        outer
            The names of the query that it is in.
        most
            How many rows are wanted at most; None: all.

        Raises
        ------
        NotTranslatedError
            If a part of it is not proven.
        """
        named = node.args.get("with_")
        if named is not None:
            self._with.append(self._named(named, outer))
        try:
            return self._body(node, outer, most)
        finally:
            if named is not None:
                self._with.pop()

    def _named(self, node: exp.Expression, outer: Scope | None) -> Mapping[str, Translated]:
        check_parts(node, "expressions")
        known: dict[str, Translated] = {}
        self._with.append(known)
        try:
            for cte in node.expressions:
                check_parts(cte, "this", "alias")
                made = self.query(cte.this, outer)
                known[cte.alias.lower()] = renamed(made, cte.args["alias"])
        finally:
            self._with.pop()
        return known

    def named(self, name: str) -> Translated | None:
        """Return the query that ``WITH`` calls so."""
        for level in reversed(self._with):
            if name.lower() in level:
                return level[name.lower()]
        return None

    def next_name(self) -> str:
        """Return a name for a relation."""
        self._number += 1
        return f"r{self._number}"

    def relation(self, made: Translated, names: tuple[str, ...]) -> tuple[str, Relation]:
        """Make a relation of a query."""
        alias = self.next_name()
        columns = tuple(
            SqlColumn(name, kind, f"{alias}.c{number}")
            for number, (name, kind) in enumerate(made.columns)
        )
        for number, (name, _) in enumerate(made.columns):
            self._names.setdefault(f"c{number}", {})[name] = None
        head = ", ".join(f"c{number}" for number in range(len(columns)))
        return f"({made.text}) AS {alias}({head})", Relation(names, columns)

    def shown(self) -> Mapping[str, str]:
        """Return the names of columns by those that they have in DuckDB's SQL, for messages."""
        names = {number: dict(known) for number, known in self._names.items()}
        for reading in self.sources.readings:
            for name, index in reading.indexes.items():
                names.setdefault(f"c{index}", {})[name] = None
        return {number: " or ".join(known) for number, known in names.items()}

    def _body(self, node: exp.Expression, outer: Scope | None, most: int | None) -> Translated:
        if isinstance(node, exp.Subquery):
            check_parts(node, "this", *_TAIL)
            inner = self.query(node.this, outer)
            return self._tail(node, inner, outer, most)
        if isinstance(node, exp.Select):
            return self._select(node, outer, most)
        if type(node) in _SET_WORDS:
            return self._tail(node, self._set(node, outer), outer, most)
        if isinstance(node, exp.Values):
            check_parts(node, "expressions", "alias", *_TAIL)
            return self._tail(node, self.values(node), outer, most)
        word = "TRUNCATE" if isinstance(node, exp.TruncateTable) else node.key.upper()
        raise NotTranslatedError(word, word, STATEMENTS.get(word, ""))

    def subquery(self, node: exp.Expression, scope: Scope) -> tuple[str, Sequence[Kind]]:
        """Translate a query within an expression."""
        made = self.query(node, scope)
        return made.text, [kind for _, kind in made.columns]

    def _translator(self, scope: Scope, allows: str = "all") -> Translator:
        return Translator(scope, self.given, self.subquery, allows=allows)

    # One SELECT.

    def _select(self, node: exp.Select, outer: Scope | None, most: int | None) -> Translated:
        check_parts(node, *_SELECT, *_TAIL)
        check_distinct(node)
        scope = Scope(outer=outer)
        begin = From(self, scope).text(node)
        begin, known = self._windowed(node, scope, begin)
        where = node.args.get("where")
        filtered = f" WHERE {known}" if known else ""
        if where is not None:
            self.sources.push(where.this, scope, self.given)
            rows = self._translator(scope, "none")
            rows.members = where_members(where.this)
            try:
                truth = rows.truth(where.this, "WHERE").text
                filtered = f" WHERE {truth} AND {known}" if known else f" WHERE {truth}"
            except ColumnNotFoundError as error:
                raise _where_hint(node, error) or error from None
        lists = self._translator(scope)
        lists.takes_stars = True
        lists.windows = {one.this.name.lower(): one for one in node.args.get("windows") or ()}
        chosen = self._chosen(node, lists)
        keys: list[Value] = []
        grouped = self._groups(node, scope, chosen, keys)
        having = node.args.get("having")
        check_grouping_id(node)
        some = "count(*) > 0" if has_totals(node) else ""
        if having is None and some:
            grouped += f" HAVING {some}"
        if having is not None:
            rest = self._translator(scope, "aggregates")
            rest.aliases = {value.name.lower(): value for value in chosen}
            condition = rest.truth(having.this, "HAVING")
            if not grouped and not lists.has_aggregates and not rest.has_aggregates:
                raise NotTranslatedError("HAVING without groups", "HAVING")
            grouped += f" HAVING {condition.text}{some and ' AND '}{some}"
        distinct = node.args.get("distinct")
        if distinct is not None:
            check_grouped(chosen, "DISTINCT")
        parts = list(node.expressions) if len(node.expressions) == len(chosen) else []
        outputs = [
            replace(value, text=zeros.of_group(value, part, keys))
            for value, part in itertools.zip_longest(chosen, parts)
        ]
        if distinct is not None:
            outputs = [
                replace(value, text=zeros.without_sign(value.text, value.kind))
                if zeros.has_sign(value.kind)
                else value
                for value in chosen
            ]
        texts = ", ".join(_output(value, number) for number, value in enumerate(outputs))
        which = "DISTINCT " if distinct is not None else ""
        text = f"SELECT {which}{texts}{begin}{filtered}{grouped}"
        text += self._qualified(node, scope, chosen)
        order = self._order(node, scope, chosen, is_distinct=distinct is not None)
        text += order + self._limits(node, most)
        return Translated(text, tuple((value.name, value.kind) for value in chosen))

    def _windowed(self, node: exp.Select, scope: Scope, begin: str) -> tuple[str, str]:
        """Add what ``window()`` of a query takes; return the relations, and a condition."""
        call = time_windows.call_of(node)
        if call is None:
            return begin, ""
        if not begin:
            raise NotTranslatedError("window() without FROM", time_windows.NAME)
        made = time_windows.added(self._translator(scope, "none"), call, self.next_name())
        scope.relations.append(made.relation)
        return begin + made.join, made.condition

    def _chosen(self, node: exp.Select, lists: Translator) -> list[Value]:
        chosen: list[Value] = []
        if not node.expressions:
            raise SchemaError("SELECT has no columns")
        for part in node.expressions:
            if is_star(part):
                chosen += starred(part, lists.scope)
                continue
            several = self._several(part, lists)
            if several:
                chosen += several
                continue
            exploded = self._exploded(node, part, lists)
            if exploded is not None:
                chosen.append(exploded)
                continue
            if isinstance(part, exp.Alias):
                check_parts(part, "this", "alias")
                value = lists.value(part.this)
                value = Value(value.text, value.kind, part.alias, value.literal, value.column)
                lists.aliases.setdefault(part.alias.lower(), value)
            else:
                value = lists.value(part)
                is_cast = isinstance(part, exp.Cast | exp.TryCast)
                is_field = isinstance(_innermost(part), exp.Column) and value.column is None
                if is_field and "." in value.name:
                    last = part.this if isinstance(part, exp.Column) else part.expression
                    value = replace(value, name=last.name)
                if is_cast and isinstance(part.this, exp.Column):
                    value = replace(value, name=part.this.name)  # so Spark calls it
            chosen.append(value)
        return chosen

    def _qualified(self, node: exp.Select, scope: Scope, chosen: Sequence[Value]) -> str:
        qualify = node.args.get("qualify")
        if qualify is None:
            return ""
        if node.args.get("group") is not None or node.args.get("distinct") is not None:
            raise NotTranslatedError("QUALIFY beside GROUP BY or DISTINCT", "QUALIFY")
        translator = self._translator(scope)
        translator.aliases = {one.name.lower(): one for one in chosen}
        translator.windows = {one.this.name.lower(): one for one in node.args.get("windows") or ()}
        return f" QUALIFY {translator.truth(qualify.this, 'QUALIFY').text}"

    def _several(self, part: exp.Expression, lists: Translator) -> list[Value]:
        """Translate ``json_tuple(…)``, which is several columns; empty if it is another one."""
        call = part.this if isinstance(part, exp.Alias | exp.Aliases) else part
        name = str(call.this).lower() if isinstance(call, exp.Anonymous) else ""
        if name != json_fields.TUPLE:
            return []
        found = json_fields.tuple_values([lists.value(one) for one in call.expressions])
        names = [value.name for value in found]
        if isinstance(part, exp.Aliases):
            names = [one.name for one in part.expressions]
        elif isinstance(part, exp.Alias):
            names = [part.alias]
        if len(names) != len(found):
            raise NotTranslatedError(f"{len(names)} names for what {name}() makes", name)
        return [replace(value, name=one) for value, one in zip(found, names, strict=True)]

    def _exploded(self, node: exp.Select, part: exp.Expression, lists: Translator) -> Value | None:
        """Translate ``explode(…)`` as a column; None if it is another one."""
        call = part.this if isinstance(part, exp.Alias) else part
        name = str(call.this).lower() if isinstance(call, exp.Anonymous) else ""
        if name not in EXPLODING or len(call.expressions) != 1:
            return None
        if any(node.args.get(one) for one in ("group", "having", "distinct", "qualify", "order")):
            raise NotTranslatedError(f"{name}() in such a SELECT", name)
        value = listed(name, lists.value(call.expressions[0]))
        return replace(value, name=part.alias) if isinstance(part, exp.Alias) else value

    def _groups(
        self, node: exp.Select, scope: Scope, chosen: Sequence[Value], keys: list[Value]
    ) -> str:
        """Translate GROUP BY; its keys are added to ``keys``."""

        def key(part: exp.Expression) -> Value:
            if isinstance(part, exp.Literal) and not part.is_string:
                keys.append(_at(part, chosen, "GROUP BY"))
            else:
                translator = self._translator(scope, "none")
                translator.aliases = {one.name.lower(): one for one in chosen}
                keys.append(translator.value(part))
            return keys[-1]

        group = node.args.get("group")
        if group is not None and group.args.get("all"):
            keys += chosen  # what is none of them has an aggregate
        return groups(node, key, chosen)

    def _order(
        self, node: exp.Expression, scope: Scope, chosen: Sequence[Value], *, is_distinct: bool
    ) -> str:
        order = node.args.get("order")
        if order is None:
            return ""
        check_parts(order, "expressions")
        terms = []
        first = order.expressions[0]
        if len(order.expressions) == 1 and isinstance(first.this, exp.Var):
            if first.this.name.upper() != "ALL":
                raise NotTranslatedError(f"ORDER BY {first.this.name}", "ORDER")
            check_parts(first, "this", "desc", "nulls_first")
            check_comparable(chosen, "ORDER BY")
            return " ORDER BY " + ", ".join(ordering(first, f"o{n}") for n in range(len(chosen)))
        for part in order.expressions:
            inner = part.this
            check_parts(part, "this", "desc", "nulls_first")
            if isinstance(inner, exp.Literal) and not inner.is_string:
                value, number = _at(inner, chosen, "ORDER BY"), int(inner.name) - 1
                terms.append(ordering(part, f"o{number}"))
                check_comparable([value], "ORDER BY")
                continue
            output = _named_output(inner, chosen)
            if output is not None:
                check_comparable([chosen[output]], "ORDER BY")
                terms.append(ordering(part, f"o{output}"))
                continue
            translator = self._translator(scope, "all")
            translator.aliases = {one.name.lower(): one for one in chosen}
            value = translator.value(inner)
            if value.is_literal:
                continue  # all rows have it
            check_comparable([value], "ORDER BY")
            same = next((n for n, one in enumerate(chosen) if one.text == value.text), None)
            if same is None and is_distinct:
                raise NotTranslatedError("ORDER BY what DISTINCT leaves out", "ORDER")
            terms.append(ordering(part, value.text if same is None else f"o{same}"))
        return f" ORDER BY {', '.join(terms)}" if terms else ""

    def _limits(self, node: exp.Expression, most: int | None) -> str:
        limit, offset = node.args.get("limit"), node.args.get("offset")
        if limit is not None and not isinstance(limit, exp.Limit):
            raise NotTranslatedError(limit.key.upper(), limit.key, "Write LIMIT 10")
        count = None if limit is None else self._count(limit.expression, "LIMIT")
        if most is not None:
            count = most if count is None else min(most, count)
        text = "" if count is None else f" LIMIT {count}"
        if offset is not None:
            text += f" OFFSET {self._count(offset.expression, 'OFFSET')}"
        return text

    def _count(self, node: exp.Expression, what: str) -> int:
        value = self._translator(Scope(), "none").value(node)
        if not value.is_literal or type(value.literal) is not int or value.literal < 0:
            raise NotTranslatedError(f"{what} that is not a number of rows", what)
        return value.literal

    # Several SELECTs.

    def _set(self, node: exp.Expression, outer: Scope | None) -> Translated:
        word = _SET_WORDS[type(node)]  # type: ignore[index]
        check_parts(node, "this", "expression", "distinct", *_TAIL)
        left, right = self.query(node.this, outer), self.query(node.expression, outer)
        if len(left.columns) != len(right.columns):
            counts = f"{len(left.columns)} columns on one side, {len(right.columns)}"
            raise SchemaError(f"{word}: {counts} on the other")
        columns = []
        for (name, mine), (_, other) in zip(left.columns, right.columns, strict=True):
            kind = common(mine, other)
            if kind is None or not kinds.is_comparable(kind):
                types = f"{spark_type(mine)} and {spark_type(other)}"
                raise NotTranslatedError(f"{word} of {types}", word)
            columns.append((name, kind))
        is_all = not node.args.get("distinct")
        is_grouped = word != "UNION" or not is_all
        sides = f" {word}{' ALL' if is_all else ''} ".join(
            self._as(side, columns, is_grouped=is_grouped) for side in (left, right)
        )
        return Translated(sides, tuple(columns))

    def _as(
        self, side: Translated, columns: Sequence[tuple[str, Kind]], *, is_grouped: bool
    ) -> str:
        text, relation = self.relation(side, ())
        parts = []
        for number, (column, (_, kind)) in enumerate(zip(relation.columns, columns, strict=True)):
            is_same = kind in (column.kind, kinds.VOID)
            sql = column.text
            if not is_same and column.kind is not None:
                sql = cast(Value(column.text, column.kind, column.name), kind).text
            if is_grouped and zeros.has_sign(kind):
                sql = zeros.without_sign(sql, kind)
            parts.append(f"{sql} AS o{number}")
        return f"(SELECT {', '.join(parts)} FROM {text})"

    def _tail(
        self, node: exp.Expression, made: Translated, outer: Scope | None, most: int | None
    ) -> Translated:
        """Order and limit what a set operation or a query in parentheses gives."""
        if not any(node.args.get(part) for part in ("order", "limit", "offset")) and most is None:
            return made
        text, relation = self.relation(made, ())
        scope = Scope([relation], outer)
        chosen = [used(relation, column) for column in relation.columns]
        outputs = ", ".join(_output(value, number) for number, value in enumerate(chosen))
        order = self._order(node, scope, chosen, is_distinct=False)
        whole = f"SELECT {outputs} FROM {text}{order}{self._limits(node, most)}"
        return Translated(whole, made.columns)

    def values(self, node: exp.Values) -> Translated:
        """Translate rows that are written in the statement."""
        translator = self._translator(Scope(), "none")
        return written_rows(node, translator.value)


def renamed(made: Translated, alias: exp.Expression | None) -> Translated:
    """Give the columns of a query the names that its alias lists."""
    names = [] if alias is None else [one.name for one in alias.args.get("columns") or ()]
    if not names:
        return made
    if len(names) != len(made.columns):
        raise SchemaError(f"{len(names)} names for {len(made.columns)} columns")
    columns = zip(names, (kind for _, kind in made.columns), strict=True)
    return Translated(made.text, tuple(columns))


def _where_hint(node: exp.Select, error: ColumnNotFoundError) -> ColumnNotFoundError | None:
    """Say that WHERE asked for a name that only SELECT gives, or for a text; None if not."""
    for part in node.expressions:
        if isinstance(part, exp.Alias) and part.alias.lower() == error.column.lower():
            hint = "WHERE does not know names that SELECT gives: repeat the expression"
            if part.find(exp.Window):
                hint = f"SELECT computes {part.alias} after WHERE: write QUALIFY instead of WHERE"
            return ColumnNotFoundError(error.column, error.table, error.known, hint)
    where = node.args.get("where")
    for column in [] if where is None else where.find_all(exp.Column):
        is_it = column.name == error.column and len(column.parts) == 1
        is_quoted = bool(column.this.args.get("quoted"))
        if is_it and not is_quoted and isinstance(column.parent, exp.EQ | exp.NEQ | exp.In):
            hint = f"If it is a text, write '{column.name}'"
            return ColumnNotFoundError(error.column, error.table, error.known, hint)
    return None


def _innermost(node: exp.Expression) -> exp.Expression:
    """Return what fields are taken of; itself if none are."""
    while isinstance(node, exp.Dot):
        node = node.this
    return node


def _output(value: Value, number: int) -> str:
    return f"{value.text} AS o{number}"


def _at(node: exp.Expression, chosen: Sequence[Value], what: str) -> Value:
    if not node.name.isdecimal() or not 1 <= int(node.name) <= len(chosen):
        raise SchemaError(f"{what} {node.name}: there are {len(chosen)} columns")
    return chosen[int(node.name) - 1]


def _named_output(node: exp.Expression, chosen: Sequence[Value]) -> int | None:
    if not isinstance(node, exp.Column) or len(node.parts) != 1:
        return None
    found = [
        number for number, value in enumerate(chosen) if value.name.lower() == node.name.lower()
    ]
    if len({chosen[number].text for number in found}) > 1:
        raise SchemaError(f"the column {node.name} is ambiguous")
    return found[0] if found else None
