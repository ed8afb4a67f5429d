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

"""Images of the servers on leased hosts, made before the end.

Names of images are not unique, and a manager can die when one was made and
before that is written down. So the images that there are of a server are
remembered before one is made: one that is there later is the one that was
made. A second one, which a manager that hung has made, is deleted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterable

from climate import exceptions
from climate.clients.base import Cloud
from climate.clients.base import CloudConflict
from climate.clients.base import CloudNotFound
from climate.clients.base import Image
from climate.clients.base import Server
from climate.plugins import contract
from climate.plugins.host.facts import HostFacts

_AT_ONCE = datetime.timedelta(0)
# How long to wait before images that are being written are looked at again.
_WRITTEN = datetime.timedelta(seconds=2)


def take(work: contract.Work, cloud: Cloud, hosts: Iterable[str], prefix: str) -> contract.Outcome:
    """Make an image of each of the project's servers on *hosts*, one a call.

    :param prefix: what the names of the images begin with
    :raises climate.exceptions.Transient: if a server is busy
    """
    facts = HostFacts.of(work.reservation)
    images, before = facts.images, facts.images_before
    left = [server for server in _servers(work, cloud, hosts) if server.id not in images]
    unknown = [server.id for server in left if server.id not in before]
    if unknown:
        there = {each: _ids(_made_of(cloud, each, prefix)) for each in unknown}
        facts = dataclasses.replace(facts, images_before={**before, **there})
        changes = facts.changes(work.reservation)
        return contract.Again(after=_AT_ONCE, why='images are to be made', facts=changes)
    busy = []
    for server in left:
        present = _ids(_made_of(cloud, server.id, prefix))
        new = [image_id for image_id in present if image_id not in before[server.id]]
        try:
            made = new[0] if new else cloud.compute.create_image(server.id, prefix + server.name)
        except CloudNotFound:
            continue
        except CloudConflict:
            # Its turn comes when those that can be had are made.
            busy.append(server.id)
            continue
        facts = dataclasses.replace(facts, images={**images, server.id: made})
        return contract.Again(
            after=_AT_ONCE, why='snapshots', facts=facts.changes(work.reservation)
        )
    unfinished = _hand_over(cloud, images.values(), work.lease.project_id)
    _tidy(work, cloud, prefix)
    if busy:
        raise exceptions.Transient(f'no image can be made of {", ".join(busy)}')
    if unfinished:
        return contract.Again(after=_WRITTEN, why=f'{len(unfinished)} images are being written')
    return contract.Done()


def finish(work: contract.Work, cloud: Cloud, prefix: str) -> None:
    """Hand over what is ready when the lease ends, and delete what is too much."""
    facts = HostFacts.of(work.reservation)
    _hand_over(cloud, facts.images.values(), work.lease.project_id)
    _tidy(work, cloud, prefix)


def _tidy(work: contract.Work, cloud: Cloud, prefix: str) -> None:
    """Delete what a manager that hung has made beside the image that counts.

    Those of the project are its own.
    """
    facts = HostFacts.of(work.reservation)
    for server_id, old in facts.images_before.items():
        if server_id not in facts.images:
            continue
        for image in _made_of(cloud, server_id, prefix):
            if image.id not in old and image.id != facts.images[server_id]:
                cloud.image.delete_image(image.id)


def _servers(work: contract.Work, cloud: Cloud, hosts: Iterable[str]) -> list[Server]:
    return [
        server
        for host in hosts
        for server in cloud.compute.list_servers(host)
        if server.project_id == work.lease.project_id and server.task_state != 'deleting'
    ]


def _made_of(cloud: Cloud, server_id: str, prefix: str) -> list[Image]:
    # Anybody can make an image that says it is of a server, in their project.
    found = cloud.image.list_images(properties={'instance_uuid': server_id}, own=True)
    return [image for image in found if image.name.startswith(prefix)]


def _ids(images: Iterable[Image]) -> tuple[str, ...]:
    return tuple(image.id for image in images)


def _hand_over(cloud: Cloud, images: Iterable[str], project_id: str) -> list[str]:
    """Give images to the project whose servers they are made of.

    Nova made them for the user who asked, and the project could neither see nor
    use what is ours. Glance takes a new owner of an image that is being written,
    and forgets it when all is written: such an image is left for the next time.

    :returns: the ids of images that are being written
    """
    unfinished = []
    for image_id in images:
        image = cloud.image.find_image(image_id)
        if image is None or image.owner == project_id:
            continue
        if image.unfinished:
            unfinished.append(image_id)
            continue
        # Nova drops an unfinished image when its server goes.
        with contextlib.suppress(CloudNotFound):
            cloud.image.give_image(image_id, project_id)
    return unfinished
