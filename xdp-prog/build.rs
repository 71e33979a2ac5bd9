//! Compiles the XDP programs with clang. Knows no map, program or kernel.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Where the C sources lie, relative to the package, so that no path of the build machine enters an object; and what
/// each becomes.
const SOURCES: [(&str, &str); 3] = [
    ("bpf/xsk_gen.bpf.c", "xsk_gen.bpf.o"),
    ("bpf/xsk_gen_bound.bpf.c", "xsk_gen_bound.bpf.o"),
    ("bpf/xsk_gen_build.bpf.c", "xsk_gen_build.bpf.o"),
];

const NO_CLANG: &str = "clang compiles the XDP programs: install it (Debian, Ubuntu: apt install clang; Fedora: \
                        dnf install clang; Arch: pacman -S clang), or name it with the variable CLANG";
const NO_KERNEL_HEADERS: &str = "the XDP programs include asm/types.h: install the kernel's user headers (Debian, \
                                 Ubuntu: apt install linux-libc-dev; Fedora: dnf install kernel-headers; Arch: \
                                 pacman -S linux-api-headers)";
const NO_LIBBPF: &str =
    "DEP_BPF_INCLUDE is not set: libbpf-sys must be a direct dependency, with its bundled libbpf";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=bpf");
    println!("cargo::rerun-if-env-changed=CLANG");
    match SOURCES.into_iter().try_for_each(|(source, object)| build(source, object)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn build(source: &str, object: &str) -> Result<(), String> {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let libbpf = env::var_os("DEP_BPF_INCLUDE").ok_or(NO_LIBBPF)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?).join(object);
    let mut command = Command::new(&clang);
    command.args(["-target", target(), "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]);
    // Debug information becomes BTF; it should not say where this was built.
    command.arg("-fdebug-compilation-dir=.");
    command.arg(format!("-fdebug-prefix-map={}=libbpf", libbpf.display()));
    command.arg("-I").arg(libbpf);
    if let Some(asm) = architecture_headers(&clang)? {
        command.arg("-isystem").arg(asm);
    }
    let status =
        command.args(["-c", source, "-o"]).arg(out).status().map_err(|error| unusable(&clang, &error))?;
    status.success().then_some(()).ok_or_else(|| format!("{} refused {source}; see above", clang.display()))
}

/// BPF in the byte order of the kernel that will run it.
fn target() -> &'static str {
    match env::var("CARGO_CFG_TARGET_ENDIAN").as_deref() {
        Ok("big") => "bpfeb",
        _ => "bpfel",
    }
}

/// The folder that holds asm/types.h, where it is not /usr/include itself: Debian keeps one for each architecture.
fn architecture_headers(clang: &OsString) -> Result<Option<PathBuf>, String> {
    let asked = ["-print-multiarch", "-dumpmachine"];
    let compilers = [clang.clone(), "gcc".into()];
    let names = compilers.iter().flat_map(|compiler| asked.iter().map(move |option| ask(compiler, option)));
    let has_types = |folder: &PathBuf| folder.join("asm/types.h").exists();
    let found = names
        .flatten()
        .flat_map(|triple| [without_vendor(&triple), Some(triple)])
        .flatten()
        .map(|name| Path::new("/usr/include").join(name))
        .find(has_types);
    if found.is_none() && !has_types(&PathBuf::from("/usr/include")) {
        // Without a compiler that answers, the headers are not the first thing to install.
        return Err(ask(clang, "--version").map_or(NO_CLANG, |_| NO_KERNEL_HEADERS).to_owned());
    }
    Ok(found)
}

/// What a compiler says about itself, in one word.
fn ask(compiler: &OsString, option: &str) -> Option<String> {
    let output = Command::new(compiler).arg(option).output().ok().filter(|output| output.status.success())?;
    let answer = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!answer.is_empty()).then_some(answer)
}

/// x86_64-linux-gnu of x86_64-pc-linux-gnu.
fn without_vendor(triple: &str) -> Option<String> {
    let parts: Vec<&str> = triple.split('-').collect();
    match parts[..] {
        [arch, _vendor, os, abi] => Some(format!("{arch}-{os}-{abi}")),
        _ => None,
    }
}

fn unusable(clang: &OsString, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => format!("{} was not found; {NO_CLANG}", clang.display()),
        _ => format!("{} cannot be started: {error}", clang.display()),
    }
}
