"""Set-ups: how they are drawn, written as JSON and read again."""
