# SPDX-License-Identifier: Apache-2.0

"""``climate-manager``: starts and ends leases."""

from __future__ import annotations

import functools
import logging
import sys

from oslo_config import cfg

from climate import exceptions
from climate.cloud.fence import MARGIN
from climate.cloud.sessions import GROUPS
from climate.cmd import auditing
from climate.cmd import composition
from climate.cmd import config
from climate.cmd import database
from climate.cmd import manager_check
from climate.cmd import managing
from climate.cmd import memory
from climate.cmd import metrics
from climate.cmd import signals
from climate.cmd import tracing
from climate.conf import cloud as cloud_conf
from climate.manager.service import ManagerOptions
from climate.messaging import nova
from climate.messaging import publisher
from climate.messaging import rpc
from climate.messaging import transport
from climate.metrics.catalogue import Exporter

LOG = logging.getLogger(__name__)

_CLI = [
    cfg.BoolOpt(
        'check',
        default=False,
        help='Check the health of the manager that runs with this configuration, and exit.',
    )
]


def main() -> int:
    """Run a manager until it is stopped."""
    conf = config.read(sys.argv[1:], 'climate-manager', _CLI)
    if conf.check:
        return manager_check.check(conf)
    received = signals.Signals()
    try:
        endpoint = metrics.endpoint(conf, Exporter.MANAGER)
        tracing.set_up(conf, 'climate-manager')
        parts = composition.core(conf, managing.manager_clock(conf))
        database.check(parts.store)
        bus = publisher.from_conf(conf)
        manager = managing.manager(
            parts,
            composition.cloud(parts),
            bus,
            listener=_listener(parts),
            server_listener=_server_listener(parts),
            audit=auditing.deletion_recorder(conf, parts.clock),
        )
        server = rpc.ManagerServer(
            transport.rpc_transport(conf), manager, topic=conf.manager.rpc_topic
        )
    except exceptions.ConfigurationError as error:
        return _refuse(error)
    _note_timeouts(conf)
    tune_process()
    manager.start()
    server.start()
    if endpoint is not None:
        endpoint.serve_manager(parts.store, manager)
        endpoint.start()
    LOG.info('Manager %s is at work', manager.owner)

    def stop() -> None:
        manager.stop(2.0)
        server.stop(1.0)
        bus.close()
        parts.store.close()

    return received.wait(stop, functools.partial(config.reload, conf))


def tune_process() -> None:
    """Collect garbage less often, and switch threads sooner, as batches of leases need it."""
    memory.tune()
    memory.switch_sooner()


def _listener(parts: composition.Core) -> nova.HostListener | None:
    return nova.HostListener(parts.conf) if _listens(parts) else None


def _server_listener(parts: composition.Core) -> nova.ServerListener | None:
    wanted = ManagerOptions.from_conf(parts.conf).server_leases.enabled
    return nova.ServerListener(parts.conf) if wanted and _listens(parts) else None


def _listens(parts: composition.Core) -> bool:
    # The simulated cloud has no message bus.
    return bool(parts.conf.cloud == cloud_conf.REAL and parts.conf.health.notifications)


def _note_timeouts(conf: cfg.ConfigOpts) -> None:
    """Log which services may answer a call after the claim on its lease has expired."""
    left = conf.manager.claim_seconds * MARGIN
    slow = [
        group for group in GROUPS if conf.cloud == cloud_conf.REAL and conf[group].timeout > left
    ]
    if slow:
        LOG.info(
            'Calls to %s may take longer than the %.1f s that a claim has left when they are'
            ' made; the manager that takes over finds what they do after the claim is lost',
            ', '.join(slow),
            left,
        )


def _refuse(error: exceptions.ConfigurationError) -> int:
    sys.stderr.write(f'climate-manager: {error.message}\n')
    return 1
