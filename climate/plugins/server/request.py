# SPDX-License-Identifier: Apache-2.0
"""The request of ``virtual:server``.

It names an existing server or describes one to boot, and lists the actions before
the end and at the end.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Self

from climate import exceptions
from climate.cloud.base import Nic
from climate.cloud.base import ServerDraft
from climate.domain.drafts import DRAFT
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import plain
from climate.plugins import schemas
from climate.plugins.fields import Fixed
from climate.plugins.server import kinds

RESOURCE_TYPE: Final = 'virtual:server'
INGREDIENTS: Final = (
    'name',
    'image',
    'flavor',
    'networks',
    'key_name',
    'user_data',
    kinds.DEVICES,
    'metadata',
    'availability_zone',
    'security_groups',
)
"""Fields that describe a server to boot."""
# Actions that vacate the host that was booked for the server.
_LEAVES_HOST: Final = ('shelve', 'delete')

_FIXED: Final[Mapping[str, Any]] = {'fixed': Fixed.ALWAYS, 'blank': True}
_DRAFT: Final[Mapping[str, Any]] = {**_FIXED, 'within': DRAFT}

_EXISTS = schemas.named('server_id')
_BOOTED: schemas.Schema = {
    'allOf': [
        schemas.called('name'),
        schemas.called('flavor'),
        {
            'anyOf': [
                schemas.named('image'),
                {
                    'required': [kinds.DEVICES],
                    'properties': {kinds.DEVICES: {'type': 'array', 'minItems': 1}},
                },
            ]
        },
    ]
}
_USUAL_END = {
    'properties': {
        'on_end': {'anyOf': [{'type': 'null'}, {'type': 'string', 'pattern': r'^[\s,]*$'}]}
    }
}
_NO_REQUIREMENT = {
    'properties': {
        'resource_properties': {
            'anyOf': [{'enum': [None, []]}, {'type': 'string', 'pattern': r'^\s*(?:\[\s*\])?\s*$'}]
        }
    }
}
_RULES = [
    {'if': _EXISTS, 'then': schemas.without(INGREDIENTS), 'else': _BOOTED},
    {
        'if': schemas.flagged('guarantee', False),
        'then': _NO_REQUIREMENT,
        'else': {
            'if': _EXISTS,
            'then': {'anyOf': [_USUAL_END, schemas.including('on_end', *_LEAVES_HOST)]},
            'else': {'anyOf': [_USUAL_END, schemas.including('on_end', 'delete')]},
        },
    },
]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The properties of the server in the cloud when the request was booked."""

    name: str
    flavor_id: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServerRequest(models.Request):
    """A server for a time.

    :ivar seen: None until the request is inspected
    :ivar imposed: whether an operator imposes the lease: the server is then leased
        in its present state, and not started
    """

    server_id: Annotated[
        str,
        fields.Identifier(
            'A server that exists, by its id in Nova; without it a server is booted.',
            noun='a server',
            **_FIXED,
        ),
    ] = ''
    name: Annotated[str, fields.Text('The name of the server to boot.', **_DRAFT)] = ''
    image: Annotated[
        str,
        fields.Identifier(
            'The image to boot, by its id in Glance; with block_device_mapping there may be none.',
            noun='an image',
            **_DRAFT,
        ),
    ] = ''
    flavor: Annotated[
        str, kinds.FlavorId('The flavor of the server to boot, by its id in Nova.', **_DRAFT)
    ] = ''
    networks: Annotated[
        tuple[Mapping[str, str], ...],
        kinds.Nics(
            'The networks of the server to boot, each with ``uuid`` or ``port``, and perhaps '
            '``fixed_ip``; by default it has none.',
            fixed=Fixed.ALWAYS,
            within=DRAFT,
        ),
    ] = ()
    key_name: Annotated[str, fields.Text('The key pair of the user, by name.', **_DRAFT)] = ''
    user_data: Annotated[
        str, kinds.UserData('What the server reads when it boots; it is not shown.', **_DRAFT)
    ] = dataclasses.field(default='', repr=False)
    block_device_mapping: Annotated[
        tuple[Mapping[str, Any], ...],
        kinds.Devices(
            "The disks of the server to boot, as in Nova's ``block_device_mapping_v2``.",
            fixed=Fixed.ALWAYS,
            within=DRAFT,
        ),
    ] = ()
    metadata: Annotated[
        Mapping[str, str],
        kinds.Metadata('The metadata of the server to boot.', fixed=Fixed.ALWAYS, within=DRAFT),
    ] = dataclasses.field(default_factory=dict)
    availability_zone: Annotated[
        str, fields.Text('The availability zone of the server to boot.', **_DRAFT)
    ] = ''
    security_groups: Annotated[
        tuple[str, ...],
        kinds.Names('The security groups of the server to boot.', fixed=Fixed.ALWAYS, within=DRAFT),
    ] = ()
    on_end: Annotated[tuple[str, ...], kinds.ON_END] = ('snapshot', 'delete')
    before_end: Annotated[tuple[str, ...], kinds.BEFORE_END] = ()
    guarantee: Annotated[
        bool,
        fields.Flag(
            'Whether room for the server is booked on the reservable hosts.', none=False, **_FIXED
        ),
    ] = True
    resource_properties: Annotated[
        str, fields.Requirement('A requirement on these hosts.', fixed=Fixed.ALWAYS)
    ] = ''
    seen: Seen | None = None
    imposed: bool = False

    rules: ClassVar[Mapping[str, Any]] = {'allOf': _RULES}
    unstated: ClassVar[tuple[str, ...]] = (kinds.UserData.unstated,)

    @classmethod
    def complete(
        cls, values: dict[str, Any], given: Collection[str], before: Self | None
    ) -> dict[str, Any]:
        """Refuse the description of an existing server, unless a change repeats it."""
        described = [key for key in INGREDIENTS if key in given]
        if before is None:
            described = [key for key in described if values[key] not in ((), {})]
            _check_described(values, described)
            return values
        if not before.server_id:
            return values
        now = shown(before)
        for key in described:
            if values[key] != now[key]:
                raise exceptions.CantUpdateParameter(param=key)
        return {key: each for key, each in values.items() if key not in described}

    def check(self) -> None:
        """Refuse what contradicts ``guarantee``, with which room is booked."""
        if not self.guarantee:
            if self.resource_properties:
                raise exceptions.MalformedParameter.of(
                    'resource_properties', 'without guarantee no host is booked'
                )
            return
        if not self.server_id and 'delete' not in self.on_end:
            # Its flavor is deleted with the room, so that Nova could not schedule
            # the server again.
            raise exceptions.MalformedParameter.of(
                'on_end',
                'a server that is booted with guarantee is made of a '
                "flavor of the lease, so its end has to be 'delete'; set guarantee to false "
                'otherwise',
            )
        if not set(_LEAVES_HOST).intersection(self.on_end):
            raise exceptions.MalformedParameter.of(
                'on_end',
                'with guarantee the server leaves its host at the '
                "end, by 'shelve' or 'delete'; set guarantee to false otherwise",
            )


def _check_described(values: Mapping[str, Any], described: Collection[str]) -> None:
    """Refuse a new request that describes no server, or an existing one.

    :param described: the fields of a server to boot that have a value
    """
    if values.get('server_id'):
        for key in described:
            raise exceptions.MalformedParameter.of(key, 'the server of server_id has one already')
        return
    if not described:
        raise exceptions.MissingParameter(
            'Missing parameter server_id, or name, flavor and image of a server to be booted'
        )
    for key in ('name', 'flavor'):
        if not values.get(key, '').strip():
            raise exceptions.MissingParameter(param=key)
    if not values.get('image') and not values.get(kinds.DEVICES):
        raise exceptions.MissingParameter('Missing parameter image, or block_device_mapping')


def shown(request: ServerRequest) -> dict[str, Any]:
    """Return *request* as the API shows it to users."""
    values: dict[str, Any] = dict.fromkeys(INGREDIENTS)
    if not request.server_id:
        values = {key: plain.dumped(getattr(request, key)) for key in INGREDIENTS}
    elif request.seen is not None:
        values |= {'name': request.seen.name, 'flavor': request.seen.flavor_id}
    return {
        'server_id': request.server_id or None,
        **values,
        'on_end': list(request.on_end),
        'before_end': list(request.before_end),
        'guarantee': request.guarantee,
        'resource_properties': request.resource_properties,
    }


def for_nova(request: ServerRequest, flavor_id: str, mark: Mapping[str, str]) -> ServerDraft:
    """Return the server to boot in the form that Nova expects.

    :param flavor_id: the flavor of the server
    :param mark: metadata by which Climate finds it again
    """
    return ServerDraft(
        name=request.name,
        flavor_id=flavor_id,
        image_id=request.image or None,
        nics=tuple(
            Nic(
                network_id=each.get('uuid'), port_id=each.get('port'), fixed_ip=each.get('fixed_ip')
            )
            for each in request.networks
        ),
        key_name=request.key_name or None,
        user_data=request.user_data or None,
        block_device_mapping=request.block_device_mapping,
        metadata={**request.metadata, **mark},
        availability_zone=request.availability_zone or None,
        security_groups=request.security_groups,
    )
