package io.millrace.proxy.admin.resource;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The client of an admin request. Each property may be unknown. Immutable.
 *
 * @param uid user of the process at the other end of the Unix domain socket; -1 when not known
 * @param token name of the token in the request; null without one
 * @param address client address, null on a Unix domain socket
 * @param purgeRights purges that the client may request; null if it may request every purge
 * @param hasViewerRole whether the client has the role viewer; a viewer does not see the addresses of the proxy's
 *     clients
 */
public record AdminCaller(
        long uid,
        @Nullable String token,
        @Nullable String address,
        @Nullable PurgeRights purgeRights,
        boolean hasViewerRole) {
    /** The field that passes the client from the launcher (parent process) to its worker process. */
    public static final String FIELD_NAME = "Millrace-Admin-Caller";

    /** An unknown client. */
    public static final AdminCaller UNKNOWN = new AdminCaller(-1, null, null);

    private static final String LIMITED = "role=purger";
    private static final String VIEWER = "role=viewer";
    private static final String SITES = "sites=";
    private static final String KINDS = "kinds=";
    private static final String UID = "uid=";
    private static final String TOKEN = "token=";
    private static final String ADDRESS = "address=";

    /** Creates a client with every right. */
    public AdminCaller(long uid, @Nullable String token, @Nullable String address) {
        this(uid, token, address, null, false);
    }

    /** Creates a client without the role viewer. */
    public AdminCaller(long uid, @Nullable String token, @Nullable String address, @Nullable PurgeRights purgeRights) {
        this(uid, token, address, purgeRights, false);
    }

    /**
     * Returns true if the client may see and change a purge.
     *
     * @param tokenOfPurge name of the token that requested the purge; null if it was requested without a token
     */
    public boolean owns(@Nullable String tokenOfPurge) {
        return purgeRights == null || (token != null && token.equals(tokenOfPurge));
    }

    /** Returns the client as the value of the field {@link #FIELD_NAME}. */
    public String text() {
        List<String> parts = new ArrayList<>(3);
        if (uid >= 0) {
            parts.add(UID + uid);
        }
        if (token != null) {
            parts.add(TOKEN + token);
        }
        if (address != null) {
            parts.add(ADDRESS + address);
        }
        if (hasViewerRole) {
            parts.add(VIEWER);
        }
        if (purgeRights != null) {
            parts.add(LIMITED);
            parts.add(SITES + String.join(",", purgeRights.sites()));
            parts.add(KINDS + String.join(",", purgeRights.kinds()));
        }
        return String.join(" ", parts);
    }

    /**
     * Returns the client in words for events: {@code token ops from 10.0.0.1}, or {@code uid 1000}. Empty if nothing is
     * known.
     */
    public String inWords() {
        String who = token == null ? uid < 0 ? "" : "uid " + uid : "token " + token;
        String from = address == null ? "" : "from " + address;
        return (who + " " + from).strip();
    }

    /** Parses the result of {@link #text}; unknown parts are skipped. */
    public static AdminCaller parse(String text) {
        long uid = -1;
        String token = null;
        String address = null;
        boolean isLimited = false;
        boolean hasViewerRole = false;
        Set<String> sites = Set.of();
        Set<String> kinds = Set.of();
        for (String part : text.split(" ", -1)) {
            if (part.startsWith(UID)) {
                uid = uid(part.substring(UID.length()));
            } else if (part.startsWith(TOKEN)) {
                token = part.substring(TOKEN.length());
            } else if (part.startsWith(ADDRESS)) {
                address = part.substring(ADDRESS.length());
            } else if (part.startsWith(SITES)) {
                sites = words(part.substring(SITES.length()));
            } else if (part.startsWith(KINDS)) {
                kinds = words(part.substring(KINDS.length()));
            } else if (part.equals(LIMITED)) {
                isLimited = true;
            } else if (part.equals(VIEWER)) {
                hasViewerRole = true;
            }
        }
        return new AdminCaller(uid, token, address, isLimited ? new PurgeRights(sites, kinds) : null, hasViewerRole);
    }

    private static Set<String> words(String list) {
        return list.isEmpty() ? Set.of() : Set.copyOf(List.of(list.split(",", -1)));
    }

    private static long uid(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }
}
