"""The table in a browser: games between people and agents, records, analysis.

`python -m training.play`, or `make play`. Needs the extra `play`.
"""
