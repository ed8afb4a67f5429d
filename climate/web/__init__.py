# SPDX-License-Identifier: Apache-2.0

"""The built web page: files that ``climate-api`` serves under ``/ui``; no code."""
