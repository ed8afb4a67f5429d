# SPDX-License-Identifier: Apache-2.0

"""Microversions and their history."""

from __future__ import annotations

from typing import NamedTuple

SERVICE_TYPE = 'reservation'
HEADER = 'OpenStack-API-Version'

# Oldest first; rest_api_version_history.rst has the details, and a test checks
# that both list the same versions.
HISTORY = (
    ('1.0', 'The API of existing clients of the service type reservation.'),
    (
        '1.1',
        'ISO 8601 times, duration, notify_before_start, filters, sorting and paging of leases, '
        'reasons of a refusal; unknown fields and query parameters are refused.',
    ),
    ('1.2', 'Resources of every type, custom resource types, maintenances, reallocation.'),
    ('1.3', 'Parts of reservations; history, notices and readiness of a lease.'),
    (
        '1.4',
        'Availability, offers, rehearsals; idempotency keys, conditional and waiting requests.',
    ),
    ('1.5', 'What a web page needs: the calendar of resources, the caller, parts of leases.'),
    ('1.6', 'Resources as the cloud has them now: how it has changed them, refreshing, new names.'),
    ('1.7', 'What a lease is for its owner: its resources, how to use them, who created it.'),
    ('1.8', 'Flexible leases: they begin as soon as there is room, and move until they are firm.'),
)


class Microversion(NamedTuple):
    """``major.minor``; compared as a pair of numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'


V1_0 = Microversion(1, 0)
V1_1 = Microversion(1, 1)
V1_2 = Microversion(1, 2)
V1_3 = Microversion(1, 3)
V1_4 = Microversion(1, 4)
V1_5 = Microversion(1, 5)
V1_6 = Microversion(1, 6)
V1_7 = Microversion(1, 7)
V1_8 = Microversion(1, 8)
MIN = V1_0
MAX = V1_8
