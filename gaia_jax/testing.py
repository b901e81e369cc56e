"""Conformance of an environment."""
