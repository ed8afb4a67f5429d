# SPDX-License-Identifier: Apache-2.0

"""Draws the dashboard of metrics without Grafana and Prometheus, for the documentation.

Belongs here: what evaluates the queries of the dashboard on scraped text, and draws them.
"""
