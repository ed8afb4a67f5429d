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


"""A cloud that records every deletion before the request is sent.

Whatever the code that deletes, an owner must be able to find out that and why an object
of theirs is gone. So deletions are recorded in one place, around the clients, and before
the request, because a process may die after it. A deletion that is repeated is recorded
again: who records it drops repetitions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import re
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate import context
from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.rehearsal import looks
from climate.exceptions import texts

LOG = logging.getLogger(__name__)

_PREFIX: Final = 'delete_'
_SECRET: Final = frozenset({'trust'})
# Kinds that can be looked up by the id with which they are deleted.
_FOUND_BY_ID: Final = frozenset(
    {'backup', 'image', 'network', 'server', 'snapshot', 'stack', 'volume'}
)
OWNED: Final = frozenset({*_FOUND_BY_ID, 'floating_ip', 'port', 'router', 'subnet'})
"""Kinds of objects that belong to users. All others are only means of a lease."""

_MOST_SEEN: Final = 20_000
_LONGEST: Final = 255
_UUID: Final = re.compile('[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}')
# Where objects name the reservation that they are for.
_MARKED: Final = ('flavor_id', 'name', 'description', 'tags', 'metadata', 'properties')
_MOST_MENTIONED: Final = 10


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Deletion:
    """An object that is about to be deleted.

    :ivar kind: such as ``server`` or ``aggregate``
    :ivar id: its id in the cloud; '' for a kind whose ids are secret
    :ivar name: '' if it has none, or it is unknown
    :ivar project_id: the project that owns it; '' if none does, or it is unknown
    :ivar host: the host on which it runs; '' if it is on none
    :ivar mentioned: the UUIDs that the object mentions, which may be ids of reservations
    """

    kind: str
    id: str
    name: str = ''
    project_id: str = ''
    host: str = ''
    mentioned: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The object for people, such as ``server 3f… (web) of project 8a…``."""
        found = self.kind.replace('_', ' ')
        found += f' {self.id}' if self.id else ''
        found += f' ({self.name})' if self.name else ''
        found += f' of project {self.project_id}' if self.project_id else ''
        return found + (f' on host {self.host}' if self.host else '')


Record = Callable[[Deletion], None]


def log(deletion: Deletion) -> None:
    """Record a deletion in the log only."""
    work = context.work()
    purpose = f'for lease {work.lease_id}' if work is not None and work.lease_id else 'for no lease'
    LOG.info('%s: being deleted %s', deletion.label.capitalize(), purpose)


class Recorded:
    """Implements :class:`climate.clients.base.Cloud`, and records deletions.

    :param record: called before each deletion; if it raises, nothing is deleted
    """

    def __init__(self, cloud: Cloud, record: Record, seen: dict[str, Any] | None = None) -> None:
        self._cloud = cloud
        self._record = record
        self._seen: dict[str, Any] = {} if seen is None else seen

    def acting_for(self, trust_id: str) -> Recorded:
        """Return the cloud as another user sees it."""
        return Recorded(self._cloud.acting_for(trust_id), self._record, self._seen)

    def of_caller(self, token: str) -> Recorded:
        """Return the cloud as a caller sees it."""
        return Recorded(self._cloud.of_caller(token), self._record, self._seen)

    def as_service(self) -> Recorded:
        """Return the cloud as the service user sees it."""
        return Recorded(self._cloud.as_service(), self._record, self._seen)

    @property
    def compute(self) -> Any:
        """Nova."""
        return self._service('compute', self._cloud.compute)

    @property
    def placement(self) -> Any:
        """Placement."""
        return self._service('placement', self._cloud.placement)

    @property
    def network(self) -> Any:
        """Neutron."""
        return self._service('network', self._cloud.network)

    @property
    def volume(self) -> Any:
        """Cinder."""
        return self._service('volume', self._cloud.volume)

    @property
    def image(self) -> Any:
        """Glance."""
        return self._service('image', self._cloud.image)

    @property
    def orchestration(self) -> Any:
        """Heat."""
        return self._service('orchestration', self._cloud.orchestration)

    @property
    def identity(self) -> Any:
        """Keystone."""
        return self._service('identity', self._cloud.identity)

    def _service(self, name: str, real: Any) -> Any:
        return _RecordedService(name, real, self._record, self._seen)


class _RecordedService:
    def __init__(self, name: str, real: Any, record: Record, seen: dict[str, Any]) -> None:
        self._name = name
        self._real = real
        self._record = record
        self._seen = seen

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self._real, verb)
        if looks(f'{self._name}.{verb}'):
            return functools.partial(self._look, found)
        if verb.startswith(_PREFIX):
            return functools.partial(self._delete, found, verb.removeprefix(_PREFIX))
        return found

    def _look(self, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Look, and keep what was seen: effects look before they delete."""
        result = verb(*arguments, **named)
        if isinstance(result, (tuple, list, frozenset)):
            self._keep(result)
        else:
            self._keep([result])
        return result

    def _keep(self, found: Iterable[Any]) -> None:
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        for item in found:
            key = getattr(item, 'id', None) or getattr(item, 'uuid', None)
            if key is not None:
                self._seen[str(key)] = item

    def _delete(
        self, verb: Callable[..., Any], kind: str, object_id: Any, *others: Any, **named: Any
    ) -> Any:
        self._record(_deletion(kind, str(object_id), self._known(kind, object_id)))
        return verb(object_id, *others, **named)

    def _known(self, kind: str, object_id: Any) -> Any:
        found = self._seen.get(str(object_id))
        if found is None and kind in _FOUND_BY_ID:
            with contextlib.suppress(exceptions.EffectError):
                found = getattr(self._real, f'find_{kind}')(object_id)
        return found


def _deletion(kind: str, object_id: str, found: Any) -> Deletion:
    if kind in _SECRET:
        return Deletion(kind=kind, id='')
    return Deletion(
        kind=kind,
        id=texts.clean(object_id, _LONGEST),
        name=_text(found, 'name', 'address'),
        project_id=_text(found, 'project_id', 'owner'),
        host=_text(found, 'host'),
        mentioned=tuple(dict.fromkeys(_mentioned(found)))[:_MOST_MENTIONED],
    )


def _text(found: Any, *names: str) -> str:
    values = (getattr(found, name, None) for name in names)
    return texts.clean(next((value for value in values if isinstance(value, str)), ''), _LONGEST)


def _mentioned(found: Any) -> Iterator[str]:
    for name in _MARKED:
        value = getattr(found, name, None)
        if value:
            yield from _UUID.findall(str(value))
