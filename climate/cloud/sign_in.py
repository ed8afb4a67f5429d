# SPDX-License-Identifier: Apache-2.0

"""Signs users of the web page in at Keystone, and out.

A password passes through: it is neither stored nor logged, and keystoneauth leaves the
bodies of these requests out of its log.
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import Any
from typing import Final

from keystoneauth1 import access
from keystoneauth1 import exceptions as ksa
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import session as ksa_session
from keystoneauth1.identity import v3
from oslo_config import cfg
from oslo_utils import timeutils

from climate import exceptions

_HEADER_TEXT: Final = re.compile('[!-~]+')
"""What a token can be: other texts do not fit into a header, in which Keystone reads it."""
_REFUSED: Final = 'Keystone does not accept these credentials'


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class IssuedToken:
    """A token that Keystone has issued.

    :ivar project_id: the project of the token; None if it has none
    :ivar expires_at: aware UTC
    """

    token: str = dataclasses.field(repr=False)
    project_id: str | None
    expires_at: datetime.datetime
    user_id: str = ''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class UserProject:
    """A project for which a user can have a token.

    :ivar domain: the id of its domain, as Keystone lists it
    """

    id: str
    name: str
    domain: str


class KeystoneSignIn:
    """Gets tokens from Keystone with what users enter, and revokes them.

    :param auth_url: the address of Keystone, with or without its version
    :param verify: whether to verify its certificate, or the file of the CA
    :param timeout: in seconds
    """

    def __init__(self, auth_url: str, *, verify: bool | str, timeout: float) -> None:
        base = auth_url.rstrip('/')
        self._url = base if base.endswith('/v3') else f'{base}/v3'
        self._verify = verify
        self._timeout = timeout

    @classmethod
    def from_conf(cls, conf: cfg.ConfigOpts) -> KeystoneSignIn:
        """Return one for the Keystone that validates tokens.

        :param conf: with the groups ``ui`` and ``keystone_authtoken``
        :raises climate.exceptions.ConfigurationError: if its address is unknown
        """
        group = conf.keystone_authtoken
        url = conf.ui.auth_url or _validating_url(conf) or group.www_authenticate_uri
        if not url:
            raise exceptions.ConfigurationError(
                '[ui] enabled needs [ui] auth_url or [keystone_authtoken] auth_url'
            )
        verify = False if group.insecure else group.cafile or True
        return cls(url, verify=verify, timeout=conf.ui.timeout)

    def with_password(
        self, username: str, password: str, user_domain: str, project: str, project_domain: str
    ) -> IssuedToken:
        """Return a token for a user.

        :param user_domain: the name of a domain, as is *project_domain*
        :param project: the name of a project; '' for the default project of the user
        :raises climate.exceptions.NotAuthenticated: if Keystone refuses
        :raises climate.exceptions.CloudUnavailable: if it does not answer
        """
        return self._issued(
            v3.Password(
                self._url,
                username=username,
                password=password,
                user_domain_name=user_domain,
                **_scope(project, project_domain),
            )
        )

    def with_application_credential(self, credential_id: str, secret: str) -> IssuedToken:
        """Return a token for an application credential; raises as with a password."""
        return self._issued(
            v3.ApplicationCredential(
                self._url,
                application_credential_id=credential_id,
                application_credential_secret=secret,
            )
        )

    def with_token(
        self, token: str, project: str, project_domain: str, project_id: str = ''
    ) -> IssuedToken:
        """Return a token that a user has, or one for another project; raises likewise.

        :param project: the name of a project; '' for that of the token
        :param project_id: its id, in place of the name
        """
        if _HEADER_TEXT.fullmatch(token) is None:
            raise exceptions.NotAuthenticated(_REFUSED)
        if project_id:
            return self._issued(v3.Token(self._url, token, project_id=project_id))
        if project:
            return self._issued(v3.Token(self._url, token, **_scope(project, project_domain)))
        response = self._sent('get', token)
        return _read(access.create(resp=response, auth_token=token))

    def projects(self, token: str) -> list[UserProject]:
        """Return the projects for which a user can have a token, in the order of their names.

        :raises climate.exceptions.NotAuthenticated: if Keystone refuses
        :raises climate.exceptions.CloudUnavailable: if it does not answer as it should
        """
        try:
            response = self._session().get(
                f'{self._url}/auth/projects',
                headers={'X-Auth-Token': token},
                authenticated=False,
                log=False,
            )
            listed = response.json()['projects']
            items = [
                UserProject(id=one['id'], name=one['name'], domain=one.get('domain_id') or '')
                for one in listed
                if one.get('enabled', True)
            ]
        except ksa.ClientException as error:
            raise _translated(error) from None
        except (KeyError, TypeError, ValueError):
            raise exceptions.CloudUnavailable(
                service='Keystone', reason='its list of projects is not readable'
            ) from None
        return sorted(items, key=lambda one: (one.name, one.id))

    def revoke(self, token: str) -> None:
        """Make a token invalid.

        :raises climate.exceptions.CloudUnavailable: if Keystone does not answer
        """
        try:
            self._sent('delete', token)
        except exceptions.NotAuthenticated:
            # It has expired, or is revoked already.
            return

    def _issued(self, plugin: Any) -> IssuedToken:
        try:
            return _read(plugin.get_access(self._session()))
        except ksa.ClientException as error:
            raise _translated(error) from None

    def _sent(self, method: str, token: str) -> Any:
        headers = {'X-Auth-Token': token, 'X-Subject-Token': token}
        request = getattr(self._session(), method)
        try:
            return request(
                f'{self._url}/auth/tokens', headers=headers, authenticated=False, log=False
            )
        except ksa.ClientException as error:
            raise _translated(error) from None

    def _session(self) -> ksa_session.Session:
        return ksa_session.Session(
            verify=self._verify, timeout=self._timeout, redirect=False, app_name='climate-ui'
        )


def _validating_url(conf: cfg.ConfigOpts) -> str | None:
    ks_loading.register_auth_conf_options(conf, 'keystone_authtoken')
    try:
        plugin = ks_loading.load_auth_from_conf_options(conf, 'keystone_authtoken')
    except ksa.ClientException:
        return None
    url: str | None = getattr(plugin, 'auth_url', None)
    return url


def _scope(project: str, project_domain: str) -> dict[str, Any]:
    if not project:
        return {}
    return {'project_name': project, 'project_domain_name': project_domain}


def _read(found: Any) -> IssuedToken:
    return IssuedToken(
        token=found.auth_token,
        project_id=found.project_id,
        user_id=found.user_id or '',
        expires_at=timeutils.normalize_time(found.expires).replace(tzinfo=datetime.UTC),
    )


def _translated(error: Exception) -> exceptions.ClimateError:
    """Return the error to show; the text of Keystone's may contain what the user entered."""
    if isinstance(error, (ksa.Unauthorized, ksa.NotFound, ksa.Forbidden)):
        return exceptions.NotAuthenticated(_REFUSED)
    if isinstance(error, ksa.HttpError) and 400 <= error.http_status < 500:
        return exceptions.InvalidInput(
            f'Keystone refuses the request with status {error.http_status}'
        )
    return exceptions.CloudUnavailable(service='Keystone', reason='users cannot sign in')
