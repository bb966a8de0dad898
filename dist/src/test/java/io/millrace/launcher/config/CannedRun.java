package io.millrace.launcher.config;

import io.millrace.launcher.exit.LaunchException;
import io.millrace.launcher.process.LauncherContext;
import io.millrace.launcher.process.WorkerPlan;
import io.millrace.launcher.state.StateDirectory;
import io.millrace.launcher.supervise.ServingWorker;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** A running configuration, with a worker that obeys unless a test makes it refuse. */
final class CannedRun implements ServingWorker {
    private volatile String obstacle;

    /** Returns the running configuration of the file {@code millrace.yaml} with {@code text} in {@code directory}. */
    RunningConfig of(Path directory, String text) throws IOException, LaunchException {
        Path file = Files.writeString(directory.resolve("millrace.yaml"), text);
        ConfigReader reader =
                ConfigReader.of(new LaunchOptions(false, null, List.of(), file, directory, Map.of(), null), null);
        StateDirectory state = StateDirectory.resolve(directory.resolve("state"), Map.of(), directory, 0);
        RunningConfig running = new RunningConfig(reader, new LauncherContext(state, "none"), this);
        ConfigReader.Reading reading = reader.read();
        running.begin(reading, new WorkerPlan(reading.source(), unused -> null, null));
        return running;
    }

    void refuse(String why) {
        obstacle = why;
    }

    @Override
    public void start(WorkerPlan first, long drainNanos) {}

    @Override
    public CompletableFuture<List<SettingChange>> reload(ConfigSource changed) {
        return obstacle == null
                ? CompletableFuture.completedFuture(List.of())
                : CompletableFuture.failedFuture(new IllegalStateException(obstacle));
    }

    @Override
    public CompletableFuture<Void> roll(WorkerPlan changed, long drainNanos) {
        return CompletableFuture.completedFuture(null);
    }
}
