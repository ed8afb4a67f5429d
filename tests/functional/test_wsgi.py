# SPDX-License-Identifier: Apache-2.0

"""The application that WSGI servers import."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

from tests import base

# As servers do it that answer in threads.
_ASK = """
import threading
import webob
from climate.wsgi import api

def ask():
    for path in ('/v1', '/v1/leases'):
        print('answer', webob.Request.blank(path).get_response(api.application).status_int)

thread = threading.Thread(target=ask)
thread.start()
thread.join()
"""
_MANAGERS = """
import logging
import sys
from climate.cmd import config

for number in ('1', '2'):
    name = f'--log-file=climate-manager-{number}.log'
    config.read(['--config-file', sys.argv[1], name], 'climate-manager')
    logging.getLogger('climate').warning('manager %s', number)
config.read(['--config-file', sys.argv[1]], 'climate-manager')
logging.getLogger('climate').warning('the only manager')
"""


def _run(folder, script, *, with_path=False):
    """Run a script in a process of its own, for it sets up the log of the whole process."""
    conf = pathlib.Path(folder) / 'climate.conf'
    conf.write_text(
        f'[DEFAULT]\nauth_strategy = noauth\ntransport_url = fake://\nlog_dir = {folder}\n'
        f'[database]\nconnection = sqlite:///{folder}/climate.sqlite\n',
        encoding='utf-8',
    )
    return subprocess.run(
        [sys.executable, '-c', script, *([str(conf)] if with_path else [])],
        env={**os.environ, 'OS_CLIMATE_CONFIG_DIR': folder},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


class WsgiTest(base.TestCase):
    """It reads its configuration at the first request."""

    def test_two_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            done = _run(folder, _ASK)
            logs = {path.name for path in pathlib.Path(folder).glob('*.log')}
        # There are no tables, which is a fault of the operator's, but the
        # version document is served.
        answers = [line for line in done.stdout.splitlines() if line.startswith('answer')]
        self.assertEqual(['answer 200', 'answer 503'], answers, done.stderr)
        self.assertEqual({'climate-api.log'}, logs, done.stderr)

    def test_tables_of_a_newer_release(self):
        with tempfile.TemporaryDirectory() as folder:
            tables = sqlite3.connect(f'{folder}/climate.sqlite')
            with contextlib.closing(tables), tables:
                tables.execute('CREATE TABLE alembic_version (version_num VARCHAR(32))')
                tables.execute("INSERT INTO alembic_version VALUES ('9999.9998')")
            done = _run(folder, _ASK)
            log = (pathlib.Path(folder) / 'climate-api.log').read_text(encoding='utf-8')
        self.assertEqual(['answer 503', 'answer 503'], done.stdout.splitlines(), done.stderr)
        self.assertIn('The API cannot start: A newer release has upgraded the tables', log)
        self.assertNotIn('Traceback', log + done.stderr)


class LogTest(base.TestCase):
    """Each process has the log of its name, or the configured one."""

    def test_two_managers_with_one_configuration(self):
        with tempfile.TemporaryDirectory() as folder:
            done = _run(folder, _MANAGERS, with_path=True)
            logs = {
                path.name: path.read_text(encoding='utf-8').partition('] ')[2].strip()
                for path in pathlib.Path(folder).glob('*.log')
            }
        wanted = {
            'climate-manager-1.log': 'manager 1',
            'climate-manager-2.log': 'manager 2',
            'climate-manager.log': 'the only manager',
        }
        self.assertEqual(wanted, logs, done.stderr)
