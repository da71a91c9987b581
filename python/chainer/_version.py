"""The path of Chainer v7 of the version, which ESPnet takes from here."""

from chainer._base.version import __version__  # noqa: F401
