"""``FROM`` and joins: relations of a query, and how they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from sqlglot import exp

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.sql_text.reader import TokenReader
from paimonlab.spec.sql_text.table_functions import FUNCTIONS, REFUSED
from paimonlab.spec.sql_text.tokens import tokenize
from paimonlab.sql_engine import arithmetic, exploding, kinds, pivots
from paimonlab.sql_engine.expressions import Translator
from paimonlab.sql_engine.functions import json_fields
from paimonlab.sql_engine.protocols import Querying, Translated
from paimonlab.sql_engine.refusal import NotTranslatedError
from paimonlab.sql_engine.scope import Relation, Scope, SqlColumn
from paimonlab.sql_engine.tree import check_parts
from paimonlab.sql_engine.value import Value
from paimonlab.sql_engine.words import PARTS

_SIDES = {
    ("", ""): "INNER",
    ("", "INNER"): "INNER",
    ("LEFT", ""): "LEFT",
    ("LEFT", "OUTER"): "LEFT",
    ("RIGHT", ""): "RIGHT",
    ("RIGHT", "OUTER"): "RIGHT",
    ("FULL", ""): "FULL",
    ("FULL", "OUTER"): "FULL",
    ("", "CROSS"): "CROSS",
    ("LEFT", "SEMI"): "SEMI",
    ("", "SEMI"): "SEMI",
    ("LEFT", "ANTI"): "ANTI",
    ("", "ANTI"): "ANTI",
}


class From(Struct):
    """Translates the ``FROM`` of one query into a scope."""

    queries: Querying
    scope: Scope

    def text(self, node: exp.Select) -> str:
        """Translate it; empty if the query has none."""
        begin = node.args.get("from_")
        if begin is None:
            return ""
        check_parts(begin, "this")
        text, relation = self._relation(begin.this)
        self.scope.relations.append(relation)
        for join in [*(begin.this.args.get("joins") or ()), *(node.args.get("joins") or ())]:
            text = self._joined(text, join)
        for view in node.args.get("laterals") or ():
            text += self._lateral(view)
        return f" FROM {text}"

    def _lateral(self, node: exp.Lateral) -> str:
        call = node.this
        if not isinstance(call, exp.Anonymous):
            raise NotTranslatedError("such a LATERAL VIEW", "LATERAL")
        translator = Translator(
            self.scope, self.queries.given, self.queries.subquery, allows="none"
        )
        if str(call.this).lower() == json_fields.TUPLE:
            found = json_fields.tuple_values([translator.value(one) for one in call.expressions])
            text, relation = exploding.beside(node, found, self.queries.next_name())
            self.scope.relations.append(relation)
            return text
        if len(call.expressions) != 1:
            raise NotTranslatedError("such a LATERAL VIEW", "LATERAL")
        value = translator.value(call.expressions[0])
        text, relation = exploding.lateral(node, value, self.queries.next_name())
        self.scope.relations.append(relation)
        return text

    def _relation(self, node: exp.Expression) -> tuple[str, Relation]:
        node = _first_rows(node)
        alias = node.args.get("alias")
        pivoting = node.args.get("pivots")
        if pivoting and isinstance(node, exp.Subquery | exp.Table):
            return self._pivoted(node, pivoting)
        if isinstance(node, exp.Subquery):
            check_parts(node, "this", "alias", "joins", "order", "limit", "offset", "with_")
            if not isinstance(node.this, exp.Query | exp.Values):
                raise NotTranslatedError("tables in parentheses", "(")
            plain = node.copy()
            plain.set("alias", None)
            plain.set("joins", None)
            made = self.queries.query(plain, None)
            return self._of_query(made, alias, ())
        if isinstance(node, exp.Values):
            return self._of_query(self.queries.values(node), alias, ())
        if not isinstance(node, exp.Table):
            raise NotTranslatedError(f"FROM {node.key.upper()}", node.key)
        check_parts(node, "this", "db", "catalog", "alias", "version", "joins")
        if isinstance(node.this, exp.Anonymous) and str(node.this.this).lower() == "range":
            return self._of_query(self._range(node.this), alias, ())
        if isinstance(node.this, exp.Anonymous):
            return self._incremental(node.this, node)
        if not isinstance(node.this, exp.Identifier):
            raise NotTranslatedError("FROM a function", node.this.name)
        parts = tuple(part.name for part in node.parts)
        named = self.queries.named(parts[0]) if len(parts) == 1 else None
        if named is not None and node.args.get("version") is None:
            return self._of_query(named, alias, parts)
        names = (node.alias,) if node.alias else parts
        name = self.queries.next_name()
        relation = self.queries.tables.table(
            name, parts, names, node.args.get("version"), self.queries.given
        )
        return _read(relation, node)

    def _incremental(self, call: exp.Anonymous, node: exp.Table) -> tuple[str, Relation]:
        """Translate a function of a table and of points of its past."""
        name = str(call.this).lower()
        if name in REFUSED:
            raise UnsupportedError(f"{name}(…)", REFUSED[name])
        function = next((one for one in FUNCTIONS if one.name == name), None)
        if function is None or node.args.get("version") is not None:
            raise NotTranslatedError("FROM a function", name)
        function.check(len(call.expressions))
        translator = Translator(Scope(), self.queries.given, self.queries.subquery, allows="none")
        values = []
        for one in call.expressions:
            value = translator.value(one)
            if not value.is_literal or type(value.literal) not in (int, str):
                raise function.not_constant(one.sql("spark"))
            values.append(str(value.literal))
        table, *points = values
        relation = self.queries.tables.changes(
            self.queries.next_name(),
            TokenReader(tokenize(table), name).names("a table"),
            (node.alias,) if node.alias else (name,),
            function.options(points),
        )
        return _read(relation, node)

    def _pivoted(self, node: exp.Expression, given: Sequence[exp.Pivot]) -> tuple[str, Relation]:
        if len(given) != 1 or node.args.get("joins"):
            raise NotTranslatedError("several PIVOT", "PIVOT")
        source = node.copy()
        source.set("pivots", None)
        names = [name for name, _ in self.queries.query(exp.select("*").from_(source)).columns]
        whole: Any = pivots.rewritten(source, names, given[0])
        made = self.queries.query(whole, None)
        return self._of_query(made, given[0].args.get("alias"), ())

    def _range(self, call: exp.Anonymous) -> Translated:
        """Translate ``range(begin, end, step)``."""
        translator = Translator(Scope(), self.queries.given, self.queries.subquery, allows="none")
        values = [translator.value(one) for one in call.expressions]
        if not 1 <= len(values) <= 3 or not all(
            value.is_literal and type(value.literal) is int for value in values
        ):
            raise NotTranslatedError("range() of such numbers", "range")
        if len(values) == 3 and values[2].literal == 0:
            raise SchemaError("the step of range() is 0")
        listed = ", ".join(f"CAST({value.literal} AS BIGINT)" for value in values)
        return Translated(f"SELECT * FROM range({listed})", (("id", kinds.BIGINT),))

    def _beside(self, node: exp.Lateral) -> tuple[str, Relation]:
        """Translate a query that is asked for each row before it."""
        check_parts(node, "this", "alias")
        made = self.queries.query(node.this, self.scope)
        text, relation = self._of_query(made, node.args.get("alias"), ())
        return f"LATERAL {text}", relation

    def _of_query(
        self, made: Translated, alias: exp.Expression | None, names: tuple[str, ...]
    ) -> tuple[str, Relation]:
        listed = [] if alias is None else [one.name for one in alias.args.get("columns") or ()]
        if listed and len(listed) != len(made.columns):
            raise SchemaError(f"{len(listed)} names for {len(made.columns)} columns")
        if listed:
            types = (kind for _, kind in made.columns)
            made = type(made)(made.text, tuple(zip(listed, types, strict=True)))
        called = (alias.name,) if alias is not None and alias.name else names
        return self.queries.relation(made, called)

    def _joined(self, before: str, join: exp.Join) -> str:
        check_parts(join, "this", "on", "using", "side", "kind", "method")
        kind = _SIDES.get((str(join.side or ""), str(join.kind or "")))
        if kind is None:
            raise NotTranslatedError(f"{join.side} {join.kind} JOIN".strip(), "JOIN")
        if isinstance(join.this, exp.Lateral):
            if kind not in ("CROSS", "INNER") or any(map(join.args.get, ("on", "using", "method"))):
                raise NotTranslatedError(f"{kind} JOIN LATERAL", "LATERAL")
            text, relation = self._beside(join.this)
            self.scope.relations.append(relation)
            return f"{before} CROSS JOIN {text}"
        text, relation = self._relation(join.this)
        left = list(self.scope.relations)
        self.scope.relations.append(relation)
        using = _shared_names(join, left, relation, kind)
        on = join.args.get("on")
        if isinstance(on, exp.Boolean) and on.this and on.meta.get("line") is None:
            on = None  # a join without a condition
        if kind == "CROSS" and on is None and not using:
            return f"{before} CROSS JOIN {text}"
        if using:
            condition = self._using(left, relation, using, kind)
        elif on is None:
            if kind != "INNER":
                raise NotTranslatedError(f"{kind} JOIN without a condition", "JOIN")
            return f"{before} CROSS JOIN {text}"
        else:
            translator = Translator(
                self.scope, self.queries.given, self.queries.subquery, allows="none"
            )
            condition = translator.truth(on, "ON").text
            if kind in ("INNER", "LEFT", "SEMI"):
                hidden = left if kind == "LEFT" else ()
                self.queries.tables.push(on, self.scope, self.queries.given, hidden)
        relation.is_reachable = kind not in ("SEMI", "ANTI")
        word = "INNER" if kind == "CROSS" else kind
        return f"{before} {word} JOIN {text} ON {condition}"

    def _using(
        self, left: Sequence[Relation], right: Relation, names: Sequence[str], kind: str
    ) -> str:
        conditions = []
        shared_by_name: dict[str, Value] = {}
        for name in names:
            mine = Scope(list(left), merged=self.scope.merged).find((), name)
            other = Scope([right]).find((), name)
            if kind == "FULL" and mine.kind != other.kind:
                raise NotTranslatedError(f"USING {name} of different types", "USING")
            conditions.append(arithmetic.compare("=", mine, other).text)
            if kind in ("SEMI", "ANTI"):
                continue
            shared = other.kind if kind == "RIGHT" else mine.kind
            text = {"RIGHT": other.text, "FULL": f"coalesce({mine.text}, {other.text})"}.get(
                kind, mine.text
            )
            shown = other.name if kind == "RIGHT" else _own_name(left, name)
            shared_by_name[name.lower()] = Value(text, shared, shown)
            for relation in (*left, right):
                hidden = {
                    number
                    for number, column in enumerate(relation.columns)
                    if column.name.lower() == name.lower()
                }
                relation.hidden |= hidden
        # Of several joins the columns of the last one are the first that * has.
        self.scope.merged = shared_by_name | {
            name: value for name, value in self.scope.merged.items() if name not in shared_by_name
        }
        return " AND ".join(conditions)


def _shared_names(
    join: exp.Join, left: Sequence[Relation], right: Relation, kind: str
) -> list[str]:
    """Return the columns of ``USING``; of NATURAL JOIN those of both, in the order of the left."""
    method = str(join.args.get("method") or "")
    if not method:
        return [one.name for one in join.args.get("using") or ()]
    if method != "NATURAL" or kind in ("SEMI", "ANTI", "CROSS"):
        raise NotTranslatedError(f"{method} {kind} JOIN", method)
    if len(left) > 1:
        raise NotTranslatedError("NATURAL JOIN of more than two tables", method)
    others = {column.name.lower() for column in _seen(right)}
    names = [column.name for column in _seen(left[0]) if column.name.lower() in others]
    if not names:
        raise NotTranslatedError("NATURAL JOIN without columns of both", method)
    return names


def _seen(relation: Relation) -> list[SqlColumn]:
    hidden = relation.hidden
    return [column for number, column in enumerate(relation.columns) if number not in hidden]


def _own_name(relations: Sequence[Relation], name: str) -> str:
    for relation in relations:
        for column in relation.columns:
            if column.name.lower() == name.lower():
                return column.name
    return name


def _read(relation: Relation, node: exp.Table) -> tuple[str, Relation]:
    """Return what stands for a table that is read."""
    alias = node.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise NotTranslatedError("names for the columns of a table", node.alias)
    assert relation.reading is not None, "a table is read"
    return relation.reading.placeholder, relation


def _first_rows(node: exp.Expression) -> exp.Expression:
    """Write ``TABLESAMPLE (10 ROWS)`` as the LIMIT that it is in Spark.

    Raises
    ------
    NotTranslatedError
        If it draws rows at random: a part, buckets, with a seed.
    """
    sample = node.args.get("sample")
    if sample is None:
        return node
    if [part for part, value in sample.args.items() if value] != ["size"]:
        raise NotTranslatedError("TABLESAMPLE of random rows", hint=PARTS["TABLESAMPLE"])
    source = node.copy()
    for part in ("sample", "joins", "alias"):
        source.set(part, None)
    source.set("alias", exp.TableAlias(this=exp.to_identifier("sampled")))
    rows = exp.select("*").from_(source).limit(sample.args["size"])
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
    return exp.Subquery(this=rows, alias=alias, joins=node.args.get("joins"))
