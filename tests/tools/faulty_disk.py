"""A disk that fails at a chosen step, or loses the power and with it what was not synced; every call goes through."""

import os
import random
import shutil

STEPS = ("fdopen", "fsync", "link", "mkdir", "open", "replace", "rmdir", "unlink")


class PowerCut(BaseException):
    """Nothing in the program may catch this."""


class FaultyDisk:
    """Stands for the module `os` in `durable`; counts every step and every write.

    Args:
        root: The folder whose files are watched.
        fail_at: The step that fails, from 1; None for none.
        error: What it raises; `PowerCut` also ends all later steps.
    """

    def __init__(self, root, fail_at=None, error=None):
        self.root, self.fail_at, self.error = root, fail_at, error
        self.steps = 0
        self.off = False
        # What is on the disk for sure: contents by inode, names by folder.
        self.synced_bytes, self.synced_names = {}, {root: {}}

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in STEPS:
            return real

        def step(*arguments, **keywords):
            self.step()
            result = real(*arguments, **keywords)
            if name == "fsync":
                self._remember(arguments[0])
            return CountedFile(result, self) if name == "fdopen" else result

        return step

    def step(self):
        """Count a step, and fail if its turn has come."""
        self.steps += 1
        if self.off or self.steps == self.fail_at:
            self.off = self.error is PowerCut
            raise self.error if self.error is PowerCut else OSError(self.error, os.strerror(self.error))

    def _remember(self, descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if os.path.isdir(path):
            self.synced_names[path] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            with open(path, "rb") as file:
                self.synced_bytes[os.fstat(descriptor).st_ino] = file.read()

    def after_the_power_cut(self, rng):
        """Turn the folder into what a disk may hold then: what was synced, and at random some of the rest."""
        now_bytes, now_names = {}, {}
        for folder, _, files in os.walk(self.root):
            now_names[folder] = {entry.name: entry.inode() for entry in os.scandir(folder)}
            for name in files:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    now_bytes[os.stat(path).st_ino] = file.read()
        folder_inode = {folder: os.stat(folder).st_ino for folder in now_names}
        shutil.rmtree(self.root)
        self._restore(self.root, now_names, now_bytes, {v: k for k, v in folder_inode.items()}, rng)

    def _restore(self, folder, now_names, now_bytes, folders, rng):
        os.mkdir(folder)
        synced, now = self.synced_names.get(folder, {}), now_names.get(folder, {})
        for name in sorted({**synced, **now}):
            # One of two equal ones, where it is synced.
            inode = rng.choice([synced.get(name), now.get(name)])
            if inode is None:
                continue
            path = os.path.join(folder, name)
            if inode in folders or path in self.synced_names:
                self._restore(path, now_names, now_bytes, folders, rng)
                continue
            before, after = self.synced_bytes.get(inode, b""), now_bytes.get(inode)
            if after is not None and after != before:
                before = rng.choice([before, after, after[: rng.randrange(len(after) + 1)], bytes(len(after))])
            with open(path, "wb") as file:
                file.write(before)


class CountedFile:
    """A file whose writes are steps, too."""

    def __init__(self, file, disk):
        self._file, self._disk = file, disk

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        """Write as one step."""
        self._disk.step()
        return self._file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()


def randomness(*seed):
    """Return Python's own generator, which draws among objects."""
    return random.Random(repr(seed))
