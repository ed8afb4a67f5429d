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

"""The clients of a cloud: their contract and their errors.

These docstrings are the contract. ``tests/contract`` runs the same tests against the
real clients, such as :mod:`climate.clients.nova` and
:mod:`climate.clients.placement`, and against the simulated cloud,
:mod:`climate.simulator`.

Every method may raise these two exceptions, which the docstrings do not repeat:

* :class:`climate.exceptions.Transient`: the service does not respond in time, refuses
  connections, is overloaded or broken, or temporarily rejects the credentials of
  Climate. The request may have been carried out, with only the response lost: callers
  repeat an idempotent method, and check the result of any other first.
* :class:`climate.exceptions.Permanent`: the service refuses the request, and will
  refuse it again.

Nothing is cached. Operators, other services and other processes of Climate change
the cloud as well, so a response describes a single instant. Callers look, act, and
look again after a conflict.

A *service host* is the name of the machine that runs nova-compute, as aggregates and
servers refer to it. A *hypervisor hostname* is the name by which nova-compute knows
the machine that it manages. Often, but not always, they are equal.
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
    """The object does not exist in the cloud."""

    error_name = 'CLOUD_NOT_FOUND'
    template = 'The cloud has no such object'


class CloudConflict(exceptions.Permanent):
    """The present state of the cloud does not allow the request.

    Repeating the same request does not help; reading the state again may.
    """

    error_name = 'CLOUD_CONFLICT'
    template = 'The present state of the cloud does not allow this'


class CloudQuota(exceptions.Permanent):
    """The request exceeds the quota of the project.

    A retry succeeds once something else is released, or an administrator
    raises the quota.
    """

    error_name = 'CLOUD_QUOTA'
    template = 'The quota of the project in the cloud does not allow this'


class TrustLost(exceptions.Permanent):
    """The trust of a user cannot be used: it is deleted or expired, or a role is gone.

    Not a :class:`CloudNotFound`: the object requested on behalf of the
    user may exist.
    """

    error_name = 'TRUST_LOST'
    template = 'The trust of the user can no longer be used'


class Compute(
    Hypervisors, ComputeServices, Servers, Attachments, Aggregates, Flavors, ServerGroups, Protocol
):
    """The part of Nova that Climate uses."""


class Placement(Providers, Traits, ResourceClasses, Protocol):
    """The part of Placement that Climate uses."""


class Networking(Networks, Ports, FloatingIPs, Protocol):
    """The part of Neutron that Climate uses."""


class BlockStorage(Volumes, Snapshots, Backups, VolumeTypes, Protocol):
    """The part of Cinder that Climate uses."""


class Orchestration(Stacks, Protocol):
    """The part of Heat that Climate uses."""


class IdentityService(TrustVerbs, Members, Protocol):
    """The part of Keystone that Climate uses."""


class Cloud(Protocol):
    """The services of a cloud. Thread-safe."""

    def acting_for(self, trust_id: str) -> Cloud:
        """Return the cloud as the user who created a trust sees it.

        Sends no request: the methods get a token when they need one. They raise
        :class:`TrustLost` if the trust is deleted or expired, its user or project is
        disabled, or the user has lost a role.
        """
        ...

    def of_caller(self, token: str) -> Cloud:
        """Return the cloud as the owner of a token sees it, for one request.

        Sends no request. The methods raise
        :class:`climate.exceptions.Permanent` if the token is not valid.
        """
        ...

    def as_service(self) -> Cloud:
        """Return the cloud as the service user sees it.

        For data that callers may not see, such as the pools of a volume type.
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
