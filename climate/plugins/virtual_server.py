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
"""A server for a time: ``virtual:server``.

Either one that exists, which is shelved until its time comes, or one that is
booted from a description. With ``guarantee`` its room is booked on the
reservable hosts, as a reservation of its own that is a part of this one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Any
from typing import ClassVar

from climate.clients.base import Cloud
from climate.domain.leases import Reservation
from climate.domain.lifecycles import ReservationStatus
from climate.plugins import base
from climate.plugins import server_looks
from climate.plugins import server_requests
from climate.plugins import server_starts
from climate.plugins.flavor_instance import RESOURCE_TYPE as ROOM_TYPE
from climate.plugins.server_ends import ServerEnd
from climate.plugins.server_images import Images
from climate.plugins.server_requests import ServerRequest
from climate.plugins.server_starts import Booting
from climate.plugins.server_starts import Waiting
from climate.plugins.server_steps import Case
from climate.plugins.server_steps import ServerSettings

RESOURCE_TYPE = server_requests.RESOURCE_TYPE


class VirtualServer(base.Plugin[ServerRequest]):
    """Leases a server of the user's own, or one that is booted for the lease."""

    resource_type: ClassVar[str] = RESOURCE_TYPE
    request_schema: ClassVar[Mapping[str, Any]] = server_requests.SCHEMA
    prepares: ClassVar[bool] = True
    prepares_at_once: ClassVar[bool] = True
    inspects: ClassVar[bool] = True

    def __init__(self, settings: ServerSettings | None = None) -> None:
        self._settings = settings or ServerSettings()

    @classmethod
    def from_conf(cls, conf: Any) -> VirtualServer:
        """Return the plugin as *conf* wants it."""
        return cls(ServerSettings.from_conf(conf))

    # -- pure half

    def parse(self, body: Mapping[str, Any], *, strict: bool = False) -> ServerRequest:
        """Read what a client sent; see :class:`climate.plugins.base.Plugin`."""
        return server_requests.read(body, strict=strict)

    def imposed(self, request: ServerRequest) -> ServerRequest:
        """Take the server as it is."""
        return dataclasses.replace(request, imposed=True)

    def change(
        self,
        request: ServerRequest,
        body: Mapping[str, Any],
        *,
        strict: bool = False,
        running: bool = False,
    ) -> ServerRequest:
        """Return *request* with the changes a client sent: what is done before and at the end."""
        return server_requests.change(request, body, strict=strict)

    def inspect(
        self, request: ServerRequest, cloud: Callable[[], Cloud], project_id: str
    ) -> ServerRequest:
        """Look at the server, or at what one is to be made of."""
        return server_looks.inspect(request, cloud, project_id)

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
        """Return the id of a server that exists."""
        return (request.server_id,) if request.server_id else ()

    def roles(self, request: ServerRequest) -> frozenset[str]:
        """Return the roles without which a server cannot be made in the user's project."""
        return frozenset() if request.server_id else self._settings.roles

    def dump(self, request: ServerRequest) -> dict[str, Any]:
        """Return *request* as JSON values."""
        return server_requests.dump(request)

    def load(self, stored: Mapping[str, Any]) -> ServerRequest:
        """Return the request that :meth:`dump` wrote."""
        return server_requests.load(stored)

    def search(self, request: ServerRequest) -> base.Search:
        """Ask for the server that exists, which nobody else can have at the time."""
        names = tuple(self.things(request))
        return base.Search(
            resource_type=RESOURCE_TYPE,
            minimum=len(names),
            maximum=len(names),
            names=names,
            noun='servers',
        )

    def describe(self, reservation: Reservation) -> dict[str, Any]:
        """Return the keys of a reservation of a server in the API's answer.

        What the server reads when it boots is not among them: it may be secret.
        """
        shown = server_requests.shown(self.load(reservation.request))
        shown.pop('user_data')
        booted = reservation.facts.get('server_id')
        return {
            **shown,
            'server_id': shown['server_id'] or booted,
            'image_ids': list(reservation.facts.get('image_ids') or ()),
        }

    # -- effect half

    def prepare(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Shelve a server that exists until its time comes."""
        case = self._case(work, cloud)
        return Waiting(case).prepare() if case.request.server_id else base.Done()

    def start(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Have the server run.

        What its user does with it afterwards, such as shelving it, is not
        undone when something else in the lease changes.
        """
        if work.reservation.status is ReservationStatus.ACTIVE:
            return base.Done()
        case = self._case(work, cloud)
        return Waiting(case).start() if case.request.server_id else Booting(case).start()

    def check(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """See whether the server is there."""
        return server_starts.check(self._case(work, cloud))

    def before_end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Make an image, if that is wanted; of the end everybody is told anyway."""
        case = self._case(work, cloud)
        if case.server is None or 'snapshot' not in case.request.before_end:
            return base.Done()
        return Images(case).take(case.server, 'before_end') or base.Done()

    def end(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Do with the server what is wanted at the end."""
        return ServerEnd(self._case(work, cloud)).run()

    def undo(self, work: base.Work, cloud: Cloud) -> base.Outcome:
        """Have a server that exists as it was, and none that was booted."""
        case = self._case(work, cloud)
        return Waiting(case).undo() if case.request.server_id else Booting(case).undo()

    def _case(self, work: base.Work, cloud: Cloud) -> Case:
        return Case(work, cloud, self._settings, self.load(work.reservation.request))
