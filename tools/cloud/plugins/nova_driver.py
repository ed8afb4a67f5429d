# SPDX-License-Identifier: Apache-2.0

"""A virt driver for Nova with simulated hosts, which can run in a daemon.

The fake driver of Nova is intended for tests within one process. This driver continues
after a restart: each host keeps its identity (the ``compute_id`` file of Nova, which the
fake driver with its own nodes lacks) and its servers. It also uploads images of servers to
Glance, whereas those of the fake driver stay ``queued`` indefinitely.
"""

from __future__ import annotations

import io

from nova import context as nova_context
from nova import objects
from nova.compute import task_states
from nova.image import glance
from nova.virt import fake


class _Daemon(fake.FakeDriverWithoutFakeNodes):
    def init_host(self, host):
        """Restore the servers that were on *host* when it stopped."""
        super().init_host(host)
        admin = nova_context.get_admin_context()
        for server in objects.InstanceList.get_by_host(admin, host, expected_attrs=['flavor']):
            self.instances[server.uuid] = fake.FakeInstance(
                server.name, server.power_state, server.uuid
            )
            self.resources.claim(
                vcpus=server.flavor.vcpus, mem=server.flavor.memory_mb, disk=server.flavor.root_gb
            )

    def snapshot(self, context, instance, image_id, update_task_state):
        """Create an image of a server, whose content is the id of the server."""
        pending = task_states.IMAGE_PENDING_UPLOAD
        update_task_state(task_state=pending)
        super().snapshot(
            context,
            instance,
            image_id,
            lambda task_state: update_task_state(task_state=task_state, expected_state=pending),
        )
        api = glance.API()
        about = {
            'status': 'active',
            'name': api.get(context, image_id).get('name'),
            'disk_format': 'raw',
            'container_format': 'bare',
            'properties': {},
        }
        content = io.BytesIO(b'image of %s\n' % instance.uuid.encode())
        api.update(context, image_id, about, content, purge_props=False)


class MediumDriver(_Daemon):
    """A host with 10 VCPUs, 8 GiB of memory and 1028 GiB of disk."""

    vcpus = 10
    memory_mb = 8192
    local_gb = 1028
