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

"""The contract of a resource type.

A plugin has a pure half (read a request, choose resources) and an effect half
(bring the cloud to what should be). It has no database: it is handed values
and returns values. Effects look before they act, so that running one twice
does nothing the second time, and they never wait: what takes long answers
:class:`Again`.
"""

from __future__ import annotations

import abc
import functools
import random
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Generic
from typing import TypeVar

from climate import exceptions
from climate.allocation import shares
from climate.clients.base import Cloud
from climate.domain.leases import Reservation
from climate.domain.resources import Inventory
from climate.domain.resources import Resource
from climate.domain.resources import ResourceDraft
from climate.plugins import models
from climate.plugins.models import Model
from climate.plugins.models import Request
from climate.plugins.outcomes import Again
from climate.plugins.outcomes import Done
from climate.plugins.outcomes import Outcome
from climate.plugins.outcomes import Records
from climate.plugins.outcomes import SweepFinding
from climate.plugins.outcomes import Work
from climate.plugins.refusals import Refusals
from climate.plugins.searches import Needs
from climate.plugins.searches import NotEnough
from climate.plugins.searches import Pick
from climate.plugins.searches import Search
from climate.plugins.searches import Snapshot

__all__ = [
    'BY_NAME',
    'Again',
    'Done',
    'NotEnough',
    'Outcome',
    'Pick',
    'Plugin',
    'Records',
    'Search',
    'Snapshot',
    'SweepFinding',
    'Work',
]


R = TypeVar('R')

BY_NAME: Final[Mapping[str, Any]] = {
    'type': 'object',
    'properties': {},
    'additionalProperties': False,
}
"""The :attr:`Plugin.resource_schema` of a type whose resources have a name only."""


class Published:
    """The schema of a plugin's requests, made when it is first asked for."""

    def __get__(self, instance: object, owner: type[Plugin[Any]]) -> Mapping[str, Any]:
        """Return the schema of the type that *owner* serves."""
        return models.of(owner.request_model).schema(owner.resource_type)


class Plugin(abc.ABC, Generic[R]):
    """One resource type; ``R`` is its frozen, typed request."""

    resource_type: ClassVar[str]
    request_model: ClassVar[type[Request]]
    """The class of its requests, from which most of the pure half follows."""
    request_schema: ClassVar[Mapping[str, Any]] = Published()  # type: ignore[assignment]  # found on a class too
    """JSON schema of the body of a reservation."""
    prepares: ClassVar[bool] = False
    prepares_at_once: ClassVar[bool] = False
    """Whether :meth:`prepare` comes as soon as the lease is booked."""
    used_by: ClassVar[frozenset[str]] = frozenset()
    """Types that may use what this one has: at the end, those that stand behind it in
    the lease are to be done first."""

    # -- what everybody is told of the type

    @property
    def description(self) -> str:
        """What it is about, in a sentence."""
        return (type(self).__doc__ or '').strip().partition('\n')[0]

    @property
    def exclusive(self) -> bool:
        """Whether a reservation has whole resources; else it counts units of classes."""
        return True

    @property
    def classes(self) -> tuple[str, ...]:
        """The resource classes that reservations count, as far as they are known."""
        return ()

    @classmethod
    def from_conf(cls, conf: Any) -> Plugin[R]:  # noqa: ARG003  a type without options reads none
        """Return the plugin as *conf* (an oslo.config ConfigOpts) wants it."""
        return cls()

    # -- pure half

    @functools.cached_property
    def model(self) -> Model[Any]:
        """What follows from the class of its requests."""
        return models.of(self.request_model)

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> R:
        """Read what a client sent for a new reservation.

        :param strict: refuse unknown keys instead of dropping them
        :raises climate.exceptions.InvalidInput: naming the field and why
        """
        return self.model.parse(body, self.resource_type, strict=strict)

    def imposed(self, request: R) -> R:
        """Return *request* as one of the operator, for something as it is now.

        Where its owner's doing would have one refused, such as a lock, this one is booked.
        """
        return request

    def change(
        self, request: R, body: Mapping[str, Any], *, strict: bool = False, running: bool = False
    ) -> R:
        """Return *request* with the changes a client sent.

        :param running: whether the lease has started
        :raises climate.exceptions.InvalidInput: naming the field and why
        :raises climate.exceptions.CantUpdateParameter: if a field is fixed
        """
        return self.model.change(request, body, self.resource_type, strict=strict, running=running)

    def dump(self, request: R) -> dict[str, Any]:
        """Return *request* as JSON values, for the store."""
        return self.model.dump(request)

    def load(self, stored: Mapping[str, Any]) -> R:
        """Return the request that :meth:`dump` wrote, here or in an earlier release."""
        return self.model.load(stored)

    @abc.abstractmethod
    def search(self, request: R) -> Search:
        """Say which resources the request can use."""

    def follows(self, before: R, request: R) -> bool:
        """Whether the cloud has to follow this change of a running lease.

        It does in any case if resources come or go with it.
        """
        return False

    shrinks: ClassVar[bool] = False
    """Whether a running reservation can give up some of its whole resources;
    :meth:`start` finds them in :attr:`Work.leaving`."""

    inspects: ClassVar[bool] = False
    """Whether :meth:`inspect` looks at the cloud."""

    def inspect(self, request: R, cloud: Callable[[], Cloud], project_id: str) -> R:
        """Look at the cloud, as the caller sees it, before a request is booked.

        Also used when :meth:`change` has changed it.

        :param cloud: returns the cloud of the caller's own token; that of the
            service, which sees all projects, if nobody called
        :param project_id: of the lease; what belongs to others is not there
        :returns: the request, with what was seen
        :raises climate.exceptions.InvalidInput: if what it names is not there
            for the caller
        """
        return request

    def parts(self, request: R) -> Sequence[Mapping[str, Any]]:
        """Return what has to be reserved with it, as bodies of further reservations.

        Such as the room for a server. They stand before it in the lease: they
        start before it and end after it, are found in :attr:`Work.parts`, and
        change with the dates of the lease only.

        :param request: as :meth:`inspect` returned it
        """
        return ()

    def things(self, request: R) -> Sequence[str]:
        """Return the names of things that exist already, which it takes for itself.

        They become resources of this type if they are none yet, so that two
        leases cannot have one at the same time. :meth:`search` asks for them
        by these names.
        """
        return ()

    def roles(self, request: R) -> frozenset[str]:
        """Return the roles that effects need of the user; none if our own rights do.

        With any a trust is made when the lease is booked, found in
        :attr:`climate.domain.leases.Lease.trust_id`, and deleted when the lease
        is over and its effects have done with it.
        """
        return frozenset()

    redelegates: ClassVar[bool] = False
    """Whether a service that is called with the trust has to hand it on."""

    def makes(self, request: R) -> str | None:
        """Say what :meth:`make` makes for a request; None for nothing.

        A change to other words has it made anew.
        """
        return None

    def make(self, reservation_id: str, request: R, cloud: Cloud) -> dict[str, Any]:
        """Make, as the caller, what our own rights cannot make for the project.

        It comes before the reservation is booked, which is refused if it fails.

        :param cloud: that of the caller's own token
        :returns: facts of the reservation
        :raises climate.exceptions.EffectError: if it cannot be made
        """
        return {}

    def unmake(
        self, reservation_id: str, project_id: str, facts: Mapping[str, Any], cloud: Cloud
    ) -> None:
        """Remove what :meth:`make` made; fine if it is not there.

        :param facts: what it returned; empty if nobody knows: then all that
            bears the name of the reservation in the project goes
        :param cloud: that of the caller's own token, or that of the service
        :raises climate.exceptions.EffectError: if it cannot be removed
        """

    def needs(self, request: R) -> Needs:
        """Return what a booking needs for a request that :meth:`inspect` returned."""
        return Needs(
            parts=self.parts(request),
            things=self.things(request),
            makes=self.makes(request),
            roles=self.roles(request),
            stored=self.dump(request),
            search=self.search(request),
        )

    def leaves(self, reservation: Reservation) -> bool:
        """Whether there may be something in the cloud before any effect was run.

        It is what :meth:`make` makes; the reservation is then not just
        forgotten when its lease is deleted before the start, but ended.
        """
        return False

    def choose(self, request: R, snapshot: Snapshot, rng: random.Random) -> Pick | NotEnough:
        """Choose slots; the same input and *rng* give the same choice."""
        try:
            chosen = shares.choose(
                snapshot.candidates,
                snapshot.start,
                snapshot.end,
                snapshot.minimum,
                snapshot.maximum,
                rng,
                spread=snapshot.search.spread,
                whole=not snapshot.search.demand,
                first=snapshot.search.names,
            )
        except shares.TooFew as error:
            noun = snapshot.search.noun
            return NotEnough(reason=f'{error.free} of {error.minimum} {noun} are free')
        return Pick(shares=chosen)

    @abc.abstractmethod
    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of this type in the API's answer."""

    # -- effect half

    def prepare(self, work: Work, cloud: Cloud) -> Outcome:
        """Do ahead of the start what users do not notice."""
        return Done()

    @abc.abstractmethod
    def start(self, work: Work, cloud: Cloud) -> Outcome:
        """Give the allocated resources to the project.

        Also used when an active lease gets more resources.
        """

    def before_end(self, work: Work, cloud: Cloud) -> Outcome:
        """Do what the user wants done shortly before the end."""
        return Done()

    @abc.abstractmethod
    def end(self, work: Work, cloud: Cloud) -> Outcome:
        """Take everything back; also undoes a start that failed half-way."""

    def undo(self, work: Work, cloud: Cloud) -> Outcome:
        """Leave what was before, of a lease that has not started or could not.

        What it has made goes; what was there before it stays, as it was.
        """
        return self.end(work, cloud)

    def check(self, work: Work, cloud: Cloud) -> Outcome:
        """See whether an active reservation is as it should be; repair drift."""
        return Done()

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Say what of an active reservation runs on a resource; '' if nothing does.

        What is in use stays where it is, unless the operator says otherwise.
        """
        return ''

    def sweep(self, records: Records, cloud: Cloud, *, dry_run: bool) -> Iterable[SweepFinding]:
        """Find what leases that are over left in the cloud, and remove it.

        Only what is known to be of a reservation of ours is touched. Yields as
        it goes, so that what was done is known even if a later step fails.

        :param dry_run: only say what would be done
        """
        return ()

    # -- resources of this type's own; some types use those of others

    resource_schema: ClassVar[Mapping[str, Any] | None] = None
    """JSON schema of the attributes by which an operator names a resource of
    this type; None if the type has no resources of its own."""

    reserved_properties: ClassVar[frozenset[str]] = frozenset()
    """Names that operators cannot give to properties of its resources."""

    refusals: ClassVar[Refusals] = Refusals()
    """Errors about its resources."""

    def discover(self, draft: ResourceDraft, cloud: Cloud) -> Resource:
        """Return the resource that an operator registers; changes nothing in the cloud.

        By default the resource is what the operator says. A type whose resources are in
        the cloud looks them up.

        :raises climate.exceptions.ClimateError: if it is missing or in use
        """
        return Resource(
            resource_type=self.resource_type,
            name=draft.name,
            attributes=draft.attributes,
            inventories=self.stock(draft.inventories),
        )

    def stock(self, declared: Sequence[Inventory]) -> tuple[Inventory, ...]:
        """Return the inventories of a resource by what an operator says it has.

        Types that look their resources up know what they have without.

        :raises climate.exceptions.InvalidInput: naming the one that is wrong
        """
        if declared:
            raise exceptions.InvalidInput(
                f'Malformed parameter inventories: those of {self.resource_type} are looked up'
            )
        return ()

    def admit(self, resource: Resource, cloud: Cloud) -> None:
        """Set a resource aside in the cloud, for leases only."""

    def release(self, resource: Resource, cloud: Cloud) -> None:
        """Let a resource go, the reverse of :meth:`admit`."""
