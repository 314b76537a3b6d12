//! Arguments in, exit code out.

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use go_team::cli;

fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    // Without the hook a panic is still reported, only less well.
    let _ = color_eyre::config::HookBuilder::default()
        .theme(color_eyre::config::Theme::new())
        .install();
    let exit = panic::catch_unwind(|| cli::run(&args)).unwrap_or_else(|_| cli::report_bug(&args));
    ExitCode::from(exit.code())
}
