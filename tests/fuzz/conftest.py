"""Says at the end how many wrong inputs were tried."""

from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", [])]
    lines = {"command line": "fuzz/test_cli", "API": "fuzz/test_api"}
    for name, part in lines.items():
        count = sum(part in node and "[" in node for node in passed)
        if count:
            terminalreporter.write_line(f"fuzz: {count} {name} cases passed")
