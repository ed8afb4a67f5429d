# SPDX-License-Identifier: Apache-2.0

"""Simulated servers.

Operations take as long as configured, by default no time. An operation that is due is
completed when a server is next read.
"""

from __future__ import annotations

import uuid

from climate import exceptions
from climate.cloud.base import Server
from climate.cloud.base import ServerDraft
from climate.simulator import flavors
from climate.simulator import quotas
from climate.simulator import scheduler
from climate.simulator import server_rows
from climate.simulator import server_states
from climate.simulator.server_groups import find_group
from climate.simulator.store import Db
from climate.simulator.store import SERVICE_PROJECT
from climate.simulator.verbs import check_metadata
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = server_rows.SCHEMA


def _of_flavor(db: Db, flavor_id: str) -> tuple[Server, ...]:
    # Nova first looks up the flavor, so the servers of a deleted one are not found.
    if flavors.find_flavor(db, flavor_id) is None:
        return ()
    return server_rows.servers(db, flavor=flavor_id)


def _of_project(db: Db, project_id: str) -> tuple[Server, ...]:
    return tuple(server for server in server_rows.servers(db) if server.project_id == project_id)


def _create(db: Db, draft: ServerDraft) -> str:
    project_id = db.caller.project_id
    flavor = flavors.find_flavor(db, draft.flavor_id)
    admin = project_id == SERVICE_PROJECT
    if flavor is None or not (admin or flavors.may_use(db, flavor, project_id)):
        raise exceptions.Permanent(
            f'the simulated cloud has no flavor {draft.flavor_id!r} for {project_id}'
        )
    if draft.host is not None and not admin:
        raise exceptions.Permanent('only an administrator may choose the host of a server')
    check_metadata(draft.metadata)
    group_id = draft.scheduler_hints.get('group', '')
    if group_id and find_group(db, group_id) is None:
        raise exceptions.Permanent(f'the simulated cloud has no server group {group_id}')
    server_rows.settle(db)
    count = 'SELECT count(*), coalesce(sum(vcpus), 0) FROM servers WHERE project_id = ?'
    used = db.row(count, project_id) or (0, 0)
    quotas.require(db, project_id, 'instances', used[0] + 1)
    quotas.require(db, project_id, 'cores', used[1] + flavor.vcpus)
    server_id = str(uuid.uuid4())
    place = scheduler.choose(db, draft, flavor)
    server_rows.insert(db, server_id, draft, flavor, project_id, place)
    server_states.spawn(db, server_id)
    return server_id


class SimulatedServers(ServiceVerbs):
    """Implements :class:`climate.cloud.protocols.servers.Servers`."""

    list_servers = verb('compute.list_servers', server_rows.listed)
    list_servers_of_flavor = verb('compute.list_servers_of_flavor', _of_flavor)
    list_servers_of_project = verb('compute.list_servers_of_project', _of_project)
    find_server = verb('compute.find_server', server_rows.find)
    list_servers_since = verb('compute.list_servers_since', server_rows.since)
    scheduler_hints = verb('compute.scheduler_hints', server_rows.hints)
    set_server_metadata = verb('compute.set_server_metadata', server_rows.set_metadata, 'server_id')
    create_server = verb('compute.create_server', _create, 'draft.name')
    delete_server = verb('compute.delete_server', server_states.delete)
    create_image = verb('compute.create_image', server_states.snapshot)
    shelve_server = verb('compute.shelve_server', server_states.action('shelve'))
    offload_server = verb('compute.offload_server', server_states.action('offload'))
    unshelve_server = verb('compute.unshelve_server', server_states.unshelve)
    suspend_server = verb('compute.suspend_server', server_states.action('suspend'))
    resume_server = verb('compute.resume_server', server_states.action('resume'))
    stop_server = verb('compute.stop_server', server_states.action('stop'))
    start_server = verb('compute.start_server', server_states.action('start'))
