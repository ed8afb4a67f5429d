# SPDX-License-Identifier: Apache-2.0

"""Keystone, over a keystoneauth adapter, and authentication for other users.

Errors and retries are those of :mod:`climate.cloud.nova`. Requests that create
something are sent once. Tokens of callers are used, but never stored.

If a trust cannot be used, Keystone (as of 2026.2) returns 401 if the trust was
deleted or has expired, its user or project was deleted, or its project is disabled,
and 403 if its user is disabled or has lost a role. A 401 may also mean a wrong
password, so :func:`why_no_token` looks up the trust. Services cache tokens for some
minutes, and accept a token of a deleted trust for that long.
"""

from __future__ import annotations

import contextlib
import datetime
import urllib.parse
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any

from keystoneauth1 import access as ksa_access
from keystoneauth1 import adapter as ksa_adapter
from keystoneauth1 import exceptions as ksa
from keystoneauth1.identity import base as ksa_identity

from climate import exceptions
from climate.cloud.base import CloudNotFound
from climate.cloud.base import TrustLost
from climate.cloud.errors import Errors
from climate.cloud.protocols.members import Project
from climate.cloud.protocols.members import User
from climate.cloud.protocols.trusts import Trust

_TRUSTS = '/OS-TRUST/trusts'
_TOKENS = '/auth/tokens'


class Callers:
    """Looks up the owners of tokens that callers sent.

    :param adapter: for the service type ``identity``, authenticated as the service user
    :param errors: for Keystone
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors

    def access_of(self, token: str) -> ksa_access.AccessInfoV3:
        """Return the owner of a token, and its catalogue.

        :raises climate.exceptions.Permanent: if Keystone does not accept it
        """
        with self._errors.translated('access_of'):
            try:
                answer = self._adapter.get(_TOKENS, headers={'X-Subject-Token': token})
            except ksa.NotFound as error:
                if not error.request_id:
                    raise
                text = 'Keystone does not accept the token of the caller'
                raise exceptions.Permanent(text) from None
            return ksa_access.AccessInfoV3(body=answer.json(), auth_token=token)


class KeystoneClient:
    """Implements :class:`climate.cloud.base.IdentityService`.

    :param adapter: for the service type ``identity``; raises for errors
    :param errors: for Keystone
    """

    def __init__(self, adapter: ksa_adapter.Adapter, errors: Errors) -> None:
        self._adapter = adapter
        self._errors = errors
        self._callers = Callers(adapter, errors)

    def create_trust(
        self,
        token: str,
        *,
        roles: frozenset[str],
        expires_at: datetime.datetime | None = None,
        redelegate: bool = False,
    ) -> Trust:
        """Create a trust from the owner of a token to the service user."""
        caller = self._callers.access_of(token)
        if not caller.project_id:
            raise exceptions.Permanent('a trust requires a token with a project')
        body: dict[str, Any] = {
            'trustor_user_id': caller.user_id,
            'project_id': caller.project_id,
            'impersonation': True,
            'roles': [{'name': name} for name in sorted(roles)],
            'expires_at': _instant(expires_at),
        }
        if redelegate:
            body |= {'allow_redelegation': True, 'redelegation_count': 1}
        with self._errors.translated('create_trust'):
            body['trustee_user_id'] = self._adapter.get_user_id()
            # Sent with the token of the caller: only the trustor may create a trust.
            answer = self._adapter.post(
                _TRUSTS,
                json={'trust': body},
                headers={'X-Auth-Token': token},
                authenticated=False,
                connect_retries=0,
                status_code_retries=0,
            )
            return _trust(answer.json()['trust'])

    def find_trust(self, trust_id: str) -> Trust | None:
        """Return a trust; None if it does not exist."""
        trust = self._find('find_trust', f'{_TRUSTS}/{_quoted(trust_id)}', 'trust')
        return None if trust is None else _trust(trust)

    def list_trusts(self) -> tuple[Trust, ...]:
        """Return the trusts whose trustee is the service user, by id."""
        with self._errors.translated('list_trusts'):
            query = {'trustee_user_id': self._adapter.get_user_id()}
            answer = self._adapter.get(_TRUSTS, params=query).json()
            trusts = [_trust(item) for item in answer['trusts']]
        return tuple(sorted(trusts, key=lambda trust: trust.id))

    def delete_trust(self, trust_id: str) -> None:
        """Delete a trust; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._errors.translated('delete_trust'):
            self._adapter.delete(f'{_TRUSTS}/{_quoted(trust_id)}')

    def find_user(self, user_id: str) -> User | None:
        """Return a user; None if it does not exist."""
        user = self._find('find_user', f'/users/{_quoted(user_id)}', 'user')
        if user is None:
            return None
        # Keystone does not define these attributes: they may be missing or of any type.
        email, time_zone = user.get('email'), user.get('time_zone')
        return User(
            id=user['id'],
            name=user['name'],
            enabled=bool(user['enabled']),
            email=email if isinstance(email, str) else '',
            time_zone=time_zone if isinstance(time_zone, str) else '',
        )

    def find_project(self, project_id: str) -> Project | None:
        """Return a project; None if it does not exist."""
        project = self._find('find_project', f'/projects/{_quoted(project_id)}', 'project')
        if project is None:
            return None
        return Project(id=project['id'], name=project['name'], enabled=bool(project['enabled']))

    def list_roles(self, user_id: str, project_id: str) -> frozenset[str]:
        """Return the names of the roles that a user has in a project."""
        query = {
            'user.id': user_id,
            'scope.project.id': project_id,
            'effective': 'true',
            'include_names': 'true',
        }
        with contextlib.suppress(CloudNotFound), self._errors.translated('list_roles'):
            answer = self._adapter.get('/role_assignments', params=query).json()
            return frozenset(item['role']['name'] for item in answer['role_assignments'])
        return frozenset()

    def _find(self, verb: str, path: str, key: str) -> Mapping[str, Any] | None:
        with contextlib.suppress(CloudNotFound), self._errors.translated(verb):
            item: Mapping[str, Any] = self._adapter.get(path).json()[key]
            return item
        return None


class CallerAuth(ksa_identity.BaseIdentityPlugin):
    """Authenticates with a token of another user.

    When the token expires, authentication fails: it cannot be renewed.

    :param access_of: returns the owner of a token
    """

    def __init__(self, token: str, access_of: Callable[[str], ksa_access.AccessInfoV3]) -> None:
        super().__init__(reauthenticate=False)
        self._token = token
        self._access_of = access_of

    def get_auth_ref(self, session: object, **_others: object) -> ksa_access.AccessInfoV3:
        """Return the owner of the token, looked up on first use."""
        return self._access_of(self._token)


def why_no_token(keystone: KeystoneClient, trust_id: str) -> exceptions.EffectError:
    """Return an error that explains why Keystone issues no token for a trust.

    The error does not contain the id of the trust.
    """
    try:
        trust = keystone.find_trust(trust_id)
    except exceptions.EffectError as error:
        return error
    if trust is None:
        return TrustLost('the trust is deleted or expired, or its user or project is deleted')
    return TrustLost(
        f'the trust cannot be used: user {trust.trustor_user_id} has lost a role in '
        f'project {trust.project_id}, or one of them is disabled'
    )


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe='')


def _instant(moment: datetime.datetime | None) -> str | None:
    """Return an instant in the format of Keystone."""
    if moment is None:
        return None
    return moment.astimezone(datetime.UTC).strftime('%Y-%m-%dT%H:%M:%S.%fZ')


def _trust(item: Mapping[str, Any]) -> Trust:
    expires_at = item['expires_at']
    return Trust(
        id=item['id'],
        trustor_user_id=item['trustor_user_id'],
        trustee_user_id=item['trustee_user_id'],
        project_id=item['project_id'],
        roles=tuple(sorted(role['name'] for role in item.get('roles') or ())),
        expires_at=datetime.datetime.fromisoformat(expires_at) if expires_at else None,
    )
