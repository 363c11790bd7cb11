"""What fails `make generate`."""

from proctor.api.errors import ProctorError


class SchemaError(ProctorError):
    """A model, or two of them together, cannot be said in a structural schema."""
