package io.millrace.launcher.config;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.launcher.supervise.ServingWorker;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Result;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.worker.control.ConfigSource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The configuration of a launcher with its own file, and a worker that only accepts or refuses. */
@Timeout(60)
abstract class ConfigChangesFixture {
    static final String FILE = """
            # Ours.
            listen: ["127.0.0.1:0"]
            remap: [{map: /, to: http://origin.example/}]
            limits:
              connections: 1000 # of two
            """;

    @TempDir
    Path directory;

    final CannedWorker worker = new CannedWorker();
    Path file;
    RunningConfig running;
    ConfigChanges changes;
    ConfigInspection inspection;

    void run(String text) throws IOException, LaunchException {
        file = Files.writeString(directory.resolve("millrace.yaml"), text);
        launch(Map.of());
    }

    /** Starts a launcher, or the next one on the same state directory. */
    void launch(Map<String, String> set) throws LaunchException {
        running = launched("state", set, worker);
        changes = new ConfigChanges(running);
        inspection = new ConfigInspection(running);
    }

    RunningConfig launched(String stateName, Map<String, String> set, ServingWorker serving) throws LaunchException {
        ConfigReader reader =
                ConfigReader.of(new LaunchOptions(false, null, List.of(), file, directory, set, null), null);
        StateDirectory state = StateDirectory.resolve(directory.resolve(stateName), Map.of(), directory, 0);
        RunningConfig launched = new RunningConfig(reader, new LauncherContext(state, "none"), serving);
        ConfigReader.Reading reading = reader.read();
        launched.begin(reading, new WorkerPlan(reading.source(), unused -> null, null));
        return launched;
    }

    @AfterEach
    void close() {
        changes.close();
    }

    static ReloadReport done(CompletionStage<ReloadReport> change) {
        return change.toCompletableFuture().join();
    }

    static Map<String, Result> results(ReloadReport report) {
        Map<String, Result> results = new TreeMap<>();
        for (Setting setting : report.settings()) {
            results.put(setting.key(), setting.result());
        }
        return results;
    }

    int connections() {
        return running.config().limits().connections();
    }

    boolean cacheEnabled() {
        return running.config().values().get(ConfigKeys.CACHE_ENABLED);
    }

    static ProxyConfig read(ConfigSource source) {
        return source.load().config();
    }

    List<String> by() {
        return inspection.history().stream().map(ConfigInspector.Entry::by).toList();
    }
}
