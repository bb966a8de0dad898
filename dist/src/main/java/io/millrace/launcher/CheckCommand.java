package io.millrace.launcher;

import io.millrace.launcher.config.ConfigReader;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.extension.ExtensionSettings;
import io.millrace.proxy.config.extension.ExtensionsConfig;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.extension.load.ConfiguredExtensions;
import io.millrace.proxy.observe.event.EventSink;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code millrace check FILE}: prints every problem of a configuration file, and opens its extensions to
 * find their problems too. Needs no running proxy. Without FILE, searches for the file in the same directories as
 * {@code millrace run}.
 */
@Command(
        name = "check",
        description = "Checks a configuration file and lists all its problems.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the file can be used", "2:the file has problems, or cannot be read"})
final class CheckCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description = "The file. Without it: ./millrace.yaml, else /etc/millrace/millrace.yaml.")
    private @Nullable Path file;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "The file; same as FILE, as an option like in millrace run.")
    private @Nullable Path config;

    @Override
    public Integer call() throws LaunchException {
        if (file != null && config != null) {
            throw new ParameterException(spec.commandLine(), "name one file: " + file + " or " + config);
        }
        Path checked = ConfigReader.find(file == null ? config : file);
        ConfigResult result = ConfigLoader.load(checked, Map.of());
        PrintWriter err = spec.commandLine().getErr();
        for (ConfigProblem problem : result.problems()) {
            err.println(problem.text());
        }
        ProxyConfig configuration = result.config();
        if (configuration == null || !openAll(configuration.extensions(), err)) {
            return ExitCode.USAGE;
        }
        spec.commandLine().getOut().println(checked + ": ok");
        return ExitCode.OK;
    }

    /** Opens and closes each extension, and prints every failure. Returns true if all could be opened. */
    private static boolean openAll(ExtensionsConfig extensions, PrintWriter err) {
        boolean allOpened = true;
        for (ExtensionSettings each : extensions.list()) {
            try (ConfiguredExtensions code =
                    ConfiguredExtensions.load(new ExtensionsConfig(List.of(each)), List.of())) {
                ExtensionSet.open(code.entries(), null, EventSink.NONE, System::currentTimeMillis, null)
                        .close();
            } catch (IOException e) {
                err.println(e.getMessage());
                allOpened = false;
            }
        }
        return allOpened;
    }
}
