package io.millrace.proxy.admin.origin;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The groups of origins of a running proxy, and how to keep a host from requests and give it back. Thread-safe; never blocks. */
public interface OriginControl {
    /** The proxy's time, in epoch seconds. */
    long nowSeconds();

    /** Every host of every group, in the order of the configuration. */
    List<Host> hosts();

    /**
     * Keeps hosts from requests; what is under way goes on. Completes when that outlives the process, where it can.
     *
     * @param origin the name of a group for all of its hosts, or a host as in {@link Host#host}, with or without its scheme, in
     *     every group that has it, or both with a slash between: {@code shop/10.0.0.1:8080}
     * @param reason kept for the list
     * @param seconds for how long; 0 for until {@link #up}
     * @return the hosts that it is about, as they are afterwards, or an {@link AdminException}
     */
    CompletionStage<List<Host>> down(String origin, String reason, long seconds);

    /** Gives hosts requests again, whatever kept them from these; else as {@link #down}. */
    CompletionStage<List<Host>> up(String origin);

    /**
     * One host. Times are epoch seconds. Immutable.
     *
     * @param group the name of its group
     * @param policy of the group
     * @param host its URL
     * @param weight of the configuration
     * @param backup whether it is for when no other is up
     * @param self whether it is this proxy itself, which is never asked
     * @param state {@code up}, {@code down}, {@code suspect}, or {@code put_down} by an operator
     * @param since when that began; 0 for since the start
     * @param until when it is tried again, or the operator's word ends; 0 when that is not known
     * @param reason why it is not up, or was not the last time; null when there is none
     * @param failuresInARow failures since the last answer
     * @param underWay requests under way
     * @param requests requests sent to it since the start
     * @param failures how many of them failed
     * @param earlierRequests requests sent to it by the proxies before this one, as far as they are remembered
     * @param earlierFailures how many of those failed
     * @param httpVersion {@code 1.0} or {@code 1.1}, that it answered in last; null when it has not answered
     * @param lastSuccess when it answered last; 0 when it has not
     * @param lastFailure when it failed last; 0 when it has not
     * @param latencyMicros smoothed time from a request to the head of its response
     */
    record Host(
            String group,
            String policy,
            String host,
            int weight,
            boolean backup,
            boolean self,
            String state,
            long since,
            long until,
            @Nullable String reason,
            int failuresInARow,
            int underWay,
            long requests,
            long failures,
            long earlierRequests,
            long earlierFailures,
            @Nullable String httpVersion,
            long lastSuccess,
            long lastFailure,
            long latencyMicros) {}
}
