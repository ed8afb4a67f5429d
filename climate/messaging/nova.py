# SPDX-License-Identifier: Apache-2.0

"""Receives the notifications of Nova about its nova-computes and about servers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from collections.abc import Mapping
from typing import Any
from typing import Final
from typing import Generic
from typing import TypeVar

from oslo_config import cfg

from climate.domain.booting import ServerReport
from climate.domain.health import ASLEEP
from climate.domain.health import HostReport
from climate.messaging import listener

LOG = logging.getLogger(__name__)

SERVICE_UPDATE: Final = 'service.update'
"""The type of the notification that Nova sends when an administrator changes a service.

A nova-compute that dies sends none; polling Nova finds it.
"""

SERVER_BOOTED: Final = 'instance.create.end'
SERVER_DELETED: Final = 'instance.delete.end'

_BINARY: Final = 'nova-compute'
_DATA: Final = 'nova_object.data'


def host_report(envelope: Mapping[str, Any]) -> HostReport | None:
    """Return the report in a notification about a nova-compute; None if there is none.

    It reads versioned notifications only; Nova has no others of this type.
    """
    if envelope.get('event_type') != SERVICE_UPDATE:
        return None
    data = _data(envelope)
    if data.get('binary') != _BINARY:
        return None
    host = data.get('host')
    if not isinstance(host, str) or not host:
        return None
    return HostReport(service_host=host, fault=_fault(data))


def server_report(envelope: Mapping[str, Any]) -> ServerReport | None:
    """Return the report in a notification about a server; None if there is none.

    It reads versioned notifications only: Nova also sends unversioned ones of the same
    types, with another payload.
    """
    event_type = envelope.get('event_type')
    server_id = _data(envelope).get('uuid')
    if event_type not in (SERVER_BOOTED, SERVER_DELETED):
        return None
    if not isinstance(server_id, str) or not server_id:
        return None
    return ServerReport(server_id=server_id, gone=event_type == SERVER_DELETED)


def _data(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    payload = envelope.get('payload')
    data = payload.get(_DATA) if isinstance(payload, Mapping) else None
    return data if isinstance(data, Mapping) else {}


def _fault(data: Mapping[str, Any]) -> str:
    if data.get('forced_down'):
        return 'it was forced down'
    if data.get('disabled'):
        reason = data.get('disabled_reason')
        if reason == ASLEEP:
            return ''
        return f'it was disabled: {reason}' if reason else 'it was disabled'
    return ''


Report = TypeVar('Report')


class _NovaListener(Generic[Report]):
    """Receives notifications of Nova, in its own queue.

    It connects when it is started.

    :param conf: a configuration with the group ``[health]``
    :param queue: the prefix of the name of the queue
    :param report: returns the report in a notification, or None
    :raises climate.exceptions.ConfigurationError: if the URL is unusable
    """

    def __init__(
        self,
        conf: cfg.ConfigOpts,
        queue: str,
        event_types: frozenset[str],
        report: Callable[[Mapping[str, Any]], Report | None],
    ) -> None:
        options = conf.health
        self._report = report
        self._missed: Callable[[], None] = _nothing
        self._there: bool | None = None
        self._listener = listener.listen(
            conf,
            url=options.notification_transport_url or None,
            topics=options.notification_topics,
            subscription=listener.Subscription(
                exchange=options.notification_exchange, event_types=event_types, queue=queue
            ),
            on_broker=self._on_broker,
        )

    def start(self, missed: Callable[[], None]) -> None:
        """Start listening; does not block, and retries until the broker is available.

        :param missed: called whenever the broker becomes available, because earlier
            notifications were missed
        """
        self._missed = missed
        self._listener.start()

    def get(self, seconds: float) -> Report | None:
        """Return the next report, or None if none came in time."""
        envelope = self._listener.get(seconds)
        return None if envelope is None else self._report(envelope)

    def stop(self) -> None:
        """Stop listening, within 2 s."""
        self._listener.stop()

    def _on_broker(self, there: bool) -> None:
        if there == self._there:
            return
        self._there = there
        if there:
            LOG.info('Listening to the notifications of Nova')
            self._missed()
        else:
            LOG.warning('Cannot subscribe to Nova notifications; trying again')


class HostListener(_NovaListener[HostReport]):
    """Receives the notifications of Nova about its nova-computes."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__(conf, 'climate-health', frozenset({SERVICE_UPDATE}), host_report)


class ServerListener(_NovaListener[ServerReport]):
    """Receives the notifications of Nova about created and deleted servers."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        types = frozenset({SERVER_BOOTED, SERVER_DELETED})
        super().__init__(conf, 'climate-servers', types, server_report)


def _nothing() -> None:
    """Do nothing, until :meth:`_NovaListener.start` sets a callback."""
