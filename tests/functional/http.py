# SPDX-License-Identifier: Apache-2.0

"""Sends requests to a WSGI application and reads JSON back."""

from __future__ import annotations

import json
from typing import Any

import webob

from tests.functional import bodies

MEMBER = 'alice:blue:member'
ADMIN = 'root:ops:admin'

_ANY = {'hypervisor_properties': '', 'resource_properties': '', 'before_end': 'default'}
_HOSTS = bodies.hosts(1, 2, **_ANY)
LEASE = {
    **bodies.lease('l', '2030-02-01 00:00', '2030-02-02 00:00', _HOSTS),
    'before_end_date': None,
    'events': [{'event_type': 'notification', 'time': '2030-02-01 12:00'}],
}


def send(
    app: Any,
    method: str,
    path: str,
    body: Any = None,
    *,
    token: str = ADMIN,
    version: str = '1.0',
    raw: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> webob.Response:
    """Send a request.

    :param body: becomes JSON; None sends no body
    :param raw: the bytes of the body, in place of *body*
    """
    request = webob.Request.blank(path, method=method)
    request.headers['X-Auth-Token'] = token
    request.headers['OpenStack-API-Version'] = f'reservation {version}'
    if body is not None:
        raw = json.dumps(body).encode()
    if raw is not None:
        request.body = raw
        request.content_type = 'application/json'
    request.headers.update(headers or {})
    return request.get_response(app)


def expect(status: int, answer: webob.Response) -> webob.Response:
    """Return an answer that has this status.

    :raises AssertionError: if it has another
    """
    if answer.status_int != status:
        raise AssertionError(f'{answer.status} and not {status}: {answer.text}')
    return answer
