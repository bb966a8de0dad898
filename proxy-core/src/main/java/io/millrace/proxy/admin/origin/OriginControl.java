package io.millrace.proxy.admin.origin;

import io.millrace.proxy.admin.resource.AdminException;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The groups of origins of a running proxy; marks hosts down and up. Thread-safe; never blocks. */
public interface OriginControl {
    /** Returns the proxy's time in epoch seconds. */
    long nowSeconds();

    /** Returns all hosts of all groups in the order of the configuration. */
    List<Host> hosts();

    /** Returns the groups that have no host now, because no node of their tier of the fleet takes requests. */
    List<EmptyGroup> emptyGroups();

    /**
     * Marks hosts down, so that they get no new requests; requests in progress continue.
     *
     * @param origin the name of a group, or a host as in {@link Host#host}, or both as {@code shop/10.0.0.1:8080}. A
     *     host may lack its scheme. A group means all of its hosts, and a host means this host in every group
     * @param reason the reason, shown in the list
     * @param seconds duration; 0 for until {@link #up}
     * @return the changed hosts when the mark is durable, or at once if this proxy stores no marks; or an {@link
     *     AdminException}
     */
    CompletionStage<List<Host>> down(String origin, String reason, long seconds);

    /** Marks hosts up. An operator or failures may have marked them down; see {@link #down} for the parameters. */
    CompletionStage<List<Host>> up(String origin);

    /**
     * A group without a host. Immutable.
     *
     * @param tier tier of the fleet whose nodes are its hosts
     */
    record EmptyGroup(String group, String policy, String tier) {}

    /**
     * One host. Times are epoch seconds. Immutable.
     *
     * @param group name of the group
     * @param policy policy of the group
     * @param host URL of the host
     * @param weight configured weight
     * @param backup whether it is a backup for the other hosts of the group
     * @param self whether the host is this proxy, which gets no requests
     * @param state {@code up}, {@code down}, {@code suspect}, or {@code put_down} by an operator
     * @param since start of the state; 0 for the start of the proxy
     * @param until time of the next try, or end of the operator's mark; 0 if not known
     * @param reason reason why it is or was down; null for none
     * @param failuresInARow failures since the last answer
     * @param underWay requests in progress
     * @param requests requests sent to it since the start
     * @param failures failed requests since the start
     * @param earlierRequests requests sent to it by earlier processes, if recorded
     * @param earlierFailures failed requests of earlier processes
     * @param httpVersion version of the latest answer, {@code 1.0}, {@code 1.1} or {@code 2.0}; null before the first
     *     answer
     * @param lastSuccess time of the latest answer; 0 for none
     * @param lastFailure time of the latest failure; 0 for none
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
