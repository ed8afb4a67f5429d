# SPDX-License-Identifier: Apache-2.0
"""The request of ``virtual:volume``."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from collections.abc import Mapping
from collections.abc import Sequence
from typing import Annotated
from typing import Any
from typing import ClassVar
from typing import Final
from typing import Self

from climate import exceptions
from climate.cloud.base import Source
from climate.plugins import fields
from climate.plugins import models
from climate.plugins import schemas
from climate.plugins.fields import Fixed
from climate.plugins.volume.end import DELETE
from climate.plugins.volume.steps import VolumeSteps

RESOURCE_TYPE = 'virtual:volume'
MOST = 100
SOURCES: Mapping[str, Any] = {
    'snapshot_id': 'snapshot',
    'image_id': 'image',
    'source_volid': 'volume',
}
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
_FIXED: Final[Mapping[str, Any]] = {'fixed': Fixed.ALWAYS, 'blank': True}
_OPEN: Final[Mapping[str, Any]] = {'fixed': Fixed.RUNNING, 'blank': True}
# Fields that describe each volume, and are checked against the cloud.
_INSPECTED = ('size', 'volume_type', 'availability_zone', 'guarantee')
_HAS_SIZE = {'anyOf': [schemas.named('snapshot_id'), schemas.named('source_volid')]}
_RULES = [
    {
        'if': schemas.named('volume_id'),
        'then': {'properties': {key: {'enum': [None, '']} for key in _NEW}},
        'else': {'anyOf': [schemas.given('size'), *_HAS_SIZE['anyOf']]},
    },
    *(
        {
            'if': schemas.named(key),
            'then': {
                'properties': {
                    other: {'not': {'type': 'string', 'pattern': r'\S'}}
                    for other in SOURCES
                    if other != key
                }
            },
        }
        for key in SOURCES
    ),
    {
        'if': schemas.flagged('room_only', True),
        'then': {
            'not': {'anyOf': [*map(schemas.named, SOURCES), schemas.flagged('guarantee', False)]}
        },
    },
]


def check_sources(keys: Sequence[str]) -> None:
    """Refuse a volume with several sources.

    :param keys: the fields that name a source
    :raises climate.exceptions.MalformedParameter: naming the second
    """
    if len(keys) > 1:
        raise exceptions.MalformedParameter.of(keys[1], 'a volume is made of one thing only')


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class VolumeRequest(models.Request):
    """An existing volume, or volumes to create.

    :ivar backend: the properties that a pool needs for volumes of the type, as in
        Cinder's ``volume_backend_name`` and ``pool_name``
    :ivar seen: whether the request was checked against the cloud
    """

    volume_id: Annotated[
        str,
        fields.Identifier(
            'A volume that exists, by its id in Cinder; without it volumes are made.',
            noun='a volume',
            **_FIXED,
        ),
    ] = ''
    size: Annotated[
        int,
        fields.Count(
            'The size of each volume, in GiB; by default that of the snapshot or volume that '
            'it is made of.',
            **_OPEN,
        ),
    ] = 0
    volume_type: Annotated[
        str,
        fields.Text(
            "The volume type, by name; by default that of the source, or the cloud's default.",
            **_OPEN,
        ),
    ] = ''
    availability_zone: Annotated[str, fields.Text('The availability zone.', **_OPEN)] = ''
    snapshot_id: Annotated[
        str,
        fields.Identifier(
            'The snapshot to make each volume of.', noun='a snapshot', **_FIXED, kept=False
        ),
    ] = ''
    image_id: Annotated[
        str,
        fields.Identifier(
            'The image to make each volume of.', noun='an image', **_FIXED, kept=False
        ),
    ] = ''
    source_volid: Annotated[
        str, fields.Identifier('The volume to copy.', noun='a volume', **_FIXED, kept=False)
    ] = ''
    name: Annotated[
        str, fields.Text('The name of the volumes; by default that of the lease.', **_OPEN)
    ] = ''
    amount: Annotated[
        int,
        fields.Count(
            'The number of volumes; once the lease runs it can only grow.', most=MOST, blank=True
        ),
    ] = 1
    guarantee: Annotated[bool, fields.Flag('Whether room for the volumes is booked.', **_OPEN)] = (
        True
    )
    room_only: Annotated[
        bool,
        fields.Flag(
            'Whether room is booked and nothing else done: something else makes the volumes.',
            **_FIXED,
        ),
    ] = False
    on_end: Annotated[
        tuple[str, ...],
        VolumeSteps(
            'What becomes of the volumes at the end, step by step; by default nothing happens '
            'to a volume that exists.'
        ),
    ] = (DELETE,)
    backend: Mapping[str, str] = dataclasses.field(default_factory=dict)
    seen: bool = False

    rules: ClassVar[Mapping[str, Any]] = {'allOf': _RULES}

    @property
    def source(self) -> Source | None:
        """The source of each volume; None for empty volumes."""
        for key, kind in SOURCES.items():
            if getattr(self, key):
                return Source(kind=kind, id=getattr(self, key))
        return None

    @classmethod
    def complete(
        cls, values: dict[str, Any], given: Collection[str], before: Self | None
    ) -> dict[str, Any]:
        """Refuse the description of an existing volume."""
        volume_id = values.get('volume_id')
        if before is not None or not volume_id:
            return values
        for key in _NEW:
            if key in given:
                raise exceptions.MalformedParameter.of(
                    key, f'volume {volume_id[:60]} exists already'
                )
        # By default, a volume that existed before the lease exists after it.
        return {'guarantee': False, 'on_end': (), **values}

    def check(self) -> None:
        """Refuse volumes that cannot be created as described."""
        if self.volume_id:
            return
        sources = [key for key in SOURCES if getattr(self, key)]
        check_sources(sources)
        if self.room_only and (sources or not self.guarantee):
            raise exceptions.MalformedParameter.of(
                'room_only', 'it requires guarantee, and the volumes cannot have a source'
            )
        if not self.size and sources in ([], ['image_id']):
            raise exceptions.MissingParameter(param='size')

    def check_change(self, before: Self, given: Collection[str], *, running: bool) -> None:
        """Refuse changes of an existing volume, and fewer volumes in a running lease.

        Climate cannot know which of the volumes to delete.
        """
        refused = next((key for key in _NEW if self.volume_id and key in given), None)
        if running and self.amount < before.amount:
            refused = 'amount'
        if refused is not None:
            raise exceptions.CantUpdateParameter(param=refused)

    def is_inspected_with(self, before: Self) -> bool:
        """Whether the inspection of *before* covers this request, too.

        The source is not compared, since it is fixed, and may be gone by now.
        """
        return all(getattr(self, key) == getattr(before, key) for key in _INSPECTED)


def describe(request: VolumeRequest) -> dict[str, Any]:
    """Return the fields of the request as the client sent them."""
    texts = ('volume_id', 'size', 'volume_type', 'availability_zone', 'name', *SOURCES)
    return {
        **{key: getattr(request, key) or None for key in texts},
        'amount': request.amount,
        'guarantee': request.guarantee,
        'room_only': request.room_only,
        'on_end': list(request.on_end),
    }
