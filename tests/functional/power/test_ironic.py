# SPDX-License-Identifier: Apache-2.0

"""Machines in the care of Ironic, whose API a small server stands in for."""

from __future__ import annotations

import http.server
import json
import threading
from typing import Any

import fixtures
from oslo_config import cfg

from climate import conf as options
from climate import exceptions
from climate.power import drivers
from climate.power.drivers import PowerError
from climate.power.hosts import Machine
from tests import base


class Ironic(fixtures.Fixture):
    """What Ironic answers about the power of one node.

    :ivar status: answered to everything, if it is set
    """

    def __init__(self) -> None:
        super().__init__()
        self.power: str | None = 'power off'
        self.status = 0
        self.commands: list[str] = []
        self.versions: set[str] = set()

    def _setUp(self) -> None:
        ironic = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_words: Any) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                if self.path.rstrip('/') == '/v1':
                    self.answer(200, ironic.root())
                else:
                    self.answer(200, {'power_state': ironic.power})

            def do_PUT(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
                ironic.commands.append(body['target'])
                self.answer(202, None)

            def answer(self, status: int, body: Any) -> None:
                known = self.path.startswith('/v1/nodes/node-1/states')
                if known:
                    ironic.versions.add(self.headers['X-OpenStack-Ironic-API-Version'])
                known = known or self.path.rstrip('/') == '/v1'
                self.send_response(ironic.status or (status if known else 404))
                self.send_header('X-Openstack-Request-Id', 'req-1')
                self.end_headers()
                self.wfile.write(b'' if body is None else json.dumps(body).encode())

        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.address = f'http://127.0.0.1:{server.server_port}/v1'
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)

    def root(self) -> dict[str, Any]:
        """Return what Ironic says of its versions."""
        links = [{'rel': 'self', 'href': f'{self.address}/'}]
        version = {
            'id': 'v1',
            'status': 'CURRENT',
            'min_version': '1.1',
            'version': '1.90',
            'links': links,
        }
        return {'id': 'v1', 'links': links, 'version': version}


class TestIronic(base.TestCase):
    """One node."""

    def setUp(self) -> None:
        super().setUp()
        self.ironic = self.useFixture(Ironic())

    def load(self, **values: Any) -> drivers.Driver:
        conf = cfg.ConfigOpts()
        options.register_opts(conf)
        conf([], project='climate', default_config_files=[])
        conf.set_override('auth_type', 'none', group='ironic')
        conf.set_override('endpoint_override', self.ironic.address, group='ironic')
        return drivers.load(conf, {'a': Machine(name='a', driver='ironic', **values)})['a']

    def test_on_and_off(self) -> None:
        driver = self.load(node='node-1')
        self.assertFalse(driver.is_on())
        self.ironic.power = 'power on'
        self.assertTrue(driver.is_on())
        driver.switch_on()
        driver.switch_off(force=False)
        driver.switch_off(force=True)
        self.assertEqual(['power on', 'soft power off', 'power off'], self.ironic.commands)
        self.assertEqual({'1.46'}, self.ironic.versions)

    def test_what_goes_wrong(self) -> None:
        driver = self.load(node='node-1')
        for power in (None, 'error', 'rebooting'):
            self.ironic.power = power
            self.assertRaises(PowerError, driver.is_on)
        for status in (401, 403, 404, 409, 500, 503):
            self.ironic.status = status
            for verb in (driver.is_on, driver.switch_on):
                self.assertRaises(PowerError, verb)
        self.ironic.status = 0
        self.assertRaises(PowerError, self.load(node='node-2').is_on)

    def test_incomplete_settings_of_a_machine_are_refused(self) -> None:
        error = self.assertRaises(exceptions.ConfigurationError, self.load)
        self.assertIn('a: the driver ironic needs a node', error.message)
        conf = cfg.ConfigOpts()
        machine = Machine(name='a', driver='hand')
        self.assertRaises(exceptions.ConfigurationError, drivers.load, conf, {'a': machine})
