from __future__ import annotations

import dataclasses
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any, cast

import msgspec
import pytest

import paimonlab
from paimonlab.errors import PaimonError, UnsupportedError
from paimonlab.secrets import is_secret, masked, redacted, without_secrets
from paimonlab.spec.option_registry import KNOWN_OPTIONS
from tests.secret_options import MARK, SECRETS, URIS


def _holders() -> Iterator[tuple[type, str]]:
    """Find every class that has options, settings or properties as a map of texts."""
    for found in pkgutil.walk_packages(paimonlab.__path__, "paimonlab."):
        if "labextension" in found.name or found.name.endswith("__main__"):
            continue
        for _, one in inspect.getmembers(importlib.import_module(found.name), inspect.isclass):
            if one.__module__ != found.name:
                continue
            if not (dataclasses.is_dataclass(one) or issubclass(one, msgspec.Struct)):
                continue
            for name, kind in one.__annotations__.items():
                if name in {"options", "properties", "conf"} and "[str, str]" in str(kind):
                    yield one, name


FORMS = {
    "a setting": "{key}={value}",
    "a setting of a command": "--conf {key}={value} --verbose",
    "SQL": "TBLPROPERTIES ('{key}' = '{value} {value}', 'bucket' = '1')",
    "SQL without a sign": "OPTIONS ('{key}' '{value}')",
    "SET": "SET `{key}` = {value}",
    "a function": "map('{key}', '{value} {value}')",
    "an argument of a call": "options => '{key}={value},bucket=1'",
    "two arguments of a call": "key => '{key}', value => '{value}'",
    "JSON": '{{"{key}": "{value}"}}',
    "JSON in JSON": '{{\\"{key}\\": \\"{value} {value}\\", \\"a\\": 1}}',
    "JSON of pairs": '[{{"key": "{key}", "value": "{value}"}}]',
    "Python": "{{'{key}': '{value}'}}",
    "Python of pairs": "[('{key}', '{value}')]",
    "a dataclass": "SetOption(key='{key}', value='{value}')",
    "an item": "options['{key}'] = '{value}'",
    "a comparison": "{key} == '{value}' and {key} != \"{value}\"",
    "Java's maps": "{{a=b, {key}={value}, c=d}}",
    "Scala's maps": "Map(a -> b, {key} -> {value})",
    "YAML": "{key}: {value}\nother: 1",
    "XML of Hadoop": "<name>{key}</name>\n<value>{value} {value}</value>",
    "a query": "https://host/w?{key}={value}&x=1",
    "an address of Spark": "sc://host:1/;{key}={value};x=1",
    "an encoded query": "next=/w%3F{key}%3D{value}",
    "a header": "curl -H '{key}: Bearer {value}'",
    "a sentence": "option '{key}' has the value '{value}'",
}


@pytest.mark.parametrize("form", FORMS)
def test_no_option_shows_its_secret_in_any_form(form: str) -> None:
    for key, secret in SECRETS.items():
        text = FORMS[form].format(key=key, value=secret)
        assert is_secret(key)
        assert redacted({key: secret}) == {key: "******"}
        assert MARK not in without_secrets(text), text
        assert MARK not in masked(text), text
        assert len(masked(text)) == len(text)
        assert without_secrets(without_secrets(text)) == without_secrets(text)


@pytest.mark.parametrize("uri", URIS)
def test_no_address_shows_its_secret(uri: str) -> None:
    assert MARK not in without_secrets(f"no such place: {uri} (tried twice)")
    assert MARK not in masked(f"'{uri}'")
    assert MARK not in redacted({"warehouse": uri})["warehouse"]


@pytest.mark.parametrize(
    "text",
    [
        "Bearer zqhush.zqhush.zq-hush",
        "-----BEGIN RSA PRIVATE KEY-----\nzqhush\nzqhush\n-----END RSA PRIVATE KEY-----",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=zqhush==;EndpointSuffix=x",
        "Authorization: DLF4-HMAC-SHA256 Credential=zqhush/1,Signature=zqhush",
        'required username="a" password="zqhush";',
    ],
)
def test_what_is_a_secret_by_its_form_is_hidden(text: str) -> None:
    assert MARK not in without_secrets(text)
    assert MARK not in masked(text)
    assert [len(line) for line in masked(text).split("\n")] == [
        len(line) for line in text.split("\n")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token ')'",
        "db.t has no column 'x'; it has 'token', 'day'",
        "the tests pass",
        "SELECT key, value FROM t WHERE day = '2026-01-01'",
        "signature of the file, then its length",
        "bearer of news",
    ],
)
def test_words_of_sentences_stay(text: str) -> None:
    assert without_secrets(text) == masked(text) == text


def test_no_option_of_tables_is_taken_for_a_secret() -> None:
    assert [key for key in KNOWN_OPTIONS if is_secret(key)] == []


def test_an_error_that_names_an_option_hides_its_secret() -> None:
    for key, secret in SECRETS.items():
        error = UnsupportedError(f"{key} = '{secret}'", f"leave '{key}' = '{secret}' out")
        again = pickle.loads(pickle.dumps(error))
        for one in (error, again):
            assert secret not in f"{one} {one!r} {one.args} {one.feature} {one.reason}"
        assert secret not in repr(PaimonError(f"'{key}' = '{secret}'"))
    for uri in URIS:
        assert MARK not in str(UnsupportedError(f"warehouse = '{uri}'"))
    for uri in (one for one in URIS if one.startswith(("s3:", "oss:", "hdfs:", "https:"))):
        with pytest.raises(UnsupportedError) as refused:
            paimonlab.connect(uri)
        assert MARK not in str(refused.value)


def test_whatever_holds_options_hides_secrets_in_its_repr() -> None:
    holders = set(_holders())
    options = {**SECRETS, "plain": "seen"}

    for holder, field in holders:
        made: Any
        if issubclass(holder, msgspec.Struct):
            made = holder(**dict.fromkeys(holder.__struct_fields__) | {field: options})
        else:
            made = object.__new__(holder)
            for one in dataclasses.fields(cast("Any", holder)):
                object.__setattr__(made, one.name, options if one.name == field else None)
        assert MARK not in repr(made), holder
        assert "seen" in repr(made), holder
    assert {"TableSchema", "Snapshot", "Setting"} <= {holder.__name__ for holder, _ in holders}
    assert MARK not in repr(paimonlab.SetOption("s3.secret-key", SECRETS["s3.secret-key"]))
