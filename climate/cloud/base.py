# SPDX-License-Identifier: Apache-2.0

"""The clients of a cloud: their contract and their errors.

These docstrings are the contract. ``tests/contract`` runs the same tests against the
real clients, such as :mod:`climate.cloud.nova` and
:mod:`climate.cloud.placement`, and against the simulated cloud,
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

import contextlib
from collections.abc import Iterator
from typing import Protocol

from climate import exceptions
from climate.cloud.protocols.aggregates import Aggregate as Aggregate
from climate.cloud.protocols.aggregates import Aggregates
from climate.cloud.protocols.flavors import Flavor as Flavor
from climate.cloud.protocols.flavors import Flavors
from climate.cloud.protocols.floating_ips import FloatingIP as FloatingIP
from climate.cloud.protocols.floating_ips import FloatingIPs
from climate.cloud.protocols.hypervisors import ComputeService as ComputeService
from climate.cloud.protocols.hypervisors import ComputeServices
from climate.cloud.protocols.hypervisors import Hypervisor as Hypervisor
from climate.cloud.protocols.hypervisors import Hypervisors
from climate.cloud.protocols.images import Image as Image
from climate.cloud.protocols.images import ImageVerbs as ImageVerbs
from climate.cloud.protocols.members import Members
from climate.cloud.protocols.networks import Network as Network
from climate.cloud.protocols.networks import Networks
from climate.cloud.protocols.networks import Segment as Segment
from climate.cloud.protocols.networks import Subnet as Subnet
from climate.cloud.protocols.ports import Port as Port
from climate.cloud.protocols.ports import Ports
from climate.cloud.protocols.providers import Provider as Provider
from climate.cloud.protocols.providers import ProviderAllocation as ProviderAllocation
from climate.cloud.protocols.providers import Providers
from climate.cloud.protocols.providers import ResourceClasses
from climate.cloud.protocols.providers import Traits
from climate.cloud.protocols.servers import Nic as Nic
from climate.cloud.protocols.servers import Policy as Policy
from climate.cloud.protocols.servers import Server as Server
from climate.cloud.protocols.servers import ServerDraft as ServerDraft
from climate.cloud.protocols.servers import ServerGroup as ServerGroup
from climate.cloud.protocols.servers import ServerGroups
from climate.cloud.protocols.servers import Servers
from climate.cloud.protocols.stacks import Stacks
from climate.cloud.protocols.trusts import TrustVerbs
from climate.cloud.protocols.volumes import Backup as Backup
from climate.cloud.protocols.volumes import Backups
from climate.cloud.protocols.volumes import Pool as Pool
from climate.cloud.protocols.volumes import Snapshots
from climate.cloud.protocols.volumes import Source as Source
from climate.cloud.protocols.volumes import Volume as Volume
from climate.cloud.protocols.volumes import Volumes
from climate.cloud.protocols.volumes import VolumeSnapshot as VolumeSnapshot
from climate.cloud.protocols.volumes import VolumeType as VolumeType
from climate.cloud.protocols.volumes import VolumeTypes

AVAILABILITY_ZONE_KEY = 'availability_zone'


class CloudNotFound(exceptions.Permanent):
    """The object does not exist in the cloud."""

    template = 'The cloud has no such object'


class CloudConflict(exceptions.Permanent):
    """The present state of the cloud does not allow the request.

    Repeating the same request does not help; reading the state again may.
    """

    template = 'The present state of the cloud does not allow this'


class CloudQuota(exceptions.Permanent):
    """The request exceeds the quota of the project.

    A retry succeeds once something else is released, or an administrator
    raises the quota.
    """

    template = 'The quota of the project in the cloud does not allow this'


@contextlib.contextmanager
def as_transient(*refusals: type[exceptions.EffectError]) -> Iterator[None]:
    """Treat some refusals as temporary, since others change the cloud at the same time.

    :raises climate.exceptions.Transient: with the message of a refusal
    """
    try:
        yield
    except refusals as error:
        raise exceptions.Transient(error.message) from error


class TrustLost(exceptions.Permanent):
    """The trust of a user cannot be used: it is deleted or expired, or a role is gone.

    Not a :class:`CloudNotFound`: the object requested on behalf of the
    user may exist.
    """

    template = 'The trust of the user can no longer be used'


class Compute(Hypervisors, ComputeServices, Servers, Aggregates, Flavors, ServerGroups, Protocol):
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

    def of_caller(self, token: str) -> Cloud:
        """Return the cloud as the owner of a token sees it, for one request.

        Sends no request. The methods raise
        :class:`climate.exceptions.Permanent` if the token is not valid.
        """

    def as_service(self) -> Cloud:
        """Return the cloud as the service user sees it.

        For data that callers may not see, such as the pools of a volume type.
        """

    @property
    def compute(self) -> Compute:
        """Nova."""

    @property
    def placement(self) -> Placement:
        """Placement."""

    @property
    def network(self) -> Networking:
        """Neutron."""

    @property
    def volume(self) -> BlockStorage:
        """Cinder."""

    @property
    def image(self) -> ImageVerbs:
        """Glance."""

    @property
    def orchestration(self) -> Orchestration:
        """Heat."""

    @property
    def identity(self) -> IdentityService:
        """Keystone."""
