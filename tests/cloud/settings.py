# SPDX-License-Identifier: Apache-2.0
"""Services of the cloud that are configured otherwise for some tests."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent import futures

import openstack

from tests.cloud.base import CloudTest
from tests.cloud.house import PREFIX
from tests.cloud.people import Person
from tests.cloud.waiting import until
from tools.cloud import processes
from tools.cloud import services
from tools.cloud.state import Cloud

# No test polls: all events come from the bus.
MANAGER = '[virtual:server]\nleases_by_booting = true\npoll_interval = 3600\n'
_PATIENCE = 60.0
_AT_WORK = 'is at work'


def configure(cloud: Cloud, settings: Mapping[str, str]) -> None:
    """Start processes again with settings of their own, and return when they are at work.

    :param settings: by the name of the process; '' for none any more
    """
    managers = [name for name in settings if name.startswith('climate-manager')]
    before = {name: _starts(cloud, name) for name in managers}
    with futures.ThreadPoolExecutor(len(settings)) as pool:
        list(pool.map(lambda each: _restart(cloud, *each), settings.items()))
    for name in managers:
        until(
            lambda name=name: _starts(cloud, name) > before[name], _PATIENCE, f'{name} {_AT_WORK}'
        )


def _restart(cloud: Cloud, name: str, settings: str) -> None:
    processes.restart(cloud, name, settings=settings)


def _starts(cloud: Cloud, name: str) -> int:
    """Return how often a manager has said that it is at work."""
    log = cloud.logs / f'{name}.log'
    return log.read_text(encoding='utf-8', errors='replace').count(_AT_WORK)


def await_scheduler(cloud: Cloud, admin: Person) -> None:
    """Return when Nova can notify its scheduler of changed aggregates.

    A scheduler gives signs of life before it listens.
    """
    compute = admin.sdk.compute

    def listens() -> bool:
        pool = next(each for each in compute.aggregates() if each.name == cloud.freepool)
        try:
            compute.set_aggregate_metadata(pool, **{f'{PREFIX}listens': 'yes'})
            compute.set_aggregate_metadata(pool, **{f'{PREFIX}listens': None})
        except openstack.exceptions.HttpException:
            return False
        return True

    until(listens, _PATIENCE, 'aggregates can be changed')


class BootedLeasesTest(CloudTest):
    """Servers that are booted get a lease here."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.addClassCleanup(cls.configure, '')
        cls.configure(MANAGER)

    @classmethod
    def configure(cls, settings: str) -> None:
        """Start every manager with these settings, and return when they are at work."""
        configure(cls.cloud, dict.fromkeys(services.managers(cls.cloud), settings))
