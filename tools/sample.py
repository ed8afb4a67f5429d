# SPDX-License-Identifier: Apache-2.0

"""Writes ``climate.conf.sample``: first what most clouds set, then every option once.

oslo.config's generator writes all options, among them those of a login again for each
service. Here they are written for Nova only, and the other services refer to these.
"""

from __future__ import annotations

import functools
import io
import itertools
import pathlib
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from importlib import metadata
from typing import Any
from typing import Final

from keystoneauth1 import loading as ks_loading
from oslo_config import cfg
from oslo_config import generator

ETC: Final = pathlib.Path(__file__).resolve().parents[1] / 'etc' / 'climate'
FILE: Final = ETC / 'climate.conf.sample'

# The group, the option, and a value that makes sense on a host called controller.
COMMON: Final = (
    ('DEFAULT', 'transport_url', 'rabbit://climate:PASSWORD@controller:5672/'),
    ('DEFAULT', 'resource_types', 'physical:host,virtual:instance,flavor:instance'),
    ('DEFAULT', 'debug', 'false'),
    ('DEFAULT', 'log_dir', '/var/log/climate'),
    (
        'database',
        'connection',
        'mysql+pymysql://climate:PASSWORD@controller/climate?charset=utf8mb4',
    ),
    ('database', 'max_pool_size', '10'),
    ('keystone_authtoken', 'www_authenticate_uri', 'https://controller:5000/v3'),
    ('keystone_authtoken', 'memcached_servers', 'controller:11211'),
    ('keystone_authtoken', 'auth_type', 'password'),
    ('keystone_authtoken', 'service_token_roles_required', 'true'),
    ('nova', 'auth_type', 'password'),
    ('nova', 'auth_url', 'https://controller:5000/v3'),
    ('nova', 'username', 'climate'),
    ('nova', 'password', 'PASSWORD'),
    ('nova', 'project_name', 'service'),
    ('nova', 'user_domain_name', 'Default'),
    ('nova', 'project_domain_name', 'Default'),
    ('nova', 'region_name', 'RegionOne'),
    ('oslo_messaging_notifications', 'driver', 'messagingv2'),
    ('api', 'trusted_proxies', '127.0.0.0/8,::1/128'),
    ('allocation', 'cleaning_time', '600'),
    ('enforcement', 'enabled_filters', 'max_lease_duration'),
)

_NAMESPACES: Final = (
    'climate',
    'oslo.db',
    'oslo.log',
    'oslo.messaging',
    'keystonemiddleware.auth_token',
)
_LOGIN: Final = 'nova'
_LIKE_NOVA: Final = """\
# Further options, of the login, the session and the endpoint, have the names and the
# defaults of those of [nova].
"""
_HEAD: Final = """\
# The options that most clouds set, with examples. Below are all options of Climate; those
# of its libraries are in their documentation. Each file in climate.conf.d, next to this
# one, can set some of them, and so can variables such as OS_DATABASE__CONNECTION.
"""
_KEY: Final = re.compile('^#?([a-z0-9_]+) =', re.MULTILINE)


@functools.cache
def options() -> dict[tuple[str, str], cfg.Opt]:
    """Return the options of Climate and of its libraries, by group and name."""
    found: dict[tuple[str, str], cfg.Opt] = {}
    for entry in metadata.entry_points(group='oslo.config.opts'):
        if entry.name not in _NAMESPACES:
            continue
        with warnings.catch_warnings():
            # oslo.messaging imports drivers that nothing here uses.
            warnings.simplefilter('ignore')
            groups = entry.load()()
        for group, opts in groups:
            name = getattr(group, 'name', group) or 'DEFAULT'
            for opt in opts:
                found.setdefault((name, opt.dest), opt)
    return found


def head() -> str:
    """Return the part with the options that most clouds set."""
    lines = [_HEAD]
    for group, members in itertools.groupby(COMMON, key=lambda one: one[0]):
        lines.append(f'#\n# [{group}]\n')
        for _, name, example in members:
            lines += [f'# {name} = {example}\n', *_about(options()[group, name])]
    return ''.join(lines)


def _about(opt: cfg.Opt) -> Iterator[str]:
    """Yield the lines about an option: its default, and the first sentence of its help."""
    words = ' '.join((opt.help or '').split())
    sentence = re.split(r'(?<=[.!?]) ', words, maxsplit=1)[0].rstrip('.')
    text = f'{sentence}. Default: {default(opt)}'
    for line in textwrap.wrap(text, 74, break_on_hyphens=False):
        yield f'#     {line}\n'


def default(opt: cfg.Opt) -> str:
    """Return the default of an option, as a file has it."""
    value = opt.default if opt.sample_default is None else opt.sample_default
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ','.join(map(str, value)) or 'none'
    return 'none' if value in (None, '') else str(value)


def logins() -> frozenset[str]:
    """Return the names of the options that each service has for its own login."""
    found: list[Any] = [
        *ks_loading.get_auth_common_conf_options(),
        *ks_loading.get_auth_plugin_conf_options('password'),
        *ks_loading.get_session_conf_options(),
        *ks_loading.get_adapter_conf_options(),
    ]
    return frozenset(opt.dest.replace('-', '_') for opt in found)


def text() -> str:
    """Return the whole file."""
    conf = cfg.ConfigOpts()
    generator.register_cli_opts(conf)
    conf(['--config-file', str(ETC / 'climate-config-generator.conf')], project='climate')
    written = io.StringIO()
    generator.generate(conf, output_file=written)
    parts = re.split(r'(?m)^(?=\[)', written.getvalue())
    return head() + '\n\n' + ''.join(_once(part) for part in parts)


def _once(part: str) -> str:
    """Return the options of a group without those that it shares with Nova."""
    group = part[1 : part.find(']')]
    paragraphs = part.rstrip('\n').split('\n\n')
    own = [one for one in paragraphs if not _shared(group, one)]
    if group == _LOGIN or len(own) == len(paragraphs):
        return part
    return '\n\n'.join([*own, _LIKE_NOVA.rstrip()]) + '\n\n\n'


def _shared(group: str, paragraph: str) -> bool:
    """Whether a paragraph is about an option of a login that is the same for Nova."""
    found = _KEY.search(paragraph)
    # A group with an auth_type has a login of its own.
    if found is None or found[1] not in logins() or found[1] == 'auth_type':
        return False
    first = options().get((_LOGIN, found[1]))
    return first is not None and first.default == options()[group, found[1]].default


def main() -> int:
    """Write the file."""
    FILE.write_text(text(), encoding='utf-8')
    return 0


if __name__ == '__main__':
    sys.exit(main())
