"""Whether this machine can run Spark, JupyterLab and the warehouse."""
