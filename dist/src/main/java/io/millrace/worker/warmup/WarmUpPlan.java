package io.millrace.worker.warmup;

import io.millrace.proxy.config.ProxyConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Where, how long and with how much CPU a worker warms up. Immutable.
 *
 * @param directory made for the store and the log of the warm-up, and removed after it; must not exist or be empty
 * @param limit longest time
 * @param worker configuration of the worker, of which transport, event loops, fast lane and log format are taken
 * @param cores CPU time that the whole process may use in a second, in cores, such as 0.5
 */
public record WarmUpPlan(Path directory, Duration limit, ProxyConfig worker, double cores) {
    /** A plan that leaves half of the cores to others, such as the worker that still serves. */
    public static WarmUpPlan withHalfOfCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Runtime.getRuntime().availableProcessors() / 2.0);
    }

    /** A plan without a limit of CPU time. */
    public static WarmUpPlan withAllCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Double.POSITIVE_INFINITY);
    }
}
