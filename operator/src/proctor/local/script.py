"""The script of a run's scripted answers, wherever its text stands (pure)."""

from collections.abc import Mapping

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import ModelsMode
from proctor.planning.model import RunSource
from proctor.planning.scripts import script_problems

ConfigMaps = Mapping[str, Mapping[str, str]]
"""Data of ConfigMaps, by name."""


def script_text(source: RunSource, config_maps: ConfigMaps) -> str | None:
    """The text of the run's script; None when a provider answers, or nothing names one.

    Raises:
        SpecError: When the ConfigMap is in none of the files, or the script is wrong.
    """
    models = source.spec.models
    if models is None or models.mode is not ModelsMode.SCRIPTED or models.script is None:
        return None
    named, at = models.script.config_map, "spec.models.script"
    if named is None:
        return models.script.inline  # planning looks at it
    text = config_maps.get(named.name, {}).get(named.key)
    if text is None:
        problem = Problem(
            f"{at}.configMap",
            f"no file holds a ConfigMap {named.name!r} with the key {named.key!r}",
            "put it into the same file, or use models.script.inline",
        )
        raise SpecError([source.places.locate(problem)])
    problems = tuple(script_problems(text, at))
    if problems:
        raise SpecError([source.places.locate(problem) for problem in problems])
    return text
