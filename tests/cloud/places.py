# SPDX-License-Identifier: Apache-2.0
"""Where in the cloud a class of tests works: at a site of its own, or alone in all of it."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator

from tests.cloud.people import Person
from tests.cloud.waiting import until
from tools.cloud.services import sites
from tools.cloud.state import Cloud

# Longer than any class of tests takes.
_PATIENCE = 1800.0
_TENANTS = 'filter_tenant_id'


@contextlib.contextmanager
def occupied(cloud: Cloud, *, site: int | None = None, alone: bool = False) -> Iterator[Cloud]:
    """Hold a place in the cloud, and yield the cloud as it is seen from there.

    Locks on files keep the processes of a test run apart; those of a process
    that died are free at once.

    :param site: the number of the only site that will do; any, unless given
    :param alone: wait until nobody else is in the cloud, and keep others out
    """
    with contextlib.ExitStack() as held:
        _must_lock(held, cloud, 'cloud', shared=not alone)
        if alone:
            _open_sites(held, cloud)
            yield cloud
            return
        wanted = [site] if site else list(range(cloud.sites, 0, -1))
        number = until(lambda: _any_site(held, cloud, wanted), _PATIENCE, f'site {site} is free')
        _close_sites(held, cloud)
        yield cloud.at(number)


def _any_site(held: contextlib.ExitStack, cloud: Cloud, wanted: list[int]) -> int | None:
    return next((each for each in wanted if _lock(held, cloud, f'site-{each}')), None)


def _must_lock(
    held: contextlib.ExitStack, cloud: Cloud, name: str, *, shared: bool = False
) -> None:
    until(lambda: _lock(held, cloud, name, shared=shared), _PATIENCE, f'the lock {name} is free')


def _lock(held: contextlib.ExitStack, cloud: Cloud, name: str, *, shared: bool = False) -> bool:
    """Take a lock, which is given back at the end of *held*; return whether it was free."""
    path = cloud.run / 'lock' / f'tests-{name}'
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(path.open('a', encoding='utf-8'))
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        held.push(opened.pop_all())
    return True


# -- the hosts of sites


def _close_sites(held: contextlib.ExitStack, cloud: Cloud) -> None:
    """Keep servers of other sites off the hosts of each, whether they are registered or not."""
    if cloud.sites == 1:
        return
    with contextlib.ExitStack() as briefly:
        _must_lock(briefly, cloud, 'aggregates')
        admin = Person(cloud, 'admin')
        briefly.callback(admin.sdk.close)
        present = {each.name for each in admin.sdk.compute.aggregates()}
        for site in sites(cloud):
            if aggregate_of(site) not in present:
                _close(admin, site)


def _close(admin: Person, site: Cloud) -> None:
    projects = [admin.sdk.identity.find_project(site.project(user)).id for user in site.users]
    made = admin.sdk.compute.create_aggregate(name=aggregate_of(site))
    admin.sdk.compute.set_aggregate_metadata(made, **{_TENANTS: ','.join(projects)})
    for host in site.site_hosts:
        admin.sdk.compute.add_host_to_aggregate(made, host)


def _open_sites(held: contextlib.ExitStack, cloud: Cloud) -> None:
    """Undo it: whoever is alone looks at who lands where without our help."""
    admin = Person(cloud, 'admin')
    held.callback(admin.sdk.close)
    names = {aggregate_of(site) for site in sites(cloud)}
    for found in admin.sdk.compute.aggregates():
        if found.name in names:
            for host in found.hosts or ():
                admin.sdk.compute.remove_host_from_aggregate(found, host)
            admin.sdk.compute.delete_aggregate(found)


def aggregate_of(site: Cloud) -> str:
    """Return the name of the aggregate that closes the hosts of a site."""
    return f'site-{site.site}'
