# SPDX-License-Identifier: Apache-2.0

"""The services of the simulated cloud, for the service user and other users."""

from __future__ import annotations

import functools

from climate.simulator import keystone
from climate.simulator.compute import SimulatedCompute
from climate.simulator.heat import SimulatedHeat
from climate.simulator.images import SimulatedImages
from climate.simulator.keystone import SimulatedKeystone
from climate.simulator.network import SimulatedNetworking
from climate.simulator.placement import SimulatedPlacement
from climate.simulator.runner import VerbRunner
from climate.simulator.volume import SimulatedBlockStorage


class SimulatedServices:
    """Implements :class:`climate.cloud.base.Cloud` with a runner of verbs."""

    def _open(self, runner: VerbRunner) -> None:
        self._verb_runner = runner
        self.compute = SimulatedCompute(runner)
        self.placement = SimulatedPlacement(runner)
        self.image = SimulatedImages(runner)
        self.network = SimulatedNetworking(runner)
        self.volume = SimulatedBlockStorage(runner)
        self.orchestration = SimulatedHeat(runner)
        self.identity = SimulatedKeystone(runner)

    def acting_for(self, trust_id: str) -> SimulatedServices:
        """Return the cloud as the user who created a trust sees it."""
        return _opened(
            self._verb_runner.for_user(functools.partial(keystone.trustor, trust_id=trust_id))
        )

    def of_caller(self, token: str) -> SimulatedServices:
        """Return the cloud as the owner of a token sees it."""
        return _opened(self._verb_runner.for_user(functools.partial(keystone.owner, token=token)))

    def as_service(self) -> SimulatedServices:
        """Return the cloud as the service user sees it."""
        return _opened(self._verb_runner.for_user(None))


def _opened(runner: VerbRunner) -> SimulatedServices:
    made = SimulatedServices()
    made._open(runner)
    return made
