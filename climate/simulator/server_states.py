# SPDX-License-Identifier: Apache-2.0

"""Actions on servers, and the states in which the simulated Nova allows them."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable

from climate import exceptions
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Server
from climate.cloud.base import ServerDraft
from climate.simulator import flavors
from climate.simulator import images
from climate.simulator import scheduler
from climate.simulator import server_rows
from climate.simulator.store import Db
from climate.simulator.store import SERVICE_PROJECT

_IMAGEABLE = frozenset({'ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class _Action:
    """The rules for an action.

    :ivar before: the statuses in which it is allowed
    :ivar task: the task state while it is in progress
    :ivar after: the status when it is complete
    :ivar done: the statuses in which it has no effect
    """

    before: frozenset[str]
    task: str
    after: str
    done: frozenset[str]


def _action(before: str, task: str, after: str, done: str = '') -> _Action:
    return _Action(
        before=frozenset(before.split()),
        task=task,
        after=after,
        done=frozenset((done or after).split()),
    )


_ACTIONS = {
    'shelve': _action(
        'ACTIVE PAUSED SHUTOFF SUSPENDED', 'shelving', 'SHELVED', 'SHELVED SHELVED_OFFLOADED'
    ),
    'offload': _action('SHELVED', 'shelving_offloading', 'SHELVED_OFFLOADED'),
    'unshelve': _action('SHELVED SHELVED_OFFLOADED', 'unshelving', 'ACTIVE'),
    'suspend': _action('ACTIVE', 'suspending', 'SUSPENDED'),
    'resume': _action('SUSPENDED', 'resuming', 'ACTIVE'),
    'stop': _action('ACTIVE ERROR', 'powering-off', 'SHUTOFF'),
    'start': _action('SHUTOFF', 'powering-on', 'ACTIVE'),
}


def _require(db: Db, server_id: str) -> Server:
    server = server_rows.find(db, server_id)
    if server is None:
        raise CloudNotFound(f'the simulated cloud has no server {server_id}')
    return server


def _schedule(db: Db, server_id: str, task: str | None, after: str, seconds: float) -> None:
    db.update('servers', server_id, task_state=task, next_status=after, next_at=db.now + seconds)
    server_rows.settle(db)


def spawn(db: Db, server_id: str) -> None:
    """Start to make a new server ``ACTIVE``, if it has a host."""
    if _require(db, server_id).status == 'BUILD':
        _schedule(db, server_id, 'spawning', 'ACTIVE', db.seconds('server_creation'))


def begin(db: Db, action: str, server_id: str) -> None:
    """Start an action on a server; a no-op if it is in progress or complete.

    :raises CloudNotFound: if there is no such server
    :raises CloudConflict: if its state does not allow it
    """
    server = _require(db, server_id)
    wanted = _ACTIONS[action]
    if server.task_state == wanted.task or (not server.task_state and server.status in wanted.done):
        return
    if server.task_state or server.status not in wanted.before:
        state = server.task_state or server.status
        raise CloudConflict(f'server {server_id} is {state}: cannot {action} it')
    if action == 'shelve':
        image_id = images.add(db, f'{server.name}-shelved', server, 0, server.project_id)
        db.update('servers', server_id, shelved_image=image_id)
    _schedule(db, server_id, wanted.task, wanted.after, db.seconds('server_action'))


def action(name: str) -> Callable[[Db, str], None]:
    """Return the function that starts an action on a server."""

    def start(db: Db, server_id: str) -> None:
        begin(db, name, server_id)

    return start


def unshelve(db: Db, server_id: str, host: str | None = None) -> None:
    """Start to unshelve a server.

    :raises CloudNotFound: if there is no such server
    :raises CloudConflict: if its state does not allow it
    :raises climate.exceptions.Permanent: if the host does not exist, or the caller may
        not choose it
    """
    server = _require(db, server_id)
    if server.status == 'SHELVED_OFFLOADED' and not server.task_state:
        if host is not None and db.caller.project_id != SERVICE_PROJECT:
            raise exceptions.Permanent('only an administrator may choose the host of a server')
        if host is not None and not db.has('hypervisors', service_host=host):
            raise exceptions.Permanent(f'the simulated cloud has no compute host {host}')
        if not _find_room(db, server, host):
            # Like Nova, accept the request without an effect.
            return
    elif server.status == 'SHELVED' and host is not None:
        raise CloudConflict(f'server {server_id} is not offloaded yet')
    begin(db, 'unshelve', server_id)


def _find_room(db: Db, server: Server, host: str | None) -> bool:
    flavor = flavors.find_flavor(db, server.flavor_id)
    row = db.row('SELECT draft FROM servers WHERE id = ?', server.id)
    if flavor is None or row is None:
        return False
    kept = json.loads(row['draft'])
    draft = ServerDraft(
        name=server.name,
        flavor_id=flavor.id,
        scheduler_hints=kept.get('hints', {}),
        availability_zone=kept.get('zone') if host is None else None,
        host=host,
    )
    place = scheduler.choose(db, draft, flavor)
    if place is None:
        return False
    scheduler.claim(db, server.id, place)
    db.update('servers', server.id, host=place.host, hypervisor_hostname=place.hypervisor_hostname)
    return True


def delete(db: Db, server_id: str) -> None:
    """Start to delete a server, and delete its incomplete images."""
    server = server_rows.find(db, server_id)
    if server is None or server.task_state == 'deleting':
        return
    images.abandon(db, server_id)
    gone_at = db.now + db.seconds('server_deletion')
    db.update('servers', server_id, task_state='deleting', gone_at=gone_at)
    db.update('servers', server_id, next_status=None, next_at=None)
    server_rows.settle(db)


def snapshot(db: Db, server_id: str, name: str) -> str:
    """Start to create an image of a server, which the caller's project owns; return its id.

    :raises CloudNotFound: if there is no such server
    :raises CloudConflict: if its state does not allow it
    """
    server = _require(db, server_id)
    if server.task_state is not None or server.status not in _IMAGEABLE:
        raise CloudConflict(f'server {server_id} is {server.task_state or server.status}')
    seconds = db.seconds('image')
    image_id = images.add(db, name, server, seconds, db.caller.project_id)
    _schedule(db, server_id, 'image_snapshot', server.status, seconds)
    return image_id
