# SPDX-License-Identifier: Apache-2.0

"""The keys that encrypt secrets: where a process has them from, and whether they are right.

The database has a mark that is encrypted like the secrets. A process that cannot decrypt it
would read no secret and write secrets that others cannot read, so it does not start.
"""

from __future__ import annotations

import contextlib
from typing import Final

import sqlalchemy as sa
from oslo_config import cfg

from climate import exceptions
from climate.db.encryption import key_files
from climate.db.encryption import vault as vaults
from climate.db.schema.tables import WEBHOOKS
from climate.db.transactions.store import Store
from climate.db.transactions.store import Transaction

MARK: Final = 'encryption_mark'
_TEXT: Final = 'climate'


def check(store: Store) -> None:
    """Check that this process has the keys of the secrets in the database.

    Succeeds if the database does not answer or has no tables yet.

    :raises climate.exceptions.ConfigurationError: if it lacks them
    """
    problem = None
    with contextlib.suppress(exceptions.ClimateError, sa.exc.SQLAlchemyError):
        with store.reading() as tx:
            problem = missing(tx, store)
    if problem is not None:
        raise exceptions.ConfigurationError(problem)


def missing(tx: Transaction, store: Store) -> str | None:
    """Return what is wrong if no key of this process decrypts what is in the database."""
    mark = tx.secrets.find(MARK)
    if mark is None or store.vault.open_text(mark, quietly=True) is not None:
        return None
    return (
        'The database has secrets that are encrypted with a key that this process does not have. '
        f'Copy the file {key_files.NAME}, or [database] encryption_keys, from a host that has it'
    )


def set_up(conf: cfg.ConfigOpts, store: Store) -> str | None:
    """Create a key if there is none, and mark the database; return what has to be said.

    :raises climate.exceptions.ConfigurationError: if the database has secrets that are
        encrypted with another key
    """
    check(store)
    if store.vault.has_keys:
        store.run(lambda tx: mark(tx, store.vault))
        return None
    path = key_files.path(conf)
    if path is None:
        return 'There is no configuration file, so no encryption key was created next to it'
    try:
        key_files.create(conf, path)
    except OSError as error:
        return f'No encryption key was created: {path}: {error.strerror}'
    vault = vaults.Vault(key_files.configured(conf))
    store.run(lambda tx: mark(tx, vault))
    return f'{path} is the new encryption key: copy it to every host that runs Climate'


def mark(tx: Transaction, vault: vaults.Vault) -> None:
    """Mark the database as encrypted with the first key."""
    sealed = vault.seal_text(_TEXT)
    if tx.secrets.find(MARK) is None:
        tx.secrets.insert(MARK, sealed)
    else:
        tx.secrets.update(MARK, sealed)


def has_clear_secrets(tx: Transaction) -> bool:
    """Return whether the secret of any webhook is stored in plain text."""
    clear = WEBHOOKS.c.secret.not_like(f'{vaults.SEALED_TEXT}%')
    return tx.session.execute(sa.select(WEBHOOKS.c.id).where(clear).limit(1)).first() is not None
