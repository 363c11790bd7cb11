"""Where things of a run lie on this machine. Nothing here reads or writes.

::

    <run folder>/                  mode 0700
      run.json                     the run's status and one line a trial
      evalrun.json                 the run as it was planned, for --resume
      ledger/                      the gateway's: what its model calls used
      repositories/                what workspaces start from, while the run goes on
      trials/<task>/<variant>/<repeat>/
        trial.json                 the trial's status and history
        record/                    what grade wrote: manifest.json and its parts
        logs/<attempt>-<phase>.log
        work/                      of the last attempt; removed when it passed
          workspace/ home/         the agent's, then copies of it for the checks
          frozen/workspace/ home/  what the agent left
          evidence/agent/ checks/
          persist-0/ …             in containers: what else passes from agent to checks
          tmp/                     in containers: /tmp of the phase that runs now
          handshake/               in containers with checks in place: the one-time secret
          private/                 orders and keys of the phase that runs now
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from proctor.api.workspace import GitRepository
from proctor.engine.model import TrialId


@dataclass(frozen=True, slots=True)
class RunPlaces:
    """The folder of a run."""

    folder: Path

    @property
    def run_file(self) -> Path:
        """The run's status and one line a trial."""
        return self.folder / "run.json"

    @property
    def source_file(self) -> Path:
        """The run as it was planned."""
        return self.folder / "evalrun.json"

    @property
    def ledger(self) -> Path:
        """The gateway's ledger, so that a resumed run knows what it has spent."""
        return self.folder / "ledger"

    @property
    def repositories(self) -> Path:
        """What workspaces start from."""
        return self.folder / "repositories"

    def repository(self, repository: GitRepository) -> Path:
        """The folder of one repository's commit."""
        digest = hashlib.sha256(repository.model_dump_json().encode()).hexdigest()
        return self.repositories / digest[:16]

    def trial(self, trial: TrialId) -> "TrialPlaces":
        """The folder of a trial.

        A task's name may hold ``/`` and ``..``; ``+``, which it may not hold, takes the place of
        each ``/``, so that it is one folder, of this trial alone.
        """
        task = trial.task.replace("/", "+")
        return TrialPlaces(self.folder / "trials" / task / trial.variant / str(trial.repeat))


@dataclass(frozen=True, slots=True)
class TrialPlaces:
    """The folder of a trial."""

    folder: Path

    @property
    def trial_file(self) -> Path:
        """The trial's status and history."""
        return self.folder / "trial.json"

    @property
    def record(self) -> Path:
        """What grade wrote."""
        return self.folder / "record"

    @property
    def work(self) -> Path:
        """Everything of the last attempt but its record and logs."""
        return self.folder / "work"

    @property
    def workspace(self) -> Path:
        """The agent's workspace; when checks run, their copy of it."""
        return self.work / "workspace"

    @property
    def home(self) -> Path:
        """The agent's HOME; when checks run, their copy of it."""
        return self.work / "home"

    @property
    def frozen(self) -> Path:
        """What the agent left, untouched by the checks."""
        return self.work / "frozen"

    @property
    def private(self) -> Path:
        """Orders and keys of the phase that runs now."""
        return self.work / "private"

    @property
    def scratch(self) -> Path:
        """For hidden files, while the checks run."""
        return self.work / "scratch"

    @property
    def temporary(self) -> Path:
        """``/tmp`` of the container that runs now."""
        return self.work / "tmp"

    @property
    def handshake(self) -> Path:
        """Where ``loop`` leaves its one-time secret for the runner in the agent's container."""
        return self.work / "handshake"

    @property
    def key(self) -> Path:
        """The gateway's key of the phase that runs now."""
        return self.private / "key"

    def orders(self, phase: str) -> Path:
        """Orders of the phase that runs now."""
        return self.private / f"{phase}.json"

    def persisted(self, index: int) -> Path:
        """One of the folders that the sandbox persists; only containers have them."""
        return self.work / f"persist-{index}"

    def evidence(self, phase: str) -> Path:
        """What a phase leaves for ``grade``."""
        return self.work / "evidence" / phase

    def log(self, attempt: int, phase: str) -> Path:
        """Standard output and error of a phase."""
        return self.folder / "logs" / f"{attempt}-{phase}.log"
