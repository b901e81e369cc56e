"""In a clone: `training/` by the name that it has where it is installed, `import gaia_training`.

A wheel may not bring a package that is called `training`: others are called so too. So there it is
`gaia_training`, and every import inside it is relative. This file is in no wheel.
"""

import importlib.util
import sys
from pathlib import Path

_folder = Path(__file__).resolve().parent / "training"
_spec = importlib.util.spec_from_file_location(
    __name__, _folder / "__init__.py", submodule_search_locations=[str(_folder)]
)
assert _spec is not None and _spec.loader is not None
_module = importlib.util.module_from_spec(_spec)
sys.modules[__name__] = _module
_spec.loader.exec_module(_module)
