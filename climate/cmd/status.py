# SPDX-License-Identifier: Apache-2.0

"""``climate-status upgrade check``: whether this installation can be upgraded."""

from __future__ import annotations

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import config
from climate.conf import removed
from climate.db.administration import keys
from climate.db.engine import error_log
from climate.db.engine import prerequisites
from climate.db.engine import session_limits
from climate.db.migrations import current
from climate.db.migrations import migration
from climate.db.transactions.store import Store
from climate.plugins import loading


class Checks(upgradecheck.UpgradeCommands):
    """The checks before and after an upgrade."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf

    def _check_database(self) -> upgradecheck.Result:
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).answering() as engine:
                version = current.version(engine)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        return _standing(version)

    def _check_prerequisites(self) -> upgradecheck.Result:
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).reading() as tx:
                shortcomings = prerequisites.find(tx.session, self._conf.database)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        if shortcomings.fatal:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, '; '.join(shortcomings.fatal))
        if shortcomings.minor:
            return upgradecheck.Result(upgradecheck.Code.WARNING, '; '.join(shortcomings.minor))
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_encryption_keys(self) -> upgradecheck.Result:
        try:
            store = Store(self._conf, SystemClock())
            with error_log.printed(), store.reading() as tx:
                if current.version_of(tx.session) is None:
                    return upgradecheck.Result(upgradecheck.Code.SUCCESS)
                problem, clear = keys.missing(tx, store), keys.has_clear_secrets(tx)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(
                upgradecheck.Code.FAILURE, f'The secrets cannot be read: {error.explanation}'
            )
        if problem is None and not store.vault.has_keys:
            problem = (
                'There is no encryption key, so secrets are stored in plain text: run '
                'climate-manage db sync, which creates one, or set [database] encryption_keys'
            )
        if problem is not None:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, problem)
        if clear:
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                'Secrets of webhooks are stored in plain text: run climate-manage keys rotate as '
                'soon as all processes have the key',
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_resource_types(self) -> upgradecheck.Result:
        try:
            loading.load(self._conf.resource_types, self._conf)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_session_limits(self) -> upgradecheck.Result:
        seconds = self._conf.database.idle_transaction_timeout
        if not seconds:
            return upgradecheck.Result(upgradecheck.Code.SUCCESS)
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).reading() as tx:
                unset = list(session_limits.unset(tx.session, seconds))
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        if unset:
            return upgradecheck.Result(
                upgradecheck.Code.WARNING,
                'The locks of a process whose machine fails remain for longer than [database]'
                f' idle_transaction_timeout: in the sessions of Climate, {"; ".join(unset)}.'
                ' A server or a proxy that ignores these settings has to limit them itself.',
            )
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_options(self) -> upgradecheck.Result:
        complaints = list(removed.complaints(self._conf))
        if complaints:
            return upgradecheck.Result(upgradecheck.Code.WARNING, ' '.join(complaints))
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    _upgrade_checks = (
        ('Database', _check_database),
        ('Database server', _check_prerequisites),
        ('Time limits of sessions', _check_session_limits),
        ('Encryption keys', _check_encryption_keys),
        ('Resource types', _check_resource_types),
        ('Options', _check_options),
    )


def _standing(version: str | None) -> upgradecheck.Result:
    """Return whether this code works on tables of a revision, or on none."""
    if version is None:
        return upgradecheck.Result(
            upgradecheck.Code.FAILURE,
            'The database has no tables yet: run climate-manage db sync',
        )
    why = migration.complaint(version, migration.revisions())
    if why is not None:
        return upgradecheck.Result(upgradecheck.Code.FAILURE, why)
    if version != migration.head():
        return upgradecheck.Result(
            upgradecheck.Code.WARNING,
            f'A newer release has upgraded the tables to {version}. This one, which knows'
            f' {migration.head()}, works on them; upgrade its processes soon.',
        )
    return upgradecheck.Result(upgradecheck.Code.SUCCESS)


def main() -> int:
    """Run the command; return the exit status oslo.upgradecheck defines."""
    conf = config.new_conf()
    return int(upgradecheck.main(conf, 'climate', Checks(conf), sys.argv[1:]))
