"""Layout of arrays and programs for XLA: packed records, batches, slots, the cache."""
