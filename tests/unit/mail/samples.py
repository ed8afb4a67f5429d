# SPDX-License-Identifier: Apache-2.0

"""Notifications, notices and spools of owners of leases."""

from __future__ import annotations

import contextlib
import datetime
import email.message
import pathlib
import sqlite3
from typing import Any

from climate.mail.notices import Notice
from climate.mail.spool import FILE
from tests.narrowing import present

NOW = datetime.datetime(2030, 1, 1, 11, 0, tzinfo=datetime.UTC)


def notice(number: int = 1, **changes: Any) -> Notice:
    """Return a notice."""
    values: dict[str, Any] = {
        'id': f'message-{number}',
        'key': f'message-{number}',
        'kind': 'before_end',
        'lease_id': f'lease-{number}',
        'name': f'demo {number}',
        'user_id': 'alice',
        'project_id': 'blue',
        'start': NOW,
        'end': NOW + datetime.timedelta(hours=3),
        'status': 'ACTIVE',
        'resources': ('2 hosts: compute-3, compute-4 (reservation r-1)',),
    }
    return Notice(**values | changes)


def envelope(event_type: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a notification, as it comes from the bus."""
    return {
        'message_id': f'message-{number}',
        'event_type': event_type,
        'publisher_id': 'climate.lease',
        'payload': {
            'payload_version': '1.1',
            'lease_id': f'lease-{number}',
            'name': f'demo {number}',
            'user_id': 'alice',
            'project_id': 'blue',
            'start_date': '2030-01-01T12:00:00.000000',
            'end_date': '2030-01-01T14:00:00.000000',
            'status': 'PENDING',
            'degraded': False,
            'reservations': [{'resource_type': 'physical:host', 'status': 'pending'}],
            **changes,
        },
    }


def text(letter: email.message.EmailMessage) -> str:
    """Return the part of a mail in plain text."""
    part = present(letter.get_body(('plain',)))
    content: str = part.get_content()
    return content.replace('\r\n', '\n')


def rows(folder: pathlib.Path) -> list[tuple[Any, ...]]:
    """Return the table of a spool."""
    with contextlib.closing(sqlite3.connect(folder / FILE)) as connection:
        return connection.execute('SELECT * FROM notices ORDER BY id').fetchall()


def spooled(folder: pathlib.Path, state: str) -> int:
    """Return how many notices of a spool are in a state."""
    return [row[1] for row in rows(folder)].count(state)
