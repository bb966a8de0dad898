package io.millrace.worker.warmup;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * The parameters of a warm-up: directory, time limit and CPU limit. Immutable.
 *
 * @param directory directory for the store and the log of the warm-up. Must be missing or empty; is deleted at the end
 * @param limit time limit of the warm-up
 * @param worker configuration of the worker, of which only transport, event loops, fast lane and access log are copied
 * @param cores CPU limit of the whole process as a number of cores, for example 0.5; infinite for no limit
 * @param tls whether some requests use TLS
 * @param fleet whether purges of a fleet are applied often; otherwise a few times
 */
public record WarmUpPlan(Path directory, Duration limit, ProxyConfig worker, double cores, boolean tls, boolean fleet) {
    /**
     * Returns a plan for a worker that will serve. It uses half of the cores, so that the serving worker can use the
     * others. It uses TLS, and applies purges often, only if the worker will do so: the JIT compilers should use the
     * time for code that the worker needs.
     */
    public static WarmUpPlan forWorker(Path directory, Duration limit, ProxyConfig worker) {
        boolean tls = worker.listeners().stream().anyMatch(listener -> listener.tls() != null)
                || worker.remap().stream().anyMatch(WarmUpPlan::usesTls)
                || worker.originGroups().stream().anyMatch(WarmUpPlan::usesTls);
        double cores = Runtime.getRuntime().availableProcessors() / 2.0;
        return new WarmUpPlan(directory, limit, worker, cores, tls, worker.fleet() != null);
    }

    private static boolean usesTls(RemapRuleConfig rule) {
        return switch (rule.group()) {
            case RECEIVED_PORT, WEBSOCKET, FORWARD -> rule.to().isSecure();
            case REDIRECT, REGEX_REDIRECT, REVERSE -> false;
        };
    }

    private static boolean usesTls(OriginGroupConfig group) {
        return group.hosts().stream().anyMatch(host -> host.url().isSecure());
    }

    /** Returns a plan of all kinds of requests, without a CPU limit. */
    public static WarmUpPlan complete(Path directory, Duration limit, ProxyConfig worker) {
        return new WarmUpPlan(directory, limit, worker, Double.POSITIVE_INFINITY, true, true);
    }
}
