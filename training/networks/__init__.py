"""Networks: what they read, their layers and heads."""
