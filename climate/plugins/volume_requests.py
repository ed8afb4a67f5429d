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
"""What somebody wants of ``virtual:volume``, and how it is read and kept."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Source
from climate.plugins import fields
from climate.plugins import volume_steps
from climate.plugins.volume_ends import DELETE

RESOURCE_TYPE = 'virtual:volume'
MOST = 100
SOURCES = {'snapshot_id': 'snapshot', 'image_id': 'image', 'source_volid': 'volume'}
_NEW = (
    'size',
    'volume_type',
    'availability_zone',
    'name',
    'amount',
    'guarantee',
    'room_only',
    *SOURCES,
)
_FLAG: Mapping[str, Any] = {'type': ['boolean', 'string', 'null']}
_NUMBER: Mapping[str, Any] = {'anyOf': [fields.COUNT, {'enum': [None, '']}]}

SCHEMA: Mapping[str, Any] = {
    'type': 'object',
    'required': ['resource_type'],
    'properties': {
        'resource_type': {'const': RESOURCE_TYPE},
        'volume_id': fields.TEXT,
        'size': _NUMBER,
        'volume_type': fields.TEXT,
        'availability_zone': fields.TEXT,
        'snapshot_id': fields.TEXT,
        'image_id': fields.TEXT,
        'source_volid': fields.TEXT,
        'name': fields.TEXT,
        'amount': _NUMBER,
        'guarantee': _FLAG,
        'room_only': _FLAG,
        'on_end': volume_steps.schema(),
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRequest:
    """A volume that exists, or some that are to be made.

    :ivar volume_id: of the one that exists; '' if they are to be made
    :ivar size: GiB of each; 0 if what it is made of says it and was not
        looked at yet
    :ivar volume_type: name; '' for that of the source, or the cloud's default
    :ivar availability_zone: '' for the cloud's default
    :ivar source: what each is made of; None for nothing
    :ivar name: what they are called; '' to call them as the lease
    :ivar guarantee: whether room for them is booked
    :ivar room_only: whether nothing else is done: somebody else makes them
    :ivar on_end: what becomes of them, step by step
    :ivar backend: what a pool has to be for volumes of the type, as Cinder
        says it in ``volume_backend_name`` and ``pool_name``
    :ivar seen: whether the cloud was looked at for it
    """

    volume_id: str = ''
    size: int = 0
    volume_type: str = ''
    availability_zone: str = ''
    source: Source | None = None
    name: str = ''
    amount: int = 1
    guarantee: bool = True
    room_only: bool = False
    on_end: tuple[str, ...] = (DELETE,)
    backend: Mapping[str, str] = dataclasses.field(default_factory=dict)
    seen: bool = False


def parse(body: Mapping[str, Any], *, strict: bool) -> VolumeRequest:
    """Read what a client sent for a new reservation.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    fields.known(body, SCHEMA, strict=strict)
    volume_id = fields.identifier(body, 'volume_id', 'a volume')
    if not volume_id:
        return _checked(VolumeRequest(**_made(body), on_end=volume_steps.read(body, (DELETE,))))
    for key in _NEW:
        if _given(body, key):
            raise exceptions.MalformedParameter(
                f'Malformed parameter {key}: volume {volume_id[:60]} exists already'
            )
    # What was there before the lease is there after it, unless told otherwise.
    return VolumeRequest(volume_id=volume_id, guarantee=False, on_end=volume_steps.read(body, ()))


def change(
    request: VolumeRequest, body: Mapping[str, Any], *, strict: bool, running: bool
) -> VolumeRequest:
    """Return *request* with what a client wants changed.

    Volumes that are there may become more, not fewer, and nothing else about
    them is changed: which of them would have to go, Climate cannot know.

    :raises climate.exceptions.InvalidInput: naming the field and why
    :raises climate.exceptions.CantUpdateParameter: if it is fixed
    """
    fields.known(body, SCHEMA, strict=strict, also=('id',))
    on_end = volume_steps.read(body, request.on_end)
    if fields.identifier(body, 'volume_id', 'a volume') not in ('', request.volume_id):
        raise exceptions.CantUpdateParameter(param='volume_id')
    if request.volume_id:
        given = next((key for key in _NEW if _given(body, key)), None)
        if given is not None:
            raise exceptions.CantUpdateParameter(param=given)
        return dataclasses.replace(request, on_end=on_end)
    made = _made(body)
    changes = {key: value for key, value in made.items() if value != getattr(request, key)}
    for key, value in changes.items():
        grows = key == 'amount' and value > request.amount
        if key in ('source', 'room_only') or (running and not grows):
            raise exceptions.CantUpdateParameter(param=key)
    # Nobody has to have the source any more, if it is not for it that they ask.
    seen = request.seen and not set(changes) - {'amount', 'name'}
    return _checked(dataclasses.replace(request, **changes, on_end=on_end, seen=seen))


def dump(request: VolumeRequest) -> dict[str, Any]:
    """Return *request* as JSON values."""
    source = request.source
    return {
        'volume_id': request.volume_id,
        'size': request.size,
        'volume_type': request.volume_type,
        'availability_zone': request.availability_zone,
        'source': None if source is None else {'kind': source.kind, 'id': source.id},
        'name': request.name,
        'amount': request.amount,
        'guarantee': request.guarantee,
        'room_only': request.room_only,
        'on_end': list(request.on_end),
        'backend': dict(request.backend),
        'seen': request.seen,
    }


def load(stored: Mapping[str, Any]) -> VolumeRequest:
    """Return the request that :func:`dump` wrote."""
    source = stored['source']
    return VolumeRequest(
        **{
            **stored,
            'source': None if source is None else Source(**source),
            'on_end': tuple(stored['on_end']),
        }
    )


def describe(request: VolumeRequest) -> dict[str, Any]:
    """Return what was asked for, as it was asked."""
    shown: dict[str, Any] = dict.fromkeys(SOURCES)
    if request.source is not None:
        kinds = {kind: key for key, kind in SOURCES.items()}
        shown[kinds[request.source.kind]] = request.source.id
    return {
        **shown,
        'volume_id': request.volume_id or None,
        'size': request.size or None,
        'volume_type': request.volume_type or None,
        'availability_zone': request.availability_zone or None,
        'name': request.name or None,
        'amount': request.amount,
        'guarantee': request.guarantee,
        'room_only': request.room_only,
        'on_end': list(request.on_end),
    }


def _given(body: Mapping[str, Any], key: str) -> bool:
    return body.get(key) not in (None, '')


def _made(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is said of volumes that are to be made."""
    found: dict[str, Any] = {}
    for key in ('size', 'amount'):
        if _given(body, key):
            found[key] = fields.count(body, key)
    for key in ('volume_type', 'availability_zone', 'name'):
        if _given(body, key):
            found[key] = fields.text(body, key)
    for key in ('guarantee', 'room_only'):
        flag = fields.affinity(body, key)
        if flag is not None:
            found[key] = flag
    sources = [key for key in SOURCES if fields.text(body, key)]
    if len(sources) > 1:
        raise exceptions.MalformedParameter(
            f'Malformed parameter {sources[1]}: a volume is made of one thing only'
        )
    for key in sources:
        kind: Any = SOURCES[key]
        noun = f'an {kind}' if kind == 'image' else f'a {kind}'
        found['source'] = Source(kind=kind, id=fields.identifier(body, key, noun))
    return found


def _checked(request: VolumeRequest) -> VolumeRequest:
    if request.amount > MOST:
        raise exceptions.MalformedParameter(
            f'Malformed parameter amount: it must be between 1 and {MOST}'
        )
    if request.room_only and (request.source is not None or not request.guarantee):
        raise exceptions.MalformedParameter(
            'Malformed parameter room_only: it is for room that is booked, for volumes that are '
            'made of whatever it may be'
        )
    if not request.size and (request.source is None or request.source.kind == 'image'):
        raise exceptions.MissingParameter(param='size')
    return request
