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

"""How far the clock of the database is from that of this process."""

from __future__ import annotations

import dataclasses
import datetime


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """The difference between the clock of the database and that of this process.

    :ivar offset: the time of the database minus the local time
    :ivar uncertainty: half of the duration of the query
    """

    offset: datetime.timedelta = datetime.timedelta(0)
    uncertainty: datetime.timedelta = datetime.timedelta(0)
