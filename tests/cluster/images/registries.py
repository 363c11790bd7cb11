"""How this machine reaches package registries, for the steps of an image build.

A build step sees neither the machine's environment nor its files. What apt, pip and npm need to
know is written to one folder, which is mounted while steps run and is never part of an image. The
clients find it through three variables that a built image does not keep.
"""

import configparser
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

MOUNT = "/mnt"
CA_FILE = f"{MOUNT}/ca.crt"
ENVIRONMENT = {
    "APT_CONFIG": f"{MOUNT}/apt.conf",
    "PIP_CONFIG_FILE": f"{MOUNT}/pip.conf",
    "NPM_CONFIG_USERCONFIG": f"{MOUNT}/npmrc",
}
SYSTEM_CA_FILE = "/etc/ssl/certs/ca-certificates.crt"
APT_SETTING = re.compile(r"^Acquire::(?:Check-|Retries|https?::)")
PIP_SETTINGS = ("extra-index-url", "index-url", "proxy", "retries", "timeout", "trusted-host")
NPM_SETTING = re.compile(r"^(?:https-proxy|maxsockets|noproxy|proxy|registry|strict-ssl)\s*=")


def apt_config(dump: str) -> str:
    """Keep from ``apt-config dump`` how packages are fetched; fetched ones go to the cache."""
    lines = [line for line in dump.splitlines() if APT_SETTING.match(line)]
    lines += [
        f'Dir::Cache::Archives "{MOUNT}/cache/apt/";',
        'Dir::Cache::pkgcache "";',
        'Dir::Cache::srcpkgcache "";',
        'APT::Keep-Downloaded-Packages "true";',
        'APT::Sandbox::User "root";',
        'Dpkg::Use-Pty "false";',
    ]
    return "\n".join(lines) + "\n"


def pip_config(files: Iterable[str], environ: Mapping[str, str], *, has_ca: bool) -> str:
    """Merge how pip fetches: later files win over earlier ones, ``PIP_`` variables over files."""
    merged = configparser.RawConfigParser()
    for text in files:
        merged.read_string(text)
    settings = dict(merged["global"]) if merged.has_section("global") else {}
    settings |= {
        name.removeprefix("PIP_").lower().replace("_", "-"): value
        for name, value in environ.items()
        if name.startswith("PIP_")
    }
    kept = {name: value for name, value in settings.items() if name in PIP_SETTINGS}
    kept |= {"cache-dir": f"{MOUNT}/cache/pip", "root-user-action": "ignore"}
    kept |= {"disable-pip-version-check": "true", "progress-bar": "off"}
    kept |= {"cert": CA_FILE} if has_ca else {}
    return "[global]\n" + "".join(f"{name} = {kept[name]}\n" for name in sorted(kept))


def npm_config(text: str, environ: Mapping[str, str], *, has_ca: bool) -> str:
    """Keep from an npmrc how packages are fetched; ``npm_config_registry`` wins over it."""
    lines = [line for line in text.splitlines() if NPM_SETTING.match(line)]
    for name, value in environ.items():
        if name.lower() == "npm_config_registry":
            lines.append(f"registry={value}")
    lines += [f"cache={MOUNT}/cache/npm", "audit=false", "fund=false", "update-notifier=false"]
    lines += [f"cafile={CA_FILE}"] if has_ca else []
    return "\n".join(lines) + "\n"


def write_registries(folder: Path, environ: Mapping[str, str] = os.environ) -> None:
    """Write this machine's settings to ``folder``, beside the download caches that stay there."""
    for cache in ("apt/partial", "pip", "npm"):
        (folder / "cache" / cache).mkdir(parents=True, exist_ok=True)
    authorities = Path(environ.get("SSL_CERT_FILE", SYSTEM_CA_FILE))
    has_ca = authorities.is_file()
    if has_ca:
        shutil.copy(authorities, folder / "ca.crt")
    home = Path(environ.get("HOME", "/root"))
    pip_files = ("/etc/pip.conf", home / ".pip/pip.conf", home / ".config/pip/pip.conf")
    (folder / "apt.conf").write_text(apt_config(_apt_dump()))
    (folder / "pip.conf").write_text(
        pip_config([_text(Path(file)) for file in pip_files], environ, has_ca=has_ca)
    )
    (folder / "npmrc").write_text(npm_config(_text(home / ".npmrc"), environ, has_ca=has_ca))


def _apt_dump() -> str:
    if shutil.which("apt-config") is None:
        return ""
    return subprocess.run(["apt-config", "dump"], check=True, capture_output=True, text=True).stdout


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""
