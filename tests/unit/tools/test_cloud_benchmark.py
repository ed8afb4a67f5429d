# SPDX-License-Identifier: Apache-2.0
"""The parts of the comparison on a cloud that need none."""

from __future__ import annotations

from benchmarks import cloud_table
from benchmarks.cloud_statements import PacketReader
from benchmarks.cloud_table import BLAZAR
from benchmarks.cloud_table import CLIMATE
from benchmarks.cloud_table import Figure
from tests import base

_QUERY, _PING, _QUIT = 3, 14, 1


def packet(body: bytes, number: int = 0) -> bytes:
    """Return a packet of the protocol of MariaDB."""
    return len(body).to_bytes(3, 'little') + bytes([number]) + body


def query(text: str) -> bytes:
    """Return the packet of a statement."""
    return packet(bytes([_QUERY]) + text.encode())


class StatementsTest(base.TestCase):
    """What a client sends."""

    def test_statements_are_counted(self) -> None:
        reader = PacketReader()
        self.assertEqual(0, reader.statements(packet(b'\x03login', 1)))
        self.assertEqual(1, reader.statements(query('SELECT * FROM leases')))
        sent = query('INSERT INTO leases VALUES (1)') + query('UPDATE leases SET a = 1')
        self.assertEqual(2, reader.statements(sent))

    def test_transactions_and_settings_are_not(self) -> None:
        texts = ('BEGIN', 'COMMIT', 'rollback', 'SET NAMES utf8mb4', 'SELECT 1', 'SAVEPOINT a')
        sent = b''.join(query(text) for text in texts)
        sent += packet(bytes([_PING])) + packet(bytes([_QUIT]))
        self.assertEqual(0, PacketReader().statements(sent))
        self.assertEqual(1, PacketReader().statements(query('SELECT 1 FROM leases')))

    def test_pieces_are_put_together(self) -> None:
        reader = PacketReader()
        sent = query('SELECT a') + query('SELECT b')
        self.assertEqual(2, sum(reader.statements(sent[at : at + 3]) for at in range(0, 30, 3)))


class TableTest(base.TestCase):
    """Two rounds."""

    def setUp(self) -> None:
        super().setUp()
        rounds = [
            (BLAZAR, [Figure(what='create', value=300), Figure(what='list', value=9)]),
            (CLIMATE, [Figure(what='create', value=20)]),
            (BLAZAR, [Figure(what='create', value=500)]),
            (CLIMATE, [Figure(what='create', value=20)]),
        ]
        accepted = Figure(what='accepted', value=4, unit='', compared=False)
        for _, figures in rounds:
            figures.append(accepted)
        self.rows, self.missing = cloud_table.rows(rounds)

    def test_rows(self) -> None:
        expected = [('create', '400 ms (300 to 500)', '20 ms', '20.0'), ('accepted', '4', '4', '')]
        self.assertEqual(expected, [row.cells() for row in self.rows])

    def test_what_one_of_them_lacks_is_named(self) -> None:
        self.assertEqual(['list'], self.missing)

    def test_it_is_a_table(self) -> None:
        text = cloud_table.table(self.rows, {BLAZAR: '18.0.0', CLIMATE: ''})
        border, head, _, first, last, end = text.splitlines()
        self.assertEqual(border, end)
        cells = [cell.strip() for cell in head.split('  ') if cell.strip()]
        self.assertEqual(['Measured', 'Blazar 18.0.0', 'Climate', 'Ratio'], cells)
        self.assertTrue(first.startswith('create '))
        self.assertTrue(last.startswith('accepted '))
