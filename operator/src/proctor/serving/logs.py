"""Log lines as JSON objects. No key, header or body is ever handed to a logger."""

import json
import logging
import sys
from datetime import UTC, datetime

FIELDS = "proctor_fields"
"""Attribute of a log record with more fields of its line."""


_ENCODE = json.JSONEncoder(default=str).encode


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and the record's fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        body = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, FIELDS, {}),
        }
        if record.exc_info:
            body["exception"] = self.formatException(record.exc_info)
        return _ENCODE(body)


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send all log lines of this process to stderr."""
    # What no line shows is not looked up: a tenth of a line's cost.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level, handlers=[handler], force=True)
