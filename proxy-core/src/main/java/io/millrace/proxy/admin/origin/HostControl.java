package io.millrace.proxy.admin.origin;

import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The single-host origins (not in a group) and the cached addresses of a running proxy. Thread-safe; never blocks. */
public interface HostControl {
    /**
     * Reports the state.
     *
     * @param host name or address without port, in lower case; null for all
     */
    CompletionStage<Report> report(@Nullable String host);

    /**
     * Removes the state and the cached addresses of hosts. The next request then queries the name and tries the origin.
     *
     * @param host name or address without port, in lower case; null for all
     */
    CompletionStage<Cleared> clear(@Nullable String host);

    /**
     * The report. Times are epoch seconds. Immutable.
     *
     * @param now the proxy's time
     * @param origins single-host origins, by authority
     * @param names cached names, in alphabetical order
     * @param leftOut origins and names beyond the limits of the report
     */
    record Report(long now, List<Origin> origins, List<Name> names, int leftOut) {}

    /**
     * An origin. Times are epoch seconds; 0 means never.
     *
     * @param origin URL without path, and its socket if any
     * @param host its name or address
     * @param down whether stale responses are served without a request to it
     * @param since time at which it was marked down
     * @param until time of the next attempt while it is down
     * @param reason reason of the last failure; null for none
     * @param failuresInARow failed connections since the last response
     * @param httpVersion version of the last response; null for none
     */
    record Origin(
            String origin,
            String host,
            boolean down,
            long since,
            long until,
            @Nullable String reason,
            int failuresInARow,
            @Nullable String httpVersion,
            long lastSuccess,
            long lastFailure) {}

    /**
     * A cached name.
     *
     * @param expires time of its expiry, in epoch seconds
     * @param problem message of a negative answer; null if there are addresses
     */
    record Name(String name, long expires, @Nullable String problem, List<Address> addresses) {}

    /**
     * An address of a name.
     *
     * @param until end of the time in which it is tried last after a failed connection, in epoch seconds; 0 for none
     */
    record Address(String address, long until) {}

    /** The numbers of forgotten origins and names. */
    record Cleared(int origins, int names) {}
}
