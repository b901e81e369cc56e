"""How arrays and programs are laid out for XLA: packed records, batches, slots, the cache."""
