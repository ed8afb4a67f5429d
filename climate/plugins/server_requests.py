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
"""What somebody wants of a server: the request, and how it is read.

Either a server that exists or the description of one to be booted, and what
is to be done with it before the end and at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.plugins import fields
from climate.plugins import server_drafts
from climate.plugins.server_drafts import Draft

RESOURCE_TYPE = 'virtual:server'
ON_END = ('snapshot', 'shelve', 'suspend', 'stop', 'delete')
BEFORE_END = ('snapshot', 'notify')
_HOSTS = 'resource_properties'
_DEFAULT = ('snapshot', 'delete')
# Names that the first design had.
_OLD_NAMES = {'create_image': 'snapshot'}
# What Nova lets be done with a server after an action.
_AFTER: Mapping[str, frozenset[str]] = {
    'snapshot': frozenset({'shelve', 'suspend', 'stop', 'delete'}),
    'shelve': frozenset({'delete'}),
    'suspend': frozenset({'snapshot', 'shelve', 'delete'}),
    'stop': frozenset({'snapshot', 'shelve', 'delete'}),
    'delete': frozenset(),
}
# What leaves nothing of the server on the host that was booked for it.
_LEAVES_HOST = frozenset({'shelve', 'delete'})

SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'required': ['resource_type'],
    'properties': {
        'resource_type': {'const': RESOURCE_TYPE},
        'server_id': {'type': ['string', 'null'], 'maxLength': fields.LONGEST_TEXT},
        **server_drafts.PROPERTIES,
        'on_end': {
            'type': ['array', 'string', 'null'],
            'items': {'enum': [*ON_END, *_OLD_NAMES]},
            'maxLength': fields.LONGEST_TEXT,
        },
        'before_end': {
            'type': ['array', 'string', 'null'],
            'items': {'enum': [*BEFORE_END, *_OLD_NAMES]},
            'maxLength': fields.LONGEST_TEXT,
        },
        'guarantee': {'type': ['boolean', 'string', 'null']},
        'resource_properties': fields.REQUIREMENT,
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What the cloud said when the request was booked.

    :ivar name: of the server
    :ivar flavor_id: of the server
    """

    name: str
    flavor_id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerRequest:
    """What somebody wants: a server for a time.

    :ivar server_id: Nova's id of one that exists; '' if it is to be booted
    :ivar draft: what is to be booted; None if it exists
    :ivar on_end: what is done with it at the end, in this order
    :ivar before_end: what is done shortly before
    :ivar guarantee: whether room for it is booked on the reservable hosts
    :ivar resource_properties: requirement on these hosts; JSON text or ''
    :ivar seen: None until it was looked at
    :ivar imposed: whether it is the operator's wish, whatever the owner has done with
        the server: it is then leased as it is, and not started
    """

    server_id: str = ''
    draft: Draft | None = None
    on_end: tuple[str, ...] = _DEFAULT
    before_end: tuple[str, ...] = ()
    guarantee: bool = True
    resource_properties: str = ''
    seen: Seen | None = None
    imposed: bool = False


def read(body: Mapping[str, Any], *, strict: bool) -> ServerRequest:
    """Read a new request.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    fields.known(body, SCHEMA, strict=strict)
    server_id = fields.identifier(body, 'server_id', 'a server')
    request = ServerRequest(
        server_id=server_id,
        draft=None if server_id else server_drafts.read(body),
        on_end=actions(body, 'on_end', ON_END, _DEFAULT),
        before_end=actions(body, 'before_end', BEFORE_END, ()),
        guarantee=_flag(body, 'guarantee'),
        resource_properties=fields.requirement(body, 'resource_properties'),
    )
    if server_id:
        for key in server_drafts.PROPERTIES:
            if server_drafts.value(body, key) is not None:
                raise exceptions.MalformedParameter(
                    f'Malformed parameter {key}: the server of server_id has one already'
                )
    return checked(request)


def change(request: ServerRequest, body: Mapping[str, Any], *, strict: bool) -> ServerRequest:
    """Return *request* with the changes a client sent.

    :raises climate.exceptions.InvalidInput: naming the field and why
    :raises climate.exceptions.CantUpdateParameter: if a field is fixed
    """
    fields.known(body, SCHEMA, strict=strict, also=('id',))
    now = shown(request)
    fixed = {key: body.get(key) for key in ('server_id', *server_drafts.PROPERTIES, _HOSTS)}
    if body.get('guarantee') is not None:
        fixed['guarantee'] = _flag(body, 'guarantee')
    for key, value in fixed.items():
        if value is not None and value != now[key]:
            raise exceptions.CantUpdateParameter(param=key)
    return checked(
        dataclasses.replace(
            request,
            on_end=actions(body, 'on_end', ON_END, request.on_end),
            before_end=actions(body, 'before_end', BEFORE_END, request.before_end),
        )
    )


def checked(request: ServerRequest) -> ServerRequest:
    """Return the request if its parts go together.

    :raises climate.exceptions.MalformedParameter: naming what does not
    """
    for first, then in zip(request.on_end, request.on_end[1:], strict=False):
        if then not in _AFTER[first]:
            raise exceptions.MalformedParameter(
                f"Malformed parameter on_end: '{then}' cannot come after '{first}'"
            )
    if not request.guarantee:
        if request.resource_properties:
            raise exceptions.MalformedParameter(
                'Malformed parameter resource_properties: without guarantee no host is booked'
            )
        return request
    if request.draft is not None and 'delete' not in request.on_end:
        # Its flavor goes with the room that was booked: Nova could not put
        # it anywhere again.
        raise exceptions.MalformedParameter(
            'Malformed parameter on_end: a server that is booted with guarantee is made of a '
            "flavor of the lease, so its end has to be 'delete'; set guarantee to false otherwise"
        )
    if not _LEAVES_HOST.intersection(request.on_end):
        raise exceptions.MalformedParameter(
            'Malformed parameter on_end: with guarantee the server leaves its host at the end, by '
            "'shelve' or 'delete'; set guarantee to false otherwise"
        )
    return request


def dump(request: ServerRequest) -> dict[str, Any]:
    """Return *request* as JSON values, for the store."""
    return {
        'server_id': request.server_id,
        'draft': None if request.draft is None else server_drafts.dump(request.draft),
        'on_end': list(request.on_end),
        'before_end': list(request.before_end),
        'guarantee': request.guarantee,
        'resource_properties': request.resource_properties,
        'seen': None if request.seen is None else dataclasses.asdict(request.seen),
        **({'imposed': True} if request.imposed else {}),
    }


def load(stored: Mapping[str, Any]) -> ServerRequest:
    """Return the request that :func:`dump` wrote."""
    return ServerRequest(
        server_id=stored['server_id'],
        draft=None if stored['draft'] is None else server_drafts.load(stored['draft']),
        on_end=tuple(stored['on_end']),
        before_end=tuple(stored['before_end']),
        guarantee=stored['guarantee'],
        resource_properties=stored['resource_properties'],
        seen=None if stored['seen'] is None else Seen(**stored['seen']),
        imposed=stored.get('imposed', False),
    )


def shown(request: ServerRequest) -> dict[str, Any]:
    """Return *request* as users are shown it."""
    draft = dict.fromkeys(server_drafts.PROPERTIES)
    if request.draft is not None:
        draft |= server_drafts.dump(request.draft)
    elif request.seen is not None:
        draft |= {'name': request.seen.name, 'flavor': request.seen.flavor_id}
    return {
        'server_id': request.server_id or None,
        **draft,
        'on_end': list(request.on_end),
        'before_end': list(request.before_end),
        'guarantee': request.guarantee,
        'resource_properties': request.resource_properties,
    }


def actions(
    body: Mapping[str, Any], key: str, known: tuple[str, ...], default: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a list of actions, as a list or as a text with commas.

    :raises climate.exceptions.MalformedParameter: if one is unknown or there twice
    """
    value = body.get(key)
    if value is None:
        return default
    if isinstance(value, str):
        value = [word.strip() for word in value.split(',') if word.strip()] or list(default)
    if not isinstance(value, list):
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: it is not a list')
    found = []
    for word in value:
        action = _OLD_NAMES.get(word, word) if isinstance(word, str) else None
        if action not in known:
            raise exceptions.MalformedParameter(
                f'Malformed parameter {key}: {repr(word)[:60]} is not one of {", ".join(known)}'
            )
        found.append(action)
    if len(set(found)) < len(found):
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: an action is there twice')
    if not found and default:
        raise exceptions.MalformedParameter(f'Malformed parameter {key}: it is empty')
    return tuple(found)


def _flag(body: Mapping[str, Any], key: str) -> bool:
    """Return a truth value, which clients send as such or as its name; true by default."""
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return value is not False
    word = value.strip().lower() if isinstance(value, str) else None
    if word not in ('', 'true', 'false'):
        raise exceptions.MalformedParameter(
            f'Malformed parameter {key}: {repr(value)[:60]} is not true or false'
        )
    return word != 'false'
