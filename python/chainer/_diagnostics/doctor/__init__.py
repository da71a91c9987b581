"""Looks at a training while it runs, and says what is wrong with it."""
