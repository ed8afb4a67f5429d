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
"""The description of a server that is to be booted, as users of Nova write it."""

from __future__ import annotations

import base64
import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from climate import exceptions
from climate.clients.base import Nic
from climate.clients.base import ServerDraft
from climate.plugins import fields

# As long as Nova takes it: this many characters in base64.
_LONGEST_USER_DATA = 65535
_MOST_ITEMS = 64
_KEY = re.compile(r'[a-zA-Z0-9\-_:. ]{1,255}')
# What we tell our own servers by, and users tell us leases by.
_OUR_KEYS = 'climate:'
_UNSTORABLE = re.compile('[\x00\ud800-\udfff]')
_NIC = ('uuid', 'port', 'fixed_ip')
_DEVICE: Mapping[str, tuple[type, ...]] = {
    'boot_index': (int, str),
    'delete_on_termination': (bool,),
    'destination_type': (str,),
    'device_name': (str,),
    'device_type': (str,),
    'disk_bus': (str,),
    'guest_format': (str,),
    'source_type': (str,),
    'tag': (str,),
    'uuid': (str,),
    'volume_size': (int, str),
    'volume_type': (str,),
}

_WORD: Mapping[str, Any] = {'type': ['string', 'null'], 'maxLength': 255}

PROPERTIES: Mapping[str, Any] = {
    'name': fields.TEXT,
    'image': fields.TEXT,
    'flavor': fields.TEXT,
    'networks': {
        'type': ['array', 'null'],
        'maxItems': _MOST_ITEMS,
        'items': {
            'type': 'object',
            'additionalProperties': False,
            'properties': dict.fromkeys(_NIC, _WORD),
        },
    },
    'key_name': fields.TEXT,
    'user_data': {'type': ['string', 'null'], 'maxLength': _LONGEST_USER_DATA},
    'block_device_mapping': {
        'type': ['array', 'null'],
        'maxItems': _MOST_ITEMS,
        'items': {
            'type': 'object',
            'additionalProperties': False,
            'properties': {
                key: {**_WORD, 'type': ['string', 'integer', 'boolean', 'null']} for key in _DEVICE
            },
        },
    },
    'metadata': {
        'type': ['object', 'null'],
        'maxProperties': _MOST_ITEMS,
        'additionalProperties': {'type': 'string', 'maxLength': 255},
    },
    'availability_zone': fields.TEXT,
    'security_groups': {
        'type': ['array', 'null'],
        'maxItems': _MOST_ITEMS,
        'items': {'type': 'string', 'maxLength': 255},
    },
}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """A server to be.

    :ivar image: Glance's id; '' if it boots from a volume
    :ivar flavor: Nova's id
    :ivar networks: with ``uuid`` or ``port``, and perhaps ``fixed_ip``
    :ivar block_device_mapping: in Nova's words, version 2 of them
    """

    name: str
    flavor: str
    image: str = ''
    networks: tuple[Mapping[str, str], ...] = ()
    key_name: str = ''
    user_data: str = ''
    block_device_mapping: tuple[Mapping[str, Any], ...] = ()
    metadata: Mapping[str, str] = dataclasses.field(default_factory=dict)
    availability_zone: str = ''
    security_groups: tuple[str, ...] = ()


def value(body: Mapping[str, Any], key: str) -> Any:
    """Return what a client sent in a field; None if that is nothing."""
    found = body.get(key)
    nothing = _NOTHING.get(key, '')
    return None if type(found) is type(nothing) and not found else found


def read(body: Mapping[str, Any]) -> Draft:
    """Read the description of a server.

    :raises climate.exceptions.InvalidInput: naming the field and why
    """
    if not any(value(body, key) is not None for key in PROPERTIES):
        raise exceptions.MissingParameter(
            'Missing parameter server_id, or name, flavor and image of a server to be booted'
        )
    draft = Draft(
        name=fields.text(body, 'name', required=True),
        flavor=fields.text(body, 'flavor', required=True).strip(),
        image=fields.identifier(body, 'image', 'an image'),
        networks=tuple(_nic(each) for each in _objects(body, 'networks')),
        key_name=fields.text(body, 'key_name'),
        user_data=_user_data(body),
        block_device_mapping=tuple(_device(each) for each in _objects(body, _BDM)),
        metadata=_metadata(body),
        availability_zone=fields.text(body, 'availability_zone'),
        security_groups=tuple(_groups(body)),
    )
    if not draft.image and not draft.block_device_mapping:
        raise exceptions.MissingParameter('Missing parameter image, or block_device_mapping')
    return draft


def dump(draft: Draft) -> dict[str, Any]:
    """Return *draft* as JSON values."""
    return {
        **{field.name: getattr(draft, field.name) for field in dataclasses.fields(draft)},
        'networks': [dict(each) for each in draft.networks],
        _BDM: [dict(each) for each in draft.block_device_mapping],
        'metadata': dict(draft.metadata),
        'security_groups': list(draft.security_groups),
    }


def load(stored: Mapping[str, Any]) -> Draft:
    """Return the draft that :func:`dump` wrote."""
    return Draft(
        **{
            **stored,
            'networks': tuple(stored['networks']),
            _BDM: tuple(stored[_BDM]),
            'security_groups': tuple(stored['security_groups']),
        }
    )


def for_nova(draft: Draft, flavor_id: str, mark: Mapping[str, str]) -> ServerDraft:
    """Return what Nova is told.

    :param flavor_id: the flavor to make it of
    :param mark: metadata by which it is found again
    """
    return ServerDraft(
        name=draft.name,
        flavor_id=flavor_id,
        image_id=draft.image or None,
        nics=tuple(
            Nic(
                network_id=each.get('uuid'),
                port_id=each.get('port'),
                fixed_ip=each.get('fixed_ip'),
            )
            for each in draft.networks
        ),
        key_name=draft.key_name or None,
        user_data=draft.user_data or None,
        block_device_mapping=draft.block_device_mapping,
        metadata={**draft.metadata, **mark},
        availability_zone=draft.availability_zone or None,
        security_groups=draft.security_groups,
    )


_BDM = 'block_device_mapping'
_NOTHING: Mapping[str, Any] = {'networks': [], _BDM: [], 'security_groups': [], 'metadata': {}}


def _wrong(key: str, why: str) -> exceptions.MalformedParameter:
    return exceptions.MalformedParameter(f'Malformed parameter {key}: {why}')


def _objects(body: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = body.get(key)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise _wrong(key, 'it is not a list of objects')
    if len(found) > _MOST_ITEMS:
        raise _wrong(key, f'it has more than {_MOST_ITEMS} items')
    return found


def _nic(item: Mapping[str, Any]) -> dict[str, str]:
    unknown = sorted(set(item) - set(_NIC))
    if unknown:
        raise _wrong('networks', f'{unknown[0][:60]!r} is not one of {", ".join(_NIC)}')
    for key, each in item.items():
        if each is not None and (not isinstance(each, str) or not _is_text(each)):
            raise _wrong('networks', f'{key} is not a text')
    found = {key: each for key, each in item.items() if each}
    if ('uuid' in found) == ('port' in found):
        raise _wrong('networks', 'each needs either uuid or port')
    return found


def _device(item: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for key, each in item.items():
        if key not in _DEVICE:
            raise _wrong(_BDM, f'{key[:60]!r} is not a field of it')
        if each is None:
            continue
        kinds = _DEVICE[key]
        if not isinstance(each, kinds) or (isinstance(each, bool) and bool not in kinds):
            raise _wrong(_BDM, f'{key} cannot be {repr(each)[:60]}')
        if isinstance(each, int) and abs(each) > fields.MAX_COUNT:
            raise _wrong(_BDM, f'{key} is too large')
        if isinstance(each, str) and not _is_text(each):
            raise _wrong(_BDM, f'{key} is not a text')
        found[key] = each
    if 'source_type' not in found:
        raise _wrong(_BDM, 'each needs source_type')
    return found


def _metadata(body: Mapping[str, Any]) -> dict[str, str]:
    found = body.get('metadata')
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise _wrong('metadata', 'it is not an object')
    if len(found) > _MOST_ITEMS:
        raise _wrong('metadata', f'it has more than {_MOST_ITEMS} keys')
    for key, each in found.items():
        if not _KEY.fullmatch(key) or key.startswith(_OUR_KEYS):
            raise _wrong('metadata', f'{key[:60]!r} cannot be a key')
        if not isinstance(each, str) or not _is_text(each):
            raise _wrong('metadata', f'the value of {key[:60]!r} is not a text')
    return dict(found)


def _groups(body: Mapping[str, Any]) -> list[str]:
    found = body.get('security_groups')
    if found is None:
        return []
    if not isinstance(found, list) or len(found) > _MOST_ITEMS:
        raise _wrong('security_groups', f'it is not a list of up to {_MOST_ITEMS} names')
    if not all(isinstance(each, str) and each.strip() and _is_text(each) for each in found):
        raise _wrong('security_groups', 'one of them is not a name')
    return list(found)


def _user_data(body: Mapping[str, Any]) -> str:
    found = body.get('user_data')
    if found is None:
        return ''
    if not isinstance(found, str) or _UNSTORABLE.search(found):
        raise _wrong('user_data', 'it is not a text')
    if len(base64.b64encode(found.encode())) > _LONGEST_USER_DATA:
        raise _wrong('user_data', f'in base64 it is longer than {_LONGEST_USER_DATA} characters')
    return found


def _is_text(text: str) -> bool:
    return len(text) <= fields.LONGEST_TEXT and not _UNSTORABLE.search(text)
