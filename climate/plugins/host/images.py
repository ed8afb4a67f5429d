# SPDX-License-Identifier: Apache-2.0

"""Images of the servers on leased hosts, made before the end.

Names of images are not unique, and a manager can die after it has made an image and
before it has recorded that. Therefore the existing images of a server are recorded
before one is made: any other image found later is the one that was made. A second
one, which a manager that hung has made, is deleted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Iterable

from climate import exceptions
from climate.cloud.base import Cloud
from climate.cloud.base import CloudConflict
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Image
from climate.cloud.base import Server
from climate.plugins import contract
from climate.plugins.host import nodes
from climate.plugins.host.facts import HostFacts

_AT_ONCE = datetime.timedelta(0)
# How long to wait before the next look at images that are being written.
_WRITTEN = datetime.timedelta(seconds=2)


def take(work: contract.Work, cloud: Cloud, hosts: Iterable[str], prefix: str) -> contract.Outcome:
    """Make an image of each of the project's servers on *hosts*, one per call.

    :param prefix: the prefix of the images' names
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
            # Retried after the images of the other servers.
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
    """Transfer finished images when the lease ends, and delete superfluous ones."""
    facts = HostFacts.of(work.reservation)
    _hand_over(cloud, facts.images.values(), work.lease.project_id)
    _tidy(work, cloud, prefix)


def _tidy(work: contract.Work, cloud: Cloud, prefix: str) -> None:
    """Delete images that a manager that hung has made in addition to the recorded one.

    Images that belong to the project are not touched.
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
        for server in nodes.split(cloud, host, nodes.leased(work, cloud, host)).here
        if server.project_id == work.lease.project_id and server.task_state != 'deleting'
    ]


def _made_of(cloud: Cloud, server_id: str, prefix: str) -> list[Image]:
    # Any user can make an image in their project that claims to be of a server.
    images = cloud.image.list_images(properties={'instance_uuid': server_id}, own=True)
    return [image for image in images if image.name.startswith(prefix)]


def _ids(images: Iterable[Image]) -> tuple[str, ...]:
    return tuple(image.id for image in images)


def _hand_over(cloud: Cloud, images: Iterable[str], project_id: str) -> list[str]:
    """Transfer images to the project that owns the servers.

    Nova made them for the user of Climate, in whose project the owner of the server
    can neither see nor use them. Glance accepts a new owner of an image that is being
    written, and discards it once the image is complete: such an image waits for the
    next call.

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
        # Nova deletes an unfinished image together with its server.
        with contextlib.suppress(CloudNotFound):
            cloud.image.give_image(image_id, project_id)
    return unfinished
