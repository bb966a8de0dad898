package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.warmup.WarmUp;
import io.millrace.worker.warmup.WarmUpPlan;
import io.millrace.worker.warmup.WarmUpReport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warms up with the workload of {@link WarmUp}, in a directory of the launcher's.
 *
 * @param paths the private directory
 * @param generation of the worker
 */
public record WarmUpStarter(ControlPaths paths, long generation) implements Warming.Starter {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUpStarter.class);

    @Override
    public long limitNanos(ProxyConfig config) {
        return config.worker().warmUpLimit().toNanos();
    }

    @Override
    public Warming start(ProxyConfig config) {
        clear(paths, generation);
        return new Running(WarmUp.start(WarmUpPlan.withHalfOfCores(
                paths.warmUp(generation), config.worker().warmUpLimit(), config)));
    }

    /** Removes what a warm-up has left that was killed. Blocks. */
    public static void clear(ControlPaths paths, long generation) {
        Path directory = paths.warmUp(generation);
        try (Stream<Path> files = Files.exists(directory) ? Files.walk(directory) : Stream.empty()) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            LOG.warn("{} stays behind after a warm-up: {}; it may be removed", directory, e.getMessage());
        }
    }

    private record Running(WarmUp warmUp) implements Warming {
        @Override
        public CompletionStage<String> finished() {
            return warmUp.finished().thenApply(WarmUpReport::toString);
        }

        @Override
        public void stop() {
            warmUp.stop();
        }

        @Override
        public void close() {
            warmUp.close();
        }
    }
}
