# SPDX-License-Identifier: Apache-2.0

"""Writes the configuration of every service from the files in ``templates/``."""

from __future__ import annotations

import pathlib
import shutil
import string
from collections.abc import Mapping

from tools.cloud import services
from tools.cloud.ports import HOST
from tools.cloud.state import Cloud
from tools.cloud.state import PREFIXES

TEMPLATES = pathlib.Path(__file__).with_name('templates')
SERVICE_USERS = ('placement', 'glance', 'nova', 'neutron', 'cinder', 'heat', 'climate')

# The path of the file below etc/ for each template.
PLACES = {
    'keystone.conf': 'keystone/keystone.conf',
    'placement.conf': 'placement/placement.conf',
    'glance-api.conf': 'glance/glance-api.conf',
    'nova.conf': 'nova/nova.conf',
    'neutron.conf': 'neutron/neutron.conf',
    'ml2_conf.ini': 'neutron/plugins/ml2/ml2_conf.ini',
    'cinder.conf': 'cinder/cinder.conf',
    'heat.conf': 'heat/heat.conf',
    'rabbitmq.conf': 'rabbitmq.conf',
    'nginx.conf': 'nginx.conf',
}
# The templates of the configuration of Climate at each site: the settings that an operator
# would write, and additions for the test cloud.
CLIMATE = ('climate.conf', 'climate-site.conf')
# Further files that services need, and that their packages contain.
SHIPPED = {
    'glance': ('glance-api-paste.ini', 'metadefs'),
    'nova': ('api-paste.ini',),
    'neutron': ('api-paste.ini',),
    'cinder': ('api-paste.ini', 'resource_filters.json'),
    'heat': ('api-paste.ini', 'environment.d', 'templates'),
}


def render(template: str, values: Mapping[str, str]) -> str:
    """Return the text of a template with each ``$name`` replaced.

    :raises KeyError: if a name is not in *values*
    """
    text = (TEMPLATES / template).read_text(encoding='utf-8')
    return string.Template(text).substitute(values)


def login(auth_url: str, user: str, password: str, region: str) -> str:
    """Return the options with which a service logs in to Keystone."""
    return '\n'.join(
        (
            'auth_type = password',
            f'auth_url = {auth_url}',
            'project_domain_name = Default',
            'user_domain_name = Default',
            'project_name = service',
            f'username = {user}',
            f'password = {password}',
            f'region_name = {region}',
        )
    )


def values(cloud: Cloud) -> dict[str, str]:
    """Return the values for the templates, by name."""
    found = {
        'host': HOST,
        'etc': str(cloud.etc),
        'data': str(cloud.data),
        'run': str(cloud.run),
        'logs': str(cloud.logs),
        'heat_path': str(cloud.heat_path),
        'password': cloud.password,
        'region': cloud.region,
        'auth_url': cloud.auth_url,
        'keystone_url': cloud.url('keystone'),
        'glance_url': cloud.url('glance'),
        'transport_url': cloud.transport_url,
        'memcached': cloud.memcached,
        'rabbit_port': str(cloud.ports['rabbit']),
        'proxy_port': str(cloud.ports['proxy']),
        'locations': _locations(cloud),
    }
    databases = ('keystone', 'placement', 'glance', 'nova', 'nova_api', 'neutron', 'cinder', 'heat')
    found |= {f'{name}_database': cloud.database(name) for name in databases}
    for user in SERVICE_USERS:
        found[f'{user}_login'] = login(cloud.auth_url, user, cloud.password, cloud.region)
    return found


def _locations(cloud: Cloud) -> str:
    """Return the nginx configuration of the services behind the proxy."""
    return ''.join(
        render('nginx-location.conf', {'prefix': prefix, 'url': cloud.url(name)})
        for name, prefix in PREFIXES.items()
    )


def write(cloud: Cloud) -> None:
    """Regenerate the configuration of every service of *cloud*."""
    known = values(cloud)
    for template, place in PLACES.items():
        _put(cloud.etc / place, render(template, known))
    for site in services.sites(cloud):
        own = {'climate_database': site.database_url, 'topic': site.of_site('climate.manager')}
        text = ''.join(render(template, known | own) for template in CLIMATE)
        _put(site.climate_conf, text)
    for number, host in enumerate(cloud.hosts, 1):
        state = cloud.data / 'nova' / f'compute-{number}'
        (state / 'instances').mkdir(parents=True, exist_ok=True)
        text = render('compute.conf', {'name': host, 'state': str(state)})
        _put(cloud.etc / 'nova' / f'compute-{number}.conf', text)
    _put(cloud.etc / 'rabbitmq-plugins', '[].\n')
    for service, files in SHIPPED.items():
        for file in files:
            _copy(cloud.bin.parent / 'etc' / service / file, cloud.etc / service / file)


def _put(path: pathlib.Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding='utf-8')


def _copy(source: pathlib.Path, target: pathlib.Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
