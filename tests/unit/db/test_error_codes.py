# SPDX-License-Identifier: Apache-2.0

"""What errors of drivers mean, and what is said of them."""

from __future__ import annotations

import errno
import logging
import socket
import sqlite3
from typing import Any

import fixtures
import psycopg
import psycopg2
import pymysql
import sqlalchemy as sa
from sqlalchemy import exc as sa_exception

from climate import exceptions
from climate.db.engine import error_codes
from climate.db.engine import error_log
from climate.db.engine import errors
from climate.exceptions.outages import Cause
from tests import base

_STATES = {
    '08006': Cause.GONE,
    '57P01': Cause.GONE,
    '57P03': Cause.GONE,
    '25006': Cause.READ_ONLY,
    '53300': Cause.OVERLOADED,
    '53100': Cause.OVERLOADED,
    '40001': Cause.LOCKED,
    '40P01': Cause.LOCKED,
    '55P03': Cause.LOCKED,
    '28P01': Cause.REFUSED,
    '3D000': Cause.REFUSED,
    '42501': Cause.REFUSED,
    '22P05': Cause.REFUSED,
    '42P01': Cause.OUTDATED,
    '42703': Cause.OUTDATED,
    '42601': None,
    '23505': None,
}
_NUMBERS = {
    2006: Cause.GONE,
    2013: Cause.GONE,
    1927: Cause.GONE,
    1047: Cause.GONE,
    1290: Cause.READ_ONLY,
    1836: Cause.READ_ONLY,
    1040: Cause.OVERLOADED,
    1021: Cause.OVERLOADED,
    1114: Cause.OVERLOADED,
    1205: Cause.LOCKED,
    1213: Cause.LOCKED,
    1045: Cause.REFUSED,
    1049: Cause.REFUSED,
    1142: Cause.REFUSED,
    1267: Cause.REFUSED,
    1146: Cause.OUTDATED,
    1064: None,
    1062: None,
}
_NAMES = {
    'SQLITE_BUSY': Cause.LOCKED,
    'SQLITE_BUSY_SNAPSHOT': Cause.LOCKED,
    'SQLITE_READONLY': Cause.READ_ONLY,
    'SQLITE_READONLY_DIRECTORY': Cause.READ_ONLY,
    'SQLITE_FULL': Cause.OVERLOADED,
    'SQLITE_IOERR_WRITE': Cause.GONE,
    'SQLITE_CANTOPEN': Cause.REFUSED,
    'SQLITE_NOTADB': Cause.REFUSED,
    'SQLITE_CONSTRAINT_UNIQUE': None,
}
_CONNECTING = {
    'FATAL:  password authentication failed for user "climate"': Cause.REFUSED,
    'FATAL:  database "climate" does not exist': Cause.REFUSED,
    'FATAL:  no pg_hba.conf entry for host "::1"': Cause.REFUSED,
    "failed to resolve host 'nohost': [Errno -2] Name or service not known": Cause.REFUSED,
    'FATAL:  sorry, too many clients already': Cause.OVERLOADED,
    'FATAL:  remaining connection slots are reserved for roles': Cause.OVERLOADED,
    'FATAL:  the database system is starting up': Cause.GONE,
    'connection refused': Cause.GONE,
    'session is read-only': Cause.READ_ONLY,
    'the connection is closed': Cause.GONE,
}


def of_sqlite(name: str, text: str = '') -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorname = name
    return error


def wrapped(error: Exception) -> sa_exception.DBAPIError:
    return sa_exception.OperationalError('INSERT INTO x', {'a': 'value'}, error)


class TestCauses(base.TestCase):
    """One table for each engine."""

    def test_postgresql(self) -> None:
        for state, cause in _STATES.items():
            self.assertIs(cause, error_codes.cause(psycopg.errors.lookup(state)('text')), state)

    def test_an_unknown_state_has_the_cause_of_its_class(self) -> None:
        error: Any = psycopg.OperationalError('text')
        error.sqlstate = '53Z99'
        self.assertIs(Cause.OVERLOADED, error_codes.cause(error))

    def test_postgresql_without_a_code(self) -> None:
        for driver in (psycopg, psycopg2):
            for text, cause in _CONNECTING.items():
                error = driver.OperationalError(f'connection failed: {text}')
                self.assertIs(cause, error_codes.cause(error), text)

    def test_a_bug_is_no_outage(self) -> None:
        for error in (
            psycopg.ProgrammingError('the query has 3 placeholders but 2 parameters were passed'),
            psycopg.DataError('PostgreSQL text fields cannot contain NUL (0x00) bytes'),
            pymysql.err.ProgrammingError('text'),
            TypeError('text'),
        ):
            self.assertIsNone(error_codes.cause(error))

    def test_mariadb(self) -> None:
        for number, cause in _NUMBERS.items():
            error = pymysql.err.OperationalError(number, 'text')
            self.assertIs(cause, error_codes.cause(error), number)

    def test_sqlite(self) -> None:
        for name, cause in _NAMES.items():
            self.assertIs(cause, error_codes.cause(of_sqlite(name)), name)
        for text, cause in (('no such table: leases', Cause.OUTDATED), ('near "x"', None)):
            self.assertIs(cause, error_codes.cause(of_sqlite('SQLITE_ERROR', text)), text)

    def test_a_plan_that_a_migration_has_made_old(self) -> None:
        for text, cause in (
            ('cached plan must not change result type', Cause.LOCKED),
            ('cannot do that', None),
        ):
            self.assertIs(cause, error_codes.cause(psycopg.errors.FeatureNotSupported(text)))

    def test_an_unknown_host_and_no_descriptors(self) -> None:
        for original, cause in (
            (socket.gaierror(socket.EAI_NONAME, 'Name or service not known'), Cause.REFUSED),
            (socket.gaierror(socket.EAI_AGAIN, 'Temporary failure'), Cause.GONE),
            (OSError(errno.EMFILE, 'Too many open files'), Cause.OVERLOADED),
            (OSError(errno.ECONNREFUSED, 'Connection refused'), Cause.GONE),
        ):
            error: Any = pymysql.err.OperationalError(2003, "Can't connect")
            error.original_exception = original
            self.assertIs(cause, error_codes.cause(error), original)


class TestExceptions(base.TestCase):
    """Each cause becomes an exception of the service."""

    def raised(self, error: Exception, hidden: str | None = None) -> exceptions.DatabaseUnavailable:
        with error_log.printed():
            return self.assertRaises(exceptions.DatabaseUnavailable, errors.reraise, error, hidden)

    def test_what_passes_says_when_to_try_again(self) -> None:
        for number in (2006, 1290, 1040, 1205):
            found = self.raised(wrapped(pymysql.err.OperationalError(number, 'text')))
            self.assertEqual(503, found.code)
            self.assertGreater(found.facts['retry_after'], 0)

    def test_what_is_refused_does_not(self) -> None:
        found = self.raised(wrapped(pymysql.err.OperationalError(1045, 'Access denied')))
        self.assertIsInstance(found, exceptions.DatabaseRefused)
        self.assertEqual(500, found.code)
        self.assertNotIn('retry_after', found.facts)
        self.assertNotIn('Access denied', found.message)
        actual = found.explanation
        self.assertEqual('The database refuses the service: Access denied (1045)', actual)

    def test_a_bug_is_raised_as_it_is(self) -> None:
        error = wrapped(pymysql.err.ProgrammingError(1064, 'text'))
        self.assertIs(error, self.assertRaises(sa.exc.OperationalError, errors.reraise, error, ''))

    def test_a_pool_without_a_free_connection(self) -> None:
        found = self.raised(sa_exception.TimeoutError('QueuePool limit of size 20 reached'))
        self.assertIs(Cause.OVERLOADED, found.cause)
        self.assertIn('QueuePool limit', found.reason)

    def test_neither_password_nor_values_are_shown(self) -> None:
        error = psycopg.OperationalError('connection failed: hunter/2 and hunter%2F2\nDETAIL: x')
        found = self.raised(wrapped(error), 'hunter/2')
        self.assertEqual('connection failed: *** and ***; DETAIL: x', found.reason)
        other = psycopg2.errors.lookup('42501')('permission denied\nLINE 1: INSERT VALUES (1)\n')
        other_found: Any = error_log.sentence(other)
        self.assertNotIn('INSERT', other_found)
        self.assertNotIn('value', found.explanation)


class TestHidden(base.TestCase):
    """No message contains the password."""

    def test_the_password_but_no_word_that_contains_it(self) -> None:
        error = ValueError('secrets of climate:secret@controller, password=s%2Fe: secret')
        found = error_log.sentence(error, 'secret')
        self.assertEqual('secrets of climate:***@controller, password=s%2Fe: ***', found)
        self.assertIn('password=***:', error_log.sentence(error, 's/e'))


class TestLog(base.TestCase):
    """A cause is logged once a minute."""

    def setUp(self) -> None:
        super().setUp()
        self.output = self.useFixture(fixtures.FakeLogger(level=logging.DEBUG))
        self.now = 0.0
        self.log = error_log.ErrorLog(lambda: self.now)

    def lines(self) -> list[str]:
        return self.output.output.splitlines()

    def test_once_a_minute_for_each_cause(self) -> None:
        for second in range(121):
            self.now = float(second)
            self.log.note(Cause.REFUSED, 'Access denied (1045)')
            self.log.note(Cause.READ_ONLY, 'text')
        wanted = 'The database refuses the service: Access denied (1045)'
        self.assertEqual(3, self.lines().count(wanted))
        self.assertEqual(6, len(self.lines()))

    def test_not_if_the_caller_prints_it(self) -> None:
        with error_log.printed():
            self.log.note(Cause.GONE, 'text')
        self.assertEqual([], self.lines())
        self.log.note(Cause.GONE, 'text')
        self.assertEqual(1, len(self.lines()))
