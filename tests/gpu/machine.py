# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine, its drivers, what was built of which commit, and PyTorch beside it: facts as text, none that names a person
or a host. Nothing here needs the network."""
import glob
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys

LIBRARIES = ("libcuda.so", "libnvrtc.so", "libamdhip64.so", "libhiprtc.so", "libvulkan.so", "libwgpu_native.so")
TOOLS = {  # what is said of a GPU, by the tools of its driver; whole in the bundle
    "nvidia-smi": ["nvidia-smi", "--query-gpu=name,driver_version,memory.total,power.limit,clocks.max.sm", "--format=csv"],
    "rocm-smi": ["rocm-smi", "--showproductname", "--showdriverversion", "--showmeminfo", "vram"],
    "vulkaninfo": ["vulkaninfo", "--summary"],
}
DRIVER_FILES = ("/proc/driver/nvidia/version", "/sys/module/amdgpu/version", "/opt/rocm/.info/version")
# In an interpreter that may have PyTorch.
LOOK_FOR_TORCH = """
import json, numpy, torch
names = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
runtime = f"ROCm {torch.version.hip}" if torch.version.hip else f"CUDA {torch.version.cuda}"
print(json.dumps({"version": torch.__version__, "runtime": runtime, "gpus": names}))
"""


def said_by(command, seconds=60):
    """Its output, or "" if it is not there or fails."""
    if not shutil.which(command[0]):
        return ""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def text_of(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def processor():
    for line in text_of("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def system():
    name = re.search(r'^PRETTY_NAME="?([^"\n]*)', text_of("/etc/os-release"), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", text_of("/proc/meminfo"), re.M)
    return {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
            "memory_gib": round(int(memory[1]) / 2**20) if memory else 0,
            "system": name[1] if name else platform.system(), "kernel": platform.release()}


def libraries(folders):
    """The files behind the names that the loader knows or LD_LIBRARY_PATH has, as libnvrtc.so.12.4.127."""
    paths = [line.split("=>")[1].strip() for line in said_by([shutil.which("ldconfig") or "/sbin/ldconfig", "-p"]).splitlines()
             if "=>" in line]
    for folder in [*os.environ.get("LD_LIBRARY_PATH", "").split(":"), *folders]:
        paths += glob.glob(os.path.join(glob.escape(folder), "lib*.so*")) if folder else []
    wanted = (path for path in paths if os.path.basename(path).startswith(LIBRARIES))
    return sorted({os.path.basename(os.path.realpath(path)) for path in wanted})


def drivers():
    """(lines for the page, whole outputs for the bundle)."""
    whole = {path: text_of(path) for path in DRIVER_FILES}
    whole.update({name: said_by(command) for name, command in TOOLS.items()})
    whole = {name: text for name, text in whole.items() if text}
    lines = [f"{path}: {whole[path].splitlines()[0]}" for path in DRIVER_FILES if path in whole]
    lines += [f"nvidia-smi: {line}" for line in whole.get("nvidia-smi", "").splitlines()[1:]]
    lines += [f"rocm-smi: {line.strip()}" for line in whole.get("rocm-smi", "").splitlines() if "river version" in line]
    for line in whole.get("vulkaninfo", "").splitlines():
        if re.match(r"\s*(deviceName|driverName|driverInfo)\s*=", line):
            lines.append("vulkaninfo: " + re.sub(r"\s+", " ", line.strip()))
    return lines, whole


def commit(source):
    """(the commit, whether files differ from it and how): "unknown" outside of a clone."""
    def git(*words):
        return said_by(["git", "-C", source, *words])
    head = git("rev-parse", "HEAD")
    if not head:
        return "unknown", ""
    changed = git("diff", "HEAD", "--", ".", ":!docs")  # the page itself is in docs
    return head, hashlib.sha256(changed.encode()).hexdigest()[:16] if changed else ""


def programs(build, backend):
    """A hash of what is run, since it need not be built of that commit."""
    total = hashlib.sha256()
    files = [os.path.join(build, "bin", name) for name in ("tenon", "tenon-bench", "tenon-conformance", "tenon-probe")]
    files += glob.glob(os.path.join(glob.escape(build), "lib", "tenon", f"libtenon_{backend}.so"))
    for path in files:
        if os.path.exists(path):
            with open(path, "rb") as file:
                total.update(hashlib.sha256(file.read()).digest())
    return total.hexdigest()[:16]


class NoPeers(Exception):
    """Those that were asked for are not there."""


def find_torch(asked):
    """(interpreter or "", a sentence): the first Python whose PyTorch sees a GPU. Throws NoPeers if `asked` names another."""
    if asked == "none":
        return "", "none: `--peers none`"
    candidates = [asked] if asked else ["/opt/peers/bin/python3", shutil.which("python3"), sys.executable]
    why = f"no PyTorch and NumPy in {' or '.join(path for path in candidates if path)}"
    for python in dict.fromkeys(path for path in candidates if path and shutil.which(path)):
        try:
            said = subprocess.run([python, "-c", LOOK_FOR_TORCH], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=300, check=False)
            facts = json.loads(said.stdout.splitlines()[-1]) if said.returncode == 0 else None
        except (OSError, subprocess.TimeoutExpired, ValueError, IndexError):
            continue
        if facts and facts["gpus"]:
            return python, f"PyTorch {facts['version']}, {facts['runtime']}, which sees {', '.join(facts['gpus'])}"
        if facts:
            why = f"PyTorch {facts['version']} sees no GPU"
        elif asked and said.stderr.strip():
            why = said.stderr.strip().splitlines()[-1]
    if asked:
        raise NoPeers(f"[--peers] expected a Python whose PyTorch sees a GPU, got {asked}: {why}")
    return "", f"none: {why}"


def facts(source, build, backend):
    head, changes = commit(source)
    lines, whole = drivers()
    settings = sorted(name for name in os.environ if name.startswith("TENON_"))
    return {**system(), "drivers": lines, "libraries": libraries([os.path.join(build, "lib", "tenon")]), "commit": head,
            "changes": changes, "programs": programs(build, backend), "python": platform.python_version(),
            "settings": settings}, whole
