"""Live tests against Java Paimon: each reads what the other writes."""
