# SPDX-License-Identifier: Apache-2.0

"""A request of the story that the reference of the API shows."""

from __future__ import annotations

import dataclasses

OWNER = 'alice:physics:member'
OTHER = 'bob:biology:reader'
ADMIN = 'root:operators:admin'


@dataclasses.dataclass(frozen=True, kw_only=True)
class Step:
    """One request of the story.

    :ivar name: of the files, below ``samples``, without ``-request.json``
    :ivar path: ``{first}`` and so on stand for ids of leases
    :ivar sends: whether there is a file with the body
    :ivar worked: whether a manager does before what is due
    """

    name: str
    method: str
    path: str
    status: int = 200
    token: str = OWNER
    version: str = '1.0'
    sends: bool = False
    worked: bool = False
