# SPDX-License-Identifier: Apache-2.0

"""The ports of a cloud."""

from __future__ import annotations

import socket

from tests import base
from tools.cloud import ports
from tools.cloud.errors import CloudError


class PortsTest(base.TestCase):
    """One range, counted from a base."""

    def test_two_clouds_side_by_side(self) -> None:
        ours = set(ports.table(15000).values())
        theirs = set(ports.table(15000 + ports.STEP).values())
        self.assertEqual(len(ports.OFFSETS), len(ours))
        self.assertEqual(set(), ours & theirs)

    def test_no_room(self) -> None:
        for base_port in (0, 80, 65535):
            self.assertRaises(CloudError, ports.table, base_port)

    def test_taken_by_a_real_listener(self) -> None:
        with socket.socket() as listener:
            listener.bind((ports.HOST, 0))
            port = listener.getsockname()[1]
            listener.listen()
            self.assertTrue(ports.taken(port))
            self.assertTrue(ports.answers(ports.HOST, port))
        self.assertFalse(ports.taken(port))
        self.assertFalse(ports.answers(ports.HOST, port))

    def test_taken_port_is_named_with_a_remedy(self) -> None:
        error = self.assertRaises(
            CloudError, ports.refuse_taken, ports.table(15000), lambda port: port == 15003
        )
        for said in ('port 15003', 'nova-api', 'PORTS=16000', 'PORTS=auto'):
            self.assertIn(said, str(error))

    def test_free_ports_are_let_through(self) -> None:
        ports.refuse_taken(ports.table(15000), lambda port: port == 15900)

    def test_first_free_range(self) -> None:
        busy = {15000, 15000 + ports.STEP + 13}
        self.assertEqual(15000 + 2 * ports.STEP, ports.free_base(lambda port: port in busy))
        self.assertRaises(CloudError, ports.free_base, lambda port: True)


class ChosenTest(base.TestCase):
    """What a caller says, and what the cloud was made with."""

    def test_without_settings(self) -> None:
        self.assertEqual(ports.DEFAULT_BASE, ports.chosen(None, None))
        self.assertEqual(17000, ports.chosen(None, 17000))
        self.assertEqual(17000, ports.chosen('', 17000))

    def test_a_number(self) -> None:
        self.assertEqual(16000, ports.chosen('16000', None))
        self.assertEqual(16000, ports.chosen('16000', 16000))

    def test_a_cloud_that_is_made_stays_where_it_is(self) -> None:
        self.assertEqual(16000, ports.chosen(ports.AUTO, 16000))
        self.assert_error(CloudError, 'PORTS=16000', ports.chosen, '17000', 16000)

    def test_no_number(self) -> None:
        for wish in ('many', '12', '-1', '70000', '15000.5'):
            self.assertRaises(CloudError, ports.chosen, wish, None)
