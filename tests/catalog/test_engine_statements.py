from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import paimonlab as pm
from paimonlab.catalog.engine_requests import EngineRequest, EngineTable
from paimonlab.catalog.engine_statements import statements
from paimonlab.errors import SchemaError, TableNotFoundError, UnsupportedError
from paimonlab.spec.schema.table_schema import TableSchema
from paimonlab.spec.types.data_types import DataField
from paimonlab.spec.types.text import parse_type
from tests.secret_options import MARK, SECRETS, URIS

ROLE = {"odps.properties.rolearn": "acs:ram::139:role/aliyunodpsdefaultrole"}
OSS = {"warehouse": "oss://lake/w", "fs.oss.endpoint": "https://oss-cn-beijing.aliyuncs.com"}
S3 = {
    "warehouse": "s3://lake/w",
    "s3.endpoint": "http://minio:9000",
    "s3.access-key": "an-id",
    "s3.secret-key": "a-key",
}
DLF = {
    "metastore": "rest",
    "uri": "http://cn-hangzhou-vpc.dlf.aliyuncs.com",
    "warehouse": "my_instance_name",
    "token.provider": "dlf",
    "dlf.access-key-id": "<access-key-id>",
    "dlf.access-key-secret": "<access-key-secret>",
}


def told(engine: str, options: Mapping[str, str], **more: Any) -> list[str]:
    return statements(engine, EngineRequest(options=options, **more))


def pairs_of(engine: str, texts: list[str]) -> dict[str, str]:
    """Take a statement, or lines, apart: by the rules of its dialect for texts."""
    if engine in ("spark", "trino"):
        return dict(line.split("=", 1) for line in texts if not line.startswith("#"))
    [text] = texts
    # In Flink's texts only a quote is written twice, as in those of SQLite.
    tokens = sqlglot.tokenize(text, read={"flink": "sqlite"}.get(engine, engine))
    found = [token.text for token in tokens if token.token_type is sqlglot.TokenType.STRING]
    return dict(zip(found[::2], found[1::2], strict=True))


FROM_DOCUMENTS: list[tuple[str, dict[str, str], dict[str, str], dict[str, str]]] = [
    (
        "flink",
        {"warehouse": "hdfs:///path/to/warehouse"},
        {},
        {"type": "paimon", "warehouse": "hdfs:///path/to/warehouse"},
    ),
    ("flink", DLF, {}, {"type": "paimon", **DLF}),
    (
        "flink",
        {
            "metastore": "hive",
            "uri": "thrift://master-1-1:9083",
            "warehouse": "oss://<yourBucketName>/warehouse",
        },
        {},
        {
            "type": "paimon",
            "metastore": "hive",
            "uri": "thrift://master-1-1:9083",
            "warehouse": "oss://<yourBucketName>/warehouse",
        },
    ),
    (
        "spark",
        {"warehouse": "/tmp/paimon"},
        {},
        {
            "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
            "spark.sql.catalog.paimon.warehouse": "file:/tmp/paimon",
            "spark.sql.extensions": (
                "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
            ),
        },
    ),
    (
        "spark",
        DLF,
        {},
        {
            "spark.sql.catalog.paimon": "org.apache.paimon.spark.SparkCatalog",
            "spark.sql.catalog.paimon.metastore": "rest",
            "spark.sql.catalog.paimon.uri": "http://cn-hangzhou-vpc.dlf.aliyuncs.com",
            "spark.sql.catalog.paimon.warehouse": "my_instance_name",
            "spark.sql.catalog.paimon.token.provider": "dlf",
            "spark.sql.catalog.paimon.dlf.access-key-id": "<access-key-id>",
            "spark.sql.catalog.paimon.dlf.access-key-secret": "<access-key-secret>",
            "spark.sql.extensions": (
                "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions"
            ),
        },
    ),
    (
        "trino",
        {"warehouse": "/tmp/warehouse"},
        {},
        {"connector.name": "paimon", "warehouse": "file:/tmp/warehouse"},
    ),
    (
        "trino",
        OSS | {"fs.oss.accessKeyId": "an-id", "fs.oss.accessKeySecret": "a-key"},
        {"hive.config.resources": "/path/to/core-site.xml"},
        {
            "connector.name": "paimon",
            "warehouse": "oss://lake/w",
            "hive.config.resources": "/path/to/core-site.xml",
        },
    ),
    (
        "trino",
        S3 | {"s3.region": "us-east-1"},
        {},
        {
            "connector.name": "paimon",
            "warehouse": "s3://lake/w",
            "fs.native-s3.enabled": "true",
            "s3.endpoint": "http://minio:9000",
            "s3.region": "us-east-1",
            "s3.path-style-access": "true",
            "s3.aws-access-key": "an-id",
            "s3.aws-secret-key": "a-key",
        },
    ),
    (
        "starrocks",
        {"warehouse": "oss://lake/w", "fs.oss.endpoint": "oss-cn-beijing-internal.aliyuncs.com"},
        {},
        {
            "type": "paimon",
            "paimon.catalog.type": "filesystem",
            "aliyun.oss.endpoint": "oss-cn-beijing-internal.aliyuncs.com",
            "paimon.catalog.warehouse": "oss://lake/w",
        },
    ),
    (
        "starrocks",
        S3,
        {},
        {
            "type": "paimon",
            "paimon.catalog.type": "filesystem",
            "paimon.catalog.warehouse": "s3://lake/w",
            "aws.s3.enable_ssl": "false",
            "aws.s3.enable_path_style_access": "true",
            "aws.s3.endpoint": "http://minio:9000",
            "aws.s3.access_key": "an-id",
            "aws.s3.secret_key": "a-key",
        },
    ),
    (
        "starrocks",
        {
            "metastore": "hive",
            "uri": "thrift://one:9083,thrift://two:9083",
            "warehouse": "s3://lake/w",
            "s3.region": "us-west-2",
        },
        {"aws.s3.use_instance_profile": "true"},
        {
            "type": "paimon",
            "paimon.catalog.type": "hive",
            "hive.metastore.uris": "thrift://one:9083,thrift://two:9083",
            "paimon.catalog.warehouse": "s3://lake/w",
            "aws.s3.use_instance_profile": "true",
            "aws.s3.region": "us-west-2",
            "aws.s3.endpoint": "https://s3.us-west-2.amazonaws.com",
        },
    ),
]
"""An engine, options of a catalog, properties, and what the documents write for it."""


@pytest.mark.parametrize(("engine", "options", "properties", "documented"), FROM_DOCUMENTS)
def test_a_catalog_is_told_as_the_documents_of_engines_have_it(
    engine: str, options: dict[str, str], properties: dict[str, str], documented: dict[str, str]
) -> None:
    texts = told(engine, options, properties=properties, show_secrets=True)

    assert pairs_of(engine, texts) == documented


def test_statements_begin_as_the_documents_have_it() -> None:
    assert told("flink", DLF, name="lake")[0].startswith("CREATE CATALOG `lake` WITH (")
    assert told("starrocks", S3)[0].startswith("CREATE EXTERNAL CATALOG `paimon`\nPROPERTIES (")
    assert told("trino", S3, name="lake")[0] == "# etc/catalog/lake.properties"
    assert told("spark", S3, name="lake")[1].startswith("spark.sql.catalog.lake=org.apache.")


@pytest.mark.parametrize("engine", ["flink", "starrocks", "trino"])
def test_texts_with_marks_arrive_as_they_are(engine: str) -> None:
    value = """it's a "key" \\ of `them`"""
    texts = told(engine, S3, properties={"note": value})

    read = pairs_of(engine, texts)["note"]

    assert read == (value.replace("\\", "\\\\") if engine == "trino" else value)


def test_a_text_of_two_lines_is_no_line_of_a_file() -> None:
    with pytest.raises(ValueError, match="note has more than one line"):
        told("trino", S3, properties={"note": "a\nb=c"})


def test_options_of_this_process_stay_here() -> None:
    own = {
        "read-only": "true",
        "max-columns": "5",
        "sql.memory": "1GB",
        "lookup.cache-folder": "/here",
        "local-cache.enabled": "true",
        "unsafe.single-writer": "true",
    }

    for engine in ("flink", "spark", "starrocks", "trino"):
        assert told(engine, S3 | own) == told(engine, S3)


def test_other_options_of_paimon_reach_its_connectors() -> None:
    options = S3 | {"lock.enabled": "true", "s3.path.style.access": "false"}

    flink = pairs_of("flink", told("flink", options))
    starrocks = pairs_of("starrocks", told("starrocks", options))

    assert (flink["lock.enabled"], flink["s3.path.style.access"]) == ("true", "false")
    assert starrocks["paimon.option.lock.enabled"] == "true"
    assert starrocks["aws.s3.enable_path_style_access"] == "false"


def test_a_store_is_reached_as_it_is_here() -> None:
    # Java's default is the host of a bucket, which few other stores have.
    assert pairs_of("flink", told("flink", S3))["s3.path.style.access"] == "true"
    region = {"warehouse": "oss://lake/w", "fs.oss.region": "cn-hangzhou"}
    host = "oss-cn-hangzhou.aliyuncs.com"
    assert pairs_of("flink", told("flink", region))["fs.oss.endpoint"] == host
    bare = S3 | {"s3.endpoint": "minio:9000", "s3.connection.ssl.enabled": "false"}
    assert pairs_of("trino", told("trino", bare))["s3.endpoint"] == "http://minio:9000"


SCHEMA = {
    "id": "BIGINT NOT NULL",
    "amount": "DECIMAL(12, 2)",
    "name": "VARCHAR(20)",
    "note": "STRING",
    "raw": "BYTES",
    "at": "TIMESTAMP_LTZ(6)",
    "tags": "ARRAY<STRING>",
    "sizes": "MAP<STRING, INT>",
    "spot": "ROW<x INT, y ARRAY<DOUBLE>>",
    "dt": "STRING NOT NULL",
}


def orders(columns: Mapping[str, str], **more: Any) -> EngineTable:
    fields = (
        DataField(number, name, parse_type(text))
        for number, (name, text) in enumerate(columns.items())
    )
    schema = TableSchema(id=0, fields=tuple(fields), highest_field_id=len(columns) - 1, **more)
    return EngineTable(name="shop.orders", path="oss://lake/w/shop.db/orders", schema=schema)


def test_a_table_is_told_to_maxcompute_as_hive_reads_it() -> None:
    comment = "it's all \\ of them"
    table = orders(SCHEMA, primary_keys=("id", "dt"), partition_keys=("dt",), comment=comment)

    create, repair = told("maxcompute", OSS, tables=(table,), properties=ROLE, name="lab")

    parsed = sqlglot.parse_one(create, read="hive")
    assert isinstance(parsed, exp.Create)
    assert parsed.args["this"].this.sql("hive") == "lab.`orders`"
    columns = parsed.find_all(exp.ColumnDef)
    types = {column.name: column.args["kind"].sql("hive") for column in columns}
    assert types == {
        "id": "BIGINT",
        "amount": "DECIMAL(12, 2)",
        "name": "VARCHAR(20)",
        "note": "STRING",
        "raw": "BINARY",
        "at": "TIMESTAMP",
        "tags": "ARRAY<STRING>",
        "sizes": "MAP<STRING, INT>",
        "spot": "STRUCT<x: INT, y: ARRAY<DOUBLE>>",
        "x": "INT",
        "y": "ARRAY<DOUBLE>",
        "dt": "STRING",
    }
    properties = parsed.args["properties"]
    assert properties.find(exp.SchemaCommentProperty).this.this == comment
    location = properties.find(exp.LocationProperty).this.this
    assert location == "oss://oss-cn-beijing-internal.aliyuncs.com/lake/w/shop.db/orders/"
    for part in (
        "PARTITIONED BY (`dt` STRING)",
        "STORED BY 'org.apache.paimon.hive.PaimonStorageHandler'",
        "WITH SERDEPROPERTIES ('odps.properties.rolearn' = 'acs:ram::139:role/",
    ):
        assert part in create
    assert repair == "MSCK REPAIR TABLE lab.`orders` ADD PARTITIONS"


def test_a_table_without_partitions_is_one_statement_for_maxcompute() -> None:
    table = orders({"id": "INT"})

    [create] = told(
        "maxcompute",
        {"warehouse": "oss://lake/w", "fs.oss.region": "cn-hangzhou"},
        tables=(table,),
        properties=ROLE,
    )

    assert create == (
        "CREATE EXTERNAL TABLE `orders` (\n"
        "  `id` INT\n"
        ")\n"
        "STORED BY 'org.apache.paimon.hive.PaimonStorageHandler'\n"
        "WITH SERDEPROPERTIES "
        "('odps.properties.rolearn' = 'acs:ram::139:role/aliyunodpsdefaultrole')\n"
        "LOCATION 'oss://oss-cn-hangzhou-internal.aliyuncs.com/lake/w/shop.db/orders/'"
    )


@pytest.mark.parametrize(
    ("engine", "column", "reason"),
    [
        ("maxcompute", "TIMESTAMP(6)", "its TIMESTAMP is a point in time"),
        ("maxcompute", "ARRAY<TIMESTAMP(3)>", "TIMESTAMP_LTZ would do"),
        ("maxcompute", "DECIMAL(38, 20)", "at most 18 fraction digits"),
        ("maxcompute", "VARCHAR(70000)", "at most 65535 characters"),
        ("maxcompute", "CHAR(300)", "at most 255 characters"),
        ("maxcompute", "TIME(3)", "'v' of type TIME"),
        ("maxcompute", "VARIANT", "'v' of type VARIANT"),
        ("maxcompute", "ROW<Up INT>", "the name 'Up'"),
        ("spark", "TIME(3)", "list no type for it"),
        ("starrocks", "VARIANT", "'v' of type VARIANT for starrocks"),
        ("starrocks", "MAP<STRING, VARIANT>", "list no type for it"),
        ("trino", "TIME(3)", "'v' of type TIME"),
        ("trino", "ARRAY<MULTISET<INT>>", "list no type for it"),
    ],
)
def test_a_column_without_a_type_there_is_refused_by_its_name(
    engine: str, column: str, reason: str
) -> None:
    table = orders({"id": "INT", "v": column})
    options = OSS if engine == "maxcompute" else S3

    with pytest.raises(UnsupportedError, match=reason) as refused:
        told(engine, options, tables=(table,), properties=ROLE)

    assert "shop.orders" in str(refused.value)


def test_tables_that_an_engine_can_read_change_nothing() -> None:
    table = orders(SCHEMA | {"plain": "TIMESTAMP(6)"})

    for engine in ("flink", "spark", "starrocks", "trino"):
        assert told(engine, S3, tables=(table,)) == told(engine, S3)


def test_maxcompute_partitions_by_whole_numbers_and_texts() -> None:
    table = orders({"id": "INT", "day": "DATE"}, partition_keys=("day",))

    with pytest.raises(UnsupportedError, match="partition column 'day' of type DATE"):
        told("maxcompute", OSS, tables=(table,), properties=ROLE)


@pytest.mark.parametrize(
    ("engine", "options", "said"),
    [
        ("starrocks", DLF, "metastore = 'rest' for starrocks"),
        ("starrocks", {"warehouse": "/data/w"}, "the warehouse /data/w for starrocks"),
        ("starrocks", S3 | {"s3.session-token": "t"}, "s3.session-token"),
        ("starrocks", OSS | {"fs.oss.cname.enabled": "true"}, "fs.oss.cname.enabled = 'true'"),
        ("starrocks", {"warehouse": "gs://lake/w"}, "without properties"),
        (
            "starrocks",
            {"warehouse": "hdfs://n/w", "hadoop.dfs.a": "b"},
            "hadoop.dfs.a = 'b' for starrocks",
        ),
        (
            "starrocks",
            {"metastore": "hive", "hive-conf-dir": "/c", "warehouse": "hdfs://n/w"},
            "without 'uri'",
        ),
        ("trino", {"metastore": "jdbc", "warehouse": "/w"}, "metastore = 'jdbc' for trino"),
        ("trino", OSS, "hive.config.resources"),
        ("maxcompute", DLF, "metastore = 'rest' for maxcompute"),
        ("dlf", S3, "clone_to"),
        ("emr", S3, "name the engine"),
    ],
)
def test_what_an_engine_cannot_be_told_is_refused_by_its_name(
    engine: str, options: dict[str, str], said: str
) -> None:
    with pytest.raises(UnsupportedError, match=said):
        told(engine, options)


def test_hdfs_is_reached_as_each_engine_has_it() -> None:
    options = {"warehouse": "hdfs://n:8020/w", "hadoop-conf-dir": "/conf"}
    kerberos = {"security.kerberos.login.principal": "me"}
    ours = {"hdfs.client": "libhdfs"}

    assert "/conf" not in told("starrocks", options | ours)[0]
    assert pairs_of("trino", told("trino", options | kerberos | ours)) == {
        "connector.name": "paimon",
        **options,
        **kerberos,
    }
    web = {"warehouse": "webhdfs://n:9870/w", "webhdfs.user": "me"}
    for engine in ("flink", "spark"):
        written = (*told(engine, options | ours), *told(engine, web))
        assert not [line for line in written if "hdfs.client" in line or "webhdfs.user" in line]
    site = {"hive.config.resources": "/core-site.xml"}
    told("trino", options | {"hadoop.dfs.a": "b"}, properties=site)
    with pytest.raises(UnsupportedError, match=r"hadoop\.dfs\.a"):
        told("trino", options | {"hadoop.dfs.a": "b"})


def test_what_is_missing_is_said() -> None:
    table = orders({"id": "INT"})
    missing: list[tuple[str, dict[str, str], dict[str, Any], str]] = [
        ("starrocks", {"warehouse": "s3://lake/w"}, {}, "use_instance_profile"),
        ("starrocks", {"warehouse": "oss://lake/w"}, {}, r"fs\.oss\.endpoint"),
        ("maxcompute", OSS, {"properties": ROLE}, "name them"),
        ("maxcompute", OSS, {"tables": (table,)}, "the role is missing"),
        ("maxcompute", OSS, {"tables": (table, table), "properties": ROLE}, "called orders"),
        ("flink", S3, {"name": "Lake"}, "'Lake' cannot be the name"),
        ("flink", S3, {"name": "a`; DROP"}, "cannot be the name"),
        ("starrock", S3, {}, "Did you mean 'starrocks'"),
    ]

    for engine, options, more, said in missing:
        with pytest.raises(ValueError, match=said):
            told(engine, options, **more)


@pytest.mark.parametrize("engine", ["flink", "spark", "starrocks", "trino"])
def test_secrets_are_written_only_where_they_are_asked_for(engine: str) -> None:
    of_s3 = S3 | {"s3.access-key": "zqhush", "s3.secret-key": "zqhush"}
    theirs = {"aws.s3.secret_key": "zqhush", "my.password": "zqhush"}
    others = ("s3", "fs.s3a", "webhdfs.", *theirs)
    many = {key: secret for key, secret in SECRETS.items() if not key.startswith(others)}
    options = of_s3 | (many if engine in ("flink", "spark") else {})

    hidden = "\n".join(told(engine, options, properties=theirs))
    shown = "\n".join(told(engine, options, properties=theirs, show_secrets=True))

    assert MARK not in hidden
    assert "zqhush" in shown
    assert "<my.password>" in hidden
    if engine in ("flink", "spark"):
        assert all(secret in shown for secret in many.values())


@pytest.mark.parametrize("uri", URIS)
def test_addresses_are_told_without_who_connects(uri: str) -> None:
    for key in ("uri", "warehouse"):
        options = {"metastore": "jdbc", "warehouse": "/w", "uri": "jdbc:sqlite:/c.db"} | {key: uri}
        for engine in ("flink", "spark"):
            assert MARK not in "\n".join(told(engine, options))


def test_a_request_shows_no_secret() -> None:
    asked = EngineRequest(options=SECRETS, properties=SECRETS)

    assert MARK not in repr(asked)


def test_a_catalog_tells_of_itself(tmp_path: Path) -> None:
    catalog = pm.connect(tmp_path)
    catalog.create_database("db")
    catalog.create_table("db.t", {"id": "INT", "v": "VARIANT"})
    catalog.create_table("db.u", {"id": "INT"})

    [flink] = catalog.statements_for("flink", ["db.t"], name="lake")

    assert pairs_of("flink", [flink]) == {"type": "paimon", "warehouse": catalog.path}
    assert catalog.statements_for("trino")
    with pytest.raises(UnsupportedError, match=r"db\.t: column 'v' of type VARIANT for trino"):
        catalog.statements_for("trino", ["db.t"])
    with pytest.raises(UnsupportedError, match=r"db\.u at .* for maxcompute"):
        catalog.statements_for("maxcompute", ["db.u"], properties=ROLE)
    with pytest.raises(TableNotFoundError):
        catalog.statements_for("trino", ["db.none"])
    with pytest.raises(SchemaError, match="branch"):
        catalog.statements_for("trino", ["db.t$branch_a"])


def test_a_catalog_of_a_server_tells_its_name_there() -> None:
    pytest.importorskip("urllib3")

    [flink] = pm.connect(DLF).statements_for("flink", show_secrets=True)

    assert pairs_of("flink", [flink]) == {"type": "paimon", **DLF}


def test_starrocks_is_not_told_of_oss_without_tls_in_silence() -> None:
    key = "fs.oss.connection.secure.enabled"
    assert told("starrocks", OSS | {key: "true"}) == told("starrocks", OSS)
    with pytest.raises(UnsupportedError, match=rf"{key} = 'false' for starrocks"):
        told("starrocks", OSS | {key: "false"})
