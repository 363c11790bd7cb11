"""Why a repository could not be fetched: whose fault it is decides whether it is tried again.

Beside the errors what their modules have in common.
"""

from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE
from proctor.runner.places import NotStartedError

REMEDY = "put the repository into the task's image (workspace.image)"
"""Where it is too large, or of another kind than is taken."""

HASH_BYTES = 20
"""Of an object's id, which is its SHA-1: repositories of other hashes are not taken."""


class GitRefusedError(NotStartedError):
    """The run asks for what it cannot get; another try would end the same way."""

    exit_code = EXIT_GIT_REFUSED


class GitUnreachableError(NotStartedError):
    """The server did not answer, or broke off: another try may succeed."""

    exit_code = EXIT_GIT_UNREACHABLE
