"""Pictures of every view on four tables, to be looked at, and what can be measured of them."""
