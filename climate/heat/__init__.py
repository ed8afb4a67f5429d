# SPDX-License-Identifier: Apache-2.0

"""Resources for Heat templates: ``OS::Climate::Lease``.

It is installed where ``heat-engine`` runs, and is not part of the service.
"""
