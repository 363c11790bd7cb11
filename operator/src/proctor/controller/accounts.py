"""The ServiceAccount ``proctor-trial``: what it is, and what it must not carry (pure)."""

from typing import Any

from proctor.controller.cluster import Body
from proctor.controller.names import SERVICE_ACCOUNT

CLOUD_IDENTITIES = (
    "eks.amazonaws.com/",
    "iam.gke.io/",
    "azure.workload.identity/",
    "pod-identity.alibabacloud.com/",
    "iam.cloud.ibm.com/",
)
"""Annotations (and labels of pods) that begin so give an identity in a cloud. The chart's policy
lists the same."""

_MADE_FOR_IT = (f"{SERVICE_ACCOUNT}-dockercfg-", f"{SERVICE_ACCOUNT}-token-")
"""Secrets that OpenShift makes for every account; a trial mounts none of them."""


def trial_account(namespace: str) -> dict[str, Any]:
    """The ServiceAccount as we make it."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": SERVICE_ACCOUNT, "namespace": namespace},
        "automountServiceAccountToken": False,
    }


def account_problem(account: Body) -> str | None:
    """Why trials must not run as this ServiceAccount, with the remedy; None: they may."""
    meta = account["metadata"]
    where = f"ServiceAccount {SERVICE_ACCOUNT} in namespace {meta['namespace']}"
    names = sorted({*(meta.get("annotations") or ()), *(meta.get("labels") or ())})
    identities = [name for name in names if name.startswith(CLOUD_IDENTITIES)]
    if identities:
        return (
            f"{where} carries {', '.join(identities)}, which would give agents an identity in a "
            "cloud: remove it, or delete the ServiceAccount, and the run goes on"
        )
    secrets = [
        f"{field} {one.get('name', '')}"
        for field in ("secrets", "imagePullSecrets")
        for one in account.get(field) or ()
        if not str(one.get("name", "")).startswith(_MADE_FOR_IT)
    ]
    if secrets:
        return (
            f"{where} carries {', '.join(secrets)}, which Proctor did not put there: remove it "
            "(sandbox.podTemplate.imagePullSecrets names pull secrets of a run), or delete the "
            "ServiceAccount, and the run goes on"
        )
    return None
