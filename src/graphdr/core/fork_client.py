"""``python -IS fork_client.py ADDRESS PACKAGE ARGUMENT …`` runs a job on a server of ``forks``.

Every job of a build starts it, so it imports almost nothing: ``socket`` alone takes longer than the interpreter.
"""

import _socket
import os
import sys

OUTPUT = b"".join(number.to_bytes(4, sys.byteorder) for number in (1, 2))  # file descriptors, as C's int


def main(address: str, package: str, *arguments: str) -> int:
    """Return the exit code of the job; without a server, replace this process by the job."""
    server = _socket.socket(_socket.AF_UNIX)
    try:
        server.connect(address)
    except OSError:
        os.execv(sys.executable, [sys.executable, "-m", package, *arguments])
    request = os.fsencode("\0".join([os.getcwd(), *arguments]))
    server.sendmsg([len(request).to_bytes(8, "big")], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, OUTPUT)])
    server.sendall(request)
    try:
        answer = server.recv(1)
    except KeyboardInterrupt:
        return 130
    return answer[0] if answer else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
