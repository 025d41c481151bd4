"""Options that hold secrets, from ``cases/secret_options.txt``, each with a secret of its own."""

from __future__ import annotations

from pathlib import Path

_FILE = Path(__file__).parent / "cases" / "secret_options.txt"
KEYS = tuple(
    line for line in _FILE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"
)
SECRETS = {key: f"zq{number:03}hush" for number, key in enumerate(KEYS)}
MARK = "hush"
"""A piece of every secret."""
URIS = (
    "s3://me:zqhush@lake/w",
    "s3://key:zq/hush@lake/w",
    "oss://zqhush:x@lake/w",
    "gs://me:zqhush@lake/w",
    "abfs://me:zqhush@lake.dfs.core.windows.net/w",
    "wasbs://zqhush==@lake.blob.core.windows.net/w",
    "https://lake.blob.core.windows.net/c/w?sv=1&sr=c&sig=zqhush%2Fx",
    "cosn://zqhush:x@lake/w",
    "hdfs://me:zqhush@namenode:8020/w",
    "https://lake/w?token=zqhush",
    "https://lake/w?sv=1&sig=zqhush%3D",
    "https://lake/w?X-Amz-Signature=zqhush&X-Amz-Date=1",
    "jdbc:mysql://me:zqhush@host/d",
    "jdbc:postgresql://host/d?user=me&password=zqhush",
    "jdbc:sqlserver://host;user=me;password=zqhush;encrypt=true",
    "jdbc:oracle:thin:me/zqhush@//host:1521/x",
    "sc://host:15002/;use_ssl=true;token=zqhush",
)
"""Addresses that carry one."""
