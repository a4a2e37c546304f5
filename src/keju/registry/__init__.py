"""Registries of models, readers, build steps, sources, metrics and benchmarks.

A plug-in is an installed package with entry points, or one Python file that the user names with
``--plugin FILE.py`` or in the environment variable KEJU_PLUGINS.
"""

from keju.registry.guarding import DEBUG, debugging, failure, guarded, guarding, notes_in
from keju.registry.names import Entry, Registry
from keju.registry.plugins import (
    PLUGIN_FILES,
    Claim,
    Plugin,
    PluginError,
    PluginSource,
    add_plugin_files,
    check_installed,
    declare,
    has_plugin_file,
    installed,
    load_plugin_files,
    load_sources,
    plugin_sources,
)
from keju.registry.shipped import provided, shipped_folders

__all__ = [
    "DEBUG",
    "PLUGIN_FILES",
    "Claim",
    "Entry",
    "Plugin",
    "PluginError",
    "PluginSource",
    "Registry",
    "add_plugin_files",
    "check_installed",
    "debugging",
    "declare",
    "failure",
    "guarded",
    "guarding",
    "has_plugin_file",
    "installed",
    "load_plugin_files",
    "load_sources",
    "notes_in",
    "plugin_sources",
    "provided",
    "shipped_folders",
]
