# SPDX-License-Identifier: Apache-2.0

"""Fills the template of a stack with the parts of its reservation."""

from __future__ import annotations

from collections.abc import Sequence

from climate import exceptions
from climate.cloud.base import FloatingIP
from climate.cloud.base import Networking
from climate.cloud.protocols.stacks import StackDraft
from climate.plugins import marks
from climate.plugins.floating_ip.plugin import RESOURCE_TYPE as ADDRESS_TYPE
from climate.plugins.instance.by_flavor import RESOURCE_TYPE as ROOM_TYPE
from climate.plugins.outcomes import Work
from climate.plugins.stack import templates
from climate.plugins.stack.contents import Contents


def using(
    draft: StackDraft, parts: Sequence[Work], contents: Contents | None, neutron: Networking
) -> StackDraft:
    """Return a draft of a stack that uses what was booked for it.

    :param contents: its contents; None if they are unknown
    :raises climate.exceptions.Transient: if a floating IP does not exist yet
    """
    flavors = _flavors(parts)
    by_network = _floating_ips(parts, neutron)
    networks = dict(contents.addresses) if contents is not None and by_network else {}
    if not flavors and not networks:
        return draft
    floating_ips = {name: by_network[network_id] for name, network_id in networks}
    return templates.rewritten(draft, flavors, floating_ips).draft


def _flavors(parts: Sequence[Work]) -> dict[str, str]:
    """Return the flavors of the reservations, by the flavors that they replace."""
    flavors: dict[str, str] = {}
    for part in parts:
        if part.reservation.resource_type == ROOM_TYPE:
            source = part.reservation.request['source']
            flavors |= {source['name']: part.reservation.id, source['id']: part.reservation.id}
    return flavors


def _floating_ips(parts: Sequence[Work], neutron: Networking) -> dict[str, list[str]]:
    """Return the ids of the floating IPs, by network."""
    by_network = {}
    for part in parts:
        if part.reservation.resource_type == ADDRESS_TYPE:
            request = part.reservation.request
            addresses = _booked(part, neutron)
            if len(addresses) != request['amount']:
                raise exceptions.Transient(
                    f'{len(addresses)} of {request["amount"]} floating IPs exist'
                )
            by_network[request['network_id']] = [item.id for item in addresses]
    return by_network


def _booked(part: Work, neutron: Networking) -> list[FloatingIP]:
    """Return the floating IPs of a reservation.

    Any project can set these tags on its own floating IPs. So only those count that
    belong to the project of the lease and have a booked address.
    """
    addresses = {item.attributes.get('floating_ip_address') for item in part.resources}
    return [
        item
        for item in neutron.list_floating_ips(marks.of(part.reservation.id))
        if item.project_id == part.lease.project_id and item.address in addresses
    ]
