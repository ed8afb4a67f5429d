# SPDX-License-Identifier: Apache-2.0

"""For users: a proxy for openstacksdk and commands for python-openstackclient."""
