# SPDX-License-Identifier: Apache-2.0
"""The images that a lease creates of a server, never two where one is needed.

Names of images are not unique, and the response to a call that creates one can
get lost. So Climate first records the existing images. A later image of this
server, with this name, is its own only if Climate owns it, since users can create
images with the same name and properties in their projects. Climate records the id
before it does anything else, and deletes a second image, which a manager that
hung has created.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import Final
from typing import Literal

from climate import exceptions
from climate.cloud.base import as_transient
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Image
from climate.cloud.base import Server
from climate.plugins import contract
from climate.plugins.server.facts import SnapshotFacts
from climate.plugins.server.steps import Case
from climate.plugins.server.steps import REFUSALS

Occasion = Literal['before_end', 'end']

_IMAGEABLE = frozenset({'ACTIVE', 'PAUSED', 'SHUTOFF', 'SUSPENDED'})
_IN_ORDER: Final = ('before_end', 'end')


class Images:
    """The images that the lease of a server creates."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._known = case.facts.snapshots
        self._given = case.facts.image_ids

    def take(self, server: Server, occasion: Occasion) -> contract.Again | None:
        """Create an image of the server; None once it can be used and belongs to the project.

        :raises climate.exceptions.Transient: if none can be created now
        :raises climate.exceptions.Permanent: if it cannot be used
        """
        case, mine = self._case, self._known.get(occasion)
        if mine is None:
            before = tuple(image.id for image in self._existing(server))
            return self._remember('an image will be made', occasion, SnapshotFacts(before=before))
        if mine.image_id is None:
            return self._begin(server, occasion, mine)
        image = case.cloud.image.find_image(mine.image_id)
        if image is None:
            # A user or an operator has deleted it too early: create another one.
            return self._remember(f'image {mine.image_id} is gone', occasion, None)
        if image.unfinished:
            return self._unfinished(image)
        if image.status != 'active':
            self._fail(image)
        if image.id in self._given:
            return None
        try:
            case.cloud.image.give_image(image.id, case.work.lease.project_id)
        except CloudNotFound:
            return self._remember(f'image {image.id} is gone', occasion, None)
        said = f'image {image.id} of {case.name} was made'
        facts = dataclasses.replace(case.facts, image_ids=(*self._given, image.id))
        return case.remember(said, facts, done=True)

    def hand_over(self) -> tuple[str, ...]:
        """Give the project the images that were unfinished when the lease stopped waiting."""
        for mine in self._known.values():
            image_id = mine.image_id
            if image_id is None or image_id in self._given:
                continue
            if self._case.cloud.image.find_image(image_id) is not None:
                self._case.cloud.image.give_image(image_id, self._case.work.lease.project_id)
                self._given += (image_id,)
        return self._given

    def tidy(self) -> None:
        """Delete the surplus images that a manager that hung has created.

        Images that were given to the project are kept. While an image is being
        created, nothing is deleted, since a new image may be the one that is needed.
        """
        server_id = self._case.server_id
        if server_id is None or any(mine.image_id is None for mine in self._known.values()):
            return
        for occasion in _IN_ORDER:
            if occasion in self._known:
                self._tidy(server_id, self._known[occasion].before)
                return

    def _tidy(self, server_id: str, before: Collection[str]) -> None:
        case = self._case
        kept = {*before, *self._given, *(mine.image_id for mine in self._known.values())}
        prefix = case.settings.hosts.image_prefix
        wanted = {'instance_uuid': server_id}
        for image in case.cloud.image.list_images(properties=wanted, own=True):
            if image.name.startswith(prefix) and image.id not in kept:
                case.cloud.image.delete_image(image.id)

    def _existing(self, server: Server) -> tuple[Image, ...]:
        return self._case.cloud.image.list_images(
            name=self._name(server), properties={'instance_uuid': server.id}, own=True
        )

    def _name(self, server: Server) -> str:
        return self._case.settings.hosts.image_prefix + server.name

    def _begin(self, server: Server, occasion: Occasion, mine: SnapshotFacts) -> contract.Again:
        case = self._case
        made = [image.id for image in self._existing(server) if image.id not in mine.before]
        if made:
            mine = dataclasses.replace(mine, image_id=made[0])
            return self._remember('an image is being made', occasion, mine)
        if (server.task_state or '').startswith('image_'):
            # Glance will list it in a moment.
            return case.wait(f'an image of {case.name} is being made')
        case.sound(server)
        case.free(server)
        if server.status not in _IMAGEABLE:
            raise exceptions.Transient(
                f'{case.name} is {server.status}: no image can be made of it until that changes'
            )
        with as_transient(*REFUSALS):
            image_id = case.cloud.compute.create_image(server.id, self._name(server))
        mine = dataclasses.replace(mine, image_id=image_id)
        return self._remember('an image is being made', occasion, mine)

    def _remember(self, why: str, occasion: Occasion, mine: SnapshotFacts | None) -> contract.Again:
        known = {key: value for key, value in self._known.items() if key != occasion}
        if mine is not None:
            known[occasion] = mine
        return self._case.remember(why, dataclasses.replace(self._case.facts, snapshots=known))

    def _unfinished(self, image: Image) -> contract.Again:
        case = self._case
        taken = (case.work.now - case.work.since).total_seconds()
        if taken >= case.settings.image_timeout:
            raise exceptions.Permanent(
                f'image {image.id} is not active in time, but {image.status}; {case.name} was not '
                'deleted'
            )
        return case.wait(f'image {image.id} of {case.name} is {image.status}')

    def _fail(self, image: Image) -> None:
        """Delete an unusable image and raise; the next attempt creates another."""
        self._case.cloud.image.delete_image(image.id)
        raise exceptions.Permanent(
            f'image {image.id} of {self._case.name} became {image.status}; the server was not '
            'deleted'
        )
