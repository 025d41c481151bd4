"""Certificates that are trusted: Java's own tool writes the key stores."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from paimonlab.catalog.trust_stores import trusting
from paimonlab.errors import UnsupportedError
from tests.certificates import Certificates, certificates

PASSWORD = "zqhush"


@pytest.fixture(scope="module")
def made() -> Certificates:
    return certificates()


@pytest.fixture(scope="module")
def key_store(made: Certificates, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A JKS key store that trusts two authorities, and has a key with a chain between them."""
    if shutil.which("keytool") is None:
        pytest.skip("no JDK (keytool)")
    path = tmp_path_factory.mktemp("jks") / "trusted.jks"
    common = ["-keystore", str(path), "-storetype", "JKS", "-storepass", PASSWORD]
    for alias, file in (("a", made.authority), ("c", made.other)):
        _keytool("-importcert", "-noprompt", "-alias", alias, "-file", str(file), *common)
        if alias == "a":
            key = ["-alias", "b", "-keyalg", "EC", "-dname", "CN=own", "-keypass", PASSWORD]
            _keytool("-genkeypair", *key, *common)
    return path


def _keytool(*arguments: str) -> None:
    heap = ("-J-XX:TieredStopAtLevel=1", "-J-Xshare:auto")
    subprocess.run(["keytool", *heap, *arguments], check=True, capture_output=True)


def names(path: Path, password: str = "") -> list[str]:
    found = trusting(str(path), password).get_ca_certs()
    return sorted(str(dict(pair[0] for pair in one["subject"])["commonName"]) for one in found)  # type: ignore[misc]


def test_a_key_store_of_java_trusts_what_it_says(key_store: Path) -> None:
    both = ["paimonlab authority", "paimonlab other"]
    assert names(key_store) == names(key_store, PASSWORD) == both
    assert names(Path(f"file:{key_store}")) == both


def test_pem_is_taken_as_it_is(made: Certificates) -> None:
    assert names(made.authority) == ["paimonlab authority"]


def test_a_key_store_that_is_damaged_or_has_another_password_is_refused(
    key_store: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="damaged, or has another password") as raised:
        trusting(str(key_store), "zqother")
    assert "zqother" not in str(raised.value)
    data = key_store.read_bytes()
    for end in (14, 60, 400, len(data) - 30):
        cut = tmp_path / str(end)
        cut.write_bytes(data[:end])
        with pytest.raises(ValueError, match="damaged"):
            trusting(str(cut))


def test_other_files_are_refused_by_name(made: Certificates, tmp_path: Path) -> None:
    store = tmp_path / "store.p12"
    command = ["openssl", "pkcs12", "-export", "-nokeys", "-in", str(made.authority)]
    subprocess.run(
        [*command, "-out", str(store), "-passout", f"pass:{PASSWORD}"],
        check=True,
        capture_output=True,
    )
    with pytest.raises(UnsupportedError, match=r"store\.p12.*keytool -exportcert"):
        trusting(str(store), PASSWORD)
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        trusting(str(tmp_path / "none"))
