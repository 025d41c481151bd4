from __future__ import annotations

import pytest

from paimonlab.spec.secrets import is_secret, masked, redacted, without_credentials, without_secrets


@pytest.mark.parametrize(
    "key",
    [
        "jdbc.password",
        "fs.s3a.secret.key",
        "fs.s3a.access.key",
        "s3.access-key",
        "fs.oss.accessKeyId",
        "fs.oss.accessKeySecret",
        "fs.azure.account.key.lake.blob.core.windows.net",
        "fs.s3a.session.token",
        "token",
        "dlf.security-token",
        "PASSWORD",
        "ssl.keystore.passphrase",
    ],
)
def test_values_of_such_options_are_hidden(key: str) -> None:
    assert is_secret(key)
    assert redacted({key: "hush"}) == {key: "******"}
    for text in (
        f"TBLPROPERTIES ('{key}' = 'hush', 'bucket' = '1')",
        f"{key}=hush",
        f'{{"{key}": "hush"}}',
        f"{{'{key}': 'hu''sh hush'}}",
        f"`{key}` => 'hush",
    ):
        assert "hush" not in without_secrets(text)
        assert "hush" not in masked(text)
        assert len(masked(text)) == len(text)


@pytest.mark.parametrize(
    "key",
    ["primary-key", "bucket-key", "partition", "key.column", "sequence.field", "tag.automatic"],
)
def test_options_of_tables_stay_as_they_are(key: str) -> None:
    text = f"TBLPROPERTIES ('{key}' = 'v')"

    assert without_secrets(text) == masked(text) == text
    assert redacted({key: "v"}) == {key: "v"}


def test_a_uri_never_shows_credentials() -> None:
    assert without_credentials("s3://key:secret@bucket/w?token=x#y") == "s3://bucket/w"
    assert without_credentials("hdfs://namenode:8020/w") == "hdfs://namenode:8020/w"
    assert without_credentials("/tmp/a@b") == "/tmp/a@b"
    assert without_secrets("at s3://key:pw@b/w, not a@b") == "at s3://b/w, not a@b"


@pytest.mark.parametrize("secret", ["hu/sh", "hush/", "x1/hush", "hu?sh", "hu#sh/"])
def test_a_uri_whose_secret_is_not_escaped_does_not_show_it(secret: str) -> None:
    uri = f"s3://key:{secret}@bucket/w"

    assert without_credentials(uri) == "s3://bucket/w"
    assert without_secrets(f"at {uri}, no") == "at s3://bucket/w, no"
    assert len(masked(uri)) == len(uri)
    assert secret not in masked(uri)


@pytest.mark.parametrize(
    "uri",
    ["hdfs://namenode:8020/w/a@b", "http://host:80?x@y", "s3://bucket/w@x", "s3://b", "c://d:"],
)
def test_a_uri_without_a_user_stays(uri: str) -> None:
    assert without_secrets(uri) == masked(uri) == uri


@pytest.mark.parametrize("scheme", ["Bearer ", "basic ", "token  ", ""])
def test_what_follows_the_scheme_of_an_authorization_is_hidden(scheme: str) -> None:
    text = f"Authorization: {scheme}hush.hush== and more"

    assert without_secrets(text) == "Authorization: ****** and more"
    assert "hush" not in masked(text)


@pytest.mark.parametrize("word", ["x", "x-", "secret", "a1", "'", "s://", "ab://cd:"])
def test_long_words_take_no_longer_than_many_short_ones(word: str) -> None:
    text = word * 100_000  # the square of its length would take hours

    assert without_secrets(text) == masked(text) == text
    assert "hush" not in without_secrets(f"{text} s3.secret-key = hush")
