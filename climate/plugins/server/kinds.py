# SPDX-License-Identifier: Apache-2.0
"""The kinds of fields that only the request of a server has."""

from __future__ import annotations

import abc
import base64
import dataclasses
import re
from collections.abc import Mapping
from typing import Any
from typing import ClassVar
from typing import Final

from climate.domain.names import Characters
from climate.plugins import fields
from climate.plugins import schemas
from climate.plugins.fields import Fault
from climate.plugins.steps import Actions

DEVICES: Final = 'block_device_mapping'
_MOST_ITEMS: Final = 64
# Nova accepts this many characters of base64, which encodes three bytes as four.
_LONGEST_USER_DATA: Final = 65535
_MOST_BYTES: Final = _LONGEST_USER_DATA // 4 * 3
_KEY = re.compile(r'[a-zA-Z0-9\-_:. ]{1,255}')
# Climate finds its servers by keys with this prefix, and users request leases with them.
_OUR_KEYS: Final = 'climate:'
_NIC: Final = ('uuid', 'port', 'fixed_ip')
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
_WORD: schemas.Schema = {'type': 'string', 'maxLength': fields.LONGEST_TEXT, **schemas.NO_CONTROLS}
_SCHEMAS: Mapping[type, schemas.Schema] = {
    bool: {'type': 'boolean'},
    int: {'type': 'integer', 'minimum': -fields.MAX_COUNT, 'maximum': fields.MAX_COUNT},
    str: _WORD,
}
_NOTHING: schemas.Schema = {'type': 'null'}

ON_END: Final = Actions(
    'What is done with the server at the end, step by step.',
    words=('snapshot', 'shelve', 'suspend', 'stop', 'delete'),
    # The name in the first design.
    aliases={'create_image': 'snapshot'},
    needed=True,
    # The actions that Nova allows on a server after each action.
    after={
        'snapshot': frozenset({'shelve', 'suspend', 'stop', 'delete'}),
        'shelve': frozenset({'delete'}),
        'suspend': frozenset({'snapshot', 'shelve', 'delete'}),
        'stop': frozenset({'snapshot', 'shelve', 'delete'}),
        'delete': frozenset(),
    },
)
BEFORE_END: Final = Actions(
    'What is done shortly before the end, when its owner is notified.',
    words=('snapshot', 'notify'),
    aliases=ON_END.aliases,
    blank=True,
)


@dataclasses.dataclass(frozen=True)
class Objects(fields.Kind):
    """A list of objects."""

    kind = 'list'
    item: ClassVar[schemas.Schema]
    """The JSON schema of an object."""

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'up to {_MOST_ITEMS} objects'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'type': 'array', 'maxItems': _MOST_ITEMS, 'items': self.item}

    def read(self, value: Any) -> tuple[dict[str, Any], ...]:
        """Return the objects, without null values."""
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise Fault('it is not a list of objects')
        if len(value) > _MOST_ITEMS:
            raise Fault(f'it has more than {_MOST_ITEMS} items')
        return tuple(self.read_item(each) for each in value)

    @abc.abstractmethod
    def read_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return an object, without null values.

        :raises climate.plugins.fields.Fault: if it is invalid, with the reason
        """


@dataclasses.dataclass(frozen=True)
class Nics(Objects):
    """The networks of a server: each by its id or by the id of a port."""

    item: ClassVar[schemas.Schema] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {key: {'anyOf': [_NOTHING, _WORD]} for key in _NIC},
        'oneOf': [
            {'required': [key], 'properties': {key: {'type': 'string', 'minLength': 1}}}
            for key in ('uuid', 'port')
        ],
    }

    def read_item(self, item: Mapping[str, Any]) -> dict[str, str]:
        """Return a network."""
        unknown = sorted(set(item) - set(_NIC))
        if unknown:
            raise Fault(f'{unknown[0][:60]!r} is not one of {", ".join(_NIC)}')
        for key, each in item.items():
            if each is not None and not _is_text(each):
                raise Fault(f'{key} is not a text')
        nic = {key: each for key, each in item.items() if each}
        if ('uuid' in nic) == ('port' in nic):
            raise Fault('each needs either uuid or port')
        return nic


@dataclasses.dataclass(frozen=True)
class Devices(Objects):
    """The disks of a server, as in version 2 of Nova's block device mapping."""

    item: ClassVar[schemas.Schema] = {
        'type': 'object',
        'additionalProperties': False,
        'properties': {
            key: {'anyOf': [*(_SCHEMAS[each] for each in types), _NOTHING]}
            for key, types in _DEVICE.items()
        }
        | {'source_type': _WORD},
        'required': ['source_type'],
    }

    def read_item(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return a disk."""
        disk = {}
        for key, each in item.items():
            if key not in _DEVICE:
                raise Fault(f'{key[:60]!r} is not a field of it')
            if each is not None:
                _check_device(key, each)
                disk[key] = each
        if 'source_type' not in disk:
            raise Fault('each needs source_type')
        return disk


def _check_device(key: str, value: Any) -> None:
    types = _DEVICE[key]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise Fault(f'{key} cannot be {repr(value)[:60]}')
    if isinstance(value, int) and abs(value) > fields.MAX_COUNT:
        raise Fault(f'{key} is too large')
    if isinstance(value, str) and not _is_text(value):
        raise Fault(f'{key} is not a text')


@dataclasses.dataclass(frozen=True)
class Metadata(fields.Kind):
    """The metadata of a server: texts by key."""

    characters = Characters.LINES
    kind = 'object'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'up to {_MOST_ITEMS} texts'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {
            'type': 'object',
            'maxProperties': _MOST_ITEMS,
            'propertyNames': {
                'minLength': 1,
                'maxLength': 255,
                'not': {'pattern': f'^{_OUR_KEYS}|[^a-zA-Z0-9_:. -]'},
            },
            'additionalProperties': {**_WORD, **schemas.LINES},
        }

    def read(self, value: Any) -> dict[str, str]:
        """Return the texts."""
        if not isinstance(value, dict):
            raise Fault('it is not an object')
        if len(value) > _MOST_ITEMS:
            raise Fault(f'it has more than {_MOST_ITEMS} keys')
        for key, each in value.items():
            if not _KEY.fullmatch(key) or key.startswith(_OUR_KEYS):
                raise Fault(f'{key[:60]!r} cannot be a key')
            if not _is_text(each):
                raise Fault(f'the value of {key[:60]!r} is not a text')
        return dict(value)


@dataclasses.dataclass(frozen=True)
class Names(fields.Kind):
    """A list of names."""

    kind = 'list'

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'up to {_MOST_ITEMS} names'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes."""
        return {'type': 'array', 'maxItems': _MOST_ITEMS, 'items': {**_WORD, 'pattern': r'\S'}}

    def read(self, value: Any) -> tuple[str, ...]:
        """Return the names."""
        if not isinstance(value, list) or len(value) > _MOST_ITEMS:
            raise Fault(f'it is not a list of {self.bounds}')
        if not all(_is_text(each) and each.strip() for each in value):
            raise Fault('one of them is not a name')
        return tuple(value)


@dataclasses.dataclass(frozen=True)
class UserData(fields.Kind):
    """The user data, which a server reads when it boots."""

    characters = Characters.ANY
    kind = 'text'
    unstated: ClassVar[str] = (
        f'user_data must not be longer than {_MOST_BYTES} bytes, as it is sent in base64.'
    )

    @property
    def bounds(self) -> str:
        """The limits of a value, for users."""
        return f'up to {_MOST_BYTES} bytes'

    @property
    def schema(self) -> schemas.Schema:
        """The JSON schema of the values it takes; it limits characters, not bytes."""
        return {'type': 'string', 'maxLength': _MOST_BYTES, **schemas.STORABLE}

    def read(self, value: Any) -> str:
        """Return the text."""
        if not isinstance(value, str) or fields.UNSTORABLE.search(value):
            raise Fault('it is not a text')
        if len(base64.b64encode(value.encode())) > _LONGEST_USER_DATA:
            raise Fault(f'in base64 it is longer than {_LONGEST_USER_DATA} characters')
        return value


@dataclasses.dataclass(frozen=True)
class FlavorId(fields.Text):
    """The id of a flavor; surrounding blanks are ignored."""

    def read(self, value: Any) -> str:
        """Return the id."""
        return super().read(value).strip()


def _is_text(value: Any) -> bool:
    return (
        isinstance(value, str)
        and len(value) <= fields.LONGEST_TEXT
        and not fields.UNSTORABLE.search(value)
    )
