# SPDX-License-Identifier: Apache-2.0

"""What people call the resources of a type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from climate.domain.nouns import Nouns
from climate.domain.nouns import of_plural

# Those of the API from microversion 1.7 on, without a request for them.
_NOUNS: Final[Mapping[str, tuple[str, str]]] = {
    'physical:host': ('host', 'hosts'),
    'physical:storage': ('storage pool', 'storage pools'),
    'virtual:instance': ('server', 'servers'),
    'flavor:instance': ('server', 'servers'),
    'virtual:server': ('own server', 'own servers'),
    'virtual:stack': ('stack', 'stacks'),
    'virtual:volume': ('volume', 'volumes'),
    'virtual:floatingip': ('floating IP', 'floating IPs'),
    'network': ('network', 'networks'),
}
# Those of declared types and plugins, once a command has asked the service.
_learned: dict[str, tuple[str, str]] = {}


def known(resource_type: str) -> bool:
    """Return whether it is known what people call the resources of a type."""
    return resource_type in _NOUNS or resource_type in _learned


def learn(resource_type: str, many: str = '', one: str = '') -> None:
    """Take over the nouns of a type that the service has, for the process.

    :param many: '' for the name of the type
    :param one: '' for *many* without its plural ending
    """
    name = resource_type.removeprefix('custom:')
    learned = of_plural(many) if many else Nouns(name, name)
    _learned[resource_type] = (one or learned.one, learned.many)


def plural(resource_type: str) -> str:
    """Return what several resources of a type are called."""
    return _nouns(resource_type)[1]


def counted(amount: str, resource_type: str) -> str:
    """Return an amount of a type, such as ``2 hosts`` or ``1-4 hosts``.

    :param amount: '' if a reservation of the type has none
    """
    one, many = _nouns(resource_type)
    if not amount:
        return one
    return f'{amount} {one if amount == "1" else many}'


def _nouns(resource_type: str) -> tuple[str, str]:
    name = resource_type.removeprefix('custom:')
    return _NOUNS.get(resource_type) or _learned.get(resource_type) or (name, name)
