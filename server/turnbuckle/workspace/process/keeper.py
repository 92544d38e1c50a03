"""The parent of a command on Linux: what the command starts cannot get away from it.

It is run as a program of its own, and so it imports little. Whatever loses its parent below it
becomes its child (it is a *child subreaper*), also what has left its group and its session and has
an environment of its own making. When its input ends, the server is gone or wants no more: then it
ends all of that, and itself. Its words are lines: `pid 12`, then `runs 1` or `error 2` (an errno),
and in the end `exit 0`.
"""

import contextlib
import errno
import os
import signal
import sys
import time

SUBREAPER, DEATH_SIGNAL = 36, 1
"""What to ask of prctl(2)."""

STUCK = 5.0
"""Seconds after which what cannot even be killed is left to the system."""

_THREADS = 17  # among the fields of /proc/<pid>/stat that follow the name
_LOOKS = 3
_READ = 4096


def processes() -> dict[int, tuple[int, int, bool]]:
    """All that there are, by id: parent, group, and whether it lives; nothing without /proc."""
    found = {}
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):  # noqa: PTH208 - light
            if name.isdigit():
                # A process may end while it is looked at.
                with contextlib.suppress(OSError, ValueError, IndexError):
                    found[int(name)] = _stat(int(name))
    return found


def kill_below(keeper: int, seconds: float = STUCK) -> bool:
    """Kill whatever is below a keeper until there is nothing, and say whether that came to be.

    Whatever lives below it has an ancestor that is its child: when it has no children that live,
    nothing is left. So one that forks and ends over and over again is caught too.
    """
    until = time.monotonic() + seconds
    before: set[int] = set()
    others: set[int] = set()
    quiet = 0
    # One look is not enough: a child that ends meanwhile hands its own on to the keeper.
    while quiet < _LOOKS and (found := _children(keeper)):
        if time.monotonic() > until:
            return False
        alive = {child for child in found - others if _lives(child)}
        others |= {child for child in alive if not _killed(child)}
        if found - before:
            quiet = 0
        else:
            quiet = 0 if alive - others else quiet + 1
            time.sleep(0.001)
        before = found
    return not others


def _children(pid: int) -> set[int]:
    """The children of a process with one thread, those too that have ended and are still there."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb", 0) as file:  # noqa: PTH123 - light
            return set(map(int, file.read().split()))
    except FileNotFoundError:  # it is gone, or the kernel does not tell
        return {child for child, (parent, _, _) in processes().items() if parent == pid}
    except OSError:
        return set()


def _killed(pid: int) -> bool:
    """Kill a process; False where it has become somebody else's."""
    if sys.platform != "win32":
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        except PermissionError:
            return False
    return True


def _lives(pid: int) -> bool:
    try:
        return _stat(pid)[2]
    except (OSError, ValueError, IndexError):
        return False


def _stat(pid: int) -> tuple[int, int, bool]:
    """Parent, group, and whether it lives: also when its first thread alone has ended."""
    with open(f"/proc/{pid}/stat", "rb", 0) as file:  # noqa: PTH123 - light
        fields = file.read().rpartition(b") ")[2].split()
    return int(fields[1]), int(fields[2]), fields[0] not in b"ZX" or int(fields[_THREADS]) > 1


if sys.platform == "linux":
    import select

    _DEAF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
    """What a command may send to all that it sees, and does not mean for its keeper."""

    _OURS = (*_DEAF, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD)
    """What we, or Python, take otherwise than a program that has just begun."""

    def main(argv: list[str]) -> None:
        """Run a program with its output in ours, and keep all that it starts."""
        line = os.dup(0)
        bell, ring = os.pipe()
        os.set_blocking(bell, False)
        os.set_blocking(ring, False)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        for number in _DEAF:
            signal.signal(number, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        _prctl(SUBREAPER, 1)
        _prctl(DEATH_SIGNAL, signal.SIGCONT)  # a command may have stopped us when the server dies
        if _wanted(line):
            leader = _begin(argv, line)
            for output in (1, 2):  # which are the command's alone
                os.dup2(null, output)
            _keep(leader, line, bell)
        kill_below(os.getpid())

    def _wanted(line: int) -> bool:
        """Whether the server still wants it: it says nothing, and has not gone."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        return not poll.poll(0)

    def _keep(leader: int, line: int, bell: int) -> None:
        """Take whatever ends to its grave, and say how the leader did, until the input ends."""
        poll = select.poll()
        poll.register(line, select.POLLIN)
        poll.register(bell, select.POLLIN)
        while line not in dict(poll.poll()):
            with contextlib.suppress(BlockingIOError):
                os.read(bell, _READ)
            with contextlib.suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == leader:
                        _say(line, f"exit {os.waitstatus_to_exitcode(ended[1])}")

    def _begin(argv: list[str], line: int) -> int:
        """Begin a program, once the server was told its id, and say whether it runs."""
        keeper = os.getpid()
        go, may_go = os.pipe()
        told, tell = os.pipe()
        try:
            leader = os.fork()
        except OSError as error:
            _say(line, f"error {error.errno}")
            return 0
        if not leader:
            os.close(may_go)
            _be(argv, keeper, go, tell)
        os.close(go)
        os.close(tell)
        _say(line, f"pid {leader}")
        with contextlib.suppress(OSError):  # somebody has killed it already
            os.write(may_go, b"!")
        said = os.read(told, _READ)
        _say(line, f"error {int(said)}" if said else "runs 1")
        return leader

    def _be(argv: list[str], keeper: int, go: int, tell: int) -> None:
        """Become a program, as soon as that may be; it does not return."""
        try:
            os.setsid()
            _prctl(DEATH_SIGNAL, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            for number in _OURS:
                signal.signal(number, signal.SIG_DFL)
            if os.read(go, 1) and os.getppid() == keeper:
                os.execvpe(argv[0], argv, _environment())
        except OSError as error:
            os.write(tell, b"%d" % (error.errno or errno.ENOEXEC))
        finally:
            os._exit(127)

    def _environment() -> dict[bytes, bytes]:
        """Ours as it was given to us, where that can be seen: without what Python adds to it."""
        try:
            with open("/proc/self/environ", "rb", 0) as file:  # noqa: PTH123 - light
                pairs = [one.partition(b"=") for one in file.read().split(b"\0") if one]
        except OSError:
            return dict(os.environb)
        return {name: value for name, _, value in pairs}

    def _say(line: int, words: str) -> None:
        with contextlib.suppress(OSError):  # nobody is there any more
            os.write(line, f"{words}\n".encode())

    def _prctl(what: int, value: int) -> None:
        # Without it, what leaves its group is found only by the mark in its environment.
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(what, value, 0, 0, 0)

    if __name__ == "__main__":
        main(sys.argv[1:])
