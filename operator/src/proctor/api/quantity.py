"""Amounts as Kubernetes writes them."""

from typing import Annotated

from pydantic import StringConstraints

Quantity = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$", max_length=20)
]
