package io.millrace.proxy.purge.record;

import org.jspecify.annotations.Nullable;

/**
 * The client that requested a purge, for the audit record. Immutable.
 *
 * @param via the interface: {@code admin} for the admin API, {@code request} for PURGE and BAN, or {@code unknown}
 * @param uid numeric user of the process that is connected by Unix domain socket; -1 if unknown
 * @param token name of the admin token; null for none
 * @param address client address; null on a Unix domain socket
 */
public record PurgeClient(
        String via,
        long uid,
        @Nullable String token,
        @Nullable String address) {
    /** The client of purges in a program that embeds the proxy. */
    public static final PurgeClient EMBEDDED = new PurgeClient("admin", -1, null, null);

    /** The client of a purge without a record. */
    public static final PurgeClient UNKNOWN = new PurgeClient("unknown", -1, null, null);

    /** Creates the client of a PURGE or BAN request. */
    public static PurgeClient ofRequest(String address) {
        return new PurgeClient("request", -1, null, address);
    }
}
