# SPDX-License-Identifier: Apache-2.0
"""A server for a time: ``virtual:server``.

It is either an existing server, which is shelved until the lease starts, or a
server that the lease boots. With ``guarantee``, room for it is booked on the
reservable hosts, by a separate reservation that is a part of this one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate.cloud.base import Cloud
from climate.domain.holdings import HeldResource
from climate.domain.leases import Reservation
from climate.domain.leases import YieldMode
from climate.domain.lifecycles import ReservationStatus
from climate.domain.nouns import Nouns
from climate.plugins import contract
from climate.plugins import instructions
from climate.plugins import models
from climate.plugins.instance.by_flavor import RESOURCE_TYPE as ROOM_TYPE
from climate.plugins.server import inspect as server_inspect
from climate.plugins.server import request as server_request
from climate.plugins.server import start as server_start
from climate.plugins.server.end import ServerEnd
from climate.plugins.server.facts import ServerFacts
from climate.plugins.server.images import Images
from climate.plugins.server.request import ServerRequest
from climate.plugins.server.start import BootedServer
from climate.plugins.server.start import ExistingServer
from climate.plugins.server.steps import Case
from climate.plugins.server.steps import ServerSettings

RESOURCE_TYPE = server_request.RESOURCE_TYPE


class VirtualServer(contract.Configured[ServerRequest, ServerSettings]):
    """Leases a server of the user's own, or one that is booted for the lease."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    restarts: ClassVar[bool] = True
    yield_seconds: ClassVar[int] = 300
    nouns: ClassVar[Nouns] = Nouns('own server', 'own servers')
    request_model: ClassVar[type[models.Request]] = ServerRequest
    settings: ClassVar[type[ServerSettings]] = ServerSettings
    prepares: ClassVar[bool] = True
    prepares_at_once: ClassVar[bool] = True
    inspects: ClassVar[bool] = True

    # -- pure half

    def imposed(self, request: ServerRequest) -> ServerRequest:
        """Accept the server in its present state."""
        return dataclasses.replace(request, imposed=True)

    def inspect(
        self, request: ServerRequest, cloud: Callable[[], Cloud], project_id: str
    ) -> ServerRequest:
        """Inspect the server, or the ingredients of a new one."""
        return server_inspect.inspect(request, cloud, project_id)

    def parts(self, request: ServerRequest) -> Sequence[Mapping[str, Any]]:
        """Return the room for the server."""
        if not request.guarantee or request.seen is None:
            return ()
        room = {
            'resource_type': ROOM_TYPE,
            'flavor_id': request.seen.flavor_id,
            'amount': 1,
            'resource_properties': request.resource_properties,
        }
        return (room,)

    def things(self, request: ServerRequest) -> Sequence[str]:
        """Return the id of an existing server."""
        return (request.server_id,) if request.server_id else ()

    def roles(self, request: ServerRequest) -> frozenset[str]:
        """Return the roles needed to boot a server in the user's project."""
        return frozenset() if request.server_id else self._settings.roles

    def yields(self, request: ServerRequest) -> frozenset[YieldMode]:
        """Return how the reservation can yield: a server of the flavor of its room cannot leave."""
        can = super().yields(request)
        stays = request.guarantee and not request.server_id
        return can if stays else can | {YieldMode.SUSPEND}

    def search(self, request: ServerRequest) -> contract.Search:
        """Ask for an existing server, which no other lease can have at the same time."""
        return contract.Search.named(RESOURCE_TYPE, self.things(request), 'servers')

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of a server in the API's response.

        The user data is not among them, since it may be secret.
        """
        shown = server_request.shown(self.load(reservation.request))
        shown.pop('user_data')
        facts = ServerFacts.of(reservation)
        return {
            **shown,
            'server_id': shown['server_id'] or facts.server_id,
            'image_ids': list(facts.image_ids),
        }

    def instructions(
        self, reservation: Reservation, resources: Sequence[HeldResource]
    ) -> Sequence[contract.Instruction]:
        """Return how to look at the server, and how to log in to it."""
        server_id = server_request.shown(self.load(reservation.request))['server_id']
        server_id = server_id or ServerFacts.of(reservation).server_id
        if server_id is None:
            return ()
        return [
            contract.Instruction(
                name='show_server',
                title='Show the server and its addresses',
                command=instructions.command('openstack', 'server', 'show', server_id),
            ),
            contract.Instruction(
                name='log_in',
                title='Log in to the server',
                command=instructions.command('ssh', 'USER@ADDRESS'),
            ),
        ]

    # -- effect half

    def prepare(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Shelve an existing server until the lease starts."""
        case = self._case(work, cloud)
        return ExistingServer(case).prepare() if case.request.server_id else contract.Done()

    def start(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Start or boot the server.

        A later change of the lease does not undo what the user has done with the
        server since then, such as shelving it.
        """
        if work.reservation.status is ReservationStatus.ACTIVE:
            return contract.Done()
        case = self._case(work, cloud)
        return ExistingServer(case).start() if case.exists else BootedServer(case).start()

    def check(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Check that the server exists."""
        return server_start.check(self._case(work, cloud))

    def before_end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Create an image if the user asks for one; every owner is notified of the end anyway."""
        case = self._case(work, cloud)
        if case.server is None or 'snapshot' not in case.request.before_end:
            return contract.Done()
        return Images(case).take(case.server, 'before_end') or contract.Done()

    def end(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Take the actions of ``on_end`` on the server."""
        return ServerEnd(self._case(work, cloud)).run()

    def suspend(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Shelve the server until the lease resumes."""
        return server_start.suspend(self._case(work, cloud))

    def restart(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Restore an existing server; delete one that the lease booted."""
        return self.undo(work, cloud)

    def undo(self, work: contract.Work, cloud: Cloud) -> contract.Outcome:
        """Restore an existing server; delete one that the lease booted."""
        case = self._case(work, cloud)
        return ExistingServer(case).undo() if case.exists else BootedServer(case).undo()

    def _case(self, work: contract.Work, cloud: Cloud) -> Case:
        return Case(work, cloud, self._settings, self.load(work.reservation.request))
