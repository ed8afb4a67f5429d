# SPDX-License-Identifier: Apache-2.0

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
from collections.abc import Iterator
from typing import Any
from typing import Final

from climate import context
from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.read_only import is_read_only
from climate.cloud.wrapped import WrappedCloud
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
        text = self.kind.replace('_', ' ')
        text += f' {self.id}' if self.id else ''
        text += f' ({self.name})' if self.name else ''
        text += f' of project {self.project_id}' if self.project_id else ''
        return text + (f' on host {self.host}' if self.host else '')


Record = Callable[[Deletion], None]


def log(deletion: Deletion) -> None:
    """Record a deletion in the log only."""
    work = context.work()
    purpose = f'for lease {work.lease_id}' if work is not None and work.lease_id else 'for no lease'
    LOG.info('%s: being deleted %s', deletion.label.capitalize(), purpose)


class Recorded(WrappedCloud):
    """A cloud that records deletions.

    :param record: called before each deletion; if it raises, nothing is deleted
    """

    def __init__(self, cloud: Cloud, record: Record) -> None:
        super().__init__(cloud)
        self._record = record
        self._seen: dict[str, Any] = {}

    def _method(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        if is_read_only(name):
            return functools.partial(self._look, real)
        service, _, verb = name.partition('.')
        if verb.startswith(_PREFIX):
            return functools.partial(self._delete, real, service, verb.removeprefix(_PREFIX))
        return real

    def _look(self, verb: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Look, and keep what was seen: effects look before they delete."""
        result = verb(*arguments, **named)
        if len(self._seen) > _MOST_SEEN:
            self._seen.clear()
        for item in result if isinstance(result, (tuple, list, frozenset)) else [result]:
            key = getattr(item, 'id', None) or getattr(item, 'uuid', None)
            if key is not None:
                self._seen[str(key)] = item
        return result

    def _delete(
        self,
        verb: Callable[..., Any],
        service: str,
        kind: str,
        object_id: Any,
        *others: Any,
        **named: Any,
    ) -> Any:
        item = self._seen.get(str(object_id))
        if item is None and kind in _FOUND_BY_ID:
            with contextlib.suppress(exceptions.EffectError):
                item = getattr(getattr(self._cloud, service), f'find_{kind}')(object_id)
        self._record(_deletion(kind, str(object_id), item))
        return verb(object_id, *others, **named)


def _deletion(kind: str, object_id: str, item: Any) -> Deletion:
    if kind in _SECRET:
        return Deletion(kind=kind, id='')
    return Deletion(
        kind=kind,
        id=texts.clean(object_id, _LONGEST),
        name=_text(item, 'name', 'address'),
        project_id=_text(item, 'project_id', 'owner'),
        host=_text(item, 'host'),
        mentioned=tuple(dict.fromkeys(_mentioned(item)))[:_MOST_MENTIONED],
    )


def _text(item: Any, *names: str) -> str:
    values = (getattr(item, name, None) for name in names)
    return texts.clean(next((value for value in values if isinstance(value, str)), ''), _LONGEST)


def _mentioned(item: Any) -> Iterator[str]:
    for name in _MARKED:
        value = getattr(item, name, None)
        if value:
            yield from _UUID.findall(str(value))
