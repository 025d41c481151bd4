"""Data files outside the table's folder: which roots new files go to, which may be read.

A manifest may come from a stranger, so a path in it is followed only below a root that the
table's definition or the catalog names.

Source: apache/paimon@1.3.1 ``org.apache.paimon.AbstractFileStore``, external paths; of Paimon 2
``org.apache.paimon.fs.EntropyInjectExternalPathProvider`` and ``WeightedExternalPathProvider``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from paimonlab.errors import SchemaError, UnsupportedError
from paimonlab.spec.binary_row.murmur import hash_bytes
from paimonlab.spec.options.table_options import OptionSlice, option_field

_OPTION = "data-file.external-paths"
_WEIGHTS = f"{_OPTION}.weights"
_ENTROPY_BITS = 20


NO_PLACES = (
    "a table of this catalog lives in the folder of its database; catalogs of a Hive metastore and "
    "of a REST server take places. For a table that is there already connect a catalog to its "
    "warehouse"
)
"""What to do where a catalog takes no ``LOCATION``."""


class ExternalFolders(Struct, frozen=True, kw_only=True):
    """Absolute folders that new files are spread over."""

    folders: tuple[str, ...] = ()
    """(): files go to the table's folder."""
    weights: tuple[int, ...] = ()
    """How many of all files each folder gets, relatively; (): files go there in turn."""
    has_entropy: bool = False
    """Whether files go to sub-folders that a hash of their names gives."""

    def below(self, path: str) -> ExternalFolders:
        """Return the same folder of each root."""
        return replace(self, folders=tuple(f"{root}/{path}" for root in self.folders))

    def folder_for(self, name: str, number: int, draw: float) -> str:
        """Choose where a file goes.

        Parameters
        ----------
        name
            Name of the file.
        number
            How many files came before.
        draw
            A random number, at least 0 and less than 1.
        """
        if self.weights:
            limit = draw * sum(self.weights)
            return self.folders[bisect_right([*accumulate(self.weights)], limit)]
        folder = self.folders[number % len(self.folders)]
        return f"{folder}/{_entropy(name)}" if self.has_entropy else folder


def _entropy(name: str) -> str:
    """Return folders named by a hash, so that a store spreads the files over its machines.

    >>> _entropy("data-0.parquet")
    '0110/1000/1010/10111011'
    """
    bits = f"{hash_bytes(name.encode()) % (1 << _ENTROPY_BITS):0{_ENTROPY_BITS}b}"
    return "/".join((bits[:4], bits[4:8], bits[8:12], bits[12:]))


class ExternalPathOptions(OptionSlice):
    """The table options that put data files elsewhere."""

    roots: tuple[str, ...] = option_field(_OPTION, "list", ())
    """``data-file.external-paths``: URIs."""
    strategy: str = option_field("data-file.external-paths.strategy", "string", "none")
    """``data-file.external-paths.strategy``: how new files are spread over the roots."""
    specific_scheme: str = option_field("data-file.external-paths.specific-fs", "string", "")
    """``data-file.external-paths.specific-fs``: new files go to roots of this scheme only."""
    weights: tuple[str, ...] = option_field(_WEIGHTS, "list", ())
    """``data-file.external-paths.weights``: of the roots, for ``weight-robin``."""

    @property
    def readable_folders(self) -> tuple[str, ...]:
        """Folders of the roots that files may be read from, whatever the strategy is now."""
        return tuple(root_folder(root) for root in self.roots if scheme_of(root) == "file")

    @property
    def write_folders(self) -> ExternalFolders:
        """Where new files go.

        Raises
        ------
        SchemaError
            If a root has no scheme, no root has the scheme asked for, or the weights do not fit.
        UnsupportedError
            If a root is not on the local disk.
        """
        strategy = self.strategy.lower()
        if strategy == "none" or not self.roots:
            return ExternalFolders()
        schemes = {root: scheme_of(root) for root in self.roots}
        if "" in schemes.values():
            raise SchemaError(f"option {_OPTION!r}: every path needs a scheme, like file:/data")
        chosen = [
            root
            for root, scheme in schemes.items()
            if strategy != "specific-fs" or scheme == self.specific_scheme.lower()
        ]
        if not chosen:
            raise SchemaError(
                f"option {_OPTION!r}: none of the paths has the scheme that "
                f"'{_OPTION}.specific-fs' = {self.specific_scheme!r} asks for"
            )
        return ExternalFolders(
            folders=tuple(root_folder(root) for root in chosen),
            weights=self._checked_weights() if strategy == "weight-robin" else (),
            has_entropy=strategy == "entropy-inject",
        )

    def _checked_weights(self) -> tuple[int, ...]:
        if len(self.weights) != len(self.roots) or not all(map(_is_weight, self.weights)):
            raise SchemaError(
                f"option {_WEIGHTS!r} = {','.join(self.weights)!r}: 'weight-robin' needs a whole "
                f"number above 0 for each of the {len(self.roots)} paths of {_OPTION!r}"
            )
        return tuple(map(int, self.weights))


def _is_weight(text: str) -> bool:
    return text.isdecimal() and 0 < int(text) < 2**31


def scheme_of(uri: str) -> str:
    """Return the scheme of a path in lower case; "" without one.

    >>> scheme_of("file:/data"), scheme_of("S3://bucket/t"), scheme_of("/data")
    ('file', 's3', '')
    """
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon and "/" not in scheme else ""


def folder_of(uri: str) -> str:
    """Return the path of a file or folder in the local store.

    Nothing is unescaped: ``%3A`` in a path of Paimon's are three characters.

    Raises
    ------
    UnsupportedError
        If it is not on the local disk.

    Examples
    --------
    >>> folder_of("file:///data/t/"), folder_of("file:/data"), folder_of("/data")
    ('/data/t', '/data', '/data')
    """
    scheme = scheme_of(uri)
    path = uri.partition(":")[2] if scheme else uri
    if scheme not in ("", "file") or (path.startswith("//") and not path.startswith("///")):
        raise UnsupportedError(
            f"{_OPTION} = '{uri}'", f"there is no built-in store for {scheme or uri!r}"
        )
    return "/" + path.strip("/")


def root_folder(uri: str) -> str:
    """Return the folder of a root.

    Raises
    ------
    SchemaError
        If it is not absolute, leads upwards, or is the whole store.
    """
    folder = folder_of(uri)
    parts = folder[1:].split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise SchemaError(
            f"option {_OPTION!r}: {uri!r} must be an absolute path below the root of the store"
        )
    return folder


def external_file(uri: str, roots: Sequence[str], *, table: str) -> str:
    """Return the path of a data file that metadata puts outside the table's folder.

    Parameters
    ----------
    uri
        As the manifest entry has it.
    roots
        Folders that files may be read from.
    table
        The table's folder, for messages.

    Raises
    ------
    UnsupportedError
        If it is outside of all of them.
    """
    path = folder_of(uri)
    parts = path[1:].split("/")
    is_plain = all(part not in {"", ".", ".."} and part.isprintable() for part in parts)
    is_plain = is_plain and "\\" not in path
    if not is_plain or not any(path.startswith(f"{root}/") for root in roots):
        allowed = ", ".join(root for root in roots if root != table) or "there are none"
        raise UnsupportedError(
            f"a data file outside of {_OPTION!r}",
            f"{table}: {uri!r} is neither in the table's folder nor below an allowed root "
            f"({allowed}). Add its root to the catalog option 'allowed-external-roots' if you "
            "trust the table",
        )
    return path
