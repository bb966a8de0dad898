package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.warmup.ThreadPriority;
import io.millrace.worker.warmup.WarmUp;
import io.millrace.worker.warmup.WarmUpPlan;
import io.millrace.worker.warmup.WarmUpReport;
import java.util.concurrent.CompletionStage;

/**
 * The starter of the {@link WarmUp} of a worker. Temporary files are in the directory of the control socket.
 *
 * @param paths paths in the directory of the control socket
 * @param generation number of the worker
 */
public record WarmUpStarter(ControlPaths paths, long generation) implements Warming.Starter {
    @Override
    public long limitNanos(ProxyConfig config) {
        return config.worker().warmUpLimit().toNanos();
    }

    @Override
    public Warming start(ProxyConfig config) {
        clear(paths, generation);
        return new Running(WarmUp.start(
                WarmUpPlan.forWorker(paths.warmUp(generation), config.worker().warmUpLimit(), config)));
    }

    /** Deletes the temporary files that a killed warm-up has left. Blocks. */
    public static void clear(ControlPaths paths, long generation) {
        WarmUp.clear(paths.warmUp(generation));
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
            if (warmUp.isComplete()) {
                ThreadPriority.lowerCompilers();
            }
        }
    }
}
