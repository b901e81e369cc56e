"""The printed pieces of Gaia Project and The Lost Fleet, as plain data.

No arrays, no rules: each module can be proof-read against the box. Ids are the words that
action texts, set-ups and logs use; the order of a tuple is the order of every array axis over it.
"""
