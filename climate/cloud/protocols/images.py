# SPDX-License-Identifier: Apache-2.0

"""Images: servers boot from them, and Nova creates them from servers."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Protocol

_UNFINISHED = frozenset({'queued', 'saving', 'uploading', 'importing'})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image.

    :ivar status: the status in Glance: ``queued`` and ``saving`` until it is complete,
        ``active`` once it can be used
    :ivar owner: the id of the project that owns it
    :ivar properties: additional properties, such as ``base_image_ref``
    """

    id: str
    name: str
    status: str
    owner: str
    properties: Mapping[str, str]

    @property
    def unfinished(self) -> bool:
        """Whether it is still incomplete."""
        return self.status in _UNFINISHED


class ImageVerbs(Protocol):
    """Operations on images, in all projects."""

    def find_image(self, image_id: str) -> Image | None:
        """Return an image; None if it does not exist."""

    def list_images(
        self,
        *,
        name: str | None = None,
        owner: str | None = None,
        properties: Mapping[str, str] | None = None,
        own: bool = False,
    ) -> tuple[Image, ...]:
        """Return the images that meet all conditions, by id.

        An image of a server is listed as soon as
        :meth:`~climate.cloud.protocols.servers.Servers.create_image` has returned.
        Names are not unique, and any user can create an image with the name and the
        properties of another.

        :param own: only images that belong to the current project
        """

    def give_image(self, image_id: str, project_id: str) -> None:
        """Transfer an image to a project; a no-op if it already owns it.

        An image belongs to the project that requested it, even if the server belongs to
        another project. It can be transferred while it is still being written.

        :raises CloudNotFound: if there is no such image
        """

    def delete_image(self, image_id: str) -> None:
        """Delete an image; a no-op if it does not exist.

        :raises CloudConflict: if it is in use
        :raises climate.exceptions.Permanent: if it is protected
        """
