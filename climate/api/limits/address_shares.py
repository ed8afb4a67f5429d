# SPDX-License-Identifier: Apache-2.0
"""Work that counts by the address of the client, since its project is not known yet."""

from __future__ import annotations

import contextlib

from climate.api.limits.rates import client_of
from climate.api.limits.rates import Rates
from climate.api.limits.shares import CallerGroup
from climate.api.limits.shares import ThreadShares


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
