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
import dataclasses
import datetime
import random
from collections.abc import Mapping
from typing import Any
from typing import ClassVar
from typing import Generic
from typing import TypeVar

from climate.allocation.requirements import Requirement
from climate.clients.base import Cloud
from climate.domain.leases import Allocation
from climate.domain.leases import Lease
from climate.domain.leases import Reservation
from climate.domain.resources import Candidate
from climate.domain.resources import Resource


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Search:
    """Which resources a request can use, and how many of them.

    :ivar requirement: what a resource must fulfil; None if any will do
    :ivar noun: what the resources are called in a refusal, such as ``hosts``
    """

    resource_type: str
    minimum: int
    maximum: int
    requirement: Requirement | None = None
    noun: str = 'resources'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The resources that match a search and are free for the whole period.

    :ivar start: start of the wanted period
    :ivar end: end of the wanted period
    :ivar minimum: how many more are needed at least; 0 if a change keeps enough
    :ivar maximum: how many more are wanted at most
    """

    start: datetime.datetime
    end: datetime.datetime
    minimum: int
    maximum: int
    candidates: tuple[Candidate, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Pick:
    """The resources chosen."""

    candidates: tuple[Candidate, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NotEnough:
    """There was no choice that fulfils the request."""

    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """What an effect is about.

    :ivar allocations: those not yet given back, in id order
    :ivar resources: the resources of those allocations
    :ivar now: the instant at which the effect was begun (aware UTC)
    :ivar since: the instant at which it was begun for the first time; *now*
        unless it was tried before, or had to wait
    """

    lease: Lease
    reservation: Reservation
    allocations: tuple[Allocation, ...]
    resources: tuple[Resource, ...]
    now: datetime.datetime
    since: datetime.datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The cloud is as it should be.

    :ivar facts: what is to be remembered with the reservation; merged into
        what is known, a None removes
    :ivar repaired: what had to be put right, a line each (``check`` only)
    """

    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    repaired: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Again:
    """Something is under way: come back after a while.

    :ivar after: how long to wait
    :ivar why: for the log and for people
    :ivar facts: as in :class:`Done`
    """

    after: datetime.timedelta
    why: str = ''
    facts: Mapping[str, Any] = dataclasses.field(default_factory=dict)


Outcome = Done | Again
R = TypeVar('R')


class Plugin(abc.ABC, Generic[R]):
    """One resource type; ``R`` is its frozen, typed request."""

    resource_type: ClassVar[str]
    request_schema: ClassVar[Mapping[str, Any]]
    prepares: ClassVar[bool] = False

    @classmethod
    @abc.abstractmethod
    def from_conf(cls, conf: Any) -> Plugin[R]:
        """Return the plugin as *conf* (an oslo.config ConfigOpts) wants it."""

    # -- pure half

    @abc.abstractmethod
    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> R:
        """Read what a client sent for a new reservation.

        :param strict: refuse unknown keys instead of dropping them
        :raises climate.exceptions.InvalidInput: naming the field and why
        """

    @abc.abstractmethod
    def change(self, request: R, body: Mapping[str, Any], *, strict: bool = False) -> R:
        """Return *request* with the changes a client sent.

        :raises climate.exceptions.InvalidInput: naming the field and why
        :raises climate.exceptions.CantUpdateParameter: if a field is fixed
        """

    @abc.abstractmethod
    def dump(self, request: R) -> dict[str, Any]:
        """Return *request* as JSON values, for the store."""

    @abc.abstractmethod
    def load(self, stored: Mapping[str, Any]) -> R:
        """Return the request that :meth:`dump` wrote."""

    @abc.abstractmethod
    def search(self, request: R) -> Search:
        """Say which resources the request can use."""

    @abc.abstractmethod
    def choose(self, request: R, snapshot: Snapshot, rng: random.Random) -> Pick | NotEnough:
        """Choose resources; the same input and *rng* give the same choice."""

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

    def check(self, work: Work, cloud: Cloud) -> Outcome:
        """See whether an active reservation is as it should be; repair drift."""
        return Done()

    # -- resources

    @abc.abstractmethod
    def discover(self, name: str, cloud: Cloud) -> Resource:
        """Look a resource of the cloud up; changes nothing there.

        :raises climate.exceptions.ClimateError: if it is not there or in use
        """

    @abc.abstractmethod
    def admit(self, resource: Resource, cloud: Cloud) -> None:
        """Set a resource aside in the cloud, for leases only."""

    @abc.abstractmethod
    def release(self, resource: Resource, cloud: Cloud) -> None:
        """Let a resource go, the reverse of :meth:`admit`."""
