# SPDX-License-Identifier: Apache-2.0

"""A ``climate-api`` that does not verify its bookings, to test the database alone."""

from __future__ import annotations

import sys

from climate.cmd import api
from tests.exhaustive.races import defences

if __name__ == '__main__':
    defences.switch_verification_off()
    sys.exit(api.main())
