"""`SavedResult`: a result that can be saved with its model, and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from strut.checks import checked
from strut.system import System


class SavedResult:
    """A result that can be saved and loaded. Whoever inherits it is a dataclass of data with a `system`."""

    if TYPE_CHECKING:

        @property
        def system(self) -> System:
            """The model of the result."""
            ...

    @checked
    def save(self, path: str | Path) -> Path:
        """Write the result with its model as .h5: numbers, names and expressions, nothing that is run when it
        is read. The file appears whole or not at all.

        Raises StorageError where it cannot be written, ModelError where something in it is no data.
        """
        from strut.simulate import archive_file  # not before it is needed: HDF5 takes a while to import

        return archive_file.save_result(self, self.system, Path(path))

    @classmethod
    @checked
    def load(cls, path: str | Path, system: System | None = None) -> Self:
        """Read a result from .h5.

        system: the model you have; the result is then made of its symbols, and refused with what differs
            where the file was written for another model. Parameters and initial values are those of the file.
        """
        result: Self = load_result(Path(path), (cls,), system)
        return result


@checked
def load_result(path: Path, kinds: tuple[type, ...], system: System | None = None) -> Any:
    """Read a result of one of these classes; see `SavedResult.load`."""
    from strut.simulate import archive_file

    return archive_file.load_result(path, kinds, system)


__all__ = ["SavedResult", "load_result"]
