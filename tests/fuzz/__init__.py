"""Wrong input for the command lines and the Python API: each case in a process of its own."""
