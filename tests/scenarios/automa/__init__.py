"""Scenarios of the Automa: the worked examples of its rules, and each ruling once."""
