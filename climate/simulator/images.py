# SPDX-License-Identifier: Apache-2.0

"""Simulated Glance."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Mapping

from climate.cloud.base import CloudNotFound
from climate.cloud.base import Image
from climate.cloud.base import Server
from climate.simulator.store import Db
from climate.simulator.verbs import ServiceVerbs
from climate.simulator.verbs import verb

SCHEMA = """
CREATE TABLE IF NOT EXISTS images (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    server_id TEXT NOT NULL,
    owner TEXT NOT NULL DEFAULT '',
    properties TEXT NOT NULL DEFAULT '{}',
    active_at REAL NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS images_by_server ON images (server_id);
"""


def _image(db: Db, row: sqlite3.Row) -> Image:
    return Image(
        id=row['id'],
        name=row['name'],
        status=row['status'] if row['active_at'] <= db.now else 'queued',
        owner=row['owner'],
        properties=json.loads(row['properties']),
    )


def images(db: Db) -> tuple[Image, ...]:
    """Return every image, oldest first."""
    return tuple(_image(db, row) for row in db.rows('SELECT * FROM images ORDER BY rowid'))


def find(db: Db, image_id: str) -> Image | None:
    """Return an image; None if it does not exist."""
    row = db.find('images', id=image_id)
    return None if row is None else _image(db, row)


def _list(
    db: Db,
    *,
    name: str | None = None,
    owner: str | None = None,
    properties: Mapping[str, str] | None = None,
    own: bool = False,
) -> tuple[Image, ...]:
    wanted = dict(properties or {})
    found = (
        image
        for image in images(db)
        if name in (None, image.name)
        and owner in (None, image.owner)
        and (not own or image.owner == db.caller.project_id)
        and wanted.items() <= image.properties.items()
    )
    return tuple(sorted(found, key=lambda image: image.id))


def add(
    db: Db,
    name: str,
    server: Server | None,
    seconds: float,
    owner: str,
    image_id: str | None = None,
) -> str:
    """Create an image, of a server if one is given, and return its id.

    :param seconds: the time until it is active
    :param owner: the project that requests it
    :param image_id: a new id if None
    """
    image_id = image_id or str(uuid.uuid4())
    properties = {'instance_uuid': server.id} if server else {}
    db.insert(
        'images',
        id=image_id,
        name=name,
        status='active',
        server_id=server.id if server else '',
        owner=owner,
        properties=json.dumps(properties),
        active_at=db.now + seconds,
    )
    return image_id


def abandon(db: Db, server_id: str) -> None:
    """Delete the incomplete images of a server, as Nova does."""
    db.run('DELETE FROM images WHERE server_id = ? AND active_at > ?', server_id, db.now)


def _give(db: Db, image_id: str, project_id: str) -> None:
    if find(db, image_id) is None:
        raise CloudNotFound(f'the simulated cloud has no image {image_id}')
    # In Glance, the owner of an incomplete image changes back when it is complete.
    db.run(
        'UPDATE images SET owner = ? WHERE id = ? AND active_at <= ?', project_id, image_id, db.now
    )


def _delete(db: Db, image_id: str) -> None:
    db.delete('images', id=image_id)


class SimulatedImages(ServiceVerbs):
    """Implements :class:`climate.cloud.base.ImageVerbs`."""

    find_image = verb('image.find_image', find)
    list_images = verb('image.list_images', _list)
    give_image = verb('image.give_image', _give)
    delete_image = verb('image.delete_image', _delete)
