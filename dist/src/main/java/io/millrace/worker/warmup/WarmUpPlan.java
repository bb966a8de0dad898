package io.millrace.worker.warmup;

import io.millrace.proxy.config.ProxyConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The plan of a warm-up: directory, time limit and CPU limit. Immutable.
 *
 * @param directory created for the store and the log of the warm-up, and removed after it; must be missing or empty
 * @param limit time limit of the warm-up
 * @param worker configuration of the worker; only transport, event loops, fast lane and log format are used
 * @param cores CPU limit of the whole process, in cores, for example 0.5
 */
public record WarmUpPlan(Path directory, Duration limit, ProxyConfig worker, double cores) {
    /** Returns a plan that uses half of the cores, and leaves the others to the serving worker. */
    public static WarmUpPlan withHalfOfCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Runtime.getRuntime().availableProcessors() / 2.0);
    }

    /** Returns a plan without a CPU limit. */
    public static WarmUpPlan withAllCores(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Double.POSITIVE_INFINITY);
    }
}
