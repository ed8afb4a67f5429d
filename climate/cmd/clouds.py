# SPDX-License-Identifier: Apache-2.0

"""Opens the cloud that the configuration names.

The clients of the services are loaded when the cloud is opened: most processes of the API never
open it, and none has both a real and a simulated one.
"""

from __future__ import annotations

import logging
import sqlite3

from oslo_config import cfg

from climate import exceptions
from climate.clock import Clock
from climate.cloud.base import Cloud
from climate.conf import cloud as cloud_conf

LOG = logging.getLogger(__name__)


def open_cloud(conf: cfg.ConfigOpts, clock: Clock) -> Cloud:
    """Return the cloud that the configuration names.

    :raises climate.exceptions.ConfigurationError: if the cloud cannot be used
    """
    if conf.cloud == cloud_conf.REAL:
        from climate.cloud import real  # noqa: PLC0415  see the module's docstring

        return real.connect(conf)
    from climate.simulator import SimulatedCloud  # noqa: PLC0415  as above

    place = conf.simulator.state_dir
    LOG.warning('This is a rehearsal: the cloud is simulated, with its state in %s', place)
    try:
        return SimulatedCloud(place, clock=clock)
    except (OSError, sqlite3.Error) as error:
        raise exceptions.ConfigurationError(f'[simulator] state_dir: {place}: {error}') from error
