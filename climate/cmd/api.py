# SPDX-License-Identifier: Apache-2.0

"""``climate-api``: the API on a small built-in WSGI server.

For trials and small clouds; larger clouds run ``climate.wsgi.api:application`` under a
WSGI server of their choice.
"""

from __future__ import annotations

import functools
import logging
import sys
import threading

from climate import exceptions
from climate.cmd import memory

with memory.uncollected():
    from oslo_config import cfg

    from climate.cmd import composition
    from climate.cmd import config
    from climate.cmd import exposure
    from climate.cmd import serving
    from climate.cmd import signals

LOG = logging.getLogger(__name__)

_CLI = [
    cfg.HostAddressOpt('host', default='127.0.0.1', help='The address to listen on.'),
    cfg.PortOpt('port', default=1234, help='The port to listen on.'),
    cfg.BoolOpt(
        'i-know',
        default=False,
        help='Listen on an address other than loopback although auth_strategy is noauth.',
    ),
    cfg.IntOpt(
        'threads',
        min=1,
        help='The number of requests served at once; that of [api] threads by default.',
    ),
    cfg.IntOpt(
        'connections',
        default=serving.CONNECTIONS,
        min=10,
        help='The number of connections that are open at once; further ones wait.',
    ),
    cfg.IntOpt(
        'idle-timeout',
        default=serving.IDLE_TIMEOUT,
        min=1,
        help='The seconds after which an idle connection is closed, and one whose request has '
        'not arrived completely.',
    ),
]


def main() -> int:
    """Serve the API until a signal arrives."""
    received = signals.Signals()
    conf = config.new_conf()
    conf.register_cli_opts(_CLI)
    try:
        conf(sys.argv[1:], project='climate', prog='climate-api')
        config.set_up_logging(conf, 'climate-api')
        if conf.auth_strategy == 'noauth' and not conf.i_know:
            exposure.check(conf.host)
        if conf.threads is not None:
            conf.set_override('threads', conf.threads, group='api')
        server = _server(conf)
    except (cfg.Error, exceptions.ConfigurationError) as error:
        sys.stderr.write(f'climate-api: {error}\n')
        return 1
    threading.Thread(target=server.run, name='http', daemon=True).start()
    LOG.info('Listening at %s', serving.url(conf.host, server.port))
    return received.wait(server.close, functools.partial(config.reload, conf))


def _server(conf: cfg.ConfigOpts) -> serving.HttpServer:
    """Return the server, which listens already.

    :raises climate.exceptions.ConfigurationError: if it cannot be made
    """
    return serving.listen(
        composition.wsgi_application(conf),
        host=conf.host,
        port=conf.port,
        threads=conf.api.threads,
        largest_body=conf.api.max_request_body_size,
        connections=conf.connections,
        idle_timeout=conf.idle_timeout,
    )
