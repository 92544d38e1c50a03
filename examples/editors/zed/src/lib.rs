//! Tells Zed how Turnbuckle is started; everything else is the language server's.

use zed_extension_api::{self as zed, Command, LanguageServerId, Result, Worktree};

struct Turnbuckle;

impl zed::Extension for Turnbuckle {
    fn new() -> Self {
        Turnbuckle
    }

    fn language_server_command(
        &mut self,
        _server: &LanguageServerId,
        worktree: &Worktree,
    ) -> Result<Command> {
        let program = worktree
            .which("turnbuckle")
            .ok_or("the command `turnbuckle` is not on the PATH; install Turnbuckle first")?;
        Ok(Command {
            command: program,
            args: vec!["serve".to_string()],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(Turnbuckle);
