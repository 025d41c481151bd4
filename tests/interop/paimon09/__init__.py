"""Live tests against Paimon 0.9, through its Spark 3.5 connector."""
