"""What can go wrong, each with its remedy in the message."""


class ImagesError(Exception):
    """The images cannot be built as asked."""
