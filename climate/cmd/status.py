# SPDX-License-Identifier: Apache-2.0

"""``climate-status upgrade check``: whether this installation can be upgraded."""

from __future__ import annotations

import sys
from collections.abc import Callable

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


def _check(find: Callable[[Checks], str | None]) -> Callable[[Checks], upgradecheck.Result]:
    """Return a check that warns of what *find* returns, and fails with the error that it raises."""

    def check(checks: Checks) -> upgradecheck.Result:
        try:
            with error_log.printed():
                warning = find(checks)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        if warning:
            return upgradecheck.Result(upgradecheck.Code.WARNING, warning)
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    return check


class Checks(upgradecheck.UpgradeCommands):
    """The checks before and after an upgrade."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf

    def _store(self) -> Store:
        return Store(self._conf, SystemClock())

    @_check
    def _check_database(self) -> str | None:
        with self._store().answering() as engine:
            return _standing(current.version(engine))

    @_check
    def _check_prerequisites(self) -> str | None:
        with self._store().reading() as tx:
            shortcomings = prerequisites.find(tx.session, self._conf.database)
        if shortcomings.fatal:
            raise exceptions.ConfigurationError('; '.join(shortcomings.fatal))
        return '; '.join(shortcomings.minor)

    @_check
    def _check_encryption_keys(self) -> str | None:
        store = self._store()
        try:
            with store.reading() as tx:
                if current.version_of(tx.session) is None:
                    return None
                problem, clear = keys.missing(tx, store), keys.has_clear_secrets(tx)
        except exceptions.DatabaseUnavailable as error:
            problem = f'The secrets cannot be read: {error.explanation}'
        if problem is None and not store.vault.has_keys:
            problem = (
                'There is no encryption key, so secrets are stored in plain text: run '
                'climate-manage db sync, which creates one, or set [database] encryption_keys'
            )
        if problem is not None:
            raise exceptions.ConfigurationError(problem)
        if not clear:
            return None
        return (
            'Secrets of webhooks are stored in plain text: run climate-manage keys rotate as '
            'soon as all processes have the key'
        )

    @_check
    def _check_resource_types(self) -> str | None:
        loading.load(self._conf.resource_types, self._conf)
        return None

    @_check
    def _check_session_limits(self) -> str | None:
        seconds = self._conf.database.idle_transaction_timeout
        if not seconds:
            return None
        with self._store().reading() as tx:
            unset = list(session_limits.unset(tx.session, seconds))
        if not unset:
            return None
        return (
            'The locks of a process whose machine fails remain for longer than [database]'
            f' idle_transaction_timeout: in the sessions of Climate, {"; ".join(unset)}.'
            ' A server or a proxy that ignores these settings has to limit them itself.'
        )

    @_check
    def _check_options(self) -> str | None:
        return ' '.join(removed.complaints(self._conf))

    _upgrade_checks = (
        ('Database', _check_database),
        ('Database server', _check_prerequisites),
        ('Time limits of sessions', _check_session_limits),
        ('Encryption keys', _check_encryption_keys),
        ('Resource types', _check_resource_types),
        ('Options', _check_options),
    )


def _standing(version: str | None) -> str | None:
    """Return a warning if a newer release has upgraded the tables; None if they are as wanted.

    :raises climate.exceptions.ConfigurationError: if this code does not work on them
    """
    if version is None:
        raise exceptions.ConfigurationError(
            'The database has no tables yet: run climate-manage db sync'
        )
    why = migration.complaint(version, migration.revisions())
    if why is not None:
        raise exceptions.ConfigurationError(why)
    if version == migration.head():
        return None
    return (
        f'A newer release has upgraded the tables to {version}. This one, which knows'
        f' {migration.head()}, works on them; upgrade its processes soon.'
    )


def main() -> int:
    """Run the command; return the exit status oslo.upgradecheck defines."""
    conf = config.new_conf()
    return int(upgradecheck.main(conf, 'climate', Checks(conf), sys.argv[1:]))
