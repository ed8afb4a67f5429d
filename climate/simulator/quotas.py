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

"""Quotas of projects in the simulated cloud; by default there are none."""

from __future__ import annotations

from climate.clients.base import CloudQuota
from climate.simulator.store import Db

SCHEMA = """
CREATE TABLE IF NOT EXISTS quotas (
    project_id TEXT NOT NULL,
    resource TEXT NOT NULL,
    most INTEGER NOT NULL,
    PRIMARY KEY (project_id, resource)
) WITHOUT ROWID;
"""


def require(db: Db, project_id: str, resource: str, wanted: int) -> None:
    """Check that the quota of a project allows *wanted* of a resource in total.

    :param resource: such as ``networks`` or ``gigabytes``
    :raises CloudQuota: if it does not
    """
    row = db.row(
        'SELECT most FROM quotas WHERE project_id = ? AND resource = ?', project_id, resource
    )
    if row is not None and wanted > row['most']:
        raise CloudQuota(f'the quota of project {project_id} is {row["most"]} {resource}')


def put(db: Db, project_id: str, resource: str, most: int | None) -> None:
    """Set the quota of a project; None removes it."""
    db.run('DELETE FROM quotas WHERE project_id = ? AND resource = ?', project_id, resource)
    if most is not None:
        db.run(
            'INSERT INTO quotas (project_id, resource, most) VALUES (?, ?, ?)',
            project_id,
            resource,
            most,
        )
