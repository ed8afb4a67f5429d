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

"""What all tables share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from typing import Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()
"""All tables; migrations are compared with it."""

MYSQL: Final[Mapping[str, Any]] = {'mysql_engine': 'InnoDB', 'mysql_charset': 'utf8mb4'}
"""Options of every table."""
