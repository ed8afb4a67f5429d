# SPDX-License-Identifier: Apache-2.0

"""The contract of a resource type.

A plugin has a pure half (parse a request, choose resources) and an effect half
(bring the cloud to the desired state). It receives values and returns values,
without access to the database. Effects are idempotent, since they look before
they act. They never block: an effect that needs more time returns :class:`Again`.
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
from typing import Self
from typing import TypeVar

from climate import exceptions
from climate.allocation import shares
from climate.cloud.base import Cloud
from climate.conf.settings import Settings
from climate.domain import nouns
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.leases import YieldMode
from climate.domain.nouns import Nouns
from climate.domain.resources import Resource
from climate.plugins import models
from climate.plugins import registered
from climate.plugins.instructions import Instruction as Instruction
from climate.plugins.models import Model
from climate.plugins.models import Request
from climate.plugins.outcomes import Again as Again
from climate.plugins.outcomes import Done as Done
from climate.plugins.outcomes import Outcome as Outcome
from climate.plugins.outcomes import Records as Records
from climate.plugins.outcomes import Reported as Reported
from climate.plugins.outcomes import SweepFinding as SweepFinding
from climate.plugins.outcomes import Work as Work
from climate.plugins.searches import Needs
from climate.plugins.searches import NotEnough as NotEnough
from climate.plugins.searches import Pick as Pick
from climate.plugins.searches import Search as Search
from climate.plugins.searches import Snapshot as Snapshot

R = TypeVar('R')
S = TypeVar('S', bound=Settings)

BY_NAME: Final[Mapping[str, Any]] = {
    'type': 'object',
    'properties': {},
    'additionalProperties': False,
}
"""The :attr:`Plugin.resource_schema` of a type whose resources only have a name."""


class Plugin(registered.Registered, abc.ABC, Generic[R]):
    """One resource type; ``R`` is its frozen, typed request."""

    resource_type: ClassVar[str]
    request_model: ClassVar[type[Request]]
    """The class of its requests, from which most of the pure half is derived."""
    request_schema: ClassVar[Mapping[str, Any]] = models.Published()  # type: ignore[assignment]  # found on a class too
    """JSON schema of the body of a reservation."""
    prepares: ClassVar[bool] = False
    prepares_at_once: ClassVar[bool] = False
    """Whether :meth:`prepare` runs as soon as the lease is booked."""
    evicts: ClassVar[bool] = False
    """Whether :meth:`start` deletes what others have on its resources: :meth:`prepare` then runs
    early enough for their notice, and returns :attr:`climate.plugins.outcomes.Done.evicts`."""
    used_by: ClassVar[frozenset[str]] = frozenset()
    """Types that may use the resources of this one. When the lease ends, reservations
    of these types that follow this one in the lease end first."""

    # -- what the API publishes about the type

    nouns: ClassVar[Nouns] = nouns.RESOURCES
    """What people call one of the resources that it leases, and several of them."""
    exclusive: bool = True
    """Whether a reservation takes whole resources, rather than units of resource classes."""
    classes: tuple[str, ...] = ()
    """The resource classes that reservations consume, as far as they are known."""

    @property
    def description(self) -> str:
        """A one-sentence description of the type."""
        return (type(self).__doc__ or '').strip().partition('\n')[0]

    @classmethod
    def from_conf(cls, conf: Any) -> Plugin[R]:  # noqa: ARG003  a type without options reads none
        """Return the plugin, configured from *conf* (an oslo.config ConfigOpts)."""
        return cls()

    # -- pure half

    @functools.cached_property
    def model(self) -> Model[Any]:
        """The model derived from the class of its requests."""
        return models.of(self.request_model)

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> R:
        """Parse the body of a new reservation.

        :param strict: reject unknown keys instead of ignoring them
        :raises climate.exceptions.InvalidInput: naming the field and the reason
        """
        return self.model.parse(body, self.resource_type, strict=strict)

    def imposed(self, request: R) -> R:
        """Return *request* as an operator makes it, for a resource in its present state.

        Such a request is booked even where a user's request is refused, for example
        because the owner has locked the server.
        """
        return request

    def change(
        self, request: R, body: Mapping[str, Any], *, strict: bool = False, running: bool = False
    ) -> R:
        """Return *request* with a client's changes applied.

        :param running: whether the lease has started
        :raises climate.exceptions.InvalidInput: naming the field and the reason
        :raises climate.exceptions.CantUpdateParameter: if a field is fixed
        """
        changed: R = self.model.change(
            request, body, self.resource_type, strict=strict, running=running
        )
        if self.roles(changed) - self.roles(request):
            # A trust is created only when the lease is booked.
            raise exceptions.CantUpdateParameter(param='on_end')
        return changed

    def dump(self, request: R) -> dict[str, Any]:
        """Return *request* as JSON values, for the database."""
        return self.model.dump(request)

    def load(self, stored: Mapping[str, Any]) -> R:
        """Return the request from what :meth:`dump` of this or an earlier release returned."""
        return self.model.load(stored)

    @abc.abstractmethod
    def search(self, request: R) -> Search:
        """Describe the resources that the request can use."""

    def follows(self, before: R, request: R) -> bool:
        """Whether this change of a running lease requires changes in the cloud.

        A change that adds or removes resources always does.
        """
        return False

    shrinks: ClassVar[bool] = False
    """Whether a running reservation can release some of its whole resources;
    :meth:`start` finds them in :attr:`Work.leaving`."""

    inspects: ClassVar[bool] = False
    """Whether :meth:`inspect` calls the cloud."""
    describes_request: ClassVar[bool] = False
    """Whether :meth:`describe` uses nothing but the request."""

    def inspect(self, request: R, cloud: Callable[[], Cloud], project_id: str) -> R:
        """Look up in the cloud the objects that a request names, before it is booked.

        Also called after :meth:`change`.

        :param cloud: returns the cloud as the caller's token sees it; without a
            caller, as the service sees it, with all projects
        :param project_id: of the lease; objects of other projects count as missing
        :returns: the request, completed with what was found
        :raises climate.exceptions.InvalidInput: if an object it names does not
            exist or is not visible to the caller
        """
        return request

    def parts(self, request: R) -> Sequence[Mapping[str, Any]]:
        """Return the reservations that this one depends on, as request bodies.

        For example, a server depends on an instance reservation. They precede it
        in the lease: they start before it, end after it and are available as
        :attr:`Work.parts`. Only the dates of the lease change them.

        :param request: as :meth:`inspect` returned it
        """
        return ()

    def things(self, request: R) -> Sequence[str]:
        """Return the names of existing objects that the reservation takes exclusively.

        Climate registers them as resources of this type, so that two leases
        cannot have the same one at the same time. :meth:`search` refers to them
        by these names.
        """
        return ()

    def roles(self, request: R) -> frozenset[str]:
        """Return the roles of the user that effects need; by default none.

        If there are any, Climate creates a trust when the lease is booked
        (:attr:`climate.domain.leases.Lease.trust_id`), and deletes it after the
        lease has ended and its last effect has finished.
        """
        return frozenset()

    restarts: ClassVar[bool] = False
    """Whether :meth:`start` works again after :meth:`restart`."""

    def yields(self, request: R) -> frozenset[YieldMode]:
        """Return what can become of a reservation whose place others need for a while."""
        can = {YieldMode.END}
        if self.restarts:
            can.add(YieldMode.REQUEUE)
        return frozenset(can)

    yield_seconds: ClassVar[int] = 0
    """How long it takes until a reservation has yielded, until that has been learnt."""

    def yield_units(self, request: R) -> int:
        """Return how much a reservation has that takes time to yield, at least 1.

        By default its resources or slots; for example, GiB if data has to be moved.
        """
        return max(self.search(request).maximum, 1)

    redelegates: ClassVar[bool] = False
    """Whether a service that is called with the trust has to delegate it."""

    def makes(self, request: R) -> str | None:
        """Describe what :meth:`make` creates for a request; None if it creates nothing.

        If a change of the request changes the description, it is created again.
        """
        return None

    def make(self, reservation_id: str, request: R, cloud: Cloud) -> dict[str, Any]:
        """Create what only the caller's token may create in the project.

        Called before the reservation is booked. If it fails, the request is refused.

        :param cloud: the cloud as the caller's token sees it
        :returns: facts of the reservation
        :raises climate.exceptions.EffectError: if it cannot be created
        """
        return {}

    def unmake(
        self, reservation_id: str, project_id: str, facts: Mapping[str, Any], cloud: Cloud
    ) -> None:
        """Delete what :meth:`make` created; do nothing if it does not exist.

        :param facts: what it returned; empty if that is unknown, in which case
            everything in the project that is named after the reservation is deleted
        :param cloud: as the caller's token or the service sees it
        :raises climate.exceptions.EffectError: if it cannot be deleted
        """

    def needs(self, request: R) -> Needs:
        """Return what booking a request requires, once :meth:`inspect` has returned it."""
        return Needs(
            parts=self.parts(request),
            things=self.things(request),
            makes=self.makes(request),
            roles=self.roles(request),
            stored=self.dump(request),
            search=self.search(request),
        )

    def leaves(self, reservation: Reservation) -> bool:
        """Whether the reservation may have objects in the cloud before its first effect.

        :meth:`make` creates them. If the lease is deleted before it starts, such a
        reservation is ended, and not just removed from the database.
        """
        return False

    def choose(self, request: R, snapshot: Snapshot, rng: random.Random) -> Pick | NotEnough:
        """Choose slots; the choice depends only on the arguments, including *rng*."""
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

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of this type in the API's response: by default those of the request."""
        return self.dump(self.load(reservation.request))

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[Instruction]:
        """Return what a person does with a reservation that has not ended.

        :param resources: that it holds, as far as they are shown
        """
        return ()

    # -- effect half

    def prepare(self, work: Work, cloud: Cloud) -> Outcome:
        """Prepare the start, without any effect that users could notice."""
        return Done()

    @abc.abstractmethod
    def start(self, work: Work, cloud: Cloud) -> Outcome:
        """Give the allocated resources to the project.

        Also called when an active lease gets more resources.
        """

    def before_end(self, work: Work, cloud: Cloud) -> Outcome:
        """Run the user's before-end action, shortly before the end."""
        return Done()

    @abc.abstractmethod
    def end(self, work: Work, cloud: Cloud) -> Outcome:
        """Release everything; also undoes a start that failed half-way."""

    def suspend(self, work: Work, cloud: Cloud) -> Outcome:
        """Release the resources, and keep the work; :meth:`start` continues it.

        Called only if :meth:`yields` has it.
        """
        return self.end(work, cloud)

    def restart(self, work: Work, cloud: Cloud) -> Outcome:
        """Release everything, so that :meth:`start` can begin again."""
        return self.end(work, cloud)

    def undo(self, work: Work, cloud: Cloud) -> Outcome:
        """Restore the previous state, for a lease that did not start.

        Deletes what the lease has created. Whatever existed before stays as it was.
        """
        return self.end(work, cloud)

    def check(self, work: Work, cloud: Cloud) -> Outcome:
        """Compare an active reservation with the cloud, and repair drift."""
        return Done()

    def occupied(self, reservation: Reservation, resource: Resource, cloud: Cloud) -> str:
        """Describe what an active reservation runs on a resource; '' if nothing.

        A resource in use is not replaced, unless the operator forces it.
        """
        return ''

    def sweep(self, records: Records, cloud: Cloud, *, dry_run: bool) -> Iterable[SweepFinding]:
        """Find what ended leases left behind in the cloud, and delete it.

        Touches only objects that belong to a reservation in this database. Yields
        each finding at once, so that none is lost if a later step fails.

        :param dry_run: report what would be done, without doing it
        """
        return ()


class Configured(Plugin[R], Generic[R, S]):
    """A resource type with options; ``S`` is the class of its settings."""

    settings: ClassVar[Any]
    """The class of its settings, a :class:`climate.conf.settings.Settings`."""

    def __init__(self, settings: S | None = None) -> None:
        self._settings: S = settings or self.settings()

    @classmethod
    def from_conf(cls, conf: Any) -> Self:
        """Return the plugin, configured from *conf*."""
        return cls(cls.settings.from_conf(conf))
