"""Hostile calls, drawn at random: see README.md."""
