package io.millrace.worker.warmup;

import io.millrace.proxy.config.ProxyConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The parameters of a warm-up: directory, time limit and CPU limit. Immutable.
 *
 * @param directory directory for the store and the log of the warm-up. Must be missing or empty; is deleted at the end
 * @param limit time limit of the warm-up
 * @param worker configuration of the worker, of which only transport, event loops, fast lane and access log are used
 * @param cores CPU limit of the whole process as a number of cores, for example 0.5; infinite for no limit
 */
public record WarmUpPlan(Path directory, Duration limit, ProxyConfig worker, double cores) {
    /** Returns a plan that uses half of the cores. The serving worker can use the others. */
    public static WarmUpPlan withHalfOfCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Runtime.getRuntime().availableProcessors() / 2.0);
    }

    /** Returns a plan without a CPU limit. */
    public static WarmUpPlan withAllCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Double.POSITIVE_INFINITY);
    }
}
