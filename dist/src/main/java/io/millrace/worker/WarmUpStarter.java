package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ControlPaths;
import io.millrace.worker.warmup.WarmUp;
import io.millrace.worker.warmup.WarmUpPlan;
import io.millrace.worker.warmup.WarmUpReport;
import java.util.concurrent.CompletionStage;

/**
 * Warms up with the workload of {@link WarmUp}, in a directory of the launcher's.
 *
 * @param paths the private directory
 * @param generation of the worker
 */
public record WarmUpStarter(ControlPaths paths, long generation) implements Warming.Starter {
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
        }
    }
}
