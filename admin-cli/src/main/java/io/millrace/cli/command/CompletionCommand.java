package io.millrace.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "completion",
        abbreviateSynopsis = true,
        description = "Print a script that completes commands and options in a shell.",
        footer = {
            "",
            "bash: source <(millctl completion bash)",
            "zsh:  source <(millctl completion zsh), after: autoload -Uz compinit; compinit"
        })
final class CompletionCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set by Picocli before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    private String shell = "";

    private final Invocation invocation;

    CompletionCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (!shell.equals("bash") && !shell.equals("zsh")) {
            throw new CommandFailure(ExitCode.USAGE, "completes in bash and zsh, not in: " + shell);
        }
        // One script for both: in zsh it turns on what runs bash's.
        String script = AutoComplete.bash("millctl", spec.root().commandLine());
        invocation.console().data(List.of(script.stripTrailing()));
        return ExitCode.OK;
    }
}
