# Licensed under the Apache License, Version 2.0 (the "License"); you may
# not use this file except in compliance with the License. You may obtain
# a copy of the License at
#
#      http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the
# License for the specific language governing permissions and limitations
# under the License.

"""``climate-status upgrade check``: whether this installation can be upgraded."""

from __future__ import annotations

import sys

from oslo_config import cfg
from oslo_upgradecheck import upgradecheck

from climate import exceptions
from climate.clock import SystemClock
from climate.cmd import config
from climate.db import error_log
from climate.db import keys
from climate.db import migration
from climate.db import overbookings
from climate.db import prerequisites
from climate.db import session_limits
from climate.db.store import Store
from climate.plugins import loading


class Checks(upgradecheck.UpgradeCommands):
    """The checks before and after an upgrade."""

    def __init__(self, conf: cfg.ConfigOpts) -> None:
        super().__init__()
        self._conf = conf

    def _check_database(self) -> upgradecheck.Result:
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).answering() as engine:
                version = migration.version(engine)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        return _standing(version)

    def _check_prerequisites(self) -> upgradecheck.Result:
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).reading() as tx:
                found = prerequisites.find(tx.session, self._conf.database)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.explanation)
        if found.fatal:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, '; '.join(found.fatal))
        if found.minor:
            return upgradecheck.Result(upgradecheck.Code.WARNING, '; '.join(found.minor))
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_bookings(self) -> upgradecheck.Result:
        try:
            with error_log.printed(), Store(self._conf, SystemClock()).reading() as tx:
                if migration.version_of(tx.session) is None:
                    return upgradecheck.Result(upgradecheck.Code.SUCCESS)
                found = overbookings.find(tx.session)
        except exceptions.ConfigurationError as error:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, error.message)
        except exceptions.DatabaseUnavailable as error:
            return upgradecheck.Result(
                upgradecheck.Code.FAILURE, f'The bookings cannot be read: {error.explanation}'
            )
        if found:
            return upgradecheck.Result(upgradecheck.Code.FAILURE, overbookings.complaint(found))
        return upgradecheck.Result(upgradecheck.Code.SUCCESS)

    def _check_encryption_keys(self) -> upgradecheck.Result:
        try:
            store = Store(self._conf, SystemClock())
            with error_log.printed(), store.reading() as tx:
                if migration.version_of(tx.session) is None:
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

    _upgrade_checks = (
        ('Database', _check_database),
        ('Database server', _check_prerequisites),
        ('Bookings', _check_bookings),
        ('Time limits of sessions', _check_session_limits),
        ('Encryption keys', _check_encryption_keys),
        ('Resource types', _check_resource_types),
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
