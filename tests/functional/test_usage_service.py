# SPDX-License-Identifier: Apache-2.0

"""The example of an external service in the documents works as it is."""

from __future__ import annotations

import importlib.util
import threading
from http.server import ThreadingHTTPServer
from typing import Any

from climate import exceptions
from climate.domain.leases import Lease
from climate.enforcement.external_service import ExternalService
from climate.enforcement.filters import Filters
from tests import base
from tests.architecture import ROOT
from tests.functional.manager.harness import Site
from tests.unit.enforcement.test_durations import configured

FILE = ROOT / 'doc' / 'source' / 'admin' / 'usage_service.py'
LONGEST = 47


class TestUsageService(base.TestCase):
    """It keeps the books of a project."""

    def setUp(self) -> None:
        super().setUp()
        spec = importlib.util.spec_from_file_location('usage_service', FILE)
        assert spec is not None and spec.loader is not None
        self.example: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.example)

        class Handler(self.example.Handler):  # type: ignore[misc, name-defined]  # found at run time
            def log_message(self, *arguments: Any) -> None:
                """Keep quiet."""

        server = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f'http://127.0.0.1:{server.server_address[1]}/v1'
        conf = configured(external_service_base_endpoint=url)
        filters = Filters({'external_service': ExternalService.from_conf(conf)})
        self.site = self.useFixture(Site(filters=filters))
        self.example.BUDGET = 10.0

    def billed(self, lease: Lease) -> float:
        """Return the hours that a lease is charged with."""
        self.site.work()
        self.assertEqual({}, self.example.holds)
        return float(self.example.bills.get(lease.id, (None, None, 0.0))[2])

    def test_hours_are_counted(self) -> None:
        lease = self.site.create(0, 7200, hosts=2)
        self.assertEqual(4.0, self.billed(lease))
        self.site.update(lease, end=3600)
        self.assertEqual(2.0, self.billed(lease))
        other = self.site.create(7200, 14400, hosts=4)
        self.assertEqual(8.0, self.billed(other))
        error = self.assertRaises(exceptions.LeaseRefused, self.site.create, 20000, 20360)
        self.assertEqual('0.0 host hours are left, this takes 0.1', error.message)
        with self.assertRaisesRegex(exceptions.ExternalServiceRefused, 'are left'):
            self.site.update(other, end=15000)
        self.site.until(1800)
        self.site.delete(lease)
        self.assertEqual(1.0, self.billed(lease))
        self.assertEqual(0.1, self.billed(self.site.create(20000, 20360)))

    def test_what_fails_costs_nothing(self) -> None:
        lease = self.site.create(600, 4200, until=599)
        self.site.cloud.fail('compute.add_host', error='permanent')
        self.assertEqual('ERROR', self.site.status_at(700, lease))
        self.assertEqual(0.0, self.billed(lease))

    def test_it_is_short(self) -> None:
        lines = FILE.read_text().splitlines()
        self.assertLessEqual(len(lines[lines.index('') + 1 :]), LONGEST)
