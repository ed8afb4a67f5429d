# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""RPC with the managers: the client for the API, the server for a manager."""

from __future__ import annotations

import dataclasses
import socket
import threading
import time
from collections.abc import Callable
from typing import Any
from typing import Final

import oslo_messaging
from oslo_log import log as logging
from oslo_messaging.rpc import dispatcher

from climate import exceptions
from climate.domain.resources import ResourceDraft
from climate.messaging import transport as transports
from climate.messaging import waker
from climate.messaging.endpoint import Adapter
from climate.messaging.endpoint import ManagerEndpoint
from climate.messaging.endpoint import OLDEST
from climate.messaging.endpoint import VERSION
from climate.threads import RepeatingThread

LOG = logging.getLogger(__name__)

TOPIC: Final = 'climate.manager'
_PAUSE: Final = 1.0
_REMOTE_SUFFIX: Final = '_Remote'
_REMOTE_TRACE: Final = '\nTraceback (most recent call last)'


class ManagerClient:
    """Asks the managers.

    :param transport: an RPC transport that nothing else uses
    :param timeout: how long to wait for an answer, in seconds; None for
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
        target = oslo_messaging.Target(exchange=transports.EXCHANGE, topic=topic, version=OLDEST)
        self._client = oslo_messaging.get_rpc_client(transport, target, retry=transports.RETRIES)
        self._waker = waker.Waker(self._cast_wake)
        self._replies = _Replies(self._client)

    def wake(self, reason: str = 'lease') -> None:
        """Have every manager look for work; returns at once and never raises.

        :param reason: what there is to do, such as ``lease`` or ``outbox``
        """
        self._waker.wake(reason)

    def register_resource(self, draft: ResourceDraft) -> int:
        """Have a manager take a resource in.

        :returns: its id
        :raises climate.exceptions.ManagerUnavailable: if none answered in time
        :raises climate.exceptions.ClimateError: why it was refused
        """
        return int(
            self._call(
                'register_resource',
                VERSION,
                resource_type=draft.resource_type,
                name=draft.name,
                attributes=dict(draft.attributes),
                capabilities=dict(draft.capabilities),
                inventories=[dataclasses.asdict(item) for item in draft.inventories],
            )
        )

    def delete_resource(self, resource_id: int) -> None:
        """Have a manager let a resource go.

        :raises climate.exceptions.ManagerUnavailable: if none answered in time
        :raises climate.exceptions.ClimateError: why it was refused
        """
        self._call('delete_resource', VERSION, resource_id=resource_id)

    def ping(self) -> None:
        """Ask whether any manager is there.

        :raises climate.exceptions.ManagerUnavailable: if none answered in time
        """
        self._call('ping')

    def close(self) -> None:
        """Send no more, and close the transport; takes 1 s at most."""
        self._waker.close()
        self._replies.close()
        transports.close(self._transport, 1.0)

    def _cast_wake(self, reason: str) -> None:
        self._client.prepare(fanout=True).cast({}, 'wake', reason=reason)

    def _call(self, method: str, version: str = OLDEST, **arguments: Any) -> Any:
        deadline = time.monotonic() + self._timeout
        if not self._replies.ready(self._timeout):
            raise exceptions.ManagerUnavailable
        left = max(deadline - time.monotonic(), 0.1)
        try:
            client = self._client.prepare(timeout=left, version=version)
            return client.call({}, method, **arguments)
        except exceptions.ClimateError as error:
            raise plain(error) from None
        except oslo_messaging.RemoteError as error:
            # Its text holds the manager's stack trace, which is in the
            # manager's log already and no business of the caller.
            LOG.error('A manager failed to %s: %s', method, error.exc_type)
            raise exceptions.ClimateError from None
        except transports.DELIVERY_ERRORS as error:
            LOG.warning('No manager could be asked to %s: %s', method, type(error).__name__)
            raise exceptions.ManagerUnavailable from None


def plain(error: exceptions.ClimateError) -> exceptions.ClimateError:
    """Return *error* as the manager raised it.

    What travels comes back as a made-up subclass, such as ``NotFound_Remote``,
    whose text ends with the stack trace of the other side.
    """
    original = getattr(exceptions, type(error).__name__.removesuffix(_REMOTE_SUFFIX))
    if type(error) is original:
        return error
    assert issubclass(original, exceptions.ClimateError)
    # Not through the constructor: what travelled is the finished message,
    # and some constructors put one together from parts.
    back = original('')
    back.args = (str(error).partition(_REMOTE_TRACE)[0],)
    return back


class _Replies:
    """Opens the queue that answers come back on, off the callers' threads.

    The library opens it within the first call, and that waits for the broker
    indefinitely, whatever the time limit of the call. So the first call is a ping
    made here; callers wait for it as long as they please. Once open, the
    queue is kept open by the library.
    """

    def __init__(self, client: oslo_messaging.RPCClient) -> None:
        self._client = client.prepare(timeout=1)
        self._open = threading.Event()
        self._lock = threading.Lock()
        self._thread: RepeatingThread | None = None

    def ready(self, seconds: float) -> bool:
        """Whether answers can arrive, within *seconds*."""
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
        """Stop trying; callers do not wait any more, and find the transport closed."""
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
            # The broker refuses us, or the transport was closed meanwhile.
            LOG.debug('The queue for answers cannot be opened: %s', error)
            return _PAUSE
        self._open.set()
        return None


class ManagerServer:
    """Listens for what managers are asked.

    :param transport: an RPC transport that nothing else uses
    :param server: the name of this manager; on ``fake://`` each needs its
        own. A name that changes with every start would leave a queue behind
        in the broker each time, so the default is the host's name.
    :param threads: how many requests are worked on at once
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
        """Begin to listen; returns at once.

        While the broker is unavailable it keeps trying.
        """
        self._thread.start()

    def wait_until_listening(self, seconds: float) -> bool:
        """Whether the server has begun to listen, within *seconds*."""
        return self._listening.wait(seconds)

    def stop(self, seconds: float = 3.0) -> None:
        """Listen no more; waits for what is being worked on, at most *seconds*."""
        # The thread may wait for the broker, and is not waited for.
        self._thread.stop(0.0)
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            transports.within(seconds, self._ender(server), 'the RPC server to stop')
        transports.close(self._transport, 1.0)

    def _listen(self) -> float | None:
        server = self._new_server()
        try:
            # Waits inside for a broker that does not answer.
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
            self._ender(server)()
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

    def _ender(self, server: oslo_messaging.RPCServer) -> Callable[[], None]:
        def end() -> None:
            # An idle listener looks up only every five seconds. A message
            # makes it look up now, and look often for a while.
            nudge = oslo_messaging.get_rpc_client(
                self._transport,
                oslo_messaging.Target(
                    exchange=transports.EXCHANGE, topic=self._target.topic, version=OLDEST
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
