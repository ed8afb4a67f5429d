# SPDX-License-Identifier: Apache-2.0

"""How the requests of our verbs look: what a proxy has to watch for.

A test names a verb, such as ``compute.add_host``; a proxy and a stub see
``METHOD /path`` without the query. A verb is in this table as soon as a test
disturbs it: the pattern is of the one request that does its work, not of
those that look before or after.
"""

from __future__ import annotations

# The group of options of each service, by the first part of a verb.
GROUPS = {
    'compute': 'nova',
    'placement': 'placement',
    'image': 'glance',
    'network': 'neutron',
    'volume': 'cinder',
    'orchestration': 'heat',
    'identity': 'keystone',
}

REQUESTS = {
    'compute.list_aggregates': r'GET .*/os-aggregates$',
    'compute.add_host': r'POST .*/os-aggregates/\d+/action',
    'compute.remove_host': r'POST .*/os-aggregates/\d+/action',
    'compute.set_aggregate_metadata': r'POST .*/os-aggregates/\d+/action',
    'compute.create_aggregate': r'POST .*/os-aggregates$',
    'compute.delete_aggregate': r'DELETE .*/os-aggregates/',
    'compute.set_server_metadata': r'POST .*/servers/[^/]+/metadata$',
    'compute.stop_server': r'POST .*/servers/[^/]+/action',
    'compute.create_flavor': r'POST .*/flavors$',
    'compute.add_flavor_access': r'POST .*/flavors/[^/]+/action',
    'compute.create_server_group': r'POST .*/os-server-groups$',
    'compute.delete_server': r'DELETE .*/servers/',
    'compute.detach_volume': r'DELETE .*/os-volume_attachments/',
    'network.list_networks': r'GET .*/networks$',
    'network.create_network': r'POST .*/networks$',
    'network.set_network_tags': r'PUT .*/networks/[^/]+/tags$',
    'network.describe_network': r'PUT .*/networks/[^/]+$',
    'network.delete_network': r'DELETE .*/networks/',
    'network.remove_router_interface': r'PUT .*/remove_router_interface$',
    'network.remove_routes': r'PUT .*/routers/[^/]+$',
    'network.create_floating_ip': r'POST .*/floatingips$',
    'network.delete_floating_ip': r'DELETE .*/floatingips/',
    'volume.find_volume_type': r'GET .*/types$',
    'volume.create_volume_type': r'POST .*/types$',
    'volume.delete_volume_type': r'DELETE .*/types/',
    'volume.allow_volume_type': r'POST .*/types/[^/]+/action$',
    'volume.create_volume': r'POST .*/volumes$',
    'volume.delete_volume': r'DELETE .*/volumes/',
    'volume.create_snapshot': r'POST .*/snapshots$',
    'volume.delete_snapshot': r'DELETE .*/snapshots/',
    'image.give_image': r'PATCH .*/images/',
    'image.delete_image': r'DELETE .*/images/',
    'placement.set_inventory': r'(PUT|POST) .*/inventories',
    'placement.set_traits': r'PUT .*/resource_providers/[^/]+/traits$',
    'placement.create_trait': r'PUT .*/traits/[^/]+$',
    'placement.create_resource_class': r'PUT .*/resource_classes/',
    'placement.find_provider': r'GET .*/resource_providers$',
    'placement.create_provider': r'POST .*/resource_providers$',
    'placement.delete_provider': r'DELETE .*/resource_providers/',
    'orchestration.find_stack': r'GET .*/stacks/[^/]+$',
    'orchestration.create_stack': r'POST .*/stacks$',
    'orchestration.suspend_stack': r'POST .*/actions$',
    'orchestration.resume_stack': r'POST .*/actions$',
    'orchestration.snapshot_stack': r'POST .*/snapshots$',
    'orchestration.delete_stack': r'DELETE .*/stacks/',
    'identity.create_trust': r'POST .*/OS-TRUST/trusts$',
    'identity.delete_trust': r'DELETE .*/OS-TRUST/trusts/',
    'identity.find_user': r'GET .*/users/[^/]+$',
}


def service(verb: str) -> str:
    """Return the service of a verb, such as ``compute``."""
    return verb.partition('.')[0]
