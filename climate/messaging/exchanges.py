# SPDX-License-Identifier: Apache-2.0

"""Exchanges that another process has declared with another durability.

A broker refuses to declare an exchange that exists with other properties. Processes whose
``[oslo_messaging_rabbit]`` options differ, such as ``amqp_durable_queues``, share exchanges
nevertheless: API and managers while the option is being changed, and the senders and
readers of notifications. So each of them uses the exchange that the first one has declared.

The durability of the exchange itself does not matter: a queue that is durable can be bound to
either kind, and processes declare exchanges and bindings again after a restart of the broker.
"""

from __future__ import annotations

from typing import Any
from typing import Final

import kombu.entity
from kombu.transport import pyamqp
from oslo_log import log as logging

LOG = logging.getLogger(__name__)

_ABOUT_DURABILITY: Final = "inequivalent arg 'durable' for exchange"
_STOCK: Final = kombu.entity.Exchange.declare


def adopt() -> None:
    """Have this process use exchanges as they are, from now on.

    oslo.messaging itself only falls back to exchanges that are not durable. It has no
    parameter for this, so the declaration of kombu, on which it builds, is replaced.
    """
    kombu.entity.Exchange.declare = _declare  # type: ignore[method-assign,assignment]  # on purpose


def _declare(exchange: Any, *arguments: Any, **facts: Any) -> Any:
    try:
        return _STOCK(exchange, *arguments, **facts)
    except pyamqp.Transport.channel_errors as error:
        if _ABOUT_DURABILITY not in str(error):
            raise
    # The refusal has closed the channel, which amqp has opened again.
    exchange.durable = not exchange.durable
    LOG.info(
        'The exchange %s was declared by another process, as %s: using it',
        exchange.name,
        'durable' if exchange.durable else 'not durable',
    )
    return _STOCK(exchange, *arguments, **facts)
