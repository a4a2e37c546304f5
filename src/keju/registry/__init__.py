"""Registries of models, readers, build steps, sources, metrics and benchmarks.

A plug-in is an installed module that an entry point of the group ``keju`` names, or one Python file
that the user names with ``--plugin FILE.py`` or in the environment variable KEJU_PLUGINS.
"""

from keju.registry.guarding import check_notes, guard_call, guard_function, is_debugging
from keju.registry.names import Registry, check_named
from keju.registry.plugins import (
    PLUGIN_FILES,
    Installed,
    Plugin,
    PluginError,
    PluginSource,
    add_plugin_files,
    check_installed,
    declare,
    describe_broken,
    find_plugin_file,
    has_plugin_file,
    list_broken,
    list_plugin_sources,
    load_installed,
    load_plugin_files,
    load_sources,
)
from keju.registry.shipped import list_provided, list_shipped_folders

__all__ = [
    "PLUGIN_FILES",
    "Installed",
    "Plugin",
    "PluginError",
    "PluginSource",
    "Registry",
    "add_plugin_files",
    "check_installed",
    "check_named",
    "check_notes",
    "declare",
    "describe_broken",
    "find_plugin_file",
    "guard_call",
    "guard_function",
    "has_plugin_file",
    "is_debugging",
    "list_broken",
    "list_plugin_sources",
    "list_provided",
    "list_shipped_folders",
    "load_installed",
    "load_plugin_files",
    "load_sources",
]
