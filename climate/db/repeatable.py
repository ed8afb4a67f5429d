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

"""Which failed transactions succeed when they are repeated, and what they need before.

oslo.db repeats transactions after a deadlock by itself.
"""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from climate.db import errors
from climate.db import expired_holds
from climate.db.projects import NewProject

if TYPE_CHECKING:
    from climate.db.store import Store


def is_worth_repeating(store: Store, error: Exception, began: datetime.datetime) -> bool:
    """Return whether to repeat a transaction; before that, make room for it.

    :param error: that the transaction has raised
    :param began: when it began (aware UTC)
    :raises climate.exceptions.DatabaseUnavailable: if the database does not answer
    """
    if isinstance(error, NewProject):
        project_id = error.project_id
        store.run(lambda tx: tx.projects.add(project_id))
        return True
    return errors.is_duplicate(error) or expired_holds.were_in_the_way(store, error, began)
