"""Texts in a pod's document that mean themselves (pure)."""


def literal(text: str) -> str:
    """Kubernetes replaces ``$(NAME)`` in commands; ``$$`` stands for itself."""
    return text.replace("$", "$$")
