# SPDX-License-Identifier: Apache-2.0

"""The interface of drivers, which switch machines on and off, and their loading."""

from __future__ import annotations

import abc
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

import stevedore
from oslo_config import cfg

from climate import exceptions
from climate.power.hosts import Machine

NAMESPACE: Final = 'climate.power.drivers'


class PowerError(Exception):
    """The machine did not respond, or did not carry out a request.

    The message is shown to operators and users, and contains no secret.
    """


class Driver(abc.ABC):
    """Switches one machine on and off; one thread at a time uses it.

    Every call returns in bounded time.
    """

    @abc.abstractmethod
    def is_on(self) -> bool:
        """Whether the machine has power.

        :raises PowerError: if the state cannot be determined
        """

    @abc.abstractmethod
    def switch_on(self) -> None:
        """Begin to switch it on; has no effect if it is on.

        :raises PowerError: if that fails
        """

    @abc.abstractmethod
    def switch_off(self, *, force: bool) -> None:
        """Begin to switch it off; has no effect if it is off.

        :param force: cut the power instead of shutting down
        :raises PowerError: if that fails
        """


Factory = Callable[[cfg.ConfigOpts, Machine], Driver]


def load(conf: cfg.ConfigOpts, machines: Mapping[str, Machine]) -> dict[str, Driver]:
    """Return a driver for each machine, by the name of the host.

    :raises climate.exceptions.ConfigurationError: if a driver is unknown, or
        does not accept the configuration of its machine
    """
    factories: dict[str, Factory] = {}
    made = {}
    for name, machine in machines.items():
        if machine.driver not in factories:
            factories[machine.driver] = _factory(machine.driver)
        try:
            made[name] = factories[machine.driver](conf, machine)
        except ValueError as error:
            raise exceptions.ConfigurationError(f'[power] hosts_file: {name}: {error}') from error
    return made


def _factory(name: str) -> Factory:
    def failed(_manager: Any, _entry: Any, error: BaseException) -> None:
        raise exceptions.ConfigurationError(f'the power driver {name} cannot be loaded: {error!r}')

    extensions = stevedore.NamedExtensionManager(
        NAMESPACE, [name], on_load_failure_callback=failed, warn_on_missing_entrypoint=False
    )
    if name not in extensions:
        raise exceptions.ConfigurationError(f'[power] hosts_file: there is no driver {name!r}')
    factory: Factory = extensions[name].plugin
    return factory
