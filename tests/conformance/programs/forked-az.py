"""
Runs lines of the published command line, each in a fork of this process, which has loaded what each line would load:
two thirds of what a line costs. Reads a JSON list of words a line, and answers what it printed and its exit code.
"""

import json
import os
import runpy
import sys
import tempfile
import traceback

import azure.cli.command_modules.profile
import azure.cli.command_modules.resource.commands
import azure.cli.command_modules.resource.custom
import azure.cli.command_modules.role.custom
import azure.cli.core.auth.identity
import azure.cli.core.commands.arm
import azure.cli.core.commands.client_factory
import azure.mgmt.core
import msal
import requests


def run_line(words):
    """In the fork: what the program `az` does."""
    sys.argv = ["az", *words]
    code = 0
    try:
        runpy.run_module("azure.cli", run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def fork(words):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(error.fileno(), 2)
            run_line(words)
        _, status = os.waitpid(child, 0)
        printed = []
        for file in (out, error):
            file.seek(0)
            printed.append(file.read().decode())
        return {"code": os.waitstatus_to_exitcode(status), "out": printed[0], "error": printed[1]}


for line in sys.stdin:
    print(json.dumps(fork(json.loads(line))), flush=True)
