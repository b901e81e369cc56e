"""Imitation: an expert's values of its candidates, and a network that learns them."""
