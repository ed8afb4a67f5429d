# SPDX-License-Identifier: Apache-2.0

"""Reads the configuration, once for each process."""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Sequence

from oslo_config import cfg
from oslo_log import log

from climate import conf as options
from climate.cmd import logs
from climate.conf import removed
from climate.db.transactions import store
from climate.messaging import transport

LOG = log.getLogger(__name__)

# Environment variable with the directory to read under WSGI servers, which pass no
# arguments.
ENV_DIR = 'OS_CLIMATE_CONFIG_DIR'


def new_conf() -> cfg.ConfigOpts:
    """Return a configuration with every option registered and nothing read."""
    conf = cfg.ConfigOpts()
    log.register_options(conf)
    options.register_opts(conf)
    store.register_opts(conf)
    transport.set_defaults(conf)
    return conf


def read(argv: Sequence[str], prog: str, cli: Sequence[cfg.Opt] = ()) -> cfg.ConfigOpts:
    """Return the configuration from *argv* and the files that it names.

    Exits with a message of one line if the configuration cannot be read.

    :param cli: the options of the command itself
    """
    conf = new_conf()
    conf.register_cli_opts(cli)
    try:
        files, folders = _sources()
        conf(
            list(argv),
            project='climate',
            prog=prog,
            default_config_files=files,
            default_config_dirs=folders,
        )
        name_files(conf, files or [])
    except cfg.Error as error:
        sys.exit(f'{prog}: {error}')
    set_up_logging(conf, prog)
    return conf


def set_up_logging(conf: cfg.ConfigOpts, prog: str) -> None:
    """Log as *conf* defines, without redundant messages of libraries.

    The first messages are about options in *conf* that Climate no longer has.

    :param prog: the command, after which the file in ``log_dir`` is named unless
        ``log_file`` is set
    """
    if conf.log_dir and not conf.log_file:
        # oslo.log would use the name of the script that was started, which under a
        # WSGI server belongs to the server or to a library.
        conf.set_default('log_file', f'{prog}.log')
    log.set_defaults(
        default_log_levels=[
            *log.get_default_log_levels(),
            'oslo.messaging=WARNING',
            'oslo_messaging=WARNING',
            'alembic=WARNING',
            'waitress=WARNING',
            # It logs a traceback of errors that are raised and handled anyway.
            'oslo_db.sqlalchemy.exc_filters=CRITICAL',
            # It repeats what climate-power logs itself.
            'sushy=ERROR',
        ]
    )
    log.setup(conf, 'climate')
    logs.prepare()
    for complaint in removed.complaints(conf):
        LOG.warning(complaint)


def literal(text: str) -> str:
    """Return a value for an option that refers to no other option, even if it has a ``$``."""
    return text.replace('$', '$$')


def name_files(conf: cfg.ConfigOpts, files: Sequence[str]) -> None:
    """Let *conf* name the default files that it has read, even if a path has a ``$``.

    Libraries look for their own files, such as policies, next to these.
    """
    if any('$' in path for path in files):
        conf.set_override('config_file', [literal(path) for path in files])


def reload(conf: cfg.ConfigOpts) -> None:
    """Read the files of *conf* again, and open the log file again; never raises.

    Options that can change are those marked as mutable. A file that cannot be read, or
    has a wrong value, changes nothing.
    """
    logs.reopen()
    try:
        conf.mutate_config_files()
    except (Exception, SystemExit) as error:
        LOG.error('The configuration cannot be reloaded, and stays as it is: %s', error)
        return
    LOG.info('The configuration is reloaded; changes of options that need a restart are ignored')


def _sources() -> tuple[list[str] | None, list[str] | None]:
    """Return the files and directories to read; None means the default ones."""
    named = os.environ.get(ENV_DIR)
    if not named:
        return None, None
    folder = pathlib.Path(named)
    more = folder / 'climate.conf.d'
    return [str(folder / 'climate.conf')], [str(more)] if more.is_dir() else []
