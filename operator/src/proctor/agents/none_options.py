"""Options of the agent type ``none``: there are none."""

from proctor.api.base import Spec


class NoneOptions(Spec):
    """No agent runs; the workspace is graded as it was laid down."""
