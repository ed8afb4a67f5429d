# SPDX-License-Identifier: Apache-2.0

"""Switches machines through Ironic, which manages their controllers."""

from __future__ import annotations

from oslo_config import cfg

from climate import exceptions
from climate.cloud import ironic
from climate.power.drivers import Driver
from climate.power.drivers import PowerError
from climate.power.hosts import Machine


class IronicDriver(Driver):
    """Switches a node of Ironic.

    :raises ValueError: if the machine does not name its node
    """

    def __init__(self, client: ironic.IronicClient, machine: Machine) -> None:
        if not machine.node:
            raise ValueError('the driver ironic needs a node')
        self._client = client
        self._node = machine.node

    def is_on(self) -> bool:
        """Whether the machine has power."""
        try:
            return self._client.is_on(self._node)
        except exceptions.EffectError as error:
            raise PowerError(error.message) from error

    def switch_on(self) -> None:
        """Begin to switch it on."""
        self._set('power on')

    def switch_off(self, *, force: bool) -> None:
        """Begin to switch it off."""
        self._set('power off' if force else 'soft power off')

    def _set(self, target: ironic.Target) -> None:
        try:
            self._client.set_power(self._node, target)
        except exceptions.EffectError as error:
            raise PowerError(error.message) from error


def factory(conf: cfg.ConfigOpts, machine: Machine) -> Driver:
    """Return the driver of a machine."""
    return IronicDriver(ironic.connect(conf), machine)
