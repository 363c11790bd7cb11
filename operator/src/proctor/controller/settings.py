"""The operator's settings: one YAML file, which the chart writes, read once at start."""

from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

import yaml
from pydantic import AfterValidator, Field, model_validator

from proctor.api.base import Spec
from proctor.api.container import Resources
from proctor.api.egress import EgressMode


class TrialSettings(Spec):
    """What holds for every trial pod."""

    user_id: Annotated[
        int | None,
        Field(ge=1, description="UID and GID; null leaves both to the platform (OpenShift)."),
    ] = 64000
    allow_image_user: Annotated[
        bool, Field(description="Whether runs may ask for `sandbox.user: Image`, root included.")
    ] = False
    user_namespaces: Annotated[
        bool, Field(description="Give pods with user Image a user namespace (hostUsers: false).")
    ] = False
    grade_resources: Annotated[
        Resources, Field(description="Of the containers that run no agent code.")
    ] = Resources(cpu="500m", memory="512Mi", ephemeral_storage="1Gi")
    finished_pods: Annotated[
        Literal["Keep", "KeepFailed", "Delete"],
        Field(description="What happens to pods once their verdict is recorded."),
    ] = "KeepFailed"
    max_record_mib: Annotated[
        int | None,
        Field(
            ge=1,
            alias="maxRecordMiB",
            description="The largest record that the results server takes; null: no bound.",
        ),
    ] = None
    allow_changes: Annotated[
        tuple[str, ...],
        Field(
            description="Patterns of what admission may add to pods of trials or change in them, "
            "such as container/istio-* or env/agent/HTTP_PROXY."
        ),
    ] = ()


Port = Annotated[int, Field(ge=1, le=65535)]
Block = Annotated[str, AfterValidator(lambda text: str(ip_network(text)))]
"""Addresses as ``10.0.0.0/8``."""


class Endpoint(Spec):
    """A Service of ours that trials may reach by one port, which is its pods' too."""

    service: Annotated[str, Field(min_length=1)]
    namespace: Annotated[str, Field(min_length=1)]
    port: Port
    pod_labels: Annotated[dict[str, str], Field(min_length=1, description="Of its pods.")]
    canary: Annotated[
        Port | None, Field(description="A port that answers, and that no trial may reach.")
    ] = None

    @property
    def host(self) -> str:
        """Its name in the cluster."""
        return f"{self.service}.{self.namespace}.svc"


def _has_canary(endpoint: Endpoint) -> Endpoint:
    if endpoint.canary is None:
        raise ValueError("without a canary the network cannot be proved: name its port")
    return endpoint


class NetworkSettings(Spec):
    """What trial pods may reach, and how sure that has to be."""

    gateway: Annotated[Endpoint, AfterValidator(_has_canary)]
    egress_proxy: Annotated[
        Endpoint | None, Field(description="For mode AllowList; null: it is not offered.")
    ] = None
    results: Annotated[
        Endpoint | None, Field(description="Takes records; null: there is no results server.")
    ] = None
    egress_secret_file: Annotated[
        Path | None, Field(description="What passes for the egress proxy are signed with.")
    ] = None
    require_enforcement: Annotated[
        bool, Field(description="Whether no agent starts where policies are not enforced.")
    ] = True
    cluster_ranges: Annotated[
        tuple[Block, ...],
        Field(description="Further blocks that mode Open leaves out, such as those of nodes."),
    ] = ()
    dns_ports: Annotated[
        tuple[Port, ...], Field(min_length=1, description="Of the cluster's DNS, for mode Open.")
    ] = (53,)

    @model_validator(mode="after")
    def _proxy_has_a_secret(self) -> Self:
        if (self.egress_proxy is None) != (self.egress_secret_file is None):
            raise ValueError("egressProxy and egressSecretFile go together")
        return self

    @property
    def egress_modes(self) -> frozenset[EgressMode]:
        """Modes that are offered here."""
        missing = {EgressMode.ALLOW_LIST} if self.egress_proxy is None else set[EgressMode]()
        return frozenset(EgressMode) - missing


class ResultsSettings(Spec):
    """The results server, as trial pods and the operator reach it."""

    upload_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", description="For records.")]
    upload_seconds: Annotated[
        int, Field(ge=1, le=3600, description="For how long grade tries to send its record.")
    ] = 120
    read_url: Annotated[
        str | None, Field(pattern=r"^https?://[^\s]+$", description="For bundles; null: none.")
    ] = None
    token_file: Annotated[
        Path | None, Field(description="The operator's own key, for bundles.")
    ] = None

    @model_validator(mode="after")
    def _read_with_a_token(self) -> Self:
        if (self.read_url is None) != (self.token_file is None):
            raise ValueError("readUrl and tokenFile go together")
        return self


class OperatorSettings(Spec):
    """Everything that the operator is told from outside."""

    namespaces: Annotated[
        tuple[str, ...], Field(description="Namespaces to serve; empty: all of them.")
    ] = ()
    runner_image: Annotated[str, Field(min_length=1, description="Image with the runner.")]
    task_image: Annotated[str, Field(min_length=1, description="For tasks that name no image.")]
    image_pull_policy: Literal["IfNotPresent", "Always", "Never"] = "IfNotPresent"
    image_pull_secrets: Annotated[
        tuple[str, ...], Field(description="Names, in the trial's namespace.")
    ] = ()
    network: NetworkSettings
    gateway_token_file: Annotated[
        Path | None, Field(description="The operator's own key for bills; null: no bills.")
    ] = None
    priced_models: Annotated[
        tuple[str, ...],
        Field(description="Models that the gateway's configuration gives a price."),
    ] = ()
    results: Annotated[
        ResultsSettings | None, Field(description="Null: records stay in their pods.")
    ] = None
    trial: TrialSettings = TrialSettings()
    plan_bytes: Annotated[
        int, Field(ge=1, description="Orders of all plans that are held; they take twice as much.")
    ] = 128 << 20
    port: Annotated[int, Field(ge=1, le=65535, description="Health and metrics.")] = 8080

    @property
    def gateway_url(self) -> str:
        """Base URL of the gateway."""
        gateway = self.network.gateway
        return f"http://{gateway.host}:{gateway.port}"


def read_settings(path: Path) -> OperatorSettings:
    """Read the file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no YAML, or holds something that is no setting; the message says what.
    """
    try:
        return OperatorSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from error
