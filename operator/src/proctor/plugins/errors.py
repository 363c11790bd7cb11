"""What is wrong with a plugin, or with two of them together."""

from proctor.api.errors import ProctorError


class PluginError(ProctorError):
    """A plugin registers something that cannot work; the message names it."""


class TypeConflictError(PluginError):
    """Two plugins claim one type."""
