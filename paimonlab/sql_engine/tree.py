"""Text to a tree: Spark's grammar by sqlglot, less what that grammar overlooks."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import Any, ClassVar

from sqlglot import TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parsers.spark import SparkParser

from paimonlab.errors import SchemaError
from paimonlab.spec.sql_text.guesses import guess
from paimonlab.spec.sql_text.mistakes import certain_mistake
from paimonlab.spec.sql_text.system_names import with_quoted_names
from paimonlab.spec.sql_text.tokens import Token, tokenize
from paimonlab.sql_engine.refusal import NotReadError, NotTranslatedError
from paimonlab.sql_engine.words import PARTS

_KEPT_PARSERS = ("CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING")


TIME_LITERAL = "time literal"
"""What a cast is marked with that is written ``TIMESTAMP '2026-01-31 12:00:00'``."""


def _time_literal(this: exp.Expression, kind: exp.DataType) -> exp.Cast:
    made = exp.Cast(this=this, to=kind)
    made.meta[TIME_LITERAL] = True
    return made


class AsWritten(Spark):
    """Spark's dialect with every function as it is written: none becomes another one."""

    class Parser(SparkParser):
        """Parser without knowledge of functions."""

        STRICT_CAST = True
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        TYPE_LITERAL_PARSERS: ClassVar[dict[Any, Any]] = {
            exp.DType.DATE: lambda _self, this, _type: exp.DateStrToDate(this=this),
            exp.DType.TIMESTAMPTZ: lambda _self, this, kind: _time_literal(this, kind),
            exp.DType.TIMESTAMPLTZ: lambda _self, this, kind: _time_literal(this, kind),
            exp.DType.TIMESTAMPNTZ: lambda _self, this, kind: _time_literal(this, kind),
        }
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: SparkParser.FUNCTION_PARSERS[name] for name in _KEPT_PARSERS
        }


NUMBER_WITH_TYPE = re.compile(
    r"([0-9]+(?=L|S|Y|D|F|BD)|[0-9]*[.][0-9]*(?=D|F|BD)|[0-9]*[.]?[0-9]*E[+-]?[0-9]+(?=D|F))"
    r"(L|S|Y|D|F|BD)",
    re.IGNORECASE,
)
"""``1L``, ``2S``, ``2.5D``: a number, and the letters of its type."""
_TIME_DIGITS = 14
"""At least so many has a time without separators."""
_ENDS = frozenset({")", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", ";"})
_dialect = AsWritten()
logging.getLogger("sqlglot").addFilter(lambda record: "unsupported syntax" not in record.msg)


def parse(text: str) -> exp.Expression:
    """Parse one statement.

    Parameters
    ----------
    text
        In Spark's dialect; names with ``$`` may be in back-quotes.

    Raises
    ------
    SchemaError
        If it is not SQL.
    NotReadError, NotTranslatedError
        If it is not read, or in a way that would lose a part of it.
    """
    words = tokenize(text)
    wrong = certain_mistake(words)
    if wrong:
        raise NotReadError("the SQL cannot be read", wrong)
    text = with_quoted_names(text, words)  # sqlglot drops what follows a bare $
    left = tokenize(text)
    if marks := [place for place, word in enumerate(left) if word.text == "$"]:
        after = left[marks[0] + 1].text if marks[0] + 1 < len(left) else ""
        meant = f"; :{after} is the value of the variable {after}" if after.isidentifier() else ""
        wrong = f"A $ is neither in a name nor in a text{meant}"
        raise NotReadError("the SQL cannot be read", wrong)
    try:
        tokens = _with_whole_numbers(_dialect.tokenize(text), text)
        _name_windows(tokens)
        trees = _dialect.parser().parse(tokens, text)
    except (SqlglotError, RecursionError) as error:
        raise NotReadError(_fault(error), _guess(text, error)) from error
    for token, after in zip(tokens, [*tokens[1:], None], strict=True):
        end = ";" if after is None else text[after.start : after.end + 1].upper()
        if token.text == "," and token.token_type.name == "COMMA" and end in _ENDS:
            raise SchemaError(f"there is nothing between ',' and {end}")
    if len(trees) != 1 or trees[0] is None:
        raise NotTranslatedError("more than one statement")
    tree = trees[0]
    _check_versions(tree)
    _check_sizes(tree)
    for hint in tree.find_all(exp.Hint):
        hint.pop()  # which joins are made is DuckDB's choice
    assert isinstance(tree, exp.Expression), "a statement is an expression"
    _keep_spelling(tree, words)
    if isinstance(tree, exp.Column | exp.Dot | exp.Anonymous | exp.Alias | exp.Literal):
        raise NotReadError(
            "the SQL cannot be read", "A statement begins with SELECT, WITH, INSERT …"
        )
    return tree


def _with_whole_numbers(tokens: Sequence[Any], text: str) -> list[Any]:
    """Put ``1L`` together again, which was cut into a number, ``::`` and a type."""
    whole: list[Any] = []
    left_out = 0
    for token in tokens:
        if left_out:
            left_out -= 1
            continue
        spelt = text[token.start : token.end + 1]
        if token.token_type is TokenType.DCOLON and spelt != "::":
            if not NUMBER_WITH_TYPE.fullmatch(spelt):
                raise NotTranslatedError(f"the number {spelt}", spelt)
            whole[-1].text, whole[-1].end = spelt, token.end
            left_out = 1
            continue
        whole.append(token)
    return whole


def _check_sizes(tree: exp.Expr) -> None:
    """Check that the digits of a type are a number without a type."""
    for size in tree.find_all(exp.DataTypeParam):
        if not size.name.isdecimal():
            raise NotReadError("the SQL cannot be read", f"{size.name} is not a number of digits")


def _name_windows(tokens: Sequence[Any]) -> None:
    """Let ``window`` be a name where no clause ``WINDOW w AS (`` begins."""
    for place, token in enumerate(tokens):
        rest = [one.token_type.name for one in tokens[place + 2 : place + 4]]
        if token.token_type is TokenType.WINDOW and rest != ["ALIAS", "L_PAREN"]:
            token.token_type = TokenType.VAR


def _check_versions(tree: exp.Expr) -> None:
    """Check that no table is followed by ``@v1``, which would read its newest rows."""
    for alias in tree.find_all(exp.TableAlias):
        if isinstance(alias.this, exp.Parameter):
            raise NotReadError("the SQL cannot be read", _version_hint(alias))


def _version_hint(alias: exp.TableAlias) -> str:
    """Say how the version is written that another format has after @."""
    version = alias.this.name
    named = alias.parent.parts if isinstance(alias.parent, exp.Table) else []
    table = ".".join(part.sql("spark") for part in named) or "db.t"
    number = version[1:] if version[:1] in {"v", "V"} else version
    point = number if number.isdecimal() and len(number) < _TIME_DIGITS else f"'{version}'"
    if version.isdecimal() and len(version) >= _TIME_DIGITS:
        moment = [version[at : at + 2] for at in range(2, 14, 2)]
        day, clock = "-".join([version[:2] + moment[0], *moment[1:3]]), ":".join(moment[3:])
        return f"Write {table} TIMESTAMP AS OF '{day} {clock}'"
    return f"Write {table} VERSION AS OF {point}"


def _keep_spelling(tree: exp.Expression, words: Sequence[Token]) -> None:
    """Write the units of ``extract(week FROM day)`` as the text does: Spark names columns so."""
    spelt: dict[str, set[str]] = {}
    for call, _, unit in zip(words, words[1:], words[2:], strict=False):
        if call.text.upper() == "EXTRACT":
            spelt.setdefault(unit.text.upper(), set()).add(unit.text)
    for node in tree.find_all(exp.Extract):
        found = spelt.get(node.name, ())
        if len(found) == 1:
            node.set("this", exp.var(*found))


def check_parts(node: exp.Expression, *known: str) -> None:
    """Check that a node has no part but those that are translated.

    Raises
    ------
    NotTranslatedError
        If it has another one.
    """
    for name, value in node.args.items():
        if value and name not in known:
            part = name.rstrip("_").upper()
            if isinstance(value, exp.Expression) and not isinstance(value, exp.Tuple):
                part = value.key.upper()
            elif isinstance(value, list) and isinstance(value[0], exp.Expression):
                part = value[0].key.upper()
            raise NotTranslatedError(f"{part} in {node.key.upper()}", part, PARTS.get(part, ""))


def _guess(text: str, error: SqlglotError | RecursionError) -> str:
    """Say what is probably meant where a text is not understood."""
    if isinstance(error, RecursionError):
        return ""
    if not isinstance(error, ParseError) or not error.errors:
        return guess(tokenize(text), len(text))
    word, line = error.errors[0].get("highlight"), error.errors[0].get("line")
    tokens = tokenize(text)
    for token in tokens:
        if token.text == word and text.count("\n", 0, token.start) + 1 == line:
            return guess(tokens, token.start)
    return guess(tokens, len(text))


def _fault(error: SqlglotError | RecursionError) -> str:
    """Say where a text is not understood."""
    if isinstance(error, RecursionError):
        return "the SQL is nested too deep"
    if not isinstance(error, ParseError) or not error.errors:
        return "a quote or a comment is not closed"
    first = error.errors[0]
    word, line = first.get("highlight"), first.get("line")
    if not word:
        return "the SQL ends in the middle"
    return f"the SQL cannot be read at {word!r} in line {line}"
