# SPDX-License-Identifier: Apache-2.0

"""The folder that ``plugin_dirs`` in ``heat.conf`` names.

``heat-engine`` imports each module of the folder under a name of its own, so the modules
only say what Heat registers.
"""
