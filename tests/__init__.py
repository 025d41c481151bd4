"""Tests of paimonlab; a package, so that `tests.support` is ours and nobody else's."""
