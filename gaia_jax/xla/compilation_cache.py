"""JAX's persistent compilation cache, in the user's cache folder: a second start does not compile.

    gaia_jax.enable_compilation_cache()

The command lines of `training` and the tests call it; a program that imports this package decides
for itself. Programs for another jaxlib or another kind of CPU lie in other folders, because XLA
compiles for the CPU that it runs on.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

NO_CACHE = "GAIA_JAX_NO_CACHE"
# Programs that took less than this to compile are not worth a file.
MIN_COMPILE_SECONDS = 0.5

# When the packages began to be loaded, in ns: a file that changes later may be loaded or not. 0 if
# JAX was imported earlier, at an unknown time.
STARTED = 0 if "jax" in sys.modules else time.time_ns()

_enabled = False  # by this module; JAX's own cache may be on without it


def cache_folder() -> Path:
    """The folder of compiled programs; it need not exist.

    Returns:
        USER_CACHE/gaia_jax/jaxlib-VERSION-CPU, CPU a fingerprint of the machine's processor.
    Raises:
        RuntimeError: the user has no home folder, as in a container under a number that no user
            has.
    """
    name = f"jaxlib-{metadata.version('jaxlib')}-{_cpu_fingerprint()}"
    return _user_cache() / "gaia_jax" / name


def enable_compilation_cache(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Keep compiled programs on disk; call it before the first function is compiled.

    A folder that JAX knows already (JAX_COMPILATION_CACHE_DIR) stays, unless one is given.

    Args:
        folder: where to keep them; None is `cache_folder()`.
    Returns:
        The folder in use; None where GAIA_JAX_NO_CACHE is set (to anything but 0), or where the
        folder cannot be written or there is no home folder; a warning goes to stderr.
    """
    import jax

    global _enabled
    _enabled = False
    if os.environ.get(NO_CACHE, "0") not in ("", "0"):
        disable_compilation_cache()
        return None
    config: Any = jax.config  # its options are no attributes for a type checker
    jax_folder: str | None = config.jax_compilation_cache_dir
    try:
        path = Path(folder or jax_folder or cache_folder()).expanduser()
    except RuntimeError:
        warn("no compilation cache: no home folder; JAX_COMPILATION_CACHE_DIR names another")
        return None
    try:
        path.mkdir(parents=True, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        warn(f"no compilation cache in {path}: {error.strerror}")
        return None
    if str(path) != jax_folder:
        jax.config.update("jax_compilation_cache_dir", str(path))
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_COMPILE_SECONDS)
    _enabled = True
    return path


def enabled_folder() -> Path | None:
    """The folder that `enable_compilation_cache` has chosen; None where the cache is off."""
    import jax

    config: Any = jax.config
    if not (_enabled and config.jax_enable_compilation_cache and config.jax_compilation_cache_dir):
        return None
    return Path(config.jax_compilation_cache_dir)


def warn(line: str) -> None:
    """A line on stderr, nothing where that is closed: `print` would take standard output."""
    if sys.stderr is not None:
        print(line, file=sys.stderr)


def disable_compilation_cache() -> None:
    """Neither read nor write compiled programs, whatever environment variables are set."""
    import jax

    jax.config.update("jax_enable_compilation_cache", False)


def _user_cache() -> Path:
    """The folder for caches of this user, as the operating system has it."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    home = Path("~").expanduser()
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _cpu_fingerprint() -> str:
    """Eight digits for the processor: what XLA may use of it is in its flags."""
    lines = {platform.machine(), platform.processor()}
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        keys = ("model name", "flags", "features", "cpu part")
        lines |= {line for line in text.splitlines() if line.lower().startswith(keys)}
    except OSError:
        pass  # not Linux: machine and processor have to do
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()[:8]
