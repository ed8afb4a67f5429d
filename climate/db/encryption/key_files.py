# SPDX-License-Identifier: Apache-2.0

"""The keys that encrypt secrets, as the configuration and a file next to it have them."""

from __future__ import annotations

import os
import pathlib
from typing import Final

from oslo_config import cfg

from climate import exceptions
from climate.db.encryption import vault as vaults

NAME: Final = 'encryption.key'


def path(conf: cfg.ConfigOpts) -> pathlib.Path | None:
    """Return the path of the file with keys; None if there is no directory for it."""
    if conf.database.encryption_key_file:
        return pathlib.Path(conf.database.encryption_key_file)
    files = getattr(conf, 'config_file', None) or ()
    return pathlib.Path(files[0]).absolute().with_name(NAME) if files else None


def configured(conf: cfg.ConfigOpts) -> list[str]:
    """Return the keys that a process has; the first one encrypts.

    :raises climate.exceptions.ConfigurationError: if the file cannot be read
    """
    known = path(conf)
    if known is None:
        return list(conf.database.encryption_keys)
    try:
        lines = known.read_text(encoding='ascii').split('\n')
    except FileNotFoundError:
        lines = []
    except (OSError, UnicodeDecodeError) as error:
        raise exceptions.ConfigurationError(
            f'[database] encryption_key_file: {known} cannot be read: {type(error).__name__}'
        ) from None
    keys = (line.strip() for line in lines)
    return [*conf.database.encryption_keys, *(key for key in keys if key and key[0] != '#')]


def create(conf: cfg.ConfigOpts, new: pathlib.Path) -> None:
    """Create a file with a key; who can read climate.conf can read it, but no others.

    :raises OSError: if that is not possible
    """
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, 'w', encoding='ascii') as stream:
        stream.write(f'{vaults.new_key()}\n')
        if os.geteuid() == 0 and conf.config_file:
            like = os.stat(conf.config_file[0])
            os.fchown(descriptor, like.st_uid, like.st_gid)
            os.fchmod(descriptor, 0o600 | (like.st_mode & 0o040))
