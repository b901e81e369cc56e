"""What every room stands on: files written whole, devices, processes, compiling."""
