# SPDX-License-Identifier: Apache-2.0

"""``climate-manage samples``: something to lease in a simulated cloud."""

from __future__ import annotations

from typing import Any
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.cmd import composition
from climate.cmd import samples
from climate.cmd.composition import say
from climate.conf import cloud as cloud_conf
from climate.db.transactions.store import Store
from climate.simulator import SimulatedCloud

_MOST_HOSTS: Final = 100_000


def add_commands(parser: Any) -> None:
    """Add the commands of *parser*, that of ``samples``."""
    commands = parser.add_subparsers(dest='what', required=True)
    added = commands.add_parser(
        'add', help='furnish the simulated cloud, and register what can be leased there'
    )
    added.add_argument(
        '--hosts', type=int, default=4, metavar='N', help='hosts of the cloud (default 4)'
    )
    added.set_defaults(run=_add)


def _add(conf: cfg.ConfigOpts, store: Store) -> int:
    if not 0 <= conf.command.hosts <= _MOST_HOSTS:
        raise exceptions.InvalidInput(f'--hosts must be from 0 to {_MOST_HOSTS}')
    if conf.cloud != cloud_conf.SIMULATED:
        raise exceptions.ConfigurationError(
            f'Samples are for a simulated cloud: [DEFAULT] cloud is {conf.cloud}'
        )
    parts = composition.core(conf)
    cloud = SimulatedCloud(conf.simulator.state_dir, clock=parts.clock)
    try:
        cloud.furnish(conf.command.hosts)
        samples.register(parts, cloud)
    finally:
        cloud.close()
    with store.reading() as tx:
        for name in sorted(parts.plugins):
            if count := len(tx.resources.of_type(name)):
                say(f'{name}: {count} resources')
    return 0
