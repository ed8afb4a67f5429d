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
