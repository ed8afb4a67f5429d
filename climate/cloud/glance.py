# SPDX-License-Identifier: Apache-2.0

"""Glance, over openstacksdk.

Errors and retries are those of :mod:`climate.cloud.nova`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from climate.cloud import sdk
from climate.cloud.base import CloudNotFound
from climate.cloud.base import Image
from climate.domain import names

# An additional property of Glance that the library makes an attribute.
_INSTANCE = 'instance_uuid'


class GlanceImages:
    """Implements :class:`climate.cloud.base.ImageVerbs`.

    :param service: of the type ``image``
    """

    def __init__(self, service: sdk.SdkService) -> None:
        self._service = service

    def find_image(self, image_id: str) -> Image | None:
        """Return an image; None if it does not exist."""
        if not names.is_uuid(image_id):
            return None
        with contextlib.suppress(CloudNotFound), self._service.calling('find_image') as glance:
            return _image(glance.get_image(image_id))
        return None

    def list_images(
        self,
        *,
        name: str | None = None,
        owner: str | None = None,
        properties: Mapping[str, str] | None = None,
        own: bool = False,
    ) -> tuple[Image, ...]:
        """Return the images that meet all conditions, by id."""
        wanted = {'name': name, 'owner': owner, **(properties or {})}
        query = {key: value for key, value in wanted.items() if value is not None}
        images = self._service.every(
            'list_images', lambda glance: map(_image, glance.images(**query))
        )
        if own:
            with self._service.calling('list_images') as glance:
                mine = glance.get_project_id()
            images = tuple(image for image in images if image.owner == mine)
        return images

    def give_image(self, image_id: str, project_id: str) -> None:
        """Transfer an image to a project; a no-op if it already owns it."""
        with self._service.calling('give_image') as glance:
            image = glance.get_image(image_id)
            if _image(image).owner != project_id:
                glance.update_image(image, owner_id=project_id)

    def delete_image(self, image_id: str) -> None:
        """Delete an image; a no-op if it does not exist."""
        with contextlib.suppress(CloudNotFound), self._service.calling('delete_image') as glance:
            glance.delete_image(image_id, ignore_missing=False)


def _image(item: Any) -> Image:
    properties = {
        key: value for key, value in (item.properties or {}).items() if isinstance(value, str)
    }
    if item.instance_uuid:
        properties[_INSTANCE] = item.instance_uuid
    return Image(
        id=item.id,
        # The name is optional in Glance.
        name=item.name or '',
        status=item.status,
        owner=item.owner_id or item.owner or '',
        properties=properties,
    )
