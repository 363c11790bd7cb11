"""The calls of buildah that make images, as root, without an engine and without user namespaces."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cluster.images.catalog import Image
from cluster.images.errors import ImagesError
from cluster.images.registries import ENVIRONMENT, MOUNT


@dataclass(frozen=True, slots=True)
class Buildah:
    """Buildah with a storage of its own; ``registries`` is mounted while steps run."""

    storage: Path
    registries: Path
    driver: str = "overlay"

    def has(self, reference: str) -> bool:
        """Say whether the storage holds an image of this name."""
        command = self._command("inspect", "--type=image", reference)
        return subprocess.run(command, capture_output=True).returncode == 0

    def import_root(self, tarball: Path, reference: str, environment: Mapping[str, str]) -> None:
        """Make an image of one layer, the root in ``tarball``."""
        container = self._call("from", "scratch")
        self._call("add", container, str(tarball), "/")
        self._commit(container, reference, environment)

    def configure(self, source: str, reference: str, environment: Mapping[str, str]) -> None:
        """Make an image that is ``source`` with variables added."""
        self._commit(self._call("from", source), reference, environment)

    def build(self, image: Image, context: Path, *, base: str, reference: str, log: Path) -> None:
        """Build ``image`` from ``context`` on ``base``; the steps' output goes to ``log``."""
        arguments = {"BASE": base, **image.arguments}
        unfinished = f"localhost/unfinished-{image.name}"
        command = self._command(
            "build",
            "--layers",
            "--isolation=chroot",
            "--network=host",
            f"--volume={self.registries}:{MOUNT}",
            *(f"--build-arg={name}={value}" for name, value in arguments.items()),
            f"--file={context / image.dockerfile}",
            f"--tag={unfinished}",
            str(context),
        )
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("w") as output:
            done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise ImagesError(
                f"{image.dockerfile} was not built: {_last_lines(log)}; all of it: {log}"
            )
        # Not by --unsetenv: it applies at the end of each stage, and later ones need the variables.
        self._commit(self._call("from", unfinished), reference, dict.fromkeys(ENVIRONMENT))

    def save(self, reference: str, archive: Path) -> None:
        """Write an image to a docker-archive, whose layers are not compressed, so quick to make."""
        unfinished = archive.with_name(f"unfinished-{archive.name}")
        archive.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        self._call("push", "--quiet", reference, f"docker-archive:{unfinished}:{reference}")
        unfinished.rename(archive)

    def _commit(
        self, container: str, reference: str, environment: Mapping[str, str | None]
    ) -> None:
        variables = [
            f"--env={name}-" if value is None else f"--env={name}={value}"
            for name, value in environment.items()
        ]
        self._call("config", *variables, container)
        self._call("commit", "--quiet", "--rm", container, reference)

    def _call(self, *arguments: str) -> str:
        command = self._command(*arguments)
        try:
            done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
        except FileNotFoundError:
            raise ImagesError("buildah is not installed; apt-get install buildah") from None
        except subprocess.CalledProcessError as error:
            raise ImagesError(
                f"{' '.join(command)} ended with {error.returncode}; its output is above"
            ) from None
        return done.stdout.strip()

    def _command(self, *arguments: str) -> tuple[str, ...]:
        run = self.storage.with_name(f"{self.storage.name}-run")
        places = (f"--root={self.storage}", f"--runroot={run}", f"--storage-driver={self.driver}")
        return ("buildah", *places, *arguments)


def _last_lines(log: Path, count: int = 5) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-count:])
