# SPDX-License-Identifier: Apache-2.0

"""Reservations as people write them on a command line, for the bodies of requests.

Each option such as ``--hosts 2`` begins a reservation; details such as ``--where`` belong to
the reservation before them.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

from climate.client import details
from climate.client import requirements
from climate.client import sizes
from climate.client import templates

Reservation = dict[str, Any]


class WrittenReservation(Reservation):
    """A reservation whose values are texts, until the schema of its type is known."""


_RANGE: Final = re.compile(r'(\d{1,9})(?:-(\d{1,9}))?')
_COUNTED: Final = re.compile(r'(?P<name>.+?)(?:=(?P<amount>\d{1,9}))?')


class ReservationSyntaxError(ValueError):
    """An option cannot be read; the message names it.

    :ivar reason: the message without the option
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f'--{name}: {reason}')
        self.reason = reason


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReservationOption:
    """An option that begins a reservation.

    :ivar metavar: how help shows its value
    :ivar about: its help
    :ivar read: returns the fields of the value
    :ivar details: the options that it can have, with their fields; '' for one that reads
        several fields
    :ivar defaults: the fields of a new reservation without such details
    """

    metavar: str
    about: str
    read: Callable[[str], Reservation]
    details: Mapping[str, str] = dataclasses.field(default_factory=dict)
    defaults: Mapping[str, Any] = dataclasses.field(default_factory=dict)


def _range(text: str) -> Reservation:
    match = _RANGE.fullmatch(text)
    if match is None:
        raise ValueError(f'{text!r} is no number; write 2, or 2-4 for at least 2 and at most 4')
    return {'min': int(match[1]), 'max': int(match[2] or match[1])}


def _amount(text: str) -> Reservation:
    if not re.fullmatch(r'\d{1,9}', text):
        raise ValueError(f'{text!r} is no number')
    return {'amount': int(text)}


def _counted(field: str) -> Callable[[str], Reservation]:
    def read(text: str) -> Reservation:
        match = _COUNTED.fullmatch(text)
        if match is None:
            raise ValueError('a name is missing')
        return {field: match['name'], 'amount': int(match['amount'] or 1)}

    return read


def _custom(text: str) -> Reservation:
    reservation = _counted('resource_type')(text)
    name = reservation['resource_type']
    # Names of declared types have no colon; with one it is the name of any type.
    return {**reservation, 'resource_type': name if ':' in name else f'custom:{name}'}


def _resource(text: str) -> Reservation:
    head, *pairs = text.split(',')
    kind, _, amount = head.partition('=')
    if not kind or not re.fullmatch(r'(\d{1,9}(-\d{1,9})?)?', amount):
        raise ValueError(f'{text!r} is no TYPE=N,FIELD=VALUE')
    reservation = WrittenReservation(resource_type=kind, amount=amount)
    for pair in pairs:
        reservation.update(details.parameter(pair))
    return reservation


def _volume(text: str) -> Reservation:
    reservation = _counted('size')(text)
    size, _, kind = reservation['size'].partition(':')
    return {**reservation, 'size': sizes.gibibytes(size), **({'volume_type': kind} if kind else {})}


def _boot(text: str) -> Reservation:
    name, sign, rest = text.partition('=')
    flavor, _, image = rest.partition(':')
    if not (name and sign and flavor and image):
        raise ValueError(f'{text!r} is no NAME=FLAVOR:IMAGE')
    return {'name': name, 'flavor': flavor, 'image': image}


def _stack(text: str) -> Reservation:
    name, sign, path = text.rpartition('=')
    name = name if sign else pathlib.PurePath(path).stem
    if not name:
        raise ValueError(f'{text!r} has no name before the =')
    return {'name': name, **templates.template(path)}


def _json(text: str) -> Reservation:
    try:
        reservation = json.loads(text)
    except ValueError as error:
        raise ValueError(f'not JSON: {error}') from None
    if not isinstance(reservation, dict) or not {'resource_type', 'id'} & reservation.keys():
        raise ValueError('a JSON object with a resource_type is required')
    return reservation


def _typed(resource_type: str, read: Callable[[str], Reservation]) -> Callable[[str], Reservation]:
    return lambda text: {'resource_type': resource_type, **read(text)}


_WHERE: Final = {'where': 'resource_properties'}
_ENDS: Final = {'on-end': 'on_end', 'before-end': 'before_end'}
OPTIONS: Final[Mapping[str, ReservationOption]] = {
    'hosts': ReservationOption(
        metavar='N[-M]',
        about='whole hosts: exactly N, or at least N and at most M',
        read=_typed('physical:host', _range),
        details=_WHERE,
    ),
    'instances': ReservationOption(
        metavar='N',
        about='room for N servers of the size that --vcpus, --memory and --disk give',
        read=_typed('virtual:instance', _amount),
        defaults={'disk_gb': 0},
        details={
            **_WHERE,
            'vcpus': 'vcpus',
            'memory': 'memory_mb',
            'disk': 'disk_gb',
            'affinity': 'affinity',
        },
    ),
    'flavor': ReservationOption(
        metavar='NAME_OR_ID[=N]',
        about='room for N servers of a flavor',
        read=_typed('flavor:instance', _counted('flavor_id')),
        details=_WHERE,
    ),
    'server': ReservationOption(
        metavar='NAME_OR_ID',
        about='a server of your project',
        read=_typed('virtual:server', lambda text: {'server_id': text}),
        details={**_WHERE, **_ENDS},
    ),
    'boot': ReservationOption(
        metavar='NAME=FLAVOR:IMAGE',
        about='a new server that is booted at the start',
        read=_typed('virtual:server', _boot),
        details={
            **_WHERE,
            **_ENDS,
            'nic': 'networks',
            'key-name': 'key_name',
            'user-data': 'user_data',
        },
    ),
    'stack': ReservationOption(
        metavar='[NAME=]TEMPLATE',
        about='a new Heat stack that is created at the start from a file',
        read=_typed('virtual:stack', _stack),
        details={**_ENDS, 'environment': '', 'parameter': 'parameters'},
    ),
    'volume': ReservationOption(
        metavar='SIZE[:TYPE][=N]',
        about='N new volumes, such as 500G:ssd=2',
        read=_typed('virtual:volume', _volume),
        details={'on-end': 'on_end'},
    ),
    'floating-ip': ReservationOption(
        metavar='NETWORK[=N]',
        about='N floating IPs of an external network',
        read=_typed('virtual:floatingip', _counted('network_id')),
    ),
    'network': ReservationOption(
        metavar='NAME',
        about='a network on a segment of its own',
        read=_typed('network', lambda text: {'network_name': text}),
        details=_WHERE,
    ),
    'storage': ReservationOption(
        metavar='N[-M]',
        about='whole storage pools',
        read=_typed('physical:storage', _range),
        details=_WHERE,
    ),
    'custom': ReservationOption(
        metavar='TYPE[=N]',
        about='N resources or slots of a type that your operator declared, or of another type '
        'by its whole name, such as baremetal:node=2',
        read=_custom,
        details=_WHERE,
    ),
    'resource': ReservationOption(
        metavar='TYPE[=N[-M]][,FIELD=VALUE]',
        about='N resources of any type, with the fields that "reservable resource type show" lists',
        read=_resource,
        details=_WHERE,
    ),
    'reservation': ReservationOption(
        metavar='JSON', about='a reservation as the API describes it', read=_json
    ),
}
"""The options that begin a reservation, by name."""


@dataclasses.dataclass(frozen=True)
class ReservationDetail:
    """An option for the reservation before it.

    Its fields are as in ReservationOption. If it is given more than once, lists and mappings
    are joined, and the last of other values counts.

    :ivar short: another spelling, such as ``-e``
    """

    metavar: str
    about: str
    read: Callable[[str], Any]
    short: str = ''


DETAILS: Final[Mapping[str, ReservationDetail]] = {
    'where': ReservationDetail(
        'REQUIREMENT',
        "what resources must have, such as 'vcpus >= 32 and not rack in (A, B)'",
        requirements.as_json,
    ),
    'vcpus': ReservationDetail('N', 'VCPUs of each server', lambda text: _amount(text)['amount']),
    'memory': ReservationDetail('SIZE', 'memory of each server, such as 8G', sizes.mebibytes),
    'disk': ReservationDetail('SIZE', 'local disk of each server, such as 40G', sizes.gibibytes),
    'affinity': ReservationDetail(
        'WHERE', 'hosts of the servers: same, different or any', details.affinity
    ),
    'on-end': ReservationDetail(
        'ACTIONS', 'what happens at the end, such as snapshot,delete', details.names
    ),
    'before-end': ReservationDetail(
        'ACTIONS', 'what happens before the end, such as snapshot', details.names
    ),
    'nic': ReservationDetail(
        'NETWORK',
        'a network of the new server; several are possible',
        lambda text: [{'uuid': text}],
    ),
    'key-name': ReservationDetail('KEY', 'the key pair of the new server', lambda text: text),
    'user-data': ReservationDetail('FILE', 'the user data of the new server', details.content),
    'environment': ReservationDetail(
        'FILE', 'the environment of the new stack', templates.environment, short='-e'
    ),
    'parameter': ReservationDetail('NAME=VALUE', 'a parameter of the new stack', details.parameter),
}
"""The options that belong to the reservation before them, by name."""
