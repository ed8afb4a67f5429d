# SPDX-License-Identifier: Apache-2.0

"""A request of the story that the reference of the API shows."""

from __future__ import annotations

import dataclasses
import functools

OWNER = 'alice:physics:member'
OTHER = 'bob:biology:reader'
ADMIN = 'root:operators:admin'


@dataclasses.dataclass(frozen=True)
class Step:
    """One request of the story.

    :ivar name: of the files, below ``samples``, without ``-request.json``
    :ivar path: ``{first}`` and so on stand for ids of leases
    :ivar sends: whether there is a file with the body
    :ivar worked: whether a manager does before what is due
    """

    name: str
    path: str
    version: str = '1.0'
    _: dataclasses.KW_ONLY
    method: str
    status: int = 200
    token: str = OWNER
    sends: bool = False
    worked: bool = False


get = functools.partial(Step, method='GET')
post = functools.partial(Step, method='POST', status=201, sends=True)
put = functools.partial(Step, method='PUT', sends=True)
patch = functools.partial(Step, method='PATCH', sends=True)
delete = functools.partial(Step, method='DELETE', status=204)
