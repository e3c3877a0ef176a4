"""The studio: a page in the browser in which models are edited, run, designed and looked at, served on this
machine alone. It needs the extra `studio`."""

from strut.studio.forms import CommandForm, FormField
from strut.studio.server import serve
from strut.studio.workspace import Workspace

__all__ = ["CommandForm", "FormField", "Workspace", "serve"]
