"""Diagnostics: missing gradients and names, versions, numerical gradients."""
