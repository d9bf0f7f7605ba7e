"""What intaglio raises.

Every exception is an ``Error``, and also of the kind that Python raises for the like, so that
``except ValueError`` works as elsewhere. After any of them but ``ClosedError`` the model is usable.
"""

__all__ = [
    "ArgumentError",
    "BusyError",
    "ClosedError",
    "DtypeError",
    "Error",
    "FileError",
    "LayoutError",
    "LoadError",
    "MissingFileError",
    "MissingNameError",
    "OutOfMemoryError",
    "RunError",
    "ShapeError",
    "UnknownNameError",
    "UnsupportedError",
]


class Error(Exception):
    """What all errors of intaglio have in common."""


class FileError(Error, OSError):
    """A file cannot be read."""


class MissingFileError(FileError, FileNotFoundError):
    """There is no file of this name."""


class LoadError(Error, ValueError):
    """The file is damaged, or its model cannot be right, or an option does not fit it."""


class UnsupportedError(Error, NotImplementedError):
    """The model is valid but needs something that this build or this machine does not have."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out, or the model would take more than its limits allow."""


class ArgumentError(Error, ValueError):
    """An argument makes no sense."""


class DtypeError(Error, TypeError):
    """An array has another dtype than the model, or is no array, or is not in the host's memory."""


class ShapeError(Error, ValueError):
    """An array has another shape than the model, or a model cannot take a shape."""


class LayoutError(Error, ValueError):
    """An array is not contiguous, or is read-only where it must be written. Nothing is copied."""


class _NameError(Error, KeyError):
    def __str__(self) -> str:  # KeyError would quote the message
        return str(self.args[0]) if self.args else ""


class UnknownNameError(_NameError):
    """The model has no input, output or signature of this name."""


class MissingNameError(_NameError):
    """An input or an output is missing."""


class RunError(Error, RuntimeError):
    """A run met numbers that a layer refuses, such as an index into nothing."""


class ClosedError(Error, ValueError):
    """The model was closed."""


class BusyError(Error, RuntimeError):
    """Another thread was running the model when the process was forked. share() still works."""
