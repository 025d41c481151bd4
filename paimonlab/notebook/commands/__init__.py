"""What the magics do, as functions: each magic calls one of these and returns what it returns.

A module for each view, which reads what the view needs and nothing else.
"""

from __future__ import annotations

from paimonlab.notebook.commands.changes import changes
from paimonlab.notebook.commands.compaction import compaction
from paimonlab.notebook.commands.connections import list_connections
from paimonlab.notebook.commands.demo import demo
from paimonlab.notebook.commands.diff import diff
from paimonlab.notebook.commands.doctor import doctor
from paimonlab.notebook.commands.file import file
from paimonlab.notebook.commands.files import files
from paimonlab.notebook.commands.fsck import fsck
from paimonlab.notebook.commands.health import health
from paimonlab.notebook.commands.heatmap import heatmap
from paimonlab.notebook.commands.help import show_help
from paimonlab.notebook.commands.log import log
from paimonlab.notebook.commands.lsm import lsm
from paimonlab.notebook.commands.manifests import manifests
from paimonlab.notebook.commands.planned import planned
from paimonlab.notebook.commands.problem import problem
from paimonlab.notebook.commands.profile import check_profiles, profile, profile_query
from paimonlab.notebook.commands.schemas import schemas
from paimonlab.notebook.commands.simulator import simulate
from paimonlab.notebook.commands.sql import (
    DEFAULT_LIMIT,
    MANY_ROWS,
    Manner,
    check_views,
    lazy,
    parse,
    run,
    sql,
    write,
)
from paimonlab.notebook.commands.statements import explain_parameters, statement_history
from paimonlab.notebook.commands.tables import tables
from paimonlab.notebook.commands.timeline import timeline
from paimonlab.notebook.commands.travel import travel
from paimonlab.notebook.connection import connect
from paimonlab.notebook.plan_modes import Explained

__all__ = [
    "DEFAULT_LIMIT",
    "MANY_ROWS",
    "Explained",
    "Manner",
    "changes",
    "check_profiles",
    "check_views",
    "compaction",
    "connect",
    "demo",
    "diff",
    "doctor",
    "explain_parameters",
    "file",
    "files",
    "fsck",
    "health",
    "heatmap",
    "lazy",
    "list_connections",
    "log",
    "lsm",
    "manifests",
    "parse",
    "planned",
    "problem",
    "profile",
    "profile_query",
    "run",
    "schemas",
    "show_help",
    "simulate",
    "sql",
    "statement_history",
    "tables",
    "timeline",
    "travel",
    "write",
]
