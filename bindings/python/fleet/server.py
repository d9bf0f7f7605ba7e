"""MLServer with the digits on free ports of this machine, for the test and for load.py."""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def get(port, path):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=30) as answer:
        return answer.read().decode()


@contextlib.contextmanager
def started(folder, model, **extra):
    """Starts a server in an empty folder. Yields its ports for REST, gRPC and metrics, and its log."""
    ports = dict(zip(("http_port", "grpc_port", "metrics_port"), free_ports(3)))
    shutil.copy(model, folder / "digits.tflite")
    settings = {"host": "127.0.0.1", "debug": False, "parallel_workers": 0, **ports}
    (folder / "settings.json").write_text(json.dumps(settings))
    parameters = {"uri": "./digits.tflite", "extra": extra}
    model_settings = {
        "name": "digits",
        "implementation": "intaglio.mlserver.Runtime",
        "parameters": parameters,
    }
    (folder / "model-settings.json").write_text(json.dumps(model_settings))
    command = [Path(sys.executable).parent / "mlserver", "start", folder]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + 120
        while True:
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                get(ports["http_port"], "/v2/models/digits/ready")
                break
            ended = process.poll() is not None or time.monotonic() > end
            assert not ended, (folder / "log").read_text()
            time.sleep(0.1)
        yield *ports.values(), folder / "log"
        assert process.poll() is None, (folder / "log").read_text()
    finally:
        process.terminate()
        process.wait(30)
