package io.millrace.launcher;

import io.millrace.launcher.config.ConfigReader;
import io.millrace.launcher.config.LaunchOptions;
import io.millrace.launcher.demo.DemoOrigin;
import io.millrace.launcher.exit.ExitCode;
import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.exit.StopSignals;
import io.millrace.launcher.fleet.config.KeptRevision;
import io.millrace.launcher.fleet.config.RefusedRevisionException;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerIdentity;
import io.millrace.launcher.state.InstanceLock;
import io.millrace.launcher.state.SocketPointer;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.launcher.state.StorageOwners;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.FileKeys;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import io.millrace.proxy.config.problem.ConfigProblem;
import io.millrace.proxy.config.value.FileMode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of the launcher, from its options to its exit code. Reads the configuration, locks the state directory, and
 * then runs a {@link Supervision} until a signal ends it. Confined to the main thread.
 */
final class Launcher {
    private static final Logger LOG = LoggerFactory.getLogger(Launcher.class);

    private final LaunchOptions options;
    private final String workerClass;
    private final PrintStream out;

    /**
     * @param workerClass main class of the worker
     * @param out receives the start message
     */
    Launcher(LaunchOptions options, String workerClass, PrintStream out) {
        this.options = options;
        this.workerClass = workerClass;
        this.out = out;
    }

    /** Runs the launcher until a signal ends it. Blocks. Returns the exit code of the process. */
    int run() throws LaunchException, IOException {
        StopSignals signals = StopSignals.ofProcess();
        if (!options.demo()) {
            return run(ConfigReader.of(options, null), signals);
        }
        try (DemoOrigin site = DemoOrigin.start()) {
            return run(ConfigReader.of(options, site.url()), signals);
        }
    }

    private int run(ConfigReader reader, StopSignals signals) throws LaunchException, IOException {
        ConfigReader.Reading reading = reader.read();
        for (ConfigProblem problem : reading.result().problems()) {
            System.err.println(problem.text());
        }
        ProxyConfig config = reading.result().config();
        if (config == null) {
            Path file = reader.file();
            if (file != null && !Files.exists(file)) {
                System.err.println("  write it with: millrace init " + file + ", or name another file with --config");
            }
            return ExitCode.USAGE;
        }
        int firstPort = config.listeners().stream()
                .mapToInt(listener -> listener.address().port())
                .filter(port -> port > 0)
                .findFirst()
                .orElse(0);
        Path home = StateDirectory.home(System.getenv());
        StateDirectory state = StateDirectory.resolve(options.state(), System.getenv(), home, firstPort);
        FileMode mode = config.values().get(FileKeys.MODE);
        state.create(mode);
        try (InstanceLock held = InstanceLock.acquire(state.lock())) {
            LOG.debug("state directory {} is locked: {}", state.state(), held);
            ConfigReader.Reading effective = withFleet(reader, reading, config, state);
            ProxyConfig inForce = effective.config();
            LauncherContext launcherContext = new LauncherContext(state, workerClass);
            long ownWorkerPid = new WorkerIdentity(state.control().workerIdentity())
                    .find()
                    .map(survivor -> survivor.process().pid())
                    .orElse(0L);
            StorageOwners.checkFree(launcherContext.withDefaultPaths(inForce), ownWorkerPid);
            try (Supervision supervision = Supervision.start(reader, effective, launcherContext, signals);
                    SocketPointer pointer = pointer(launcherContext, inForce, home)) {
                LOG.debug("millctl finds the admin socket: {}", pointer);
                supervision.watch(state, mode, held);
                return supervision.untilStopped(options.demo(), out);
            }
        }
    }

    /**
     * Writes a file with the path of the admin socket, from which millctl reads this path. Does so only if {@code
     * --state} or {@code admin.socket} moves the socket out of the usual directory.
     */
    private SocketPointer pointer(LauncherContext launcherContext, ProxyConfig config, Path home) {
        boolean isElsewhere = options.state() != null || config.admin().socket() != null;
        return isElsewhere
                ? SocketPointer.write(StateDirectory.parent(System.getenv(), home), launcherContext.adminSocket(config))
                : SocketPointer.NONE;
    }

    /**
     * Reads the local configuration again, combined with the last configuration of the fleet that this node could use.
     * If the combination cannot be used, only the local file is used, and the reason is logged. The node then reports
     * the fleet's revision as rejected.
     */
    private static ConfigReader.Reading withFleet(
            ConfigReader reader, ConfigReader.Reading local, ProxyConfig config, StateDirectory state) {
        String problem;
        try {
            Pushed kept = KeptRevision.lastGood(state.state().resolve("fleet"), config.fleet());
            if (kept == null) {
                return local;
            }
            reader.push(kept);
            ConfigReader.Reading combined = reader.read();
            if (combined.result().isOk()) {
                return combined;
            }
            problem = combined.result().text();
        } catch (IOException e) {
            problem = String.valueOf(e.getMessage());
        } catch (RefusedRevisionException e) {
            problem = e.text();
        }
        reader.push(null);
        LOG.error("the last configuration of the fleet cannot be used, so only the local file is used: {}", problem);
        return local;
    }
}
