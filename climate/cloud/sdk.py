# SPDX-License-Identifier: Apache-2.0

"""Builds the connections of openstacksdk.

Loading the library takes a quarter of a second and 14 MB, so the first method that
needs it loads it, and other processes never do. Some features of the library are
turned off here: it reads no files, negotiates no microversions, caches no responses,
and does not repeat requests that create something.

If the catalogue lacks a service, or Keystone does not respond, only the methods that
need it fail. The library caches endpoints; they are looked up again with each new
token, so that a service that moves is found.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Iterator
from typing import Any
from typing import TypeVar

from keystoneauth1 import session as ksa_session
from oslo_config import cfg

from climate import exceptions
from climate.cloud.errors import Errors
from climate.cloud.errors import Refusal
from climate.cloud.protocols.listed import ListedItem

# Groups of the configuration by service type. openstacksdk uses the same names.
GROUPS = {
    'image': 'glance',
    'network': 'neutron',
    'block-storage': 'cinder',
    'orchestration': 'heat',
    'identity': 'keystone',
    'baremetal': 'ironic',
}


# How often a list is read of which items are deleted meanwhile.
_ATTEMPTS = 5
T = TypeVar('T', bound=ListedItem)


class _Sender(ksa_session.Session):
    """A session that never repeats a POST, and shares the connections of another.

    After a time-out or a 503 the outcome of a POST is unknown.

    :param timeout: seconds
    """

    def __init__(self, session: ksa_session.Session, timeout: float) -> None:
        super().__init__(
            auth=session.auth,
            session=session.session,
            verify=session.verify,
            cert=session.cert,
            timeout=timeout,
            app_name=session.app_name,
        )

    def request(self, url: str, method: str, *others: Any, **options: Any) -> Any:
        """Send a request and return the response; see keystoneauth."""
        if method.upper() == 'POST':
            options.update(connect_retries=0, status_code_retries=0)
        return super().request(url, method, *others, **options)


class SdkService:
    """A service of a cloud, over openstacksdk. Thread-safe.

    :param conf: parsed, with the options of the service's group registered
    :param service_type: a key of :data:`GROUPS`
    :param session: the authenticated session
    :param microversion: the microversion of every request; None for a service
        without microversions
    :param refusal: finds out why Keystone issues no token
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        service_type: str,
        *,
        session: ksa_session.Session,
        microversion: str | None = None,
        refusal: Refusal | None = None,
    ) -> None:
        self._conf = conf
        self._service_type = service_type
        self._session = session
        self._microversion = microversion
        self.errors = Errors(GROUPS[service_type].capitalize(), session.auth, refusal)
        self._kept: tuple[Any, object] | None = None

    @contextlib.contextmanager
    def calling(
        self, verb: str, *, bad_request: type[exceptions.EffectError] = exceptions.Permanent
    ) -> Iterator[Any]:
        """Yield the library's proxy of the service, and translate the errors of the body.

        See :mod:`climate.cloud.errors`.

        :param verb: the operation, for messages
        :param bad_request: the meaning of a 400
        """
        with self.errors.translated(verb, bad_request=bad_request):
            yield self._proxy()

    def every(self, verb: str, read: Callable[[Any], Iterable[T]]) -> tuple[T, ...]:
        """Return the items of all pages of a list, by id, each id once.

        A service refuses to continue a list after an item that has been deleted: Cinder and
        Neutron with a 404, Glance with a 400. The list then starts over.

        :param verb: the operation, for messages
        :param read: reads the list with the library's proxy, a page when it is needed
        :raises climate.exceptions.Transient: if items are deleted during each of several
            attempts
        """
        reason = ''
        for _ in range(_ATTEMPTS):
            items: dict[str, T] = {}
            try:
                with self.calling(verb) as proxy:
                    for item in read(proxy):
                        items[item.id] = item
                return tuple(items[item_id] for item_id in sorted(items))
            except exceptions.Permanent as error:
                # The first page depends on no item.
                if not items:
                    raise
                reason = str(error)
        raise exceptions.Transient(reason)

    def _proxy(self) -> Any:
        """Return the library's proxy, a new one for each catalogue.

        Concurrent threads may each create one, of which the last stays. With a lock they
        would wait for each other while Keystone hangs.
        """
        kept = self._kept
        if kept is not None and kept[1] is self._catalogue():
            return kept[0]
        from openstack import proxy  # noqa: PLC0415  see the module's docstring

        made = self._connect()
        # A placeholder that raises is not cached, since the catalogue may be fixed.
        if isinstance(made, proxy.Proxy):
            # Set only now: otherwise the library would check whether the service
            # supports it.
            made.default_microversion = self._microversion
            self._kept = (made, self._catalogue())
        return made

    def _catalogue(self) -> object:
        """Return the latest response of Keystone, a new object for each token."""
        return getattr(self._session.auth, 'auth_ref', None)

    def _connect(self) -> Any:
        from openstack import connection  # noqa: PLC0415  as above

        group = self._conf[GROUPS[self._service_type]]
        made = connection.Connection(
            session=_Sender(self._session, group.timeout),
            oslo_conf=self._conf,
            service_types=[self._service_type],
        )
        return getattr(made, self._service_type.replace('-', '_'))
