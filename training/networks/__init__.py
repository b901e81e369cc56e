"""Networks: inputs, layers and heads."""
