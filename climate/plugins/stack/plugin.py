# SPDX-License-Identifier: Apache-2.0

"""A stack of Heat for a time: ``virtual:stack``.

It is either an existing stack, which is suspended until the lease starts and then
resumed, or a stack that the lease creates from a template, in the project and with
the rights of the user. So its owner finds a working group of servers, volumes and
addresses. Room for its contents is booked by reservations that are parts of this
one; :mod:`climate.plugins.stack.templates` makes the servers use it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import uuid
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.leases import YieldMode
from climate.domain.nouns import Nouns
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.floating_ip.plugin import RESOURCE_TYPE as ADDRESS_TYPE
from climate.plugins.instance.by_flavor import RESOURCE_TYPE as ROOM_TYPE
from climate.plugins.stack import contents as stack_contents
from climate.plugins.stack import request as stack_request
from climate.plugins.stack.contents import Contents
from climate.plugins.stack.effects import StackEffects
from climate.plugins.stack.facts import StackFacts
from climate.plugins.stack.request import RESOURCE_TYPE
from climate.plugins.stack.request import StackRequest
from climate.plugins.stack.settings import StackSettings
from climate.plugins.volume.request import RESOURCE_TYPE as VOLUME_TYPE

_LONGEST_NAME = 255


class VirtualStack(contract.Configured[StackRequest, StackSettings]):
    """Leases a stack that exists, or makes one."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    restarts: ClassVar[bool] = True
    yield_seconds: ClassVar[int] = 300
    nouns: ClassVar[Nouns] = Nouns('stack', 'stacks')
    request_model: ClassVar[type[models.Request]] = StackRequest
    settings: ClassVar[type[StackSettings]] = StackSettings
    inspects: ClassVar[bool] = True
    prepares: ClassVar[bool] = True
    prepares_at_once: ClassVar[bool] = True
    # Heat also creates resources later, as groups grow: it delegates the trust to itself.
    redelegates: ClassVar[bool] = True

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> StackRequest:
        """Parse the body of a new reservation; see :class:`climate.plugins.contract.Plugin`."""
        request = super().parse(body, strict=strict)
        if request.draft is not None:
            stack_request.check_size(request.draft, self._settings.longest)
        return request

    def inspect(
        self, request: StackRequest, cloud: Callable[[], Cloud], project_id: str
    ) -> StackRequest:
        """Look the stack up, or have Heat preview a new one, unless that was done before.

        :raises climate.exceptions.InvalidInput: if the caller cannot see the stack,
            or Heat does not accept the template
        :raises climate.exceptions.Conflict: if the stack cannot be leased in its present
            state, or its name is taken
        """
        if request.thing:
            return request
        if request.draft is None:
            return _existing(request, cloud(), project_id)
        contents = self._contents(request, cloud())
        return dataclasses.replace(
            request, thing=_thing(project_id, request.name), contents=contents
        )

    def parts(self, request: StackRequest) -> Sequence[Mapping[str, Any]]:
        """Return the room for the contents of a new stack."""
        if not request.guarantee or request.contents is None:
            return ()
        rooms: list[Mapping[str, Any]] = []
        if 'servers' in self._settings.guarantee:
            rooms += (
                {'resource_type': ROOM_TYPE, 'flavor_id': flavor_id, 'amount': amount}
                for flavor_id, amount in sorted(request.contents.servers.items())
            )
        if 'floating_ips' in self._settings.guarantee:
            rooms += (
                {'resource_type': ADDRESS_TYPE, 'network_id': network_id, 'amount': amount}
                for network_id, amount in sorted(request.contents.by_network().items())
            )
        if 'volumes' in self._settings.guarantee:
            rooms += (
                {
                    'resource_type': VOLUME_TYPE,
                    'size': size,
                    'volume_type': volume_type,
                    'amount': amount,
                    'room_only': True,
                }
                for (size, volume_type), amount in sorted(request.contents.volumes.items())
            )
        return tuple(rooms)

    def things(self, request: StackRequest) -> Sequence[str]:
        """Return the name of the resource for the stack, also for a stack to be created."""
        return (request.thing,)

    def roles(self, request: StackRequest) -> frozenset[str]:
        """Return the roles needed to create a stack or a snapshot in the user's project.

        A snapshot needs them, since it is visible only to the project of the user who
        takes it.
        """
        saves = 'snapshot' in (*request.on_end, *request.before_end)
        return self._settings.roles if saves or request.draft is not None else frozenset()

    def yields(self, request: StackRequest) -> frozenset[YieldMode]:
        """Return how the reservation can yield: suspended servers keep the room of their hosts."""
        can = super().yields(request)
        stays = request.guarantee and request.draft is not None
        return can if stays else can | {YieldMode.SUSPEND}

    def yield_units(self, request: StackRequest) -> int:
        """Return how many servers there are, as far as that is known."""
        servers = () if request.contents is None else request.contents.servers.values()
        return max(sum(servers), 1)

    def search(self, request: StackRequest) -> contract.Search:
        """Ask for the stack, which no other lease can have at the same time."""
        return contract.Search.named(RESOURCE_TYPE, self.things(request), 'stacks')

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of a stack in the API's response.

        The template, its parameters and its files are not among them, since they may
        be secret.
        """
        request, facts = self.load(reservation.request), StackFacts.of(reservation)
        return {
            'stack_id': request.stack_id or facts.stack_id,
            'name': request.name,
            'on_end': list(request.on_end),
            'before_end': list(request.before_end),
            'guarantee': request.guarantee,
            'contents': None if request.contents is None else request.contents.dump(),
            'snapshot_id': facts.snapshot_id,
        }

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to show the outputs of the stack."""
        stack_id = self.load(reservation.request).stack_id or StackFacts.of(reservation).stack_id
        if stack_id is None:
            return ()
        words = ('openstack', 'stack', 'output', 'show', '--all', stack_id)
        return [
            contract.Instruction(
                name='show_outputs',
                title='Show the outputs of the stack',
                command=instructions.command(*words),
            )
        ]

    def _contents(self, request: StackRequest, cloud: Cloud) -> Contents:
        """Return the contents of a new stack, and check that they can be booked."""
        draft = request.draft
        assert draft is not None
        try:
            planned = cloud.orchestration.preview_stack(draft)
        except CloudConflict as error:
            raise exceptions.Conflict(
                f"Stack '{request.name}' cannot be created: {error.message}"
            ) from error
        except exceptions.Permanent as error:
            raise exceptions.InvalidInput.of('template', error.message) from error
        contents = stack_contents.of(planned)
        booked = self._settings.guarantee if request.guarantee else frozenset()
        flavors, networks = {}, {}
        if 'volumes' in booked:
            stack_contents.check_volumes(contents)
        if 'servers' in booked:
            flavors = stack_contents.flavors(contents, cloud.compute)
        if 'floating_ips' in booked:
            networks = stack_contents.networks(contents, cloud.network)
        if booked & {'servers', 'floating_ips'}:
            stack_contents.check_found(contents, draft, flavors, networks)
        return stack_contents.by_id(contents, flavors, networks)

    # -- effect half

    def _effects(self, work: contract.Work, cloud: Cloud) -> StackEffects:
        return StackEffects(work, cloud, self.load(work.reservation.request), self._settings)

    def prepare(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Suspend a stack that exists, until its lease starts."""
        return self._effects(work, cloud).prepare()

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Resume a stack that exists, or make one."""
        return self._effects(work, cloud).start()

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Check that the stack exists and works; changes by its owner are left alone."""
        return self._effects(work, cloud).check()

    def before_end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Take a snapshot, if the request asks for one before the end."""
        return self._effects(work, cloud).before_end()

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Take the actions of ``on_end``; a failed action stops those after it."""
        return self._effects(work, cloud).end()

    def suspend(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Suspend the stack until the lease resumes."""
        return self._effects(work, cloud).suspend()

    def restart(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete a created stack, or restore the state of an existing one."""
        return self._effects(work, cloud).restart()

    def undo(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Delete a created stack, or restore the state of an existing one."""
        return self._effects(work, cloud).undo()


def _existing(request: StackRequest, cloud: Cloud, project_id: str) -> StackRequest:
    """Return the request for an existing stack, with its id and name.

    :raises climate.exceptions.InvalidInput: if the caller cannot see it
    :raises climate.exceptions.Conflict: if it cannot be leased in its present state
    """
    stack = None
    with contextlib.suppress(CloudConflict):
        stack = cloud.orchestration.find_stack(request.stack_id)
    if stack is None or stack.project_id != project_id or stack.action == 'DELETE':
        raise exceptions.InvalidInput(f"Stack '{request.stack_id[:255]}' not found")
    state = f'{stack.action}_{stack.status}'
    if stack.busy:
        raise exceptions.Conflict(f'Stack {stack.id} is {state}: an operation is in progress')
    if stack.status == 'FAILED':
        raise exceptions.Conflict(f'Stack {stack.id} is {state}: {stack.reason}')
    return dataclasses.replace(
        request, stack_id=stack.id, name=stack.name, thing=_thing(project_id, stack.name)
    )


def _thing(project_id: str, name: str) -> str:
    """Return the name of the resource that represents a stack of a project.

    It contains the name of the stack, since a stack to be created has no id yet; a
    name is unique in a project.
    """
    whole = f'{project_id}:{name}'
    if len(whole) <= _LONGEST_NAME:
        return whole
    return str(uuid.uuid5(uuid.NAMESPACE_URL, whole))
