# SPDX-License-Identifier: Apache-2.0

"""``openstack lease``: commands for python-openstackclient."""
