"""Cells that are Jinja templates: values become parameters, and never a piece of the SQL.

``{{ day }}`` is a parameter, as ``:day`` is; ``{{ table|ident }}`` an identifier in back-quotes;
``{{ text|raw }}`` the only way for text to become SQL. Where each of them is, is checked in
the SQL that comes out: inside of a string or a comment it would be part of that.
"""

from __future__ import annotations

import datetime as dt
import itertools
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.notebook.cell.parameters import parameters
from paimonlab.notebook.cell.query_error import QueryError
from paimonlab.notebook.cell.statements import Statement, split
from paimonlab.notebook.cell.template_bounds import (
    OPERATORS,
    Rounds,
    bounded_filter,
    check_method,
    check_operator,
    joined,
)
from paimonlab.spec.sql_text.tokens import Span, TokenKind, tokenize

if TYPE_CHECKING:
    from jinja2 import Environment, nodes

MOST_VALUES = 10_000
"""Values that one cell may bind."""

_OUTPUT = "paimonlab_output"
_JOINED = "paimonlab_joined"
_COUNTED = "paimonlab_counted"
_PLAIN = (str, bytes, int, float, bool, list, tuple, dict, set, dt.date, dt.time, Decimal)
_PIECES = (
    *("Macro", "CallBlock", "FilterBlock", "AssignBlock", "Block"),
    *("Include", "Import", "FromImport", "Extends"),
)
"""What makes pieces of SQL as text, which could not be distinguished from values."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What came out of a template."""

    text: str
    """SQL with ``:name`` parameters."""
    values: Mapping[str, Any]
    """Of the parameters that the template made."""


@dataclass(frozen=True, slots=True)
class _Raw:
    """Text that becomes SQL."""

    text: str

    def __str__(self) -> str:
        raise TypeError("|raw cannot be part of another expression: {{ text|raw }}")


@dataclass(frozen=True, slots=True)
class _Identifier:
    """A name that becomes an identifier."""

    parts: tuple[str, ...]

    def __str__(self) -> str:
        raise TypeError("|ident cannot be part of another expression: {{ name|ident }}")

    @property
    def quoted(self) -> str:
        return ".".join("`" + part.replace("`", "``") + "`" for part in self.parts)


class _MissingError(Exception):
    """A name that the template uses and that is not set."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(message)


def compiled(text: str, namespace: Mapping[str, Any]) -> Compiled:
    """Turn a template into SQL and parameters.

    Parameters
    ----------
    text
        The template.
    namespace
        The variables; modules and names that begin with ``_`` are not seen.

    Raises
    ------
    QueryError
        If the template is wrong, uses a name that is not set, or puts a value where no
        parameter can be.
    UnsupportedError
        If Jinja is not installed.
    """
    maker = _Maker(text)
    try:
        import jinja2  # noqa: PLC0415 - optional
    except ImportError as error:
        raise UnsupportedError("a template", "pip install jinja2") from error
    environment = maker.environment()
    variables = {
        name: value
        for name, value in namespace.items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    try:
        template = environment.parse(text)
        maker.check(template)
        sql = environment.from_string(maker.with_outputs(template)).render(variables)
    except jinja2.TemplateSyntaxError as error:
        raise maker.error(f"The template is wrong: {error.message}.", error.lineno) from error
    except _MissingError as error:
        raise maker.missing(error, variables) from error
    except QueryError:
        raise
    except Exception as error:
        raise maker.error(f"The template failed: {error}.", None) from error
    return maker.finished(sql)


class _Maker:
    """Turns one template into SQL; keeps what its outputs stand for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._numbers = itertools.count(1)
        self._values: dict[str, Any] = {}
        self._identifiers: dict[str, _Identifier] = {}
        self._environment: Environment | None = None
        self._rounds = Rounds()

    def environment(self) -> Environment:  # noqa: C901 - its classes need Jinja
        """Make the environment: the template can reach nothing of ours or of Python's."""
        from jinja2 import StrictUndefined, pass_context  # noqa: PLC0415 - optional
        from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: PLC0415

        class Missing(StrictUndefined):
            """Says which name was missing."""

            __slots__ = ()

            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                name = str(self._undefined_name)
                self._undefined_exception = lambda message: _MissingError(name, message)  # type: ignore[assignment]

        class Sandbox(ImmutableSandboxedEnvironment):
            """Calls methods of plain values and what Jinja itself has, nothing else."""

            intercepted_binops = OPERATORS

            def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
                check_operator(operator, left, right)
                return super().call_binop(context, operator, left, right)

            def call(self, context: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
                owner, name = getattr(obj, "__self__", None), getattr(obj, "__name__", "")
                if type(owner) in _PLAIN:
                    check_method(owner, name, args, kwargs)
                return super().call(context, obj, *args, **kwargs)

            def is_safe_callable(self, obj: Any) -> bool:
                owner = getattr(obj, "__self__", None)
                is_own = any(obj is allowed for allowed in self.globals.values())
                is_plain = type(owner) in _PLAIN or isinstance(owner, dt.date)
                is_loop = "jinja2.runtime" in {type(obj).__module__, type(owner).__module__}
                return (is_own or is_plain or is_loop) and super().is_safe_callable(obj)

        @pass_context
        def output(_context: Any, value: Any, name: str) -> str:
            if isinstance(value, Missing):
                str(value)  # raises
            return self._placed(value, name)

        def present(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
            def made_of(value: Any) -> Any:
                if isinstance(value, Missing):
                    str(value)  # raises
                return make(value)

            return made_of

        sandbox = Sandbox(undefined=Missing, autoescape=False, keep_trailing_newline=True)
        sandbox.globals.pop("lipsum")
        bounded = {
            name: bounded_filter(name, jinja_filter)
            for name, jinja_filter in sandbox.filters.items()
        }
        own = {_OUTPUT: output, _JOINED: joined, _COUNTED: self._rounds.counted}
        sandbox.filters = {**bounded, **own}
        sandbox.filters |= {"raw": present(_raw), "ident": present(_identifier)}
        self._environment = sandbox
        return sandbox

    def check(self, template: nodes.Template) -> None:
        """Refuse what makes text out of values."""
        from jinja2 import nodes  # noqa: PLC0415 - optional

        kinds = tuple(getattr(nodes, name) for name in _PIECES)
        for node in template.find_all(kinds):
            name = type(node).__name__
            raise self.error(
                f"{name} is not supported in a cell: only outputs, if, for and set are.",
                node.lineno,
            )

    def with_outputs(self, template: nodes.Template) -> nodes.Template:
        """Send each ``{{ … }}`` through `_placed`, with the name of its variable."""
        from jinja2 import nodes  # noqa: PLC0415 - optional

        for output in template.find_all(nodes.Output):
            output.nodes = [
                node
                if isinstance(node, nodes.TemplateData)
                else nodes.Filter(
                    node,
                    _OUTPUT,
                    [nodes.Const(node.name if isinstance(node, nodes.Name) else "value")],
                    [],
                    None,
                    None,
                    lineno=node.lineno,
                )
                for node in output.nodes
            ]
        self._bound(template)
        template.set_environment(self._environment)  # type: ignore[arg-type]
        return template

    def _bound(self, template: nodes.Template) -> None:
        """Count the rounds of loops, and check the lengths of texts that ``~`` makes."""
        from jinja2 import nodes  # noqa: PLC0415 - optional

        def filtered(name: str, value: Any) -> nodes.Filter:
            return nodes.Filter(value, name, [], [], None, None, lineno=value.lineno)

        for loop in template.find_all(nodes.For):
            if loop.recursive:
                raise self.error(
                    "A recursive for is not supported in a cell: make the values in Python.",
                    loop.lineno,
                )
            loop.iter = filtered(_COUNTED, loop.iter)
        for parent in [template, *template.find_all(nodes.Node)]:
            for field, value in parent.iter_fields():
                if isinstance(value, nodes.Concat):
                    setattr(parent, field, self._joined_of(value))
                elif isinstance(value, list):
                    value[:] = [
                        self._joined_of(item) if isinstance(item, nodes.Concat) else item
                        for item in value
                    ]

    @staticmethod
    def _joined_of(value: nodes.Concat) -> nodes.Filter:
        from jinja2 import nodes  # noqa: PLC0415 - optional

        parts = nodes.List(value.nodes, lineno=value.lineno)
        return nodes.Filter(parts, _JOINED, [], [], None, None, lineno=value.lineno)

    def _placed(self, value: Any, name: str) -> str:
        """Return a placeholder for a value, until it is known where it is used."""
        if isinstance(value, _Raw):
            return value.text
        if len(self._values) + len(self._identifiers) >= MOST_VALUES:
            raise ValueError(f"a cell binds at most {MOST_VALUES:,} values; a list counts as one")
        while True:
            key = f"{name}_{next(self._numbers)}"
            if key not in self._text:
                break
        if isinstance(value, _Identifier):
            self._identifiers[key] = value
            return f"`{key}`"
        self._values[key] = value
        return f":{key}"

    def finished(self, text: str) -> Compiled:
        """Check where the outputs are, and insert the identifiers."""
        statements = split(text)
        names = [name for statement in statements for name, _ in parameters(statement.tokens)]
        quoted = [token for token in tokenize(text) if token.kind is TokenKind.QUOTED]
        identifiers = [token for token in quoted if token.text[1:-1] in self._identifiers]
        placed = {*names, *(token.text[1:-1] for token in identifiers)}
        for key in (*self._values, *self._identifiers):
            if key not in placed:
                raise self._misplaced(key, text)
        pieces, end = [], 0
        for token in identifiers:
            pieces += [text[end : token.start], self._identifiers[token.text[1:-1]].quoted]
            end = token.end
        return Compiled("".join([*pieces, text[end:]]), self._values)

    def _misplaced(self, key: str, text: str) -> QueryError:
        name = key.rpartition("_")[0]
        start = text.find(key)
        statement = _whole(text)
        return QueryError(
            f"The template puts {{{{ {name} }}}} where it is not a value: inside a string or a "
            "comment, or right after a word.",
            topic="parameters",
            statement=statement,
            span=Span(start, start + len(key)),
            hint="Write it alone, without quotes around it.",
        )

    def missing(self, error: _MissingError, known: Mapping[str, Any]) -> QueryError:
        """Explain a name that is not set."""
        start = self._offset(error.name)
        hint = close_matches(error.name, list(known)).strip()
        return QueryError(
            f"The template needs what does not exist: {error}.",
            topic="parameters",
            statement=_whole(self._text),
            span=None if start is None else Span(start, start + len(error.name)),
            hint=hint or f"Set it before: {error.name} = …",
        )

    def error(self, message: str, line: int | None) -> QueryError:
        """Point at a line of the template."""
        span = None
        if line is not None:
            lines = self._text.split("\n")
            index = min(line, len(lines)) - 1
            start = sum(len(above) + 1 for above in lines[:index])
            blank = len(lines[index]) - len(lines[index].lstrip())
            span = Span(start + blank, start + max(len(lines[index].rstrip()), blank + 1))
        return QueryError(message, topic="parameters", statement=_whole(self._text), span=span)

    def _offset(self, name: str) -> int | None:
        """Return where a name is first used in the template."""
        assert self._environment is not None
        position = 0
        for _, kind, piece in self._environment.lex(self._text):
            if kind == "name" and piece == name and self._text.startswith(piece, position):
                return position
            position += len(piece)
        return None


def _raw(value: Any) -> _Raw:
    if not isinstance(value, str):
        raise TypeError(f"|raw takes text, got {type(value).__name__}")
    return _Raw(value)


def _identifier(value: Any) -> _Identifier:
    """Make an identifier: of ``"db.t"`` two parts, of a list as many as it has."""
    parts: Sequence[Any] = value.split(".") if isinstance(value, str) else value
    is_names = isinstance(parts, list | tuple) and bool(parts)
    if not is_names or not all(isinstance(part, str) and part for part in parts):
        raise TypeError("|ident takes a name, or a list of its parts, none of them empty")
    return _Identifier(tuple(parts))


def _whole(text: str) -> Statement | None:
    tokens = tuple(tokenize(text))
    return Statement(text, tokens) if tokens else None


_IN_TEXT = re.compile(r"\{\{\s*(\w+)\s*\}\}")


def left_in_texts(text: str, namespace: Mapping[str, Any]) -> list[str]:
    """Return variables that somebody meant to put into texts of SQL, as templates do.

    Examples
    --------
    >>> left_in_texts("SELECT * FROM t WHERE a = '{{ day }}' AND b = '{{c}}'", {"day": "Mon"})
    ['day']
    """
    texts = (token.text for token in tokenize(text) if token.kind is TokenKind.STRING)
    found = (name for one in texts for name in _IN_TEXT.findall(one))
    return [name for name in dict.fromkeys(found) if name in namespace]
