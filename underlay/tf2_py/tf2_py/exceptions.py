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


class TimeoutException(TransformException):
    """An answer did not come in time."""
