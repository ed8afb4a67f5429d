# SPDX-License-Identifier: Apache-2.0

"""Metrics for Prometheus: what processes count, and what they measure when asked.

``catalogue``
    The table of all metrics: names, types, labels and texts. The documentation, the
    dashboard and the alert rules are checked against it.
``recording``
    What the rest of Climate calls when something happens. Without a recorder, which is the
    default, this does nothing.
``reading``
    Values that are read at a scrape, such as numbers of leases, with a cache.
``exposition``
    The recorder that keeps everything in the objects of ``prometheus_client``, the only
    module that imports it. A process loads it only if metrics are enabled.
``slots``
    How the processes of one service share their counters.
"""
