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

"""Opens the cloud that the configuration names."""

from __future__ import annotations

import logging
import sqlite3

from oslo_config import cfg

from climate import exceptions
from climate.clients import real
from climate.clients.base import Cloud
from climate.clock import Clock
from climate.conf import cloud as cloud_conf
from climate.simulator import SimulatedCloud

LOG = logging.getLogger(__name__)


def open_cloud(conf: cfg.ConfigOpts, clock: Clock) -> Cloud:
    """Return the cloud that the configuration names.

    :raises climate.exceptions.ConfigurationError: if the cloud cannot be used
    """
    if conf.cloud == cloud_conf.REAL:
        return real.connect(conf)
    place = conf.simulator.state_dir
    LOG.warning('This is a rehearsal: the cloud is simulated, with its state in %s', place)
    try:
        return SimulatedCloud(place, clock=clock)
    except (OSError, sqlite3.Error) as error:
        raise exceptions.ConfigurationError(f'[simulator] state_dir: {place}: {error}') from error
