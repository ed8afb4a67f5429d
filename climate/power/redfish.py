# SPDX-License-Identifier: Apache-2.0

"""Switches machines through the Redfish service of their management controller."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import sushy
from oslo_config import cfg
from sushy import auth as sushy_auth
from sushy import exceptions as sushy_exceptions

from climate.exceptions import texts
from climate.power.drivers import Driver
from climate.power.drivers import PowerError
from climate.power.hosts import Machine

_SYSTEMS = '/redfish/v1/Systems/'
_LONGEST = 200


class RedfishDriver(Driver):
    """Switches a machine with a Redfish service.

    :param timeout: for each response, in seconds
    :raises ValueError: if the machine has no address
    """

    def __init__(self, machine: Machine, timeout: float) -> None:
        if not machine.address:
            raise ValueError('the driver redfish needs an address')
        self._machine = machine
        self._timeout = timeout
        self._cached: Any = None

    def is_on(self) -> bool:
        """Whether the machine has power."""
        with self._system() as system:
            state = system.power_state
        if state is None:
            raise PowerError('its management controller does not report whether it is on')
        # A machine on its way up or down has power.
        return bool(state != sushy.PowerState.OFF)

    def switch_on(self) -> None:
        """Begin to switch it on."""
        with self._system() as system:
            if system.power_state == sushy.PowerState.OFF:
                system.reset_system(sushy.ResetType.ON)

    def switch_off(self, *, force: bool) -> None:
        """Begin to switch it off; cut the power if it supports nothing else."""
        with self._system() as system:
            if system.power_state == sushy.PowerState.OFF:
                return
            allowed = system.get_allowed_reset_system_values()
            gentle = not force and sushy.ResetType.GRACEFUL_SHUTDOWN in allowed
            kind = sushy.ResetType.GRACEFUL_SHUTDOWN if gentle else sushy.ResetType.FORCE_OFF
            system.reset_system(kind)

    @contextlib.contextmanager
    def _system(self) -> Iterator[Any]:
        """Provide the current state of the system; every failure becomes a PowerError."""
        try:
            if self._cached is None:
                self._cached = self._find()
            else:
                self._cached.refresh()
            yield self._cached
        except (sushy_exceptions.SushyError, OSError) as error:
            self._cached = None
            raise PowerError(_why(error, self._machine.password)) from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._cached = None
            raise PowerError(
                f'its management controller sent an invalid response ({type(error).__name__})'
            ) from None

    def _find(self) -> Any:
        machine = self._machine
        # No sessions: controllers support few, and a process that dies leaves
        # its session open.
        login = sushy_auth.BasicAuth(machine.username or None, machine.password or None)
        root = sushy.Sushy(
            machine.address,
            auth=login,
            verify=machine.verify,
            read_timeout=self._timeout,
            connect_timeout=self._timeout,
            server_side_retries=0,
        )
        if not machine.system:
            return root.get_system()
        path = machine.system
        return root.get_system(path if path.startswith('/') else _SYSTEMS + path)


def factory(conf: cfg.ConfigOpts, machine: Machine) -> Driver:
    """Return the driver of a machine."""
    return RedfishDriver(machine, conf.power.controller_timeout)


def _why(error: Exception, password: str) -> str:
    text = ' '.join(str(error).split())
    if password:
        text = text.replace(password, '***')
    return texts.clean(f'its management controller: {type(error).__name__}: {text}', _LONGEST)
