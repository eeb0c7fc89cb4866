# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Reads a recording: how the node was started, and an entry for each handled input."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rclpy.serialization import deserialize_message
from std_msgs.msg import String

from basis_ik.errors import BasisIkError
from basis_ik.extras.recording.recording import (
    MCAP_MISSING,
    RECEIVED,
    RECORDING,
    TEXT_VERSION,
    Entry,
    Sent,
)

MAGIC = b"\x89MCAP0\r\n"  # at the beginning and at the end of an MCAP file


class RecordingError(BasisIkError):
    """A file is not a recording, or is damaged."""


class Recorded:
    """A recording, read from its file.

    Args:
        path: Path of the file.

    Attributes:
        head: How the node was started; see `recording`.
        cut_off: Whether the file is truncated because the node did not close it.

    Raises:
        RecordingError: The file cannot be read, or is not a recording.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise RecordingError(f"cannot read {path}: {error.strerror}") from None
        self._path, self.cut_off = path, False
        self._texts = self._read()
        first = next(self._texts, None)
        if first is None or first[1].get("form") != TEXT_VERSION:
            raise RecordingError(f"{path} is not a recording of ik_node, or one of another version")
        self.head = first[1]

    def entries(self) -> Iterator[Entry]:
        """Yield the entries in order.

        Raises:
            RecordingError: The file is damaged.
        """
        for when, text, messages in self._texts:
            received = next((message for is_received, message in messages if is_received), None)
            sent = [message for is_received, message in messages if not is_received]
            yield Entry(when, text["name"], received, text.get("given"), text["readings"], sent)

    def _read(self) -> Iterator[tuple[int, dict[str, Any], list[tuple[bool, Sent]]]]:
        """Yield each text with its time [ns] and the received or sent messages before it.

        Messages after the last text belong to an incomplete entry.
        """
        try:
            from mcap.exceptions import EndOfFile
            from mcap.records import Channel, DataEnd, Message, Schema
            from mcap.stream_reader import StreamReader
        except ImportError:
            raise RecordingError(f"replay {MCAP_MISSING}") from None
        schemas, channels = dict[int, str](), dict[int, Channel]()
        messages: list[tuple[bool, Sent]] = []
        try:
            for each in StreamReader(self._file, validate_crcs=True).records:
                if isinstance(each, Schema):
                    schemas[each.id] = each.name
                elif isinstance(each, Channel):
                    channels[each.id] = each
                elif isinstance(each, DataEnd):
                    return
                elif isinstance(each, Message):
                    channel = channels[each.channel_id]
                    if channel.topic.endswith(f"/{RECORDING}"):
                        text = json.loads(deserialize_message(each.data, String).data)
                        yield each.log_time, text, messages
                        messages = []
                    else:
                        sent = Sent(channel.topic, schemas[channel.schema_id], each.data)
                        messages.append((channel.metadata.get(RECEIVED) == "true", sent))
        except (EndOfFile, struct.error):  # the latter in the nine bytes at a record's start
            if self._is_closed():  # not truncated, so the length of a record is wrong
                raise RecordingError(f"{self._path} is damaged: it ends too early") from None
            self.cut_off = True
        except RecordingError:
            raise
        except Exception as error:  # the decoders do not document their exceptions
            raise RecordingError(f"{self._path} is damaged: {error}") from None

    def _is_closed(self) -> bool:
        """Return whether the file was closed: its end is written last."""
        return self._path.read_bytes().endswith(MAGIC)
