# SPDX-License-Identifier: Apache-2.0

"""Sessions with the services of a cloud, for different identities.

An identity is the configured service user, a user who has created a trust, or the
caller who sent a token. Sessions share connections, but never tokens.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Generic
from typing import TypeVar

from keystoneauth1 import exceptions as ksa
from keystoneauth1 import loading as ks_loading
from keystoneauth1 import plugin as ksa_plugin
from keystoneauth1 import session as ksa_session
from oslo_config import cfg

from climate import exceptions
from climate.cloud import sending
from climate.cloud.errors import Errors
from climate.cloud.errors import Refusal
from climate.cloud.keystone import CallerAuth
from climate.cloud.keystone import Callers
from climate.cloud.keystone import KeystoneClient
from climate.cloud.keystone import why_no_token

T = TypeVar('T')

# The group of each service; auth_type is optional in all but the first.
GROUPS = ('nova', 'placement', 'glance', 'neutron', 'cinder', 'heat', 'keystone')
# The number of trusts for which a cloud, and with it a token, is cached.
_CACHED_TRUSTS = 64
# The trust defines the project, so these options must not.
_SCOPE = frozenset(
    {'project_id', 'project_name', 'project_domain_id', 'project_domain_name'}
    | {'domain_id', 'domain_name', 'system_scope'}
)

# As many as workers that a manager may have.
_KEPT_CONNECTIONS = 256


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServiceSession:
    """A session that authenticates as one identity.

    :ivar refusal: finds out why Keystone issues no token
    """

    session: ksa_session.Session
    auth: ksa_plugin.BaseAuthPlugin = dataclasses.field(repr=False)
    refusal: Refusal | None = None

    def errors(self, service: str) -> Errors:
        """Return the error translator of a service."""
        return Errors(service, self.auth, self.refusal)

    def with_auth(self, auth: ksa_plugin.BaseAuthPlugin, refusal: Refusal | None) -> ServiceSession:
        """Return the same session with another identity."""
        session = ksa_session.Session(
            auth=auth,
            session=self.session.session,
            verify=self.session.verify,
            cert=self.session.cert,
            timeout=self.session.timeout,
            app_name=self.session.app_name,
        )
        return ServiceSession(session=session, auth=auth, refusal=refusal)


ServiceSessions = Mapping[str, ServiceSession]


def configured(conf: cfg.ConfigOpts) -> ServiceSessions:
    """Return the sessions of the service user, by group.

    A group without an ``auth_type`` uses the session of Nova, and by default also
    Nova's region.

    :raises climate.exceptions.ConfigurationError: if a group is invalid
    """
    nova = _service_session(conf, 'nova')
    if nova is None:
        raise exceptions.ConfigurationError('[nova] auth_type is not set')
    sessions = {'nova': nova}
    for group in GROUPS:
        # All groups without an auth_type share the session, and with it the token.
        sessions[group] = sessions.get(group) or _service_session(conf, group) or nova
        if sessions[group] is nova:
            # Without a region, the first one in the catalogue would be used.
            conf.set_default('region_name', conf.nova.region_name, group=group)
    return sessions


def service_session(conf: cfg.ConfigOpts, group: str) -> ServiceSession:
    """Return the service user's session for a service that only some processes call.

    :raises climate.exceptions.ConfigurationError: if the group is invalid
    """
    session = _service_session(conf, group)
    if session is None:
        session = _service_session(conf, 'nova')
        conf.set_default('region_name', conf.nova.region_name, group=group)
    if session is None:
        raise exceptions.ConfigurationError(
            f'neither [{group}] auth_type nor [nova] auth_type is set'
        )
    return session


def _keep_connections(session: ksa_session.Session) -> None:
    """Have a session keep a connection for each worker of a manager.

    By default it keeps ten for each service, and closes all others after each request.
    """
    for prefix in list(session.session.adapters):
        adapter = ksa_session.TCPKeepAliveAdapter(pool_maxsize=_KEPT_CONNECTIONS)
        session.session.mount(prefix, adapter)


def _service_session(conf: cfg.ConfigOpts, group: str) -> ServiceSession | None:
    # A second time, because the configuration files may set an auth_section.
    ks_loading.register_auth_conf_options(conf, group)
    timeout = conf[group].timeout
    if not timeout or timeout <= 0:
        raise exceptions.ConfigurationError(f'[{group}] timeout must be above 0 seconds')
    try:
        auth = ks_loading.load_auth_from_conf_options(conf, group)
        if auth is None:
            return None
        session = ks_loading.load_session_from_conf_options(
            conf, group, auth=auth, app_name='climate'
        )
    except (ksa.AuthPluginException, TypeError, ValueError) as error:
        raise exceptions.ConfigurationError(f'[{group}] {error}') from None
    _keep_connections(session)
    sending.fence(session)
    return ServiceSession(session=session, auth=auth)


class CloudOpener(Generic[T]):
    """Opens the cloud as other users see it.

    :param own: the sessions of the service user
    :param keystone: authenticated as the service user
    :param callers: authenticated as the service user
    :param opened: creates the cloud from sessions
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        own: ServiceSessions,
        keystone: KeystoneClient,
        callers: Callers,
        opened: Callable[[ServiceSessions], T],
    ) -> None:
        self._conf = conf
        self._own = own
        self._keystone = keystone
        self._callers = callers
        self._opened = opened
        self.acting_for = functools.lru_cache(maxsize=_CACHED_TRUSTS)(self._acting_for)

    def _acting_for(self, trust_id: str) -> T:
        refusal = functools.partial(why_no_token, self._keystone, trust_id)
        return self._cloud(self._trusted(trust_id), refusal)

    def of_caller(self, token: str) -> T:
        """Return the cloud as the owner of a token sees it."""
        return self._cloud(CallerAuth(token, self._callers.access_of), None)

    def as_service(self) -> T:
        """Return the cloud as the service user sees it."""
        return self._opened(self._own)

    def _cloud(self, auth: ksa_plugin.BaseAuthPlugin, refusal: Refusal | None) -> T:
        return self._opened(
            {group: one.with_auth(auth, refusal) for group, one in self._own.items()}
        )

    def _trusted(self, trust_id: str) -> ksa_plugin.BaseAuthPlugin:
        """Return the identity of [keystone], scoped to a trust."""
        group = 'keystone' if _authenticates(self._conf, 'keystone') else 'nova'
        section = self._conf[group].auth_section or group
        loader: Any = ks_loading.get_plugin_loader(self._conf[section].auth_type)
        if 'trust_id' not in {option.dest for option in loader.get_options()}:
            raise exceptions.Permanent(
                f'[{section}] auth_type {self._conf[section].auth_type} cannot use trusts'
            )

        def value(option: ks_loading.Opt) -> object:
            if option.dest == 'trust_id':
                return trust_id
            return None if option.dest in _SCOPE else self._conf[section][option.dest]

        return loader.load_from_options_getter(value)


def _authenticates(conf: cfg.ConfigOpts, group: str) -> bool:
    return bool(conf[group].auth_section or conf[group].auth_type)
