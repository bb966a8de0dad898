package io.millrace.launcher;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.proxy.config.yaml.ConfigSchema;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The command {@code millrace schema}: prints the JSON Schema of the configuration file, without a running proxy. */
@Command(
        name = "schema",
        description = "Prints the JSON Schema of the configuration file.",
        mixinStandardHelpOptions = true)
final class SchemaCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Override
    public Integer call() {
        spec.commandLine().getOut().println(ConfigSchema.json());
        return ExitCode.OK;
    }
}
