# SPDX-License-Identifier: Apache-2.0

"""Options that Climate no longer has, and what became of them.

oslo.config ignores options that are not registered, so an operator who still sets one
would not notice that it has no effect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Final

from oslo_config import cfg


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RemovedOption:
    """An option that Climate no longer has.

    :ivar instead: what Climate does, whatever the option says; a clause
    """

    group: str
    name: str
    instead: str


OPTIONS: Final = (
    RemovedOption(
        group='twin',
        name='state_dir',
        instead='the directory of the simulated cloud is [simulator] state_dir',
    ),
    RemovedOption(
        group='manager',
        name='batches',
        instead='managers always process due leases in batches, of at most [manager] workers',
    ),
    RemovedOption(
        group='allocation',
        name='timelines',
        instead='each process keeps the bookings of all resources in memory, and searches there',
    ),
)


def complaints(conf: cfg.ConfigOpts) -> Iterator[str]:
    """Yield a sentence about each removed option that files or the environment set.

    :param conf: a configuration that was read
    """
    for option in OPTIONS:
        conf.register_opt(cfg.StrOpt(option.name), group=option.group)
        place = conf.get_location(option.name, option.group)
        if place is not None and place.location.is_user_controlled:
            yield (
                f'[{option.group}] {option.name} has no effect any more: {option.instead}.'
                f' Delete it ({place.detail}).'
            )
