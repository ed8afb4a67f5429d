# SPDX-License-Identifier: Apache-2.0

"""The service in openstacksdk.

openstacksdk knows the service type ``reservation``, but no resource of it. Register the
proxy in ``clouds.yaml``::

    vendor_hook: climate.client.sdk.service:register

or in a program::

    conn = openstack.connect(cloud='mine')
    climate.client.sdk.service.register(conn)
"""
