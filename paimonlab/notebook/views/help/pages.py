"""The texts of ``%paimon_help``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paimonlab.errors import NotFoundError, close_matches
from paimonlab.notebook.cell.topics import Topic
from paimonlab.notebook.views.help.value import HelpEntry, HelpPage

FIRST_TOPIC: Topic = "magics"

TOPICS: Mapping[Topic, Sequence[tuple[str, str]]] = {
    "magics": (
        ("%paimon_connect PATH", "connect to a warehouse, see the topic connections"),
        ("%paimon_doctor", "whether this machine can run Spark, JupyterLab and the warehouse"),
        ("%paimon_demo [PATH]", "make two small tables to try things on, without Spark"),
        ("%paimon SELECT …", "run one line of Spark SQL; x = %paimon SELECT … keeps the result"),
        ("%%paimon", "run the cell as Spark SQL, see the topic sql"),
        ("%paimon_tables [DATABASE]", "list tables with their keys and latest snapshot"),
        ("%paimon_timeline DB.TABLE", "draw the newest snapshots; -n N for how many (20)"),
        ("%paimon_watch DB.TABLE", "follow it in one view; --seconds S, --background, --stop"),
        ("%paimon_manifests DB.TABLE", "draw manifests and entries; --snapshot N of an older one"),
        ("%paimon_heatmap DB.TABLE", "partitions and buckets by what they contain; --by files"),
        ("%paimon_lsm DB.TABLE", "draw levels, commit by commit; -p dt=… -b BUCKET -n N"),
        ("%paimon_health [DB | DB.TABLE]", "what could be better, and what to do; --orphans"),
        ("%paimon_changes DB.TABLE [FROM TO]", "rows that changed; --mode, --where, --to FILE"),
        ("%paimon_file DB.TABLE NAME", "one data file: columns, statistics, checksums, first rows"),
        ("%paimon_files DB.TABLE", "data files by size and place, and what to do about them"),
        (
            "%paimon_diff DB.TABLE [FROM TO]",
            "files, partitions and columns between two snapshots",
        ),
        ("%paimon_log DB.TABLE", "list what the newest commits did; -n N for how many (20)"),
        ("%paimon_schemas DB.TABLE", "show the history of the schema, column by column"),
        (
            "%paimon_compaction DB.TABLE",
            "what compactions did, and what would be picked now",
        ),
        ("%paimon_compact DB.TABLE", "what a compaction would rewrite; --full, -p; --yes does it"),
        ("%paimon_expire DB.TABLE", "snapshots to delete; --retain-max N, --older-than; --yes"),
        ("%paimon_travel DB.TABLE", "rows through time; --sql 'count(*), sum(a)', -n STEPS"),
        ("%paimon_row DB.TABLE CONDITION", "the life of one row: id = 5; -n SNAPSHOTS"),
        (
            "%paimon_profile DB.TABLE",
            "what is in each column; -o FILE, --where, --columns A,B, --all-files",
        ),
        ("%paimon_simulator [DB.TABLE]", "what other compaction options would cost; -n FLUSHES"),
        ("%paimon_fsck DB.TABLE", "check every file of a table; --deep reads all rows as well"),
        ("%paimon_streams", "streams of the session: rows, rates, how far behind; --stop NAME"),
        ("%paimon_source NAME ADDRESS", "name a source of changes; see the topic ingest"),
        (
            "%paimon_ingest [NAME]",
            "jobs that read changes in; NAME stop, pause, resume, resnapshot, add, drop",
        ),
        ("%paimon_trace", "show all of the last SQL error"),
        ("%paimon_history [TEXT]", "statements that were run; -n N, --failed"),
        ("%paimon_rerun NUMBER", "run a statement of the history again"),
        ("%paimon_help [TOPIC]", "this page, or another topic"),
    ),
    "connections": (
        ("%paimon_connect PATH", "connect with Spark; SQL finds the databases without a prefix"),
        ("--engine native, auto", "without Spark: views, queries, CALL; auto: Spark for the rest"),
        ("--catalog NAME, --alias NAME", "its name in SQL; its name for --use and --close"),
        ("--read-only", "refuse every statement that would change something"),
        ("%paimon_connect --use NAME", "go back to a connection, or make one that --list shows"),
        ("%paimon_connect --list", "connections: open, configured, on offer; --close NAME"),
        ("%paimon_connect --use SPARK_REMOTE", "SQL on a Spark Connect server, PATH for views"),
        ("[default], [NAME]", "in ~/.config/paimonlab/config.toml: warehouse, engine, catalog, …"),
        ("[tool.paimonlab.default]", "the same in pyproject.toml, here or in a folder above"),
        ("PAIMONLAB_WAREHOUSE", "the same for default, and _ENGINE, _CATALOG, _REMOTE; it wins"),
        ("remote = 'sc://HOST:PORT'", "in a setting: a Spark Connect server runs its SQL"),
        ("${NAME}", "in a setting: an environment variable; the only way to give secrets"),
    ),
    "sql": (
        ("%%paimon name <<", "keep the last result in the variable name, show nothing"),
        ("%%paimon name = <<", "keep the last result and show it; the same as -o name"),
        ("--limit N", "fetch N rows of a query (100); 0 is all; writes and CALL have no limit"),
        ("--max-bytes 20MB", "keep no more rows of a query than this; the footer says so"),
        ("--yes", "fetch more than a million rows without being asked"),
        ("--as-of 12", "read all tables as of a snapshot, a tag or '2026-01-31 12:00'"),
        ("--lazy", "return Spark's DataFrame of the last query and run nothing"),
        ("--view NAME", "make the last query a temporary view"),
        (
            "--dry-run, --explain [MODE]",
            "files that would be read; a plan: formatted, cost, extended",
        ),
        ("--dry-run CALL …", "show what it would delete or rewrite: files, bytes, reasons"),
        ("--dry-run DELETE …", "rows and files it would change, as INSERT …, without Spark"),
        ("--plot line X Y", "draw columns of the result, see the topic plots"),
        ("--profile", "also show what is in each column, of all rows of the last query"),
        ("--to rows.csv", "write all rows to a file: .csv, .parquet, .arrow, .json, .md"),
        ("--params NAME", "the values of a list, one for each ?; see the topic parameters"),
        ("--explain-params", "show the value of each parameter; nothing is run"),
        ("--all", "keep and return the results of all statements as a list, not only the last"),
        ("-j, --jinja", "the cell is a Jinja template, see the topic parameters"),
        ("--no-progress", "show no progress while Spark works"),
        ("SELECT …; SELECT …", "statements run in order; the first that fails ends the cell"),
        ("_paimon", "the last result"),
        ("paimonlab.sql(text, args={…})", "the same from Python"),
    ),
    "call": (
        (
            "CALL sys.compact(table => 'db.t')",
            "run a procedure; Tab lists them, and what they take",
        ),
        ("CALL sys.create_tag('db.t', 'v1')", "arguments by position"),
        ("CALL sys.rollback(table => :name, …)", "the value of the variable name"),
        (
            "SHOW PROCEDURES IN paimon.sys",
            "with Spark: list them; DESCRIBE PROCEDURE sys.compact",
        ),
    ),
    "streams": (
        ("%%paimon --stream", "run SELECT … FROM STREAM db.t until the kernel is interrupted"),
        ("FROM STREAM db.t WITH ('scan.mode' = 'latest')", "options of the stream, after the name"),
        ("INSERT INTO t SELECT … FROM STREAM s", "with --checkpoint: write to a table, once"),
        ("INSERT OVERWRITE t SELECT …", "each batch replaces all rows: the mode complete"),
        ("--stream update, complete, append", "how rows are written; update needs a primary key"),
        ("--checkpoint FOLDER", "remember there what was read; the same folder goes on"),
        ("--once", "read what is there, then end"),
        ("--limit N", "of a SELECT: keep the newest N rows (100)"),
        ("name <<", "keep the newest rows of a SELECT in a variable"),
        ("%paimon_streams", "list streams; --stop NAME ends one"),
    ),
    "ingest": (
        ("%paimon_source shop mysql://…", "name a source: mysql, postgres, kafka, files, paimon"),
        ("?password_env=NAME", "in an address: the environment variable with the password"),
        (
            "%paimon_source files files:./in",
            "a folder; %paimon_source s my_source takes a variable",
        ),
        ("CREATE TABLE IF NOT EXISTS ods.o", "… AS TABLE shop.db.orders: a table that follows"),
        ("(PRIMARY KEY (id) NOT ENFORCED)", "after the name: another key than that of the source"),
        ("PARTITIONED BY (dt) WITH ('bucket' = '2')", "then options of the table"),
        ("'ingest.interval' = '1 s'", "among them: name, until, evolve, max-dead … of the job"),
        ("/*+ OPTIONS('start' = 'latest') */", "after the source: how it is read"),
        ("ADD COLUMN (dt AS date_format(c, 'yyyy'))", "at the end: columns that are computed"),
        ("CREATE DATABASE ods AS DATABASE shop.db", "… INCLUDING ALL TABLES, or TABLE 'o.*'"),
        ("'ingest.until' = 'caught-up'", "run in the cell until all there is has been read"),
        (
            "%paimon_ingest [NAME]",
            "jobs; NAME stop, pause, resume, resnapshot TABLE, add PATTERN, drop [--yes]",
        ),
    ),
    "parameters": (
        ("WHERE dt = :day", "the value of the variable day, with its type, never as text"),
        ("WHERE id IN (SELECT explode(:ids))", "a list becomes an array"),
        ("--params days; WHERE dt = ?", "values by position: the list days has one for each ?"),
        ("--params \"[1, 'a']\"", "the same, written out; one statement has ? or :name, not both"),
        ("%%paimon -j", "the cell is a Jinja template: {{ day }} is a value, never text"),
        ("FROM {{ table|ident }}", "an identifier in back-quotes: 'db.t', or a list of its parts"),
        ("{{ text|raw }}", "text as SQL; nothing else inserts text"),
        ("--show-sql", "with -j: show the SQL and its parameters, run nothing"),
        ("FROM IDENTIFIER(:name)", "a table or column whose name is in a variable"),
    ),
    "plots": (
        ("%%paimon --plot line X Y", "a line; Y are numbers, X numbers, times or texts"),
        ("--plot bar X [Y]", "bars of Y, added up where X is the same; without Y rows are counted"),
        ("--plot hist X", "how numbers or times are spread, in at most 32 ranges"),
        ("--plot scatter X Y", "a mark for each row"),
        ("--by COLUMN", "a series for each value; the eight with most rows"),
        ("--show-code", "print the Python that makes the same figure"),
        ('result.plot("line", "x", "y", by="c")', "the same from Python: .figure, .code, .save"),
    ),
    "results": (
        ("result.to_arrow()", "the fetched rows as a pyarrow.Table"),
        ("result.to_pandas(), .to_polars()", "as pandas (integers keep their nulls) or polars"),
        ("result.to_markdown(), .to_html()", "what is shown, as text to paste elsewhere"),
        ("result.view.save(path)", "the interactive table as a page of its own"),
        ("result.spark", "the lazy Spark DataFrame, without a limit"),
        ("result.sql, result.stats", "the statement and what it cost"),
    ),
    "limits": (
        (
            "--limit N",
            "fetch N rows of a query (100); 0 is all; the footer says whether more exist",
        ),
        ("--max-bytes 20MB", "keep no more rows of a query than this"),
        ("--yes", "fetch more than a million rows without being asked"),
        ("--to rows.csv", "write all rows to a file: .csv, .parquet, .arrow, .json, .md"),
        ("INSERT …, CALL …", "only queries have a limit"),
        ("result.to_arrow()", "all rows that were fetched, with a warning if there are more"),
    ),
    "time travel": (
        ("SELECT … FROM db.t VERSION AS OF 3", "the table as of snapshot 3"),
        ("SELECT … FROM db.t VERSION AS OF 'tag'", "the table as of a tag"),
        ("SELECT … FROM db.t TIMESTAMP AS OF '2026-01-31 12:00:00'", "as of a moment"),
        ("%%paimon --as-of 3", "all tables of the cell; not its system tables, nor views"),
        ("SELECT … FROM db.t$snapshots", "the snapshots of a table"),
    ),
    "tables": (
        ("db.t", "a table; with several connections also catalog.db.t"),
        (
            "db.`my table`",
            "back-quotes around a name with other characters than letters, digits, _",
        ),
        ("%paimon_tables [DATABASE]", "list the tables"),
        ("%paimon_schemas DB.TABLE", "the columns of a table, and those that it had"),
        ("db.t$files", "a system table, see the topic system tables"),
    ),
    "system tables": (
        ("db.t$snapshots", "one row per commit"),
        ("db.t$schemas", "one row per version of the schema"),
        ("db.t$files", "data files of the latest snapshot"),
        ("db.t$manifests", "manifest files of the latest snapshot"),
        ("db.t$partitions, db.t$buckets", "rows, bytes and files of each"),
        ("db.t$tags, db.t$options", "tags; options"),
    ),
    "without spark": (
        ("%paimon_connect PATH --engine native", "connect without Spark"),
        ("%%paimon --engine native", "this cell without Spark; auto: Spark for what is refused"),
        ("SELECT … GROUP BY … ORDER BY", "joins, windows, WITH, subqueries, UNION; Spark's SQL"),
        ("… VERSION AS OF 3", "as of a snapshot or 'tag'; --as-of does the same"),
        ("FROM df", "a data frame of the notebook: pandas, polars, Arrow"),
        ("FROM 'weather.csv'", "a file: .csv, .json, .parquet; also before %paimon_connect"),
        ("is not supported", "not proven to do what Spark does; auto lets Spark run it"),
    ),
    "errors": (
        ("^^^^", "the part of the SQL that is wrong"),
        ("statement 3 of 5", "those before it were run, those after it were not"),
        ("%paimon_trace", "show all of the last SQL error"),
        ("%paimon_history --failed", "statements that failed; %paimon_rerun NUMBER runs one again"),
        ("%paimon_fsck DB.TABLE", "whether files of a table are damaged or missing"),
        ("%paimon_doctor", "whether Spark, Java and the warehouse work on this machine"),
    ),
    "environment": (
        ("PAIMONLAB_DETERMINISTIC=1", "hide times and sizes in views and footers; no progress"),
        ("PAIMONLAB_PROGRESS=0", "show no progress while Spark works"),
    ),
}


def page(topic: str) -> HelpPage:
    """Return a topic's page.

    Raises
    ------
    NotFoundError
        If there is no such topic.
    """
    wanted = topic.strip().lower().replace("-", " ")
    wanted = f"{wanted}s" if f"{wanted}s" in TOPICS else wanted
    for name, lines in TOPICS.items():
        if name == wanted:
            entries = tuple(HelpEntry(syntax=syntax, meaning=text) for syntax, text in lines)
            others = tuple(other for other in TOPICS if other != name)
            return HelpPage(topic=name, entries=entries, other_topics=others)
    close = close_matches(wanted, TOPICS) or f" There are {', '.join(TOPICS)}."
    raise NotFoundError(f"no help on {topic!r}.{close}")
