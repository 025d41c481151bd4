"""Tables of PostgreSQL as a source: what they have by COPY, then what changes by pgoutput."""
