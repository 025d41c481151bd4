"""Facts of a table: its levels, compactions, files, snapshots, manifests, health.

Answers what a table looks like, in frozen values: for scripts, for the notebook to draw, for the
command line to print. Knows `Table` and everything below it; must not know how a value is shown,
Spark, IPython or pandas. Modules named ``reading_…`` read metadata, all others are pure.
"""
