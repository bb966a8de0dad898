package io.millrace.launcher;

import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerCommand;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.worker.WorkerMain;
import io.millrace.worker.warmup.WarmUp;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code millrace archive}: records the class archive (AppCDS) of workers. Without this command the
 * launcher records the archive after its first start.
 */
@Command(
        name = "archive",
        description = "Records the class archive, which lets workers start faster.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:recorded, or the archive exists already", "1:the recording failed", "2:wrong usage"})
final class ArchiveCommand implements Callable<Integer> {
    /** Size of the RAM tier in the JVM that records. The archive is valid for any size. */
    private static final long RAM_BYTES = 64L << 20;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(
            names = "--java-home",
            paramLabel = "DIR",
            description = "JDK of the workers, as in worker.java_home. Default: the JDK of this command.")
    private @Nullable Path javaHome;

    @Option(names = "--force", description = "Record again if an archive exists.")
    private boolean force;

    @Override
    public Integer call() throws IOException, InterruptedException, LaunchException {
        Path home = LauncherContext.home();
        if (home == null) {
            throw new LaunchException(
                    "this build was started from class directories and has no lib directory, so there is no"
                            + " class archive to record; run bin/millrace of an installed distribution");
        }
        Path lib = home.resolve("lib");
        if (javaHome != null && !Files.isExecutable(javaHome.resolve("bin/java"))) {
            throw new LaunchException(
                    "--java-home: " + javaHome + " has no executable bin/java; name the directory of a JDK",
                    ExitCode.USAGE);
        }
        Path directory = Files.createTempDirectory("millrace-archive");
        try {
            return record(home, lib, directory);
        } finally {
            WarmUp.clear(directory);
        }
    }

    private int record(Path home, Path lib, Path directory) throws IOException, InterruptedException, LaunchException {
        ProxyConfig.Builder config = ProxyConfig.builder().set(ConfigKeys.CACHE_RAM_SIZE, RAM_BYTES);
        if (javaHome != null) {
            config.set(ConfigKeys.WORKER_JAVA_HOME, javaHome);
        }
        StateDirectory state = new StateDirectory(directory, directory, directory, directory);
        WorkerCommand command = new WorkerCommand(home, config.build(), state, WorkerMain.class.getName());
        PrintWriter out = spec.commandLine().getOut();
        if (command.hasArchive() && !force) {
            out.println(command.archiveFile() + ": already recorded");
            return ExitCode.OK;
        }
        if (!Files.isWritable(lib)) {
            throw new LaunchException("the class archive cannot be recorded: " + lib
                    + " is not writable for this user; run this command as the owner of that directory");
        }
        Path messages = directory.resolve("messages");
        if (!command.record(directory, messages)) {
            spec.commandLine().getErr().print(Files.readString(messages));
            throw new LaunchException("the class archive was not recorded; see the messages above");
        }
        Path archive = command.archiveFile();
        long mib = archive == null ? 0 : Files.size(archive) >> 20;
        out.println(archive + ": recorded, " + mib + " MiB");
        return ExitCode.OK;
    }
}
