"""The proof that a pod's network is closed, with a clock that only moves when it is waited for."""

import pytest

from proctor.api.report import (
    EXIT_GATEWAY_UNREACHABLE,
    EXIT_NETWORK_OPEN,
    NETWORK_CLOSED,
    NETWORK_OPEN,
)
from proctor.runner.gateway import GatewayUnreachableError
from proctor.runner.places import Proof
from proctor.runner.proof import NetworkOpenError, prove

GATEWAY, CANARY = ("gateway", 8080), ("gateway", 8082)


class Pod:
    """A pod in a network; ``gateway`` and ``canary`` say from when to when each answers."""

    def __init__(self, gateway=(0.0, 1e9), canary=(1e9, 1e9)):
        self.now = 0.0
        self._open = {GATEWAY: gateway, CANARY: canary}

    def connect(self, address, seconds):
        begin, end = self._open[address]
        self.now += 0.001
        return None if begin <= self.now < end else "Connection refused"

    def sleep(self, seconds):
        self.now += seconds

    def prove(self, *, required=True):
        proof = Proof(GATEWAY, CANARY, required)
        return prove(proof, self.connect, lambda: self.now, self.sleep)


def test_a_pod_that_reaches_the_gateway_and_not_its_canary_is_closed_at_once():
    pod = Pod()
    assert pod.prove() == NETWORK_CLOSED
    assert pod.now < 0.1


def test_rules_that_come_late_are_waited_for():
    pod = Pod(canary=(0.0, 12.0))
    assert pod.prove() == NETWORK_CLOSED
    assert 12 <= pod.now < 13


def test_a_pod_that_stays_open_ends_after_30_seconds_and_says_why():
    pod = Pod(canary=(0.0, 1e9))
    with pytest.raises(NetworkOpenError, match="gateway:8082 can be reached") as caught:
        pod.prove()
    assert (caught.value.exit_code, round(pod.now)) == (EXIT_NETWORK_OPEN, 30)


def test_without_a_gateway_nothing_is_proved():
    pod = Pod(gateway=(1e9, 1e9))
    with pytest.raises(GatewayUnreachableError, match="gateway:8080: Connection refused") as caught:
        pod.prove()
    assert (caught.value.exit_code, round(pod.now)) == (EXIT_GATEWAY_UNREACHABLE, 30)


def test_a_gateway_that_goes_down_in_between_does_not_look_like_a_closed_network():
    # Its canary is silent because nothing of it is left.
    pod = Pod(gateway=(0.0, 0.0015), canary=(0.0, 0.0015))
    with pytest.raises(GatewayUnreachableError):
        pod.prove()


def test_an_open_network_that_is_allowed_is_reported_soon():
    pod = Pod(canary=(0.0, 1e9))
    assert pod.prove(required=False) == NETWORK_OPEN
    assert 1 < pod.now < 3


def test_a_network_that_closes_is_closed_also_where_it_need_not_be():
    assert Pod(canary=(0.0, 1.0)).prove(required=False) == NETWORK_CLOSED
