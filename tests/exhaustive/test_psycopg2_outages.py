# SPDX-License-Identifier: Apache-2.0

"""PostgreSQL goes away from a service that uses the driver of before."""

from __future__ import annotations

from tests import services
from tests.functional import test_outages


class TestPsycopg2Gone(test_outages.DatabaseGone, test_outages.OutageCase):
    """PostgreSQL, by the driver of before."""

    kind = services.PSYCOPG2
