"""Which Secrets agents are given, and what is wrong with that (pure)."""

from collections.abc import Iterable, Iterator

from proctor.api.errors import Problem
from proctor.api.secret_refs import MAX_SECRETS, SecretUse
from proctor.planning.layers import Settings


def secrets_of_agent(settings: Settings) -> tuple[SecretUse, ...]:
    """Every Secret that the agent of one (task, variant) is given: variables, then volumes."""
    variables = (
        SecretUse(name=ref.name, key=ref.key, variable=variable)
        for variable, ref in sorted(settings.secret_env.items())
    )
    template = settings.sandbox.pod_template
    volumes = (
        SecretUse(name=volume.secret.secret_name, mount_path=volume.mount_path)
        for volume in (template.volumes if template else ())
        if volume.secret is not None
    )
    return (*variables, *volumes)


def described(use: SecretUse) -> str:
    """The use in a few words, for records."""
    place = use.variable or use.mount_path
    return f"{use.name}{f'/{use.key}' if use.key else ''} as {place}"


def secret_problems(settings: Settings) -> Iterator[Problem]:
    """What is wrong with the variables once all layers are merged."""
    for name in sorted(settings.env.keys() & settings.secret_env.keys()):
        yield Problem(
            settings.field(f"agent.secretEnv.{name}"),
            f"{name} is in agent.env and in agent.secretEnv",
            "keep one of them",
        )


def given_secrets(uses: Iterable[SecretUse]) -> tuple[SecretUse, ...]:
    """Each use once, in a fixed order."""
    return tuple(sorted(set(uses), key=lambda use: use.model_dump_json()))


def count_problems(uses: tuple[SecretUse, ...]) -> Iterator[Problem]:
    """More uses than a status can name."""
    if len(uses) > MAX_SECRETS:
        yield Problem(
            "spec",
            f"agents of this run are given Secrets in {len(uses)} ways, and the status names each",
            f"keep them at {MAX_SECRETS}, or split the run",
        )
