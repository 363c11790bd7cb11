"""Prints one line for each agent of a suite, also when several processes test."""

from agent_runs import LINES


def pytest_terminal_summary(terminalreporter):
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, ())]
    for report in reports:
        lines = dict(report.user_properties).get(LINES, ())
        if lines:
            terminalreporter.section(f"{report.nodeid}: agent, outcome, score, why")
        for text in lines:
            terminalreporter.write_line(text)
