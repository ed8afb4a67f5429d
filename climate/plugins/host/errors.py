# SPDX-License-Identifier: Apache-2.0

"""Errors about hosts."""

from __future__ import annotations

from climate import exceptions


class HostNotFound(exceptions.NotFound):
    """Nova has no hypervisor of this name."""

    template = "Host '%(host)s' not found"


class FreePoolNotFound(exceptions.NotFound):
    """The aggregate that holds the reservable hosts does not exist."""

    template = "The aggregate '%(name)s' of reservable hosts was not found"


class HostHavingServers(exceptions.Conflict):
    """A host with servers can be neither registered nor deregistered."""

    template = 'Servers [%(servers)s] found for host %(host)s'


class HostExists(exceptions.ResourceExists):
    """The host is already registered."""

    template = "Host '%(host)s' is registered already"


class HostInUse(exceptions.ResourceInUse):
    """The host has reservations."""

    template = 'Host %(host)s cannot be deleted: it has reservations'


class CapabilityInUse(exceptions.PropertyInUse):
    """A reservation's requirements mention the capability."""

    template = "Capability '%(name)s' of host %(host)s cannot be changed: a reservation requires it"


class HostShared(exceptions.Conflict):
    """An aggregate cannot separate the host from other nodes."""

    template = (
        'Host %(host)s cannot be registered: its nova-compute %(service)s also serves %(nodes)s, '
        'and aggregates, which isolate leased hosts, hold whole nova-computes'
    )


class HostInZone(exceptions.Conflict):
    """An operator has put the host into an availability zone."""

    template = (
        'Host %(host)s cannot be registered: aggregate %(aggregate)s puts it into availability '
        'zone %(zone)s, and Nova allows one zone, which is that of the lease'
    )


class NotTheHost(exceptions.Conflict):
    """The new name is not that of the registered machine."""

    template = "Host '%(host)s' cannot be renamed to '%(name)s': %(reason)s"


class HostRenamed(exceptions.ResourceExists):
    """The machine is registered under another name."""

    template = (
        "Host '%(host)s' has the nova-compute %(service)s, which is registered as host "
        "'%(known)s'. If Nova has renamed it, rename the registered host: "
        '%(command)s'
    )
