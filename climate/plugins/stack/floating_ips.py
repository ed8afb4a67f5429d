# SPDX-License-Identifier: Apache-2.0

"""Replaces the floating IPs of a template with those that were booked.

Heat asks Neutron for an address from its pools. Reservable addresses lie outside
of them, and users may not request a specific address. So Climate creates the
floating IPs of the reservation before the stack, and puts their ids in the template:
a resource with ``external_id`` represents an existing object, which Heat neither
creates nor deletes. See
https://docs.openstack.org/heat/latest/template_guide/hot_spec.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any

from climate import exceptions

TYPE = 'OS::Neutron::FloatingIP'
# Heat ignores the properties of what it has not created; this resource associates the
# floating IP with its port.
_ASSOCIATION = 'OS::Neutron::FloatingIPAssociation'
_NETWORKS = ('floating_network', 'floating_network_id')
_KNOWN = frozenset({*_NETWORKS, 'port_id', 'fixed_ip_address'})
_OLDEST = '2016-10-14'
_CODENAMES = frozenset({'newton', 'ocata', 'pike', 'queens', 'rocky', 'wallaby'})


def refusal(why: str) -> exceptions.InvalidInput:
    """Return the error for a template whose floating IPs cannot be booked."""
    return exceptions.InvalidInput(
        f'No floating IPs can be booked for the template: {why}. '
        'To do without, set guarantee: false'
    )


class Addresses:
    """The floating IPs booked for a stack, assigned to its resources one by one.

    :ivar taken: how many are assigned, by network as the template names it
    :param ids: their ids in Neutron, by network as the template names it; two names of
        a network may share a list
    """

    def __init__(self, ids: Mapping[str, Sequence[str]]) -> None:
        lists = {id(one): list(one) for one in ids.values()}
        self._left = {network: lists[id(one)] for network, one in ids.items()}
        self.taken: Counter[str] = Counter()

    def __bool__(self) -> bool:
        """Whether any floating IPs are booked."""
        return bool(self._left)

    def take(self, name: Any, network: Any) -> str:
        """Return the id of the floating IP for a resource.

        :param name: the name of the resource
        :param network: the network as the template names it
        :raises climate.exceptions.InvalidInput: if none is left
        """
        if isinstance(network, bool) or not isinstance(network, str | int):
            raise refusal(f'the network of {name} is not known in advance')
        left = self._left.get(str(network))
        if not left:
            raise refusal(f"{name} is one more than in Heat's preview")
        self.taken[str(network)] += 1
        return left.pop(0)


def network_of(properties: Mapping[str, Any]) -> Any:
    """Return the network that a resource names; None if it names none."""
    return next((properties[key] for key in _NETWORKS if key in properties), None)


def adopt(template: dict[Any, Any], name: Any, properties: Mapping[str, Any], own_id: str) -> None:
    """Make a resource of a template represent an existing floating IP.

    :param template: the template with the resource; it is changed
    :param own_id: the id of the floating IP in Neutron
    :raises climate.exceptions.InvalidInput: if Heat does not support that
    """
    _check(template, name, properties)
    resources = template['resources']
    node = resources[name]
    adopted = {
        'type': node['type'],
        'external_id': own_id,
        'properties': {key: properties[key] for key in _NETWORKS if key in properties},
    }
    kept = {key: node[key] for key in ('condition',) if key in node}
    resources[name] = adopted | kept
    if properties.get('port_id') is not None:
        kept |= {key: node[key] for key in ('depends_on',) if key in node}
        resources[_free(resources, f'{name}-association')] = {
            'type': _ASSOCIATION,
            'properties': _association(name, properties),
            **kept,
        }


def _check(template: Mapping[Any, Any], name: Any, properties: Mapping[str, Any]) -> None:
    version = str(template.get('heat_template_version', ''))
    if version not in _CODENAMES and not _OLDEST <= version < '3':
        raise refusal(f'its heat_template_version is not {_OLDEST} or later')
    more = sorted(str(key) for key in properties.keys() - _KNOWN)
    if more:
        raise refusal(f'{name} asks for {", ".join(more)}')


def _association(name: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {'floatingip_id': {'get_resource': name}, 'port_id': properties['port_id']}
    if 'fixed_ip_address' in properties:
        wanted['fixed_ip_address'] = properties['fixed_ip_address']
    return wanted


def _free(resources: Mapping[Any, Any], name: str) -> str:
    """Return a name that no resource has."""
    free, number = name, 1
    while free in resources:
        number += 1
        free = f'{name}-{number}'
    return free
