"""Messages between the referee and an agent's process: a letter, a length, bytes; nothing is ever unpickled."""

import io
import struct
from typing import Final

HEAD: Final = struct.Struct("<cI")
MOST_BYTES: Final = 2**26
"""The longest message; an agent's process that announces a longer one talks nonsense."""

GAMES: Final = b"G"
"""To the agent: its file, and how many games of what size there are, as JSON."""
STEP: Final = b"S"
"""To the agent: what was released in one round of all games: gains, then which were observed."""
READY: Final = b"R"
"""From the agent: it is about to load the file; JSON says which limits are not in force."""
ARMS: Final = b"A"
"""From the agent: the arm to play in each game, as int32."""
DONE: Final = b"D"
"""From the agent: the last round of all games is learnt."""
FAILED: Final = b"F"
"""From the agent: why it cannot go on, in words."""


class MessagePipe:
    """Sends and receives whole messages over two unbuffered files.

    Args:
        reader: Where messages come from.
        writer: Where messages go.
    """

    def __init__(self, reader: io.FileIO, writer: io.FileIO) -> None:
        self._reader, self._writer = reader, writer

    def send(self, letter: bytes, content: bytes = b"") -> None:
        """Send a message.

        Raises:
            OSError: If nobody is at the other end.
        """
        left = memoryview(HEAD.pack(letter, len(content)) + content)
        while left:
            left = left[self._writer.write(left) or 0 :]

    def receive(self) -> tuple[bytes, bytearray]:
        """Return the letter and the content of the next message.

        Raises:
            EOFError: If nobody is at the other end, or it sends something else.
        """
        letter, length = HEAD.unpack(self._read(HEAD.size))
        if length > MOST_BYTES:
            raise EOFError
        return letter, self._read(length)

    def _read(self, length: int) -> bytearray:
        content = bytearray(length)
        left = memoryview(content)
        while left:
            number = self._reader.readinto(left)
            if not number:
                raise EOFError
            left = left[number:]
        return content
