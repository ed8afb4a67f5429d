# SPDX-License-Identifier: Apache-2.0

"""``climate-power``: switches hosts on before they are needed, and off afterwards."""

from __future__ import annotations

import functools
import logging
import sys

from oslo_config import cfg

from climate import exceptions
from climate.clock import SystemClock
from climate.cloud import reservation
from climate.cmd import clouds
from climate.cmd import config
from climate.cmd import signals
from climate.messaging import listener
from climate.power import drivers
from climate.power import hosts
from climate.power.controller import PowerController
from climate.power.deciding import PowerSettings
from climate.power.records import PowerRecords
from climate.power.watch import EVENT_TYPES
from climate.power.watch import PowerService

LOG = logging.getLogger(__name__)


def main() -> int:
    """Manage the power of hosts until a signal arrives."""
    received = signals.Signals()
    conf = config.read(sys.argv[1:], 'climate-power')
    try:
        service = PowerService(_controller(conf))
        notifications = listener.listen(
            conf,
            subscription=listener.Subscription(event_types=EVENT_TYPES, queue='climate-power'),
            on_broker=service.on_broker,
        )
    except (exceptions.ConfigurationError, cfg.Error) as error:
        sys.stderr.write(f'climate-power: {error}\n')
        return 1
    service.start(notifications)
    LOG.info('Managing the power of hosts')
    return received.wait(lambda: service.stop(1.0), functools.partial(config.reload, conf))


def _controller(conf: cfg.ConfigOpts) -> PowerController:
    machines = hosts.read(conf.power.hosts_file)
    clock = SystemClock()
    return PowerController(
        drivers=drivers.load(conf, machines),
        reservations=reservation.connect(conf, 'power'),
        cloud=clouds.open_cloud(conf, clock),
        clock=clock,
        records=PowerRecords(conf.power.state_path),
        settings=PowerSettings.from_conf(conf),
    )


if __name__ == '__main__':
    sys.exit(main())
