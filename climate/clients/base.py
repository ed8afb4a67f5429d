# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""The verbs over a cloud: the contract of its clients, and their errors.

These docstrings are the contract. ``tests/contract`` holds every client to it:
the real ones in :mod:`climate.clients.nova` and
:mod:`climate.clients.placement`, and their cloud in
:mod:`climate.simulator`.

Every verb may raise :class:`climate.exceptions.Transient` (the service does
not answer in time, refuses connections, is overloaded or broken, or does not
accept our identity for the moment) and :class:`climate.exceptions.Permanent`
(it refuses and will go on refusing); this is not repeated below. After a
Transient the work may have been done nevertheless, with only the answer lost:
callers repeat the verb, or look first where a verb is not repeatable.

Failure and drift: no verb remembers what it did and nothing is cached. Others
change the cloud too (operators, other services, our own other processes), so
an answer is true for the instant at which it was given and no longer: callers
look, act, and treat a conflict as a reason to look again.

A *service host* is the name of the machine that runs nova-compute, as
aggregates and servers name it; a *hypervisor hostname* is what nova-compute
calls the machine that it manages. They are often the same text, not always.
"""

from __future__ import annotations

from typing import Protocol

from climate import exceptions
from climate.clients.protocols.aggregates import Aggregate
from climate.clients.protocols.aggregates import Aggregates
from climate.clients.protocols.attachments import Attachments
from climate.clients.protocols.flavors import Flavor
from climate.clients.protocols.flavors import Flavors
from climate.clients.protocols.floating_ips import FloatingIP
from climate.clients.protocols.floating_ips import FloatingIPs
from climate.clients.protocols.hypervisors import Hypervisor
from climate.clients.protocols.hypervisors import Hypervisors
from climate.clients.protocols.images import Image
from climate.clients.protocols.images import ImageVerbs
from climate.clients.protocols.members import Members
from climate.clients.protocols.networks import Network
from climate.clients.protocols.networks import Networks
from climate.clients.protocols.networks import Segment
from climate.clients.protocols.networks import Subnet
from climate.clients.protocols.ports import Port
from climate.clients.protocols.ports import Ports
from climate.clients.protocols.providers import Provider
from climate.clients.protocols.providers import ProviderAllocation
from climate.clients.protocols.providers import Providers
from climate.clients.protocols.providers import ResourceClasses
from climate.clients.protocols.providers import Traits
from climate.clients.protocols.server_groups import Policy
from climate.clients.protocols.server_groups import ServerGroup
from climate.clients.protocols.server_groups import ServerGroups
from climate.clients.protocols.servers import Nic
from climate.clients.protocols.servers import Server
from climate.clients.protocols.servers import ServerDraft
from climate.clients.protocols.servers import Servers
from climate.clients.protocols.services import ComputeService
from climate.clients.protocols.services import ComputeServices
from climate.clients.protocols.snapshots import Backup
from climate.clients.protocols.snapshots import Backups
from climate.clients.protocols.snapshots import Snapshots
from climate.clients.protocols.snapshots import VolumeSnapshot
from climate.clients.protocols.stacks import Stacks
from climate.clients.protocols.trusts import TrustVerbs
from climate.clients.protocols.volume_types import Pool
from climate.clients.protocols.volume_types import VolumeType
from climate.clients.protocols.volume_types import VolumeTypes
from climate.clients.protocols.volumes import Source
from climate.clients.protocols.volumes import Volume
from climate.clients.protocols.volumes import Volumes

__all__ = [
    'AVAILABILITY_ZONE_KEY',
    'Aggregate',
    'Backup',
    'BlockStorage',
    'Cloud',
    'CloudConflict',
    'CloudNotFound',
    'CloudQuota',
    'Compute',
    'ComputeService',
    'Flavor',
    'FloatingIP',
    'Hypervisor',
    'IdentityService',
    'Image',
    'ImageVerbs',
    'Network',
    'Networking',
    'Nic',
    'Orchestration',
    'Placement',
    'Policy',
    'Pool',
    'Port',
    'Provider',
    'ProviderAllocation',
    'Segment',
    'Server',
    'ServerDraft',
    'ServerGroup',
    'Source',
    'Subnet',
    'TrustLost',
    'Volume',
    'VolumeSnapshot',
    'VolumeType',
]

AVAILABILITY_ZONE_KEY = 'availability_zone'


class CloudNotFound(exceptions.Permanent):
    """What the verb is about does not exist in the cloud."""

    error_name = 'CLOUD_NOT_FOUND'
    template = 'The cloud has no such object'


class CloudConflict(exceptions.Permanent):
    """What the verb asks for contradicts the present state of the cloud.

    Trying again unchanged does not help; looking again may.
    """

    error_name = 'CLOUD_CONFLICT'
    template = 'The present state of the cloud does not allow this'


class CloudQuota(exceptions.Permanent):
    """The project may not have as much as the verb asks for.

    A retry succeeds once something else is released, or an administrator
    raises the quota.
    """

    error_name = 'CLOUD_QUOTA'
    template = 'The quota of the project in the cloud does not allow this'


class TrustLost(exceptions.Permanent):
    """The trust of a user is of no use: gone, expired, or the user left the project.

    Not a :class:`CloudNotFound`: the object requested on behalf of the
    user may exist.
    """

    error_name = 'TRUST_LOST'
    template = 'The trust of the user is of no use any more'


class Compute(
    Hypervisors, ComputeServices, Servers, Attachments, Aggregates, Flavors, ServerGroups, Protocol
):
    """What Climate wants of Nova."""


class Placement(Providers, Traits, ResourceClasses, Protocol):
    """What Climate wants of Placement."""


class Networking(Networks, Ports, FloatingIPs, Protocol):
    """What Climate wants of Neutron."""


class BlockStorage(Volumes, Snapshots, Backups, VolumeTypes, Protocol):
    """What Climate wants of Cinder."""


class Orchestration(Stacks, Protocol):
    """What Climate wants of Heat."""


class IdentityService(TrustVerbs, Members, Protocol):
    """What Climate wants of Keystone."""


class Cloud(Protocol):
    """A cloud: its services under one roof. Used from many threads at once."""

    def acting_for(self, trust_id: str) -> Cloud:
        """Return the cloud as the user sees it who made a trust.

        Nothing is asked for that: its verbs ask for a token when they need
        one. They raise :class:`TrustLost` if the trust is gone, or does not
        help: its user or project is disabled, or the user has lost a role.
        """
        ...

    def of_caller(self, token: str) -> Cloud:
        """Return the cloud as the owner of a token sees it, for one request.

        Nothing is asked for that. Its verbs raise
        :class:`climate.exceptions.Permanent` if the token is not valid.
        """
        ...

    def as_service(self) -> Cloud:
        """Return the cloud as the service user sees it.

        For what callers are not told, such as where volumes of a type lie.
        """
        ...

    @property
    def compute(self) -> Compute:
        """Nova."""
        ...

    @property
    def placement(self) -> Placement:
        """Placement."""
        ...

    @property
    def network(self) -> Networking:
        """Neutron."""
        ...

    @property
    def volume(self) -> BlockStorage:
        """Cinder."""
        ...

    @property
    def image(self) -> ImageVerbs:
        """Glance."""
        ...

    @property
    def orchestration(self) -> Orchestration:
        """Heat."""
        ...

    @property
    def identity(self) -> IdentityService:
        """Keystone."""
        ...
