# SPDX-License-Identifier: Apache-2.0

"""The service in one process, with a method for each call of users and operators."""

from __future__ import annotations

import dataclasses
import datetime
import random
import re
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from climate import exceptions
from climate.api.schemas import placements
from climate.clock import SystemClock
from climate.cloud.base import Flavor
from climate.cmd import composition
from climate.domain.leases import Lease
from climate.domain.maintenances import MaintenanceChange
from climate.domain.maintenances import MaintenanceDraft
from climate.domain.offers import OfferQuery
from climate.domain.offers import StoredOffer
from climate.domain.periods import Period
from climate.domain.requests import Caller
from climate.domain.requests import LeaseChange
from climate.domain.requests import LeaseDraft
from climate.domain.requests import Reallocation
from climate.domain.requests import ReservationChange
from climate.domain.requests import ResourceChange
from climate.domain.resources import Inventory
from climate.resources.registrar import Registrar
from climate.resources.resources import Resources
from climate.simulator import SimulatedCloud
from climate.upkeep.maintenances import Maintenances
from climate.upkeep.rehoming import Rehoming
from tests.exhaustive.races.histories import Operation
from tests.exhaustive.races.random_clients import ClientOptions
from tests.exhaustive.races.random_clients import RandomClient
from tests.functional import racers

_HOSTS = 8
FLAVOR = 'contested'
IMAGE = 'cirros'
TYPES = ('physical:host', 'virtual:instance', 'flavor:instance', 'virtual:server', 'virtual:stack')
# The status codes of refusals; any other error is a fault.
REFUSALS = (400, 404, 409)
_CALLER = Caller(user_id='alice', project_id='blue', token='alice:blue')
_EXPIRE = sa.text('UPDATE offers SET held_until = created_at WHERE held_until IS NOT NULL')
_TEMPLATE = """heat_template_version: '2021-04-16'
resources:
  one: {type: OS::Nova::Server, properties: {flavor: contested}}
"""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Call:
    """A method of :class:`InProcessService`, and its arguments."""

    verb: str
    values: Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a call.

    :ivar accepted: whether it succeeded
    :ivar fault: an error that callers must never get, with its type; '' if there is none
    :ivar reason: why it was refused
    :ivar history: the operations of a random client
    """

    accepted: bool
    fault: str = ''
    reason: str = ''
    history: tuple[Operation, ...] = ()


class InProcessService:
    """The service on a database, with its own simulated cloud.

    :ivar pace: called by random clients before each call, with the number of the call
        from 1, and that of the process from 0
    :param disk: GB of the disk of the flavor that servers and stacks use
    """

    def __init__(self, url: str, types_file: str, disk: int) -> None:
        conf = racers.configuration(url)
        conf.set_override('resource_types', TYPES)
        conf.set_override('types_file', types_file, group='custom')
        conf.set_override('heal_active', 'always', group='health')
        conf.set_override('heal_horizon', 0, group='health')
        # Leases in the window start years from now, and some of them are active already.
        conf.set_override('days_per_lease', 0, group='limits')
        conf.set_override('leases', 0, group='limits')
        conf.set_override('holds', 0, group='limits')
        self.core = composition.core(conf, SystemClock())
        self.engine = self.core.store.engine
        self.pace: Callable[[int, int], None] = lambda _number, _process: None
        self.cloud = SimulatedCloud(':memory:', clock=self.core.clock)
        self._seed_cloud(disk)
        store, plugins = self.core.store, self.core.plugins
        self.leases = composition.leases(
            self.core, wake=lambda: None, find_cloud=lambda: self.cloud
        )
        self.registrar = Registrar(store, plugins, self.cloud)
        self._resources = Resources(store, plugins, self.registrar)
        self._maintenances = Maintenances(store, lambda: None)
        self._rehoming = Rehoming(store, plugins, self.core.settings, random.Random(7))

    def _seed_cloud(self, disk: int) -> None:
        self.cloud.seed(_HOSTS)
        self.cloud.put_member(_CALLER.user_id, _CALLER.project_id, 'member')
        self._image = self.cloud.add_image(IMAGE)
        flavor = Flavor(id=FLAVOR, name=FLAVOR, vcpus=1, memory_mb=64, disk_gb=disk)
        self.cloud.compute.create_flavor(flavor)

    def close(self) -> None:
        """Close the database and the cloud."""
        self.core.store.close()
        self.cloud.close()

    def do(self, call: Call) -> Outcome:
        """Make a call; return its outcome, even if it fails."""
        try:
            done = getattr(self, call.verb)(**call.values)
        except exceptions.ClimateError as error:
            shown = f'{error.code} {type(error).__name__}: {error.message}'
            if error.code not in REFUSALS:
                return Outcome(accepted=False, fault=shown)
            return Outcome(accepted=False, reason=shown)
        except Exception as error:
            return Outcome(accepted=False, fault=f'{type(error).__name__}: {error}'[:500])
        return Outcome(accepted=True, history=tuple(done) if call.verb == 'run_client' else ())

    # -- calls

    def create(
        self,
        name: str,
        start: datetime.datetime | None = None,
        end: datetime.datetime | None = None,
        bodies: tuple[Mapping[str, Any], ...] = (),
    ) -> Lease:
        """Book a lease; *start* and *end* default to the present."""
        now = self.core.clock.now()
        plain, placed = placements.split(bodies)
        draft = LeaseDraft(
            name=name,
            start=start or now,
            end=end or now,
            reservations=tuple(self._real(body, name) for body in plain),
            placements=placed,
            grain=datetime.timedelta(0),
            asked_at=now,
        )
        return self.leases.create(_CALLER, draft)

    def hold_and_take(
        self,
        name: str,
        start: datetime.datetime,
        end: datetime.datetime,
        bodies: tuple[Mapping[str, Any], ...],
    ) -> Lease:
        """Hold what a lease needs, and then take it.

        :raises RuntimeError: if it cannot be taken although it was held
        """
        offer = self._held(start, end, bodies)
        if offer is None:
            raise exceptions.NotEnoughResources
        plain, placed = placements.split(offer.reservations)
        draft = LeaseDraft(
            name=name,
            start=start,
            end=end,
            reservations=plain,
            placements=placed,
            strict=True,
            asked_at=self.core.clock.now(),
        )
        try:
            return self.leases.take(_CALLER, draft, offer)
        except exceptions.ClimateError as error:
            raise RuntimeError(f'was held: {error.message}') from error

    def hold_in_vain(
        self,
        start: datetime.datetime,
        end: datetime.datetime,
        bodies: tuple[Mapping[str, Any], ...],
    ) -> None:
        """Hold what a lease needs, until just now."""
        offer = self._held(start, end, bodies)
        assert offer is not None
        with self.engine.begin() as connection:
            connection.execute(_EXPIRE)

    def _held(
        self,
        start: datetime.datetime,
        end: datetime.datetime,
        bodies: tuple[Mapping[str, Any], ...],
    ) -> StoredOffer | None:
        plain, placed = placements.split(bodies)
        query = OfferQuery(
            stated=bodies,
            reservations=plain,
            placements=placed,
            duration=end - start,
            earliest=start,
            latest=end,
            limit=1,
            asked_at=self.core.clock.now(),
            hold=datetime.timedelta(minutes=10),
        )
        offers = self.leases.offers(_CALLER, query).offers
        return offers[0] if offers else None

    def change(
        self,
        lease_id: str,
        start: datetime.datetime | None = None,
        end: datetime.datetime | None = None,
        bodies: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Change the dates of a lease, and its reservations by their ids."""
        change = LeaseChange(
            grain=datetime.timedelta(0),
            start=start,
            end=end,
            reservations=tuple(
                ReservationChange(id=key, body=body) for key, body in (bodies or {}).items()
            ),
        )
        self.leases.update(_CALLER, lease_id, _CALLER.project_id, change)

    def reallocate(self, lease_id: str, reservation_id: str, resource_id: int) -> None:
        """Replace a resource of a reservation."""
        wanted = Reallocation(reservation_id=reservation_id, resource_id=resource_id)
        self.leases.reallocate(lease_id, None, wanted)

    def heal(self, lease_id: str) -> None:
        """Move a lease off an unavailable resource."""
        self._rehoming.heal(lease_id, self.cloud)

    def maintain(self, resource_id: int, start: datetime.datetime, end: datetime.datetime) -> None:
        """Create a maintenance."""
        draft = MaintenanceDraft(period=Period(start=start, end=end), resource_id=resource_id)
        self._maintenances.create(_CALLER, draft)

    def postpone(self, resource_id: int, start: datetime.datetime, end: datetime.datetime) -> None:
        """Change the period of the maintenance of a resource that starts last."""
        *_, there = (one for one in self._maintenances.list() if one.resource_id == resource_id)
        self._maintenances.update(there.id, MaintenanceChange(start=start, end=end))

    def disable(self, resource_id: int) -> None:
        """Disable a resource for new bookings."""
        self._resources.update(resource_id, ResourceChange(disabled=True))

    def delete(self, resource_id: int) -> None:
        """Unregister a resource."""
        self._resources.delete(resource_id)

    def label(self, resource_id: int, values: Mapping[str, str]) -> None:
        """Set properties of a resource."""
        self._resources.update(resource_id, ResourceChange(capabilities=dict(values)))

    def stock(self, resource_id: int, totals: Mapping[str, int]) -> None:
        """Set the inventories of a resource."""
        inventories = tuple(
            Inventory(resource_class=name, total=total) for name, total in totals.items()
        )
        self._resources.update(resource_id, ResourceChange(inventories=inventories))

    def drop(self, lease_id: str) -> None:
        """Delete a lease."""
        self.leases.delete(_CALLER, lease_id, _CALLER.project_id)

    def run_client(self, options: ClientOptions) -> list[Operation]:
        """Run a random client; see :mod:`tests.exhaustive.races.random_clients`."""
        return RandomClient(self, options).run()

    def _real(self, body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """Add the names and ids that differ between leases and clouds."""
        if body['resource_type'] == 'virtual:server':
            return {**body, 'name': name, 'flavor': FLAVOR, 'image': self._image}
        if body['resource_type'] == 'virtual:stack':
            return {**body, 'name': re.sub(r'\W+', '-', name), 'template': _TEMPLATE}
        return body
