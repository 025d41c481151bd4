"""Statements by which other engines find the tables of a catalog; nothing is asked of them.

Sources, read on 2026-11-28:

- Flink, Spark, Trino: apache/paimon@5dacde5 ``docs/docs``: ``flink/sql-ddl.md``,
  ``concepts/rest/dlf.md``, ``spark/quick-start.mdx``, ``ecosystem/trino.md``; Trino's own
  ``object-storage/file-system-s3``
- StarRocks: ``docs/en/data_source/catalog/paimon_catalog.md`` of StarRocks/starrocks;
  ``paimon.option.`` is in its ``PaimonConnector`` alone
- E-MapReduce: help.aliyun.com, "Integrate Paimon with Flink", "… with Spark", "… with Trino",
  "Paimon Catalog"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paimonlab.catalog.engine_requests import EngineRequest, EngineTable, oss_host
from paimonlab.catalog.local_cache import LOCAL_CACHE_OPTIONS
from paimonlab.catalog.maxcompute_statements import maxcompute
from paimonlab.errors import UnsupportedError, close_matches
from paimonlab.spec.types.data_types import (
    AtomicType,
    MultisetType,
    TypeRoot,
    types_in,
)
from paimonlab.spec.types.text import format_type
from paimonlab.storage.schemes import (
    HDFS,
    HDFS_CLIENT,
    OSS,
    S3,
    SINGLE_WRITER,
    named_options,
    store_kind,
)

_OF_THIS_PROCESS = frozenset(
    {
        *("allowed-external-roots", "follow-links", "lookup.cache-folder", "max-columns"),
        *("read-only", "sql.columns-memory", "sql.memory", HDFS_CLIENT, SINGLE_WRITER),
        *LOCAL_CACHE_OPTIONS,
    }
)
"""Options that say how paimonlab reads; no other engine has them."""
_FIRST = ("metastore", "uri", "warehouse")
_DATABASE = "defaultDatabase"
"""What Spark alone has."""


def statements(engine: str, asked: EngineRequest) -> list[str]:
    """Return what an engine has to be told; see `engines.statements_for`."""
    write = _WRITERS.get(engine)
    if write is not None:
        for table in asked.tables:
            _check_types(engine, table)
        return write(asked)
    if engine in _OTHERS:
        raise UnsupportedError(f"a statement for {engine}", _OTHERS[engine])
    raise ValueError(
        f"no statements are written for {engine!r}, but for {', '.join(_WRITERS)}."
        + close_matches(engine, _WRITERS)
    )


_OTHERS = {
    "dlf": "catalog.clone_to(pm.connect({'metastore': 'rest', 'token.provider': 'dlf', …})) makes "
    "tables there",
    "emr": "name the engine that runs on it: flink, spark, starrocks or trino",
}


# Flink, Spark: Java Paimon's connectors, whose options are those of the catalog.


def _flink(asked: EngineRequest) -> list[str]:
    pairs = asked.shown({"type": "paimon", **_of_paimon(asked)})
    inside = ",\n".join(f"  {_in_quotes(key)} = {_in_quotes(pairs[key])}" for key in pairs)
    return [f"CREATE CATALOG `{asked.catalog_name}` WITH (\n{inside}\n)"]


def _spark(asked: EngineRequest) -> list[str]:
    pairs = _of_paimon(asked) | _place_as_uri(asked)
    if _DATABASE in asked.options:
        pairs[_DATABASE] = asked.options[_DATABASE]
    catalog = f"spark.sql.catalog.{asked.catalog_name}"
    lines = {
        "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
        catalog: "org.apache.paimon.spark.SparkCatalog",
    }
    lines |= {f"{catalog}.{key}": value for key, value in asked.shown(pairs).items()}
    return [_line(key, value) for key, value in lines.items()]


def _of_paimon(asked: EngineRequest) -> dict[str, str]:
    options = {key: asked.options[key] for key in _FIRST if asked.options.get(key)}
    left_out = {*_OF_THIS_PROCESS, *_FIRST, _DATABASE}
    options |= {
        key: value
        for key, value in asked.options.items()
        if key not in left_out and not key.startswith("webhdfs.")  # Java has none of them
    }
    return options | _defaults_of_stores(options)


def _defaults_of_stores(options: Mapping[str, str]) -> dict[str, str]:
    """Return options that Java has another default for than paimonlab."""
    of_s3, _ = named_options(S3, options)
    if of_s3.get("endpoint") and "path.style.access" not in of_s3:
        return {"s3.path.style.access": "true"}
    of_oss, _ = named_options(OSS, options)
    if of_oss.get("region") and not of_oss.get("endpoint"):
        return {"fs.oss.endpoint": oss_host(of_oss, is_internal=False)}
    return {}


# Trino: the connector takes Paimon's options, and files by Trino's own file systems.

_S3_OF_TRINO = {
    "endpoint": "s3.endpoint",
    "endpoint.region": "s3.region",
    "path.style.access": "s3.path-style-access",
    "access.key": "s3.aws-access-key",
    "secret.key": "s3.aws-secret-key",
}
_SITE = "hive.config.resources"


def _trino(asked: EngineRequest) -> list[str]:
    _check_metastore("trino", asked)
    kind = store_kind(asked.warehouse)
    if kind not in (None, S3, HDFS) and _SITE not in asked.properties:
        raise UnsupportedError(
            f"the warehouse {asked.warehouse} for trino",
            f"without properties={{'{_SITE}': '/path/to/core-site.xml'}}, which says how it is "
            "reached",
        )
    pairs = {"connector.name": "paimon", **_of_paimon(asked), **_place_as_uri(asked)}
    pairs = {key: value for key, value in pairs.items() if not _is_of_store(asked, key)}
    if kind is S3:
        pairs["fs.native-s3.enabled"] = "true"
        pairs |= _of_s3("trino", asked, _S3_OF_TRINO)
    if kind is HDFS:
        pairs |= _of_hdfs("trino", asked, ("hadoop-conf-dir", "security.kerberos.login."))
    lines = [_line(key, value.replace("\\", "\\\\")) for key, value in asked.shown(pairs).items()]
    return [f"# etc/catalog/{asked.catalog_name}.properties", *lines]


# StarRocks

_S3_OF_STARROCKS = {
    "endpoint": "aws.s3.endpoint",
    "endpoint.region": "aws.s3.region",
    "path.style.access": "aws.s3.enable_path_style_access",
    "access.key": "aws.s3.access_key",
    "secret.key": "aws.s3.secret_key",
}
_OSS_OF_STARROCKS = {
    "endpoint": "aliyun.oss.endpoint",
    "accesskeyid": "aliyun.oss.access_key",
    "accesskeysecret": "aliyun.oss.secret_key",
}


def _starrocks(asked: EngineRequest) -> list[str]:
    _check_metastore("starrocks", asked)
    pairs = {
        "type": "paimon",
        "paimon.catalog.type": asked.metastore,
        "paimon.catalog.warehouse": asked.warehouse,
    }
    if asked.metastore == "hive":
        if not asked.options.get("uri"):
            raise UnsupportedError(
                "a Hive catalog without 'uri' for starrocks", "it reads no hive-site.xml of others"
            )
        pairs["hive.metastore.uris"] = asked.options["uri"]
    kind = store_kind(asked.warehouse)
    if kind is None:
        raise UnsupportedError(
            f"the warehouse {asked.warehouse} for starrocks", "it reads HDFS and object stores"
        )
    if kind is S3:
        pairs |= _of_s3("starrocks", asked, _S3_OF_STARROCKS)
        pairs |= _connection_of_s3(asked, pairs)
    elif kind is OSS:
        pairs |= _of_oss(asked)
    elif kind is HDFS:
        _of_hdfs("starrocks", asked, ())
    elif not asked.properties:
        raise UnsupportedError(
            f"the warehouse {asked.warehouse} for starrocks",
            "without properties that say how it is reached, as azure.adls2.storage_account",
        )
    pairs |= {
        f"paimon.option.{key}": value
        for key, value in _of_paimon(asked).items()
        if key not in (*_FIRST, "hive-conf-dir") and not _is_of_store(asked, key)
    }
    shown = asked.shown(pairs)
    inside = ",\n".join(f"  {_in_double(key)} = {_in_double(shown[key])}" for key in shown)
    return [f"CREATE EXTERNAL CATALOG `{asked.catalog_name}`\nPROPERTIES (\n{inside}\n)"]


def _connection_of_s3(asked: EngineRequest, pairs: Mapping[str, str]) -> dict[str, str]:
    """Return what else StarRocks has to be told of S3.

    Raises
    ------
    ValueError
        If nothing says whose keys it uses.
    """
    if "aws.s3.access_key" not in pairs and not any(
        key.startswith("aws.s3.") for key in asked.properties
    ):
        raise ValueError(
            "the catalog has no keys of S3 that starrocks could use; give them, or say how it gets "
            "some: properties={'aws.s3.use_instance_profile': 'true'}"
        )
    endpoint, region = pairs.get("aws.s3.endpoint"), pairs.get("aws.s3.region")
    if endpoint is not None and endpoint.lower().startswith("http://"):
        return {"aws.s3.enable_ssl": "false"}
    if endpoint is None and region is not None:
        ending = ".cn" if region.startswith("cn-") else ""
        return {"aws.s3.endpoint": f"https://s3.{region}.amazonaws.com{ending}"}
    return {}


def _of_oss(asked: EngineRequest) -> dict[str, str]:
    values, keys = named_options(OSS, asked.options)
    pairs = {"aliyun.oss.endpoint": oss_host(values, is_internal=False)}
    for name, value in values.items():
        if name in _OSS_OF_STARROCKS:
            pairs.setdefault(_OSS_OF_STARROCKS[name], value)
        elif name not in (*_OF_CLIENTS, _SECURE, "region") or (
            name == _SECURE and value.lower() != "true"
        ):
            raise _refused(keys[name], value, "starrocks")
    return pairs


# What they share.

_OF_CLIENTS = ("attempts.maximum", "connection.establish.timeout", "connection.timeout")
"""How patient paimonlab is with a store."""
_SSL = "connection.ssl.enabled"
_SECURE = "connection.secure.enabled"
"""What OSS calls it; engines have it anyway."""
_V4 = ("signer.type", "signing.algorithm")
"""Paimonlab takes one value of them, which engines have anyway."""


def _of_s3(engine: str, asked: EngineRequest, names: Mapping[str, str]) -> dict[str, str]:
    values, keys = named_options(S3, asked.options, {"region": "endpoint.region"})
    if values.get("endpoint"):
        values.setdefault("path.style.access", "true")
        if "://" not in values["endpoint"]:
            has_ssl = values.get(_SSL, "true").lower() == "true"
            values["endpoint"] = f"{'https' if has_ssl else 'http'}://{values['endpoint']}"
    for name, value in values.items():
        if name not in (*names, *_OF_CLIENTS, *_V4, _SSL):
            raise _refused(keys[name], value, engine)
    return {theirs: values[name] for name, theirs in names.items() if values.get(name)}


def _of_hdfs(engine: str, asked: EngineRequest, taken: tuple[str, ...]) -> dict[str, str]:
    """Return options of HDFS that an engine takes as they are; ``hadoop-conf-dir`` may stay out."""
    pairs = {}
    for key, value in asked.options.items():
        if not key.startswith(HDFS.prefixes) or key == HDFS_CLIENT:
            continue  # how paimonlab reaches files is nothing to others
        if taken and key.startswith(taken):
            pairs[key] = value
        elif key != "hadoop-conf-dir" and _SITE not in asked.properties:
            raise _refused(key, value, engine)
    return pairs


def _refused(key: str, value: str, engine: str) -> UnsupportedError:
    return UnsupportedError(
        f"{key} = '{value}' for {engine}", "its documents have nothing that does the same"
    )


def _is_of_store(asked: EngineRequest, key: str) -> bool:
    kind = store_kind(asked.warehouse)
    return kind is not None and key.startswith(kind.prefixes)


def _check_metastore(engine: str, asked: EngineRequest) -> None:
    if asked.metastore not in ("filesystem", "hive"):
        raise UnsupportedError(
            f"metastore = '{asked.metastore}' for {engine}",
            "its documents name catalogs of files and of Hive metastores",
        )


_NO_TYPE = {
    "spark": (TypeRoot.TIME, TypeRoot.BLOB, MultisetType),
    "starrocks": (TypeRoot.VARIANT, TypeRoot.BLOB, MultisetType),
    "trino": (TypeRoot.TIME, TypeRoot.VARIANT, TypeRoot.BLOB, MultisetType),
}
"""Types that tables of types in the documents leave out."""


def _check_types(engine: str, table: EngineTable) -> None:
    for field in table.schema.fields:
        for one in types_in(field.type):
            kind = one.root if isinstance(one, AtomicType) else type(one)
            if kind in _NO_TYPE.get(engine, ()):
                raise UnsupportedError(
                    f"{table.name}: column {field.name!r} of type {format_type(field.type)} for "
                    f"{engine}",
                    "its documents list no type for it",
                )


def _place_as_uri(asked: EngineRequest) -> dict[str, str]:
    """Return the option that says where the catalog is, if it is a local folder: as a URI."""
    return {"warehouse": f"file:{asked.warehouse}"} if asked.warehouse.startswith("/") else {}


def _in_quotes(text: str) -> str:
    """Return a text of Flink's SQL, which knows no escapes."""
    return "'" + text.replace("'", "''") + "'"


def _in_double(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _line(key: str, value: str) -> str:
    if set(f"{key}{value}") & {"\n", "\r"}:
        raise ValueError(f"{key} has more than one line")
    return f"{key}={value}"


_WRITERS: dict[str, Callable[[EngineRequest], list[str]]] = {
    "flink": _flink,
    "maxcompute": maxcompute,
    "spark": _spark,
    "starrocks": _starrocks,
    "trino": _trino,
}
