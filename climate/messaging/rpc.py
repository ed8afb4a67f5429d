# SPDX-License-Identifier: Apache-2.0

"""RPC with managers: the client of the API, and the server of a manager."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final

import oslo_messaging
from oslo_context import context as oslo_context
from oslo_log import log as logging
from oslo_messaging.rpc import dispatcher

from climate import exceptions
from climate.domain.resources import ResourceDraft
from climate.exceptions import texts
from climate.messaging import transport as transports
from climate.messaging import waker
from climate.messaging.endpoint import Adapter
from climate.messaging.endpoint import ManagerEndpoint
from climate.messaging.endpoint import VERSION
from climate.threads import RepeatingThread
from climate.tracing import spans

LOG = logging.getLogger(__name__)

TOPIC: Final = 'climate.manager'
_PAUSE: Final = 1.0
_REMOTE_SUFFIX: Final = '_Remote'
_REMOTE_TRACE: Final = '\nTraceback (most recent call last)'


def _ids() -> dict[str, str]:
    """Return the ids of the request in progress, for the log of the manager."""
    current = oslo_context.get_current()
    if current is None:
        return {}
    found = {
        'request_id': current.request_id,
        'global_request_id': current.global_request_id,
        'traceparent': spans.traceparent(),
    }
    return {name: value for name, value in found.items() if value is not None}


class ManagerClient:
    """Calls managers over RPC.

    :param transport: an RPC transport for the exclusive use of this client
    :param timeout: how long to wait for a reply, in seconds; None for
        ``[DEFAULT] rpc_response_timeout``
    """

    def __init__(
        self,
        transport: oslo_messaging.RPCTransport,
        *,
        topic: str = TOPIC,
        timeout: float | None = None,
    ) -> None:
        self._transport = transport
        self._timeout = transport.conf.rpc_response_timeout if timeout is None else timeout
        target = oslo_messaging.Target(exchange=transports.EXCHANGE, topic=topic, version=VERSION)
        self._client = oslo_messaging.get_rpc_client(transport, target, retry=transports.RETRIES)
        self._waker = waker.Waker(self._cast_wake)
        self._replies = _Replies(self._client)

    def wake(self, reason: str = 'lease') -> None:
        """Make every manager check for work; does not block, and never raises.

        :param reason: the kind of work, such as ``lease`` or ``outbox``
        """
        self._waker.wake(reason, _ids())

    def register_resource(self, draft: ResourceDraft) -> int:
        """Have a manager register a resource.

        :returns: its id
        :raises climate.exceptions.ManagerUnavailable: if none replied in time
        :raises climate.exceptions.ClimateError: if it was refused
        """
        return int(
            self._call(
                'register_resource',
                resource_type=draft.resource_type,
                name=draft.name,
                attributes=dict(draft.attributes),
                capabilities=dict(draft.capabilities),
                inventories=[dataclasses.asdict(item) for item in draft.inventories],
            )
        )

    def delete_resource(self, resource_id: int) -> None:
        """Have a manager unregister a resource.

        :raises climate.exceptions.ManagerUnavailable: if none replied in time
        :raises climate.exceptions.ClimateError: if it was refused
        """
        self._call('delete_resource', resource_id=resource_id)

    def refresh_resource(self, resource_id: int) -> None:
        """Have a manager read a resource again from the cloud.

        :raises climate.exceptions.ManagerUnavailable: if none replied in time
        :raises climate.exceptions.ClimateError: if it was refused
        """
        self._call('refresh_resource', resource_id=resource_id)

    def rename_resource(self, resource_id: int, name: str) -> None:
        """Have a manager give a resource the name that the cloud now uses for it.

        :raises climate.exceptions.ManagerUnavailable: if none replied in time
        :raises climate.exceptions.ClimateError: if it was refused
        """
        self._call('rename_resource', resource_id=resource_id, name=name)

    def ping(self) -> None:
        """Check that a manager is available.

        :raises climate.exceptions.ManagerUnavailable: if none replied in time
        """
        self._call('ping')

    def close(self) -> None:
        """Stop sending, and close the transport, within 1 s."""
        self._waker.close()
        self._replies.close()
        transports.close(self._transport, 1.0)

    def _cast_wake(self, reason: str, ids: Mapping[str, str]) -> None:
        self._client.prepare(fanout=True).cast(dict(ids), 'wake', reason=reason)

    def _call(self, method: str, **arguments: Any) -> Any:
        deadline = time.monotonic() + self._timeout
        if not self._replies.ready(self._timeout):
            raise exceptions.ManagerUnavailable
        left = max(deadline - time.monotonic(), 0.1)
        try:
            client = self._client.prepare(timeout=left)
            return client.call(_ids(), method, **arguments)
        except exceptions.ClimateError as error:
            raise plain(error) from None
        except oslo_messaging.RemoteError as error:
            # Its text contains the stack trace of the manager, which is in the log of the
            # manager already, and which callers must not see.
            LOG.error('A manager failed to %s: %s', method, error.exc_type)
            raise exceptions.ClimateError from None
        except transports.DELIVERY_ERRORS as error:
            LOG.warning('No manager can be reached to %s: %s', method, type(error).__name__)
            raise exceptions.ManagerUnavailable from None


def plain(error: exceptions.ClimateError) -> exceptions.ClimateError:
    """Return *error* as the manager raised it.

    oslo.messaging raises an instance of a generated subclass, such as
    ``NotFound_Remote``, whose text ends with the stack trace of the manager.
    """
    original = getattr(exceptions, type(error).__name__.removesuffix(_REMOTE_SUFFIX))
    if type(error) is original:
        return error
    assert issubclass(original, exceptions.ClimateError)
    # The text is the complete message, which some constructors build from parts.
    back = original('')
    back.args = (texts.clean(str(error).partition(_REMOTE_TRACE)[0]),)
    return back


class _Replies:
    """Opens the queue for replies in its own thread.

    The library opens the queue within the first call, which waits for the broker
    indefinitely, even if the call has a time limit. So this thread sends the first call, a
    ping, and callers wait for it with their own time limits. The library then keeps the
    queue open.
    """

    def __init__(self, client: oslo_messaging.RPCClient) -> None:
        self._client = client.prepare(timeout=1)
        self._open = threading.Event()
        self._lock = threading.Lock()
        self._thread: RepeatingThread | None = None

    def ready(self, seconds: float) -> bool:
        """Wait until replies can arrive, at most *seconds*; return whether they can."""
        if self._open.is_set():
            return True
        with self._lock:
            # Threads do not survive a fork.
            if self._thread is None or not self._thread.is_alive():
                self._thread = RepeatingThread(
                    'climate-replies', self._try, failure='The queue was not opened', retry=_PAUSE
                )
                self._thread.start()
        return self._open.wait(seconds)

    def close(self) -> None:
        """Stop trying; waiting callers continue, and find the transport closed."""
        with self._lock:
            if self._thread is not None:
                self._thread.stop(0.0)
        self._open.set()

    def _try(self) -> float | None:
        try:
            self._client.call({}, 'ping')
        except (oslo_messaging.MessagingTimeout, oslo_messaging.RemoteError):
            LOG.debug('No manager responds, or only a failing one: the queue is open')
        except Exception as error:
            # The broker refuses the connection, or the transport was closed meanwhile.
            LOG.debug('The queue for replies cannot be opened: %s', error)
            return _PAUSE
        self._open.set()
        return None


class ManagerServer:
    """Serves the RPC methods of a manager.

    :param transport: an RPC transport for the exclusive use of this server
    :param server: the name of this manager, which must be unique on ``fake://``. A name
        that changes with every start would each time leave a queue in the broker, so the
        default is the name of the host.
    :param threads: the number of requests that are processed concurrently
    """

    def __init__(
        self,
        transport: oslo_messaging.RPCTransport,
        endpoint: ManagerEndpoint,
        *,
        topic: str = TOPIC,
        server: str | None = None,
        threads: int = 4,
    ) -> None:
        self._transport = transport
        self._target = oslo_messaging.Target(
            exchange=transports.EXCHANGE, topic=topic, server=server or socket.gethostname()
        )
        self._adapter = Adapter(endpoint)
        self._threads = threads
        self._lock = threading.Lock()
        self._server: oslo_messaging.RPCServer | None = None
        self._listening = threading.Event()
        self._failed = ''
        self._thread = RepeatingThread(
            'climate-rpc', self._listen, failure='Cannot listen', retry=_PAUSE
        )

    def start(self) -> None:
        """Start listening; does not block, and retries until the broker is available."""
        self._thread.start()

    def wait_until_listening(self, seconds: float) -> bool:
        """Wait until the server listens, at most *seconds*; return whether it does."""
        return self._listening.wait(seconds)

    def stop(self, seconds: float = 3.0) -> None:
        """Stop listening; wait at most *seconds* for requests in progress."""
        # The thread may be waiting for the broker, so do not wait for it.
        self._thread.stop(0.0)
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            transports.within(seconds, self._stopper(server), 'the RPC server to stop')
        transports.close(self._transport, 1.0)

    def _listen(self) -> float | None:
        server = self._new_server()
        try:
            # Blocks while the broker does not answer.
            server.start(override_pool_size=self._threads)
        except Exception as error:
            if self._failed != type(error).__name__:
                self._failed = type(error).__name__
                LOG.warning('Cannot listen on the message bus yet: %s', self._failed)
            return _PAUSE
        with self._lock:
            late = self._thread.stopping
            if not late:
                self._server = server
        if late:
            self._stopper(server)()
        else:
            LOG.info('Listening on %s', self._target.topic)
            self._listening.set()
        return None

    def _new_server(self) -> oslo_messaging.RPCServer:
        return oslo_messaging.get_rpc_server(
            self._transport,
            self._target,
            [self._adapter],
            access_policy=dispatcher.ExplicitRPCAccessPolicy,
        )

    def _stopper(self, server: oslo_messaging.RPCServer) -> Callable[[], None]:
        def end() -> None:
            # An idle listener checks only every five seconds whether it was stopped. A
            # message makes it check now, and more often for a while.
            nudge = oslo_messaging.get_rpc_client(
                self._transport,
                oslo_messaging.Target(
                    exchange=transports.EXCHANGE, topic=self._target.topic, version=VERSION
                ),
                retry=transports.RETRIES,
            )
            try:
                nudge.prepare(fanout=True).cast({}, 'ping')
            except transports.DELIVERY_ERRORS:
                LOG.debug('The broker is down; the listener stops by itself')
            server.stop()
            server.wait()

        return end
