"""What catalogs that keep views and functions must do: inherit a class and give it a catalog.

The rules are those of Java Paimon's ``CatalogTestBase``.
"""

from __future__ import annotations

import pytest

import paimonlab as pl
from paimonlab.catalog.functions import FunctionCatalog
from paimonlab.catalog.views import ViewCatalog
from paimonlab.errors import (
    AlreadyExistsError,
    DatabaseNotFoundError,
    FunctionNotFoundError,
    SchemaError,
    UnsupportedError,
    ViewNotFoundError,
)
from paimonlab.spec.function import (
    AddDefinition,
    DropDefinition,
    FileDefinition,
    Function,
    FunctionResource,
    LambdaDefinition,
    SqlDefinition,
    UpdateDefinition,
)
from paimonlab.spec.schema.change_kinds import RemoveOption, SetOption, UpdateComment
from paimonlab.spec.schema.definition import Schema, new_table_schema
from paimonlab.spec.view import AddDialect, DropDialect, UpdateDialect, View

FIELDS = new_table_schema(
    Schema({"id": "BIGINT NOT NULL", "v": "ARRAY<STRING>"}), time_millis=0
).fields
VIEW = View(
    fields=FIELDS,
    query="SELECT 1 AS id, array('ü') AS v",
    dialects={"flink": "SELECT 1 AS id, ARRAY['ü'] AS v"},
    comment="it's one",
    options={"a": "1", "b": "2"},
)
OTHER = View(fields=FIELDS[:1], query="SELECT 2 AS id")


class ViewContract:
    """Tests of views; a subclass has a fixture ``catalog``, with a database ``db``."""

    view = VIEW
    """A view with all that the catalog keeps of one."""
    other = OTHER

    def test_a_view_is_read_as_it_was_created(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)
        assert kept.views("db") == []
        assert not kept.has_view("db.v")

        kept.create_view("db.v", self.view)
        kept.create_view("db.plain", self.other)

        assert kept.views("db") == ["plain", "v"]
        assert kept.has_view("db.v")
        assert kept.view("db.v") == self.view
        assert kept.view("db.plain") == self.other
        assert catalog.tables("db") == []

    def test_the_name_of_a_view_is_taken(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)
        kept.create_view("db.v", self.view)

        with pytest.raises(AlreadyExistsError, match=r"view db\.v already exists"):
            kept.create_view("db.v", self.other)
        kept.create_view("db.v", self.other, exist_ok=True)
        with pytest.raises(AlreadyExistsError):
            catalog.create_table("db.v", {"id": "INT"})

        assert kept.view("db.v") == self.view

    def test_the_name_of_a_table_is_taken(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)
        catalog.create_table("db.t", {"id": "INT"})
        kept.create_view("db.v", self.view)

        for ok in (False, True):
            with pytest.raises(AlreadyExistsError, match=r"table db\.t already exists"):
                kept.create_view("db.t", self.view, exist_ok=ok)
        with pytest.raises(AlreadyExistsError):
            kept.rename_view("db.v", "db.t")

    def test_views_are_replaced_renamed_and_dropped(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)
        catalog.create_database("other")
        kept.create_view("db.v", self.view)
        kept.create_view("db.w", self.other)

        kept.replace_view("db.v", self.other)
        with pytest.raises(AlreadyExistsError):
            kept.rename_view("db.v", "db.w")
        kept.rename_view("db.v", "other.x")
        kept.drop_view("db.w")
        kept.drop_view("db.w", missing_ok=True)

        assert (kept.views("db"), kept.views("other")) == ([], ["x"])
        assert kept.view("other.x") == self.other

    def test_what_is_missing_is_an_error(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)

        for name in ("db.v", "none.v"):
            with pytest.raises(ViewNotFoundError):
                kept.view(name)
        with pytest.raises(ViewNotFoundError):
            kept.replace_view("db.v", self.view)
        with pytest.raises(ViewNotFoundError):
            kept.rename_view("db.v", "db.w")
        with pytest.raises(ViewNotFoundError):
            kept.drop_view("db.v")
        with pytest.raises(ViewNotFoundError):
            kept.alter_view("db.v", SetOption("a", "1"))
        with pytest.raises(DatabaseNotFoundError):
            kept.create_view("none.v", self.view)
        with pytest.raises(DatabaseNotFoundError):
            kept.views("none")

    def test_a_view_is_altered_wholly_or_not_at_all(self, catalog: pl.Catalog) -> None:
        kept = views_of(catalog)
        kept.create_view("db.v", self.view)

        kept.alter_view(
            "db.v",
            SetOption("c", "3"),
            RemoveOption("a"),
            UpdateComment("new"),
        )
        if self.view.dialects:
            kept.alter_view(
                "db.v",
                AddDialect("spark", "SELECT 3"),
                UpdateDialect("spark", "SELECT 4"),
                DropDialect("flink"),
            )
        with pytest.raises(SchemaError, match="no dialect 'flink'"):
            kept.alter_view("db.v", SetOption("d", "4"), UpdateDialect("flink", "SELECT 5"))
        with pytest.raises(SchemaError, match="no dialect 'flink'"):
            kept.alter_view("db.v", DropDialect("flink"))
        if self.view.dialects:
            with pytest.raises(AlreadyExistsError, match="dialect spark"):
                kept.alter_view("db.v", AddDialect("spark", "SELECT 5"))
        else:
            with pytest.raises(UnsupportedError, match="the dialect 'spark'"):
                kept.alter_view("db.v", AddDialect("spark", "SELECT 5"))

        altered = kept.view("db.v")
        assert altered.options == {"b": "2", "c": "3"}
        assert altered.comment == "new"
        assert altered.dialects == ({"spark": "SELECT 4"} if self.view.dialects else {})
        assert (altered.fields, altered.query) == (self.view.fields, self.view.query)


def views_of(catalog: pl.Catalog) -> ViewCatalog:
    assert isinstance(catalog, ViewCatalog)
    return catalog


FUNCTION = Function(
    input_params=FIELDS,
    return_params=FIELDS[:1],
    is_deterministic=False,
    definitions={
        "spark": LambdaDefinition(definition="(Long id) -> { return id; }", language="JAVA"),
        "flink": FileDefinition(
            file_resources=(FunctionResource(resource_type="JAR", uri="/a.jar"),),
            language="JAVA",
            class_name="a.B",
            function_name="b",
        ),
    },
    comment="it's one",
    options={"a": "1"},
)


class FunctionContract:
    """Tests of functions; a subclass has a fixture ``catalog``, with a database ``db``."""

    def test_a_function_is_read_as_it_was_created(self, catalog: pl.Catalog) -> None:
        kept = functions_of(catalog)
        plain = Function(input_params=(), return_params=FIELDS[:1])
        assert kept.functions("db") == []
        assert not kept.has_function("db.f")

        kept.create_function("db.f", FUNCTION)
        kept.create_function("db.e", plain)
        catalog.create_table("db.f", {"id": "INT"})  # tables and functions have names of their own

        assert kept.functions("db") == ["e", "f"]
        assert kept.has_function("db.f")
        assert (kept.function("db.f"), kept.function("db.e")) == (FUNCTION, plain)

    def test_functions_are_created_once_replaced_and_dropped(self, catalog: pl.Catalog) -> None:
        kept = functions_of(catalog)
        other = Function(input_params=(), return_params=())
        kept.create_function("db.f", FUNCTION)

        with pytest.raises(AlreadyExistsError, match=r"function db\.f already exists"):
            kept.create_function("db.f", other)
        kept.create_function("db.f", other, exist_ok=True)
        assert kept.function("db.f") == FUNCTION
        kept.replace_function("db.f", other)
        assert kept.function("db.f") == other
        kept.drop_function("db.f")
        kept.drop_function("db.f", missing_ok=True)

        assert kept.functions("db") == []

    def test_a_missing_function_is_an_error(self, catalog: pl.Catalog) -> None:
        kept = functions_of(catalog)

        for name in ("db.f", "none.f"):
            with pytest.raises(FunctionNotFoundError):
                kept.function(name)
        with pytest.raises(FunctionNotFoundError):
            kept.replace_function("db.f", FUNCTION)
        with pytest.raises(FunctionNotFoundError):
            kept.drop_function("db.f")
        with pytest.raises(FunctionNotFoundError):
            kept.alter_function("db.f", SetOption("a", "1"))
        with pytest.raises(DatabaseNotFoundError):
            kept.create_function("none.f", FUNCTION)
        with pytest.raises(DatabaseNotFoundError):
            kept.functions("none")

    def test_a_function_is_altered_wholly_or_not_at_all(self, catalog: pl.Catalog) -> None:
        kept = functions_of(catalog)
        kept.create_function("db.f", FUNCTION)
        sql = SqlDefinition(definition="id + 1")

        kept.alter_function(
            "db.f",
            SetOption("c", "3"),
            RemoveOption("a"),
            UpdateComment(None),
            AddDefinition("trino", sql),
            UpdateDefinition("spark", sql),
            DropDefinition("flink"),
        )
        with pytest.raises(SchemaError, match="no definition for 'flink'"):
            kept.alter_function("db.f", SetOption("d", "4"), UpdateDefinition("flink", sql))
        with pytest.raises(SchemaError, match="no definition for 'flink'"):
            kept.alter_function("db.f", DropDefinition("flink"))
        with pytest.raises(AlreadyExistsError, match="definition for spark"):
            kept.alter_function("db.f", AddDefinition("spark", sql))

        altered = kept.function("db.f")
        assert (altered.options, altered.comment) == ({"c": "3"}, None)
        assert altered.definitions == {"spark": sql, "trino": sql}
        assert altered.input_params == FUNCTION.input_params


def functions_of(catalog: pl.Catalog) -> FunctionCatalog:
    assert isinstance(catalog, FunctionCatalog)
    return catalog
