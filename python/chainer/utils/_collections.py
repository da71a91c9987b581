"""Kept for programs that import it from here."""

from collections import OrderedDict  # noqa: F401
