package io.millrace.cli.command.help;

import io.millrace.cli.client.JsonText;
import io.millrace.cli.command.CommandFailure;
import io.millrace.cli.command.ExitCode;
import io.millrace.cli.command.Invocation;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
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
            "zsh:  source <(millctl completion zsh), after: autoload -Uz compinit; compinit",
            "Both are in share/ of the product, where the shells find them automatically",
            "once bin/ is in the PATH (bash), or share/zsh/site-functions in fpath (zsh)."
        })
public final class CompletionCommand implements Callable<Integer> {
    /** The supported shells, for the completion of this command's own parameter. */
    static final class Shells implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("bash", "zsh").iterator();
        }
    }

    @Spec
    @SuppressWarnings("NullAway.Init") // set by Picocli before call()
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", completionCandidates = Shells.class, description = "bash or zsh.")
    private String shell = "";

    private final Invocation invocation;

    public CompletionCommand(Invocation invocation) {
        this.invocation = invocation;
    }

    @Override
    public Integer call() throws CommandFailure {
        if (!shell.equals("bash") && !shell.equals("zsh")) {
            throw new CommandFailure(ExitCode.USAGE, "completes in bash and zsh, not in: " + shell);
        }
        CommandLine root = spec.root().commandLine();
        String script = shell.equals("zsh") ? ZshCompletion.of(root) : AutoComplete.bash(root.getCommandName(), root);
        if (invocation.isJson()) {
            invocation.console().json(JsonText.object("shell", shell, "script", script.stripTrailing()));
        } else {
            invocation.console().data(List.of(script.stripTrailing()));
        }
        return ExitCode.OK;
    }
}
