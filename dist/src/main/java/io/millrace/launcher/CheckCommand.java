package io.millrace.launcher;

import io.millrace.proxy.config.ConfigLoader;
import io.millrace.proxy.config.ConfigProblem;
import io.millrace.proxy.config.ConfigResult;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code millrace check FILE}: every problem of a configuration, without a running proxy. */
@Command(
        name = "check",
        description = "Checks a configuration file and lists all its problems.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the file can be used", "2:it has problems, or cannot be read"})
final class CheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "FILE", description = "The file, such as /etc/millrace/millrace.yaml.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Override
    public Integer call() {
        ConfigResult result = ConfigLoader.load(file, Map.of());
        PrintWriter err = spec.commandLine().getErr();
        for (ConfigProblem problem : result.problems()) {
            err.println(problem.text());
        }
        if (result.config() == null) {
            return ExitCode.USAGE;
        }
        spec.commandLine().getOut().println(file + ": ok");
        return ExitCode.OK;
    }
}
