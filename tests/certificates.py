"""Certificates for servers of tests on 127.0.0.1, made once by OpenSSL."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.interop.java_build import build_once, cache_folder

_HERE = Path(__file__)
_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
_DAYS = ("-days", "3650")


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files in PEM."""

    authority: Path
    """Who signed both others."""
    other: Path
    """Another authority, which signed nothing."""
    server: Path
    key: Path
    client: Path
    client_key: Path


def certificates() -> Certificates:
    """Return certificates; skips the test where they cannot be had."""
    made = made_certificates()
    if made is None:
        pytest.skip("no certificates: openssl is not installed")
    return made


def made_certificates() -> Certificates | None:
    """Return certificates of an authority, a server and a client; None without OpenSSL."""
    if shutil.which("openssl") is None:
        return None
    digest = hashlib.sha256(_HERE.read_bytes()).hexdigest()[:16]
    folder = build_once(cache_folder() / f"certificates-{digest}", _make)
    names = ("authority", "other", "server", "server-key", "client", "client-key")
    return Certificates(*(folder / f"{name}.pem" for name in names))


def _make(folder: Path) -> None:
    def openssl(*arguments: str) -> None:
        command = ["openssl", *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd=folder)

    for name in ("authority", "other"):
        out = ("-keyout", f"{name}-key.pem", "-out", f"{name}.pem")
        openssl("req", "-x509", *_KEY, *_DAYS, *out, "-subj", f"/CN=paimonlab {name}")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n", encoding="ascii")
    for name in ("server", "client"):
        out = ("-keyout", f"{name}-key.pem", "-out", f"{name}.csr")
        openssl("req", "-new", *_KEY, *out, "-subj", f"/CN={name}")
        signed = ("-CA", "authority.pem", "-CAkey", "authority-key.pem", "-CAcreateserial")
        files = ("-in", f"{name}.csr", "-out", f"{name}.pem", "-extfile", "names")
        openssl("x509", "-req", *files, *signed, *_DAYS)
