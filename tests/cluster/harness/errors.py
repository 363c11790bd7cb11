"""The one error that the tool reports to a person instead of raising a traceback."""


class HarnessError(Exception):
    """Something that the person can put right: names the thing, its value and the remedy."""
