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
"""Work that counts by the address of the client, since its project is not known yet."""

from __future__ import annotations

import contextlib

from climate.api.rates import client_of
from climate.api.rates import Rates
from climate.api.shares import CallerGroup
from climate.api.shares import ThreadShares


def begin(
    shares: ThreadShares, rates: Rates | None, address: str
) -> contextlib.AbstractContextManager[None]:
    """Return a context within which a request of an address works, as soon as it has its turn.

    :param rates: knows which addresses many users share, which have no limit; None if none
    :raises climate.exceptions.TooManyAtOnce: if others of the same client take too long
    """
    if rates is not None and rates.exempts(address):
        return contextlib.nullcontext()
    return shares.begin(CallerGroup.ADDRESS, client_of(address))
