# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""What a failing lookup raises."""


class TransformException(Exception):  # noqa: N818 (upstream's name)
    """Root of every tf2 exception."""


class LookupException(TransformException):
    """A frame does not exist, or the frames form a loop."""


class ConnectivityException(TransformException):
    """Both frames exist, in trees that are not connected."""


class ExtrapolationException(TransformException):
    """The requested time lies outside the stored history."""


class InvalidArgumentException(TransformException):
    """A frame name is empty or begins with a slash."""
