"""Makes what people install, in target/dist: `cargo xtask dist` calls this.

| file | what it is |
|---|---|
| austerity-VERSION-cp39-abi3-….whl | the Python package, for every Python from 3.9 on |
| austerity-VERSION.tar.gz | its sources |
| austerity-VERSION-TARGET.tar.gz | the program, stripped, with manual pages, completions, licences |
| THIRD-PARTY.md | the licences of every dependency |
| SHA256SUMS | checksums of all of these |

On Linux the zig linker builds against an old glibc, so that wheel and program run on distributions from 2014 on. Elsewhere the system's linker is used. The wheel is then installed,
without Rust, into a fresh environment of every Python that is found, and used there.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: The largest wheel, in bytes, and the longest installation, in seconds.
LARGEST, LONGEST = 8_000_000, 10.0
#: The glibc that wheel and program are built for on Linux: that of manylinux2014.
GLIBC = "2.17"
#: What everybody downloads is worth a longer build: one optimisation of the whole makes it smaller.
SMALLER = {"CARGO_PROFILE_RELEASE_LTO": "fat", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1"}
#: Bars that were missed.
MISSED = []
#: What a new user does first.
FIRST_STEPS = """
import austerity as au
data = au.generate("logistic", 20_000, 3)
fit = au.sample(au.Logistic(data.X, data.y), draws=500, progress=False)
assert fit.trusted, fit.reasons
print(au.__version__, "works on", __import__("sys").version.split()[0])
"""


def run(*call, **how):
    print("+", *call, flush=True)
    return subprocess.run([str(part) for part in call], check=True, **how)


def linux():
    return sys.platform == "linux"


def target():
    """The platform as Rust names it; nothing where the system's own is meant."""
    machine = {"x86_64": "x86_64", "AMD64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}[platform.machine()]
    return f"{machine}-unknown-linux-gnu" if linux() else None


def wheel(out):
    zig = ["--zig", "--target", target(), "--compatibility", "manylinux2014"] if linux() else []
    run(sys.executable, "-m", "maturin", "build", "--release", "--locked", "--out", out, *zig, cwd=ROOT)
    run(sys.executable, "-m", "maturin", "sdist", "--out", out, cwd=ROOT)
    (made,) = out.glob("*.whl")
    size = made.stat().st_size
    print(f"{made.name}: {size / 1e6:.1f} MB")
    if size > LARGEST:
        MISSED.append(f"the wheel has {size} bytes, more than {LARGEST}")
    return made


def version():
    described = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], check=True, capture_output=True, text=True, cwd=ROOT)
    packages = json.loads(described.stdout)["packages"]
    return next(package["version"] for package in packages if package["name"] == "austerity-cli")


def program(out, third_party):
    """The program with everything that belongs to it, as one archive."""
    folder = ROOT / "target"
    if linux():
        run("cargo-zigbuild", "zigbuild", "--release", "--locked", "-p", "austerity-cli", "--target", f"{target()}.{GLIBC}", cwd=ROOT)
        built = folder / target() / "release" / "austerity"
    else:
        run("cargo", "build", "--release", "--locked", "-p", "austerity-cli", cwd=ROOT)
        built = folder / "release" / ("austerity.exe" if os.name == "nt" else "austerity")
    name = f"austerity-{version()}-{target() or platform.system().lower() + '-' + platform.machine().lower()}"
    stage = out / name
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "completions").mkdir(parents=True)
    shutil.copy2(built, stage)
    run(built, "man", "--out", stage / "man", stdout=subprocess.DEVNULL)
    for shell in ("bash", "zsh", "fish", "powershell", "elvish"):
        made = run(built, "completions", shell, capture_output=True)
        (stage / "completions" / f"austerity.{shell}").write_bytes(made.stdout)
    for file in ("README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"):
        shutil.copy2(ROOT / file, stage)
    shutil.copy2(third_party, stage)
    archive = out / f"{name}.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(stage, name)
    shutil.rmtree(stage)
    print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")
    return archive


def licences(out):
    """Every crate that wheel or program is made of, with its licence and the text of it."""
    features = ["--filter-platform", target()] if linux() else []
    call = ["cargo", "metadata", "--format-version", "1", "--locked", *features]
    described = json.loads(subprocess.run(call, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
    packages = {package["id"]: package for package in described["packages"]}
    nodes = {node["id"]: node for node in described["resolve"]["nodes"]}
    ours = set(described["workspace_members"])
    wanted = [one for one in ours if packages[one]["name"] in ("austerity-cli", "austerity-py")]
    reached = set(wanted)
    while wanted:
        for dep in nodes[wanted.pop()]["deps"]:
            normal = any(kind["kind"] in (None, "build") for kind in dep["dep_kinds"])
            if normal and dep["pkg"] not in reached:
                reached.add(dep["pkg"])
                wanted.append(dep["pkg"])
    lines, nameless = ["# Licences of the crates that austerity is built with", ""], []
    for package in sorted((packages[one] for one in reached - ours), key=lambda package: (package["name"], package["version"])):
        licence = package["license"] or package["license_file"]
        if not licence:
            nameless.append(package["name"])
        lines += [f"## {package['name']} {package['version']}", "", f"{licence}; {', '.join(package['authors']) or 'its authors'}", ""]
        folder = Path(package["manifest_path"]).parent
        for file in sorted(folder.glob("LICEN[CS]E*")) + sorted(folder.glob("COPYING*")):
            if file.is_file() and "APACHE" not in file.name.upper():
                lines += ["```text", file.read_text(encoding="utf-8", errors="replace").strip(), "```", ""]
    assert not nameless, f"crates without a licence: {nameless}"
    lines += ["# Apache License 2.0, where a crate names it", "", "```text", (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8").strip(), "```", ""]
    file = out / "THIRD-PARTY.md"
    file.write_text("\n".join(lines), encoding="utf-8")
    print(f"{file.name}: {len(reached - ours)} crates")
    return file


def pythons():
    """Interpreters from 3.9 on: those on the path and pyenv's, one of each version."""
    found = {}
    names = [shutil.which(f"python3.{minor}") for minor in range(9, 20)] + [sys.executable]
    names += sorted(map(str, Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin/python3")))
    for name in filter(None, names):
        told = subprocess.run([name, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True)
        if told.returncode == 0 and tuple(map(int, told.stdout.split("."))) >= (3, 9):
            found.setdefault(told.stdout.strip(), name)
    return found


def try_wheel(made, out):
    """Installs the wheel into fresh environments and takes the first steps there. NumPy is fetched before the clock starts."""
    for version, python in sorted(pythons().items()):
        folder = out / f"try-{version}"
        run(python, "-m", "venv", "--clear", folder)
        inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        pip = [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run(*pip, "numpy")
        begun = time.monotonic()
        run(*pip, "--no-index", made)
        seconds = time.monotonic() - begun
        # Without Rust: nothing of a tool chain is on the path.
        run(inside, "-c", FIRST_STEPS, cwd=folder, env={"PATH": os.defpath})
        print(f"Python {version}: installed in {seconds:.1f} s", flush=True)
        if seconds > LONGEST:
            MISSED.append(f"Python {version}: installing took {seconds:.1f} s, more than {LONGEST}")
        shutil.rmtree(folder)


def main():
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    reader.add_argument("--out", type=Path, default=ROOT / "target" / "dist")
    reader.add_argument("--only", choices=["wheel", "program"], help="one of the two")
    options = reader.parse_args()
    out = options.out.resolve()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    os.environ.update(SMALLER)
    third_party = licences(out)
    made = wheel(out) if options.only != "program" else None
    if options.only != "wheel":
        program(out, third_party)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in sorted(out.iterdir()) if file.is_file()]
    (out / "SHA256SUMS").write_text("\n".join(sums) + "\n", encoding="utf-8")
    print("\n".join(sums))
    if made is not None:
        try_wheel(made, out)
    sys.exit("\n".join(MISSED) or 0)


if __name__ == "__main__":
    main()
