# SPDX-License-Identifier: Apache-2.0

"""Traces of requests and of the work that follows from them.

Belongs here: what records spans, and the only module that imports OpenTelemetry. What a
span is about is decided where the work is done.
"""
