"""iDeep, if it is there, or a stand-in for its arrays; levels of use, as for cuDNN."""

from __future__ import annotations

import typing as tp

error: ImportError | None = None
ideep: tp.Any = None
try:
    import ideep4py as ideep  # type: ignore[import-not-found, no-redef]  # noqa: F401
    from ideep4py import mdarray
except ImportError as e:
    error = e

    class mdarray:  # type: ignore[no-redef]
        """Stands in for ``ideep4py.mdarray``; nothing is an instance."""


def lookup(table: dict[str, dict[str, tp.Any]], level: str, key: str, value: object) -> tp.Any:
    """Reads a table of levels and settings; errors name the levels or settings that there are."""
    if level not in table:
        raise ValueError(
            f'invalid {key} level: {level!r} (must be one of {", ".join(map(repr, table))})'
        )
    if value not in table[level]:
        raise ValueError(
            f'invalid {key} configuration: {value!r} '
            '(must be either of "always", "auto", or "never")'
        )
    return table[level][value]
