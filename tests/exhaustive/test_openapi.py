# SPDX-License-Identifier: Apache-2.0

"""Ten thousand requests that schemathesis makes of the OpenAPI document."""

from __future__ import annotations

import os

from tests import base
from tests.functional import fixtures
from tests.functional.fuzz import chosen_seed
from tests.functional.fuzz import Fuzzer

REQUESTS = int(os.environ.get('CLIMATE_FUZZ_REQUESTS', '10000'))


class OpenApiTest(base.TestCase):
    """The service does what its document says, and never fails."""

    def fuzz(self, version: str, requests: int) -> None:
        """Send about as many requests at a microversion."""
        seed, sent = chosen_seed(), 0
        print(f'CLIMATE_FUZZ_SEED={seed} at {version}')
        while sent < requests:
            # A fresh service each time: what is deleted is there again.
            with fixtures.Service() as service:
                outcome = Fuzzer(service, version, seed).run(5)
            found = '\n\n'.join(outcome.faults.values())
            self.assertEqual('', found, f'CLIMATE_FUZZ_SEED={seed} at {version}')
            sent += outcome.sent
            seed += 1
        print(f'{sent} requests at {version}')

    def test_newest(self) -> None:
        self.fuzz('1.5', REQUESTS * 7 // 10)

    def test_oldest(self) -> None:
        self.fuzz('1.0', REQUESTS // 10)

    def test_first_with_strict_bodies(self) -> None:
        self.fuzz('1.1', REQUESTS // 10)

    def test_without_offers(self) -> None:
        self.fuzz('1.3', REQUESTS // 10)
