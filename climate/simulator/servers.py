# SPDX-License-Identifier: Apache-2.0

"""Simulated servers.

Operations take as long as configured, by default no time. An operation that is due is
completed when a server is next read.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping

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
from climate.simulator.verbs import check_metadata
from climate.simulator.verbs import ProjectVerbs

SCHEMA = server_rows.SCHEMA
ADMIN_PROJECT = 'service'


class SimulatedServers(ProjectVerbs):
    """Implements :class:`climate.cloud.protocols.servers.Servers`."""

    def list_servers(self, service_host: str) -> tuple[Server, ...]:
        """Return the servers of all projects on a service host, by id."""
        return self._runner.run(
            'compute.list_servers',
            (service_host,),
            lambda db: server_rows.listed(db, service_host),
        )

    def list_servers_of_flavor(self, flavor_id: str) -> tuple[Server, ...]:
        """Return the servers of all projects that use a flavor, by id."""
        return self._runner.run(
            'compute.list_servers_of_flavor',
            (flavor_id,),
            lambda db: _of_flavor(db, flavor_id),
        )

    def list_servers_of_project(self, project_id: str) -> tuple[Server, ...]:
        """Return the servers of a project, by id."""
        return self._runner.run(
            'compute.list_servers_of_project',
            (project_id,),
            lambda db: tuple(
                server for server in server_rows.servers(db) if server.project_id == project_id
            ),
        )

    def find_server(self, server_id: str) -> Server | None:
        """Return a server; None if it does not exist."""
        return self._runner.run(
            'compute.find_server', (server_id,), lambda db: server_rows.find(db, server_id)
        )

    def list_servers_since(self, instant: datetime.datetime) -> tuple[Server, ...]:
        """Return the servers of all projects created since *instant*, oldest first."""
        return self._runner.run(
            'compute.list_servers_since',
            (instant.isoformat(),),
            lambda db: server_rows.since(db, instant),
        )

    def scheduler_hints(self, server_id: str) -> Mapping[str, object]:
        """Return the scheduler hints with which a server was created."""
        return self._runner.run(
            'compute.scheduler_hints', (server_id,), lambda db: server_rows.hints(db, server_id)
        )

    def set_server_metadata(self, server_id: str, metadata: Mapping[str, str]) -> None:
        """Set metadata of a server of any project; other keys stay as they are."""
        self._runner.run(
            'compute.set_server_metadata',
            (server_id,),
            lambda db: server_rows.set_metadata(db, server_id, metadata),
        )

    def create_server(self, draft: ServerDraft) -> str:
        """Start to create a server in the project of the caller and return its id."""
        return self._runner.run(
            'compute.create_server',
            (draft.name,),
            lambda db: _create(db, draft, self._runner.project(db)),
        )

    def delete_server(self, server_id: str) -> None:
        """Start to delete a server; a no-op if it is gone or being deleted."""
        self._runner.run(
            'compute.delete_server', (server_id,), lambda db: server_states.delete(db, server_id)
        )

    def create_image(self, server_id: str, name: str) -> str:
        """Start to create an image of a server."""
        return self._runner.run(
            'compute.create_image',
            (server_id, name),
            lambda db: server_states.snapshot(db, server_id, name, self._runner.project(db)),
        )

    def shelve_server(self, server_id: str) -> None:
        """Start to shelve a server."""
        self._act('shelve', server_id)

    def offload_server(self, server_id: str) -> None:
        """Start to offload a shelved server."""
        self._act('offload', server_id)

    def unshelve_server(self, server_id: str, host: str | None = None) -> None:
        """Start to unshelve a server."""
        self._runner.run(
            'compute.unshelve_server',
            (server_id, host),
            lambda db: server_states.unshelve(
                db, server_id, host, admin=self._runner.project(db) == ADMIN_PROJECT
            ),
        )

    def suspend_server(self, server_id: str) -> None:
        """Start to suspend a server."""
        self._act('suspend', server_id)

    def resume_server(self, server_id: str) -> None:
        """Start to resume a suspended server."""
        self._act('resume', server_id)

    def stop_server(self, server_id: str) -> None:
        """Start to stop a server."""
        self._act('stop', server_id)

    def start_server(self, server_id: str) -> None:
        """Start to start a stopped server."""
        self._act('start', server_id)

    def _act(self, action: str, server_id: str) -> None:
        self._runner.run(
            f'compute.{action}_server',
            (server_id,),
            lambda db: server_states.begin(db, action, server_id),
        )


def _of_flavor(db: Db, flavor_id: str) -> tuple[Server, ...]:
    # Nova first looks up the flavor, so the servers of a deleted one are not found.
    if flavors.find_flavor(db, flavor_id) is None:
        return ()
    return server_rows.servers(db, flavor=flavor_id)


def _create(db: Db, draft: ServerDraft, project_id: str) -> str:
    flavor = flavors.find_flavor(db, draft.flavor_id)
    admin = project_id == ADMIN_PROJECT
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
