"""Why a repository could not be fetched: whose fault it is decides whether it is tried again."""

from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE
from proctor.runner.places import NotStartedError


class GitRefusedError(NotStartedError):
    """The run asks for what it cannot get; another try would end the same way."""

    exit_code = EXIT_GIT_REFUSED


class GitUnreachableError(NotStartedError):
    """The server did not answer, or broke off: another try may succeed."""

    exit_code = EXIT_GIT_UNREACHABLE
