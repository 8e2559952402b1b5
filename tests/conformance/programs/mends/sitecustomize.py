"""Debian pairs the command line with a library newer than it knows, in which `config` of the role operations got another
name. Mended as the library is loaded, so that what the command line asks of the server can be tested at all."""

import importlib.abc
import importlib.util
import sys


class RoleOperations(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if not (name.startswith('azure.mgmt.authorization.v') and name.endswith('.operations')):
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        load = spec.loader.exec_module

        def load_and_mend(module):
            load(module)
            for operations in vars(module).values():
                if isinstance(operations, type):
                    operations.config = property(lambda self: self._config)

        spec.loader.exec_module = load_and_mend
        return spec


sys.meta_path.insert(0, RoleOperations())
