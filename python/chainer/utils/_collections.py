"""Kept for those who import it from here."""

from collections import OrderedDict  # noqa: F401
