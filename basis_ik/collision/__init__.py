# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Collisions of a robot with itself and with objects: shapes, their covers, distances."""
