# SPDX-License-Identifier: Apache-2.0

"""Transports: the connections to the message broker, with time limits.

By default, oslo.messaging tries indefinitely to reach a broker that is down, and
some of its calls accept no time limit. This module sets the limits that can be
set; :mod:`climate.messaging.rpc` keeps the other calls off the callers' threads.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any
from typing import Final

import kombu.exceptions
import oslo_messaging
from kombu.transport import pyamqp
from oslo_config import cfg
from oslo_log import log as logging
from oslo_messaging import opts as messaging_opts

from climate import exceptions
from climate.messaging import exchanges

LOG = logging.getLogger(__name__)

EXCHANGE: Final = 'climate'
"""Exchange of the RPC topics. Notifications go to ``control_exchange``."""

RETRIES: Final = 1
"""The number of retries of a send: enough to replace a dead connection.

With zero, the first message after every restart of the broker would fail.
"""

DELIVERY_ERRORS: Final[tuple[type[Exception], ...]] = (
    oslo_messaging.MessagingException,
    oslo_messaging.MessageUndeliverable,
    # oslo.messaging connects with kombu, and does not convert its errors.
    kombu.exceptions.KombuError,
    *pyamqp.Transport.connection_errors,
    *pyamqp.Transport.channel_errors,
    OSError,
)
"""The exceptions of the library if a message could not be delivered."""

# The modules of the errors that managers may send to clients.
_ERRORS: Final = ['climate.exceptions', 'climate.exceptions.base', 'climate.exceptions.invalid']

RABBIT: Final = 'oslo_messaging_rabbit'
NOTIFICATIONS: Final = 'oslo_messaging_notifications'

# Shorter than the defaults of the library: managers must reconnect within seconds after
# the broker returns, and no thread may hang for a minute on a dead socket.
_DEFAULTS: Final[tuple[tuple[str | None, str, Any], ...]] = (
    (None, 'rpc_response_timeout', 30),
    (RABBIT, 'rabbit_retry_interval', 1),
    (RABBIT, 'rabbit_retry_backoff', 1),
    (RABBIT, 'rabbit_interval_max', 5),
    (RABBIT, 'kombu_reconnect_delay', 0.2),
    # Gives up a reply to a dead process after this time.
    (RABBIT, 'kombu_missing_consumer_retry_timeout', 10),
    # Also the time limit for a broker that never confirms a message.
    (RABBIT, 'heartbeat_timeout_threshold', 30),
    (NOTIFICATIONS, 'driver', ['messagingv2']),
    (NOTIFICATIONS, 'retry', RETRIES),
)


# At import, the library registers these only on the global configuration, but it reads
# them from the configuration that it is given. Its release determines which of these
# modules exist.
_ON_GLOBAL_CONF: Final = (
    ('oslo_messaging._metrics.client', 'oslo_messaging_metrics'),
    ('oslo_messaging._tracing.client', 'oslo_messaging_tracing'),
)


def set_defaults(conf: cfg.ConfigOpts) -> None:
    """Register the library's options on *conf* with Climate's defaults.

    It changes only *conf*, not the library, and the settings of operators take
    precedence. It can be called any number of times.
    """
    for group, options in messaging_opts.list_opts():
        conf.register_opts(options, group=group)
    for module, group in _ON_GLOBAL_CONF:
        _register_from(conf, module, group)
    for group, name, value in _DEFAULTS:
        conf.set_default(name, value, group=group)


def _register_from(conf: cfg.ConfigOpts, module: str, group: str) -> None:
    try:
        options = getattr(importlib.import_module(module), group)
    except (ImportError, AttributeError):
        LOG.debug('The installed oslo.messaging has no options [%s]', group)
        return
    conf.register_opts(options, group=group)


def rpc_transport(conf: cfg.ConfigOpts, url: str | None = None) -> oslo_messaging.RPCTransport:
    """Return a new transport for RPC, not yet connected.

    The client and the server of a process each need their own: the server sends replies
    without a time limit, which must not delay clients that have one.

    :param url: replaces ``[DEFAULT] transport_url``; ``fake://`` stays inside the process
    :raises climate.exceptions.ConfigurationError: if the URL or its driver
        is unusable
    """
    return _build(oslo_messaging.get_rpc_transport, conf, url, _ERRORS)


def notification_transport(
    conf: cfg.ConfigOpts, url: str | None = None
) -> oslo_messaging.NotificationTransport:
    """Return a new transport for notifications, not yet connected.

    :param url: replaces ``[oslo_messaging_notifications] transport_url``, which itself
        falls back to ``[DEFAULT] transport_url``
    :raises climate.exceptions.ConfigurationError: if the URL or its driver
        is unusable
    """
    return _build(oslo_messaging.get_notification_transport, conf, url, [])


def _build(
    factory: Callable[..., Any], conf: cfg.ConfigOpts, url: str | None, exmods: list[str]
) -> Any:
    set_defaults(conf)
    exchanges.adopt()
    try:
        return factory(conf, url=url, allowed_remote_exmods=exmods)
    except (oslo_messaging.MessagingException, ValueError) as error:
        # The text of the error may contain the URL, which may contain a password.
        raise exceptions.ConfigurationError(
            f'The transport URL of the message bus cannot be used ({type(error).__name__})'
        ) from None


def close(transport: oslo_messaging.Transport, seconds: float = 2.0) -> None:
    """Close the connections of *transport*, waiting at most *seconds*.

    Without a broker, the library may wait indefinitely. A thread then continues to close
    them until the process ends.
    """
    within(seconds, transport.cleanup, 'closing the message bus')


def within(seconds: float, work: Callable[[], None], what: str) -> bool:
    """Run *work* in a daemon thread, and wait at most *seconds* for it.

    :param what: a description of the work, for the log
    :returns: whether it has finished; an error is logged, and counts as finished
    """

    def run() -> None:
        try:
            work()
        except Exception:
            LOG.debug('Error while %s', what, exc_info=True)

    thread = threading.Thread(target=run, name='climate-messaging', daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        LOG.info('Gave up waiting for %s', what)
        return False
    return True
