# SPDX-License-Identifier: Apache-2.0

"""The requests on tokens and trusts that the stub of a cloud answers like Keystone."""

from __future__ import annotations

import datetime
from typing import Any

from climate import exceptions
from climate.cloud.protocols.trusts import Trust
from tests.contract.stub_routes import Answer
from tests.contract.stub_routes import HTTPError
from tests.contract.stub_routes import Request
from tests.contract.stub_routes import Route
from tests.contract.stub_routes import Stub

#: The id of the user of the service.
SERVICE_USER = 'u'


def _show_token(_stub: Stub, request: Request) -> Answer:
    user, _, project = request.headers['X-Subject-Token'].partition(':')
    if not project:
        raise HTTPError(404, 'Could not find token.')
    return 200, {'token': {'user': {'id': user}, 'project': {'id': project}}}


def _trust(item: Trust, *, listed: bool = False) -> dict[str, Any]:
    users = {'trustor_user_id': item.trustor_user_id, 'trustee_user_id': SERVICE_USER}
    times: dict[str, Any] = {'deleted_at': None, 'expires_at': None}
    body = {'id': item.id, **users, 'project_id': item.project_id, 'impersonation': True, **times}
    if item.expires_at is not None:
        body['expires_at'] = item.expires_at.strftime('%Y-%m-%dT%H:%M:%S.%fZ')
    if not listed:
        body['roles'] = [{'id': f'id-of-{name}', 'name': name} for name in item.roles]
    return body


def _list_trusts(stub: Stub, request: Request) -> Answer:
    # All trusts are listed for administrators only, and a list does not contain roles.
    if request.query.get('trustee_user_id') != SERVICE_USER:
        raise HTTPError(403, 'You are not authorized to perform the requested action.')
    return 200, {
        'trusts': [_trust(item, listed=True) for item in stub.cloud.identity.list_trusts()][::-1],
        'links': {'next': None, 'previous': None},
    }


def _create_trust(stub: Stub, request: Request) -> Answer:
    wanted = request.body['trust']
    token = request.headers['X-Auth-Token']
    if (wanted['trustee_user_id'], wanted['trustor_user_id']) != (
        SERVICE_USER,
        token.partition(':')[0],
    ):
        raise HTTPError(403, 'The authenticated user should match the trustor.')
    until = wanted['expires_at']
    try:
        made = stub.cloud.identity.create_trust(
            token,
            roles=frozenset(role['name'] for role in wanted['roles']),
            expires_at=datetime.datetime.fromisoformat(until) if until else None,
            redelegate=wanted.get('allow_redelegation', False),
        )
    except exceptions.Permanent as error:
        status = 404 if 'Could not find' in error.message else 400
        raise HTTPError(status, error.message) from None
    return 201, {'trust': _trust(made)}


def _find_trust(stub: Stub, trust_id: str) -> Trust:
    found = stub.cloud.identity.find_trust(trust_id)
    if found is None:
        raise HTTPError(404, f'Could not find trust: {trust_id}.')
    return found


def _show_trust(stub: Stub, _request: Request, trust_id: str) -> Answer:
    return 200, {'trust': _trust(_find_trust(stub, trust_id))}


def _delete_trust(stub: Stub, _request: Request, trust_id: str) -> Answer:
    stub.cloud.identity.delete_trust(_find_trust(stub, trust_id).id)
    return 204, None


ROUTES: list[Route] = [
    ('GET', '/auth/tokens', _show_token),
    ('GET', '/OS-TRUST/trusts', _list_trusts),
    ('POST', '/OS-TRUST/trusts', _create_trust),
    ('GET', '/OS-TRUST/trusts/([^/]+)', _show_trust),
    ('DELETE', '/OS-TRUST/trusts/([^/]+)', _delete_trust),
]
