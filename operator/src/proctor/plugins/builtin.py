"""What Proctor brings itself, registered as a plugin would register it."""

from proctor.agents.command_options import CommandOptions
from proctor.agents.mini.options import MiniOptions
from proctor.agents.none_options import NoneOptions
from proctor.criteria.file_contains import FileContains, check_file_contains
from proctor.criteria.file_exists import FileExists, check_file_exists
from proctor.criteria.file_matches_regex import FileMatchesRegex, check_file_matches_regex
from proctor.criteria.json_check import JsonCheck, check_json_check
from proctor.criteria.run_command import RunCommand, check_run_command
from proctor.plugins.registrar import Registrar
from proctor.plugins.registry import Registry


def register(registry: Registrar) -> None:
    """Claim the built-in types."""
    registry.criterion(RunCommand, check_run_command)
    registry.criterion(FileExists, check_file_exists)
    registry.criterion(FileContains, check_file_contains)
    registry.criterion(FileMatchesRegex, check_file_matches_regex)
    registry.criterion(JsonCheck, check_json_check)
    registry.agent("none", NoneOptions, "proctor.agents.none:NoneAgent")
    registry.agent("command", CommandOptions, "proctor.agents.command:CommandAgent")
    registry.agent("mini", MiniOptions, "proctor.agents.mini.agent:MiniAgent")


def builtin_registry() -> Registry:
    """A registry of the built-in types."""
    return Registry().adding(register)
